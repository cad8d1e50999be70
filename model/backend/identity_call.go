package backend

// Methods of the two calls about identities (sections 5.3 and 5.4 of the
// specification): GetInboxIds and VerifySmartContractWalletSignatures.
const (
	MethodLookup Method = "lookup"
	MethodVerify Method = "verify"
)

// Spelling is how a lookup writes the identifier it asks about.
type Spelling string

// The spellings. Plain is the party's own identifier under its own kind: an
// address in lower case under kind 1, a passkey in lower-case hex under kind 2.
// An installation, which has no kind of its own, is its hex under kind 2.
const (
	PlainSpelling Spelling = ""
	// ChecksummedSpelling writes an address in mixed case, UpperSpelling all
	// hex digits in upper case.
	ChecksummedSpelling Spelling = "checksummed"
	UpperSpelling       Spelling = "in upper case"
	// OtherKindSpelling asks under the other of kinds 1 and 2, KindZeroSpelling
	// under 0, KindUnknownSpelling under a number that no kind has.
	OtherKindSpelling   Spelling = "under the other kind"
	KindZeroSpelling    Spelling = "under kind 0"
	KindUnknownSpelling Spelling = "under an unknown kind"
	// CompressedSpelling is the compressed form of a passkey.
	CompressedSpelling Spelling = "compressed"
	// PrefixedSpelling puts 0x before a passkey.
	PrefixedSpelling Spelling = "with a 0x prefix"
	// NonsenseSpelling is a text that is no identifier, EmptySpelling none.
	NonsenseSpelling Spelling = "nonsense"
	EmptySpelling    Spelling = "empty"
)

// Spellings lists the spellings that fit a party of the kind.
func Spellings(k PartyKind) []Spelling {
	every := []Spelling{PlainSpelling, UpperSpelling, OtherKindSpelling, KindZeroSpelling, KindUnknownSpelling, NonsenseSpelling, EmptySpelling}
	switch k {
	case Wallet, Contract:
		return append(every, ChecksummedSpelling)
	case Passkey:
		return append(every, CompressedSpelling, PrefixedSpelling)
	default:
		return every
	}
}

// Lookup is the intent behind one entry of a lookup.
type Lookup struct {
	Party    Party    `json:"party"`
	Spelling Spelling `json:"spelling,omitempty"`
}

// LookedUp is one entry of a lookup: what was meant and what was sent.
type LookedUp struct {
	Lookup
	Identifier string `json:"identifier"`
	// Kind is the number of the wire's IdentifierKind.
	Kind uint32 `json:"identifier_kind"`
}

// LookupCall asks which inboxes identifiers belong to.
type LookupCall struct {
	Entries []LookedUp `json:"entries"`
}

// InboxID is one entry of a lookup's answer.
type InboxID struct {
	Identifier string `json:"identifier"`
	Kind       uint32 `json:"identifier_kind"`
	// Inbox is nil when the entry has none. The inbox id of an update's topic is
	// the hex of what stands behind the topic's first byte.
	Inbox *string `json:"inbox,omitempty"`
}

// InboxIDs is a lookup's answer.
type InboxIDs struct {
	Entries []InboxID `json:"entries"`
}

// HashFlaw is what is odd about the hash of a verification.
type HashFlaw string

// The flaws of hashes.
const (
	SoundHash HashFlaw = ""
	// OtherHash is not the one that was signed.
	OtherHash HashFlaw = "another hash"
	Hash31    HashFlaw = "hash of 31 bytes"
	Hash33    HashFlaw = "hash of 33 bytes"
	HashEmpty HashFlaw = "hash of no bytes"
)

// HashFlaws lists the flaws of hashes.
func HashFlaws() []HashFlaw { return []HashFlaw{OtherHash, Hash31, Hash33, HashEmpty} }

// Verification is the intent behind one entry of a verification: a contract's
// signature, or a wallet's in its place, over a hash of the caller's.
type Verification struct {
	// By is who signs, on which chain and at which block.
	By Signing `json:"by"`
	// Content names the hash: equal names give equal hashes.
	Content string   `json:"content,omitempty"`
	Hash    HashFlaw `json:"hash,omitempty"`
}

// Verifying is one entry of a verification: what was meant, and what was sent
// of it that can be read.
type Verifying struct {
	Verification
	Account string `json:"account_id"`
	// Number is the block asked about, nil when it was left out.
	Number *uint64 `json:"block_number,omitempty"`
}

// VerifyCall asks whether contract signatures are valid.
type VerifyCall struct {
	Entries []Verifying `json:"entries"`
}

// WalletAnswer is the answer to one entry of a verification.
type WalletAnswer struct {
	Valid bool `json:"is_valid"`
	// Number is nil when the entry reports no block.
	Number *uint64 `json:"block_number,omitempty"`
	// Error is the entry's error text, escaped and bounded; nil when it has none.
	Error *string `json:"error,omitempty"`
}

// WalletAnswers is a verification's answer.
type WalletAnswers struct {
	Entries []WalletAnswer `json:"entries"`
}
