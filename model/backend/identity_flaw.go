package backend

import "slices"

// A flaw says what was done to an artefact that no reading of the rules allows.
// A variant says what is odd about one that some reading allows: an encoding
// with a twin, a field nobody signs, a check that is a companion's. Neither says
// how a subject should answer; that is for the rules. An artefact has at most one.

// UpdateFlaw is the one way in which an identity update as a whole is wrong.
type UpdateFlaw string

// Flaws of whole updates. The empty flaw is none.
const (
	SoundUpdate UpdateFlaw = ""

	// Inbox ids that are wrong, and signed as they are. All but the last five
	// still name a topic, of an inbox that nobody can create.
	InboxSeparator       UpdateFlaw = "inbox id hashed with a separator"
	InboxPaddedNonce     UpdateFlaw = "inbox id hashed with a padded nonce"
	InboxFromChecksummed UpdateFlaw = "inbox id hashed from the checksummed address"
	InboxPrefixed        UpdateFlaw = "inbox id with a 0x prefix"
	Inbox62              UpdateFlaw = "inbox id of 62 digits"
	Inbox66              UpdateFlaw = "inbox id of 66 digits"
	InboxNotHex          UpdateFlaw = "inbox id that is not hex"
	InboxEmpty           UpdateFlaw = "inbox id of no digits"

	// CreateChecksummed carries the creator's address in mixed case, and its
	// inbox id is hashed from that text.
	CreateChecksummed UpdateFlaw = "created for a checksummed address"

	// Every signature is over a text that differs from the right one in one way.
	TextNewline      UpdateFlaw = "signed text with a final newline"
	TextCRLF         UpdateFlaw = "signed text with carriage returns"
	TextFraction     UpdateFlaw = "signed text with a fraction of the second"
	TextOffset       UpdateFlaw = "signed text with +00:00 for Z"
	TextRoundedUp    UpdateFlaw = "signed text with the second rounded up"
	TextUnsignedYear UpdateFlaw = "signed text with the time read as unsigned"
	TextPrefixedID   UpdateFlaw = "signed text with 0x before installation ids"
	TextUpperID      UpdateFlaw = "signed text with installation ids in upper case"
	TextBlankLine    UpdateFlaw = "signed text with a blank line between actions"
	TextOtherOrder   UpdateFlaw = "signed text with the actions in another order"
	TextFooterSlash  UpdateFlaw = "signed text with a slash after its link"
	TextPasskeyLabel UpdateFlaw = "signed text with recovery by a passkey labelled as one"
	TextOtherInbox   UpdateFlaw = "signed text of another inbox"
	TextOtherHeader  UpdateFlaw = "signed text without the space before its colon"
)

// UpdateFlaws lists the flaws of whole updates.
func UpdateFlaws() []UpdateFlaw {
	return []UpdateFlaw{InboxSeparator, InboxPaddedNonce, InboxFromChecksummed, InboxPrefixed, Inbox62, Inbox66, InboxNotHex, InboxEmpty,
		CreateChecksummed, TextNewline, TextCRLF, TextFraction, TextOffset, TextRoundedUp, TextUnsignedYear, TextPrefixedID, TextUpperID,
		TextBlankLine, TextOtherOrder, TextFooterSlash, TextPasskeyLabel, TextOtherInbox, TextOtherHeader}
}

// NoTopic reports whether the flaw leaves an inbox id that names no topic.
func (f UpdateFlaw) NoTopic() bool {
	return f == InboxPrefixed || f == Inbox62 || f == Inbox66 || f == InboxNotHex || f == InboxEmpty
}

// OtherTopic reports whether the flaw leads to the topic of another inbox id.
func (f UpdateFlaw) OtherTopic() bool {
	return f == InboxSeparator || f == InboxPaddedNonce || f == InboxFromChecksummed || f == CreateChecksummed
}

// OtherText reports whether the flaw is one of the signed text alone.
func (f UpdateFlaw) OtherText() bool {
	return f != SoundUpdate && !f.NoTopic() && !f.OtherTopic()
}

