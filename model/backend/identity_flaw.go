package backend

// UpdateFlaw is the one way in which an identity update as a whole is wrong.
type UpdateFlaw string

// Flaws of whole updates. The empty flaw is none.
const (
	SoundUpdate UpdateFlaw = ""
	// InboxOfOtherNonce claims the inbox id of another nonce, and signs it.
	InboxOfOtherNonce UpdateFlaw = "inbox id of another nonce"
	// NoActions has an empty list of actions.
	NoActions UpdateFlaw = "no actions"
	// TextNewline and the others below sign a text that differs in one way.
	TextNewline UpdateFlaw = "signed text with a final newline"
	TextCRLF    UpdateFlaw = "signed text with carriage returns"
)

// ActionFlaw is the one way in which an action is wrong.
type ActionFlaw string

// Flaws of actions. The empty flaw is none.
const (
	SoundAction ActionFlaw = ""
	KindUnset   ActionFlaw = "action without a kind"
)

// SignatureFlaw is the one way in which a signature is wrong.
type SignatureFlaw string

// Flaws of signatures. The empty flaw is none.
const (
	SoundSignature   SignatureFlaw = ""
	SignatureMissing SignatureFlaw = "signature missing"
)