// Fits reports whether an update can have the flaw: whether there is something
// of it that the flaw changes.
func (f UpdateFlaw) Fits(u IdentityUpdate) bool {
	subject := func(kind PartyKind, actions ...ActionKind) bool {
		return slices.ContainsFunc(u.Actions, func(a Action) bool {
			return a.Subject.Kind == kind && (len(actions) == 0 || slices.Contains(actions, a.Kind))
		})
	}
	switch f {
	case InboxFromChecksummed:
		return u.Inbox.Creator.Kind == Wallet || u.Inbox.Creator.Kind == Contract
	case CreateChecksummed:
		creator := u.Inbox.Creator
		return (creator.Kind == Wallet || creator.Kind == Contract) && subject(creator.Kind, CreateInbox)
	case TextRoundedUp:
		return u.Nanosecond > 0
	case TextUnsignedYear:
		return u.Second < 0
	case TextPrefixedID, TextUpperID:
		return subject(Installation)
	case TextBlankLine:
		return len(u.Actions) > 1
	case TextOtherOrder:
		return len(u.Actions) > 1 && slices.ContainsFunc(u.Actions, func(a Action) bool {
			return a.Kind != u.Actions[0].Kind || a.Subject != u.Actions[0].Subject
		})
	case TextPasskeyLabel:
		return subject(Passkey, ChangeRecovery)
	default:
		return f == SoundUpdate || slices.Contains(UpdateFlaws(), f)
	}
}

// UpdateVariant is what is odd about an update as a whole.
type UpdateVariant string

// Variants of whole updates.
const (
	OrdinaryUpdate UpdateVariant = ""
	// InboxUpper writes the inbox id in upper case and signs that. It names the
	// same topic.
	InboxUpper UpdateVariant = "inbox id in upper case"
)

// ActionFlaw is the one way in which an action is wrong.
type ActionFlaw string

// Flaws of actions. The empty flaw is none.
const (
	SoundAction ActionFlaw = ""
	// KindUnset leaves the action without a kind.
	KindUnset ActionFlaw = "action without a kind"
	// SubjectMissing leaves out the member identifier of an add or revoke,
	// SubjectUnset its kind.
	SubjectMissing ActionFlaw = "member identifier missing"
	SubjectUnset   ActionFlaw = "member identifier without a kind"
	// OtherNonce names, in a create, the nonce after that of the update's inbox.
	OtherNonce ActionFlaw = "create with another nonce"
	// PasskeyPrefixed and PasskeyOdd spoil the hex of a passkey that a create
	// or a change of recovery names; the text has the right hex.
	PasskeyPrefixed ActionFlaw = "passkey with a 0x prefix"
	PasskeyOdd      ActionFlaw = "passkey of an odd number of digits"
)

// ActionFlaws lists the flaws of actions.
func ActionFlaws() []ActionFlaw {
	return []ActionFlaw{KindUnset, SubjectMissing, SubjectUnset, OtherNonce, PasskeyPrefixed, PasskeyOdd}
}

// Fits reports whether an action can have the flaw.
func (f ActionFlaw) Fits(a Action) bool {
	switch f {
	case SoundAction, KindUnset:
		return true
	case SubjectMissing, SubjectUnset:
		return a.Kind == AddAssociation || a.Kind == RevokeAssociation
	case OtherNonce:
		return a.Kind == CreateInbox
	case PasskeyPrefixed, PasskeyOdd:
		return a.Subject.Kind == Passkey && (a.Kind == CreateInbox || a.Kind == ChangeRecovery)
	default:
		return false
	}
}

// ActionVariant is what is odd about an action.
type ActionVariant string

// Variants of actions.
const (
	OrdinaryAction ActionVariant = ""
	// KindZero leaves the identifier's kind 0 where an address could say 1, and
	// KindUnknown gives a number that no kind has.
	KindZero    ActionVariant = "identifier kind 0"
	KindUnknown ActionVariant = "identifier kind unknown"
	// PasskeyUpper writes a passkey's hex in upper case.
	PasskeyUpper ActionVariant = "passkey in upper case"
	// NamesParty sets the relying party, which nobody signs.
	NamesParty ActionVariant = "relying party named"
	// Checksummed names the subject by its address in mixed case, and signs that.
	Checksummed ActionVariant = "address checksummed"
	// Compressed names a passkey by the compressed form of its key: another
	// identifier of the same key.
	Compressed ActionVariant = "passkey compressed"
)

// ActionVariants lists the variants of actions.
func ActionVariants() []ActionVariant {
	return []ActionVariant{KindZero, KindUnknown, PasskeyUpper, NamesParty, Checksummed, Compressed}
}

// Fits reports whether an action can have the variant.
func (v ActionVariant) Fits(a Action) bool {
	named := a.Kind == CreateInbox || a.Kind == ChangeRecovery
	address := a.Subject.Kind == Wallet || a.Subject.Kind == Contract
	switch v {
	case OrdinaryAction:
		return true
	case KindZero, KindUnknown:
		return named && address
	case PasskeyUpper:
		return named && a.Subject.Kind == Passkey
	case NamesParty:
		return a.Kind != RevokeAssociation || a.Subject.Kind == Passkey
	case Checksummed:
		return a.Kind != CreateInbox && address
	case Compressed:
		return a.Kind != CreateInbox && a.Subject.Kind == Passkey
	default:
		return false
	}
}
