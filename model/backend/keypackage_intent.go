package backend

// KeyPackageIntent is the intent behind a key package: whose it is, and the one
// way in which it is odd or wrong, if any. Everything that is not named is as
// the specification's recipe for a package that everybody must accept.
type KeyPackageIntent struct {
	// Installation signs it; the topic is its key.
	Installation Party `json:"installation"`
	// Inbox is what the credential names.
	Inbox InboxRef `json:"inbox"`
	// Suite is the MLS cipher suite; 0 is suite 3.
	Suite uint16 `json:"suite,omitempty"`
	// Serial numbers the packages of an installation: each has fresh keys.
	Serial   uint32            `json:"serial,omitempty"`
	Lifetime Lifetime          `json:"lifetime,omitempty"`
	Flaw     KeyPackageFlaw    `json:"flaw,omitempty"`
	Variant  KeyPackageVariant `json:"variant,omitempty"`
}

// Lifetime is when a package is valid. It is counted from the moment at which
// the intent is first made into bytes, and stays what it was then.
type Lifetime string

// The lifetimes. Those that begin or end near now leave two minutes for clocks
// that differ.
const (
	// Current began an hour ago and ends in 84 days.
	Current Lifetime = ""
	// BegunJustNow began two minutes ago.
	BegunJustNow Lifetime = "begun two minutes ago"
	// EndsSoon ends in two minutes.
	EndsSoon Lifetime = "ends in two minutes"
	// EndsShortly ends in 35 seconds; its scenario waits for that.
	EndsShortly Lifetime = "ends in 35 seconds"
	// NotYet begins in two minutes.
	NotYet Lifetime = "begins in two minutes"
	// Ended ended two minutes ago.
	Ended Lifetime = "ended two minutes ago"
	// LongAgo was valid from second 1 to 2 of 1970.
	LongAgo Lifetime = "ended in 1970"
	// Reversed ends, in 84 days, before it begins.
	Reversed Lifetime = "ends before it begins"
	// Century ends in a hundred years, Boundless never.
	Century   Lifetime = "ends in a hundred years"
	Boundless Lifetime = "of all time"
)

// Lifetimes lists every lifetime.
func Lifetimes() []Lifetime {
	return []Lifetime{Current, BegunJustNow, EndsSoon, EndsShortly, NotYet, Ended, LongAgo, Reversed, Century, Boundless}
}

// KeyPackageFlaw is the one way in which a key package is wrong. Whatever a
// flaw is not about holds: a package whose fields are wrong is correctly signed.
type KeyPackageFlaw string

// Flaws of key packages. The empty flaw is none.
const (
	SoundPackage KeyPackageFlaw = ""

	// Bytes that are not one key package.
	PackageTrailing   KeyPackageFlaw = "package with a trailing byte"
	PackageTwice      KeyPackageFlaw = "package with another behind it"
	PackageWrapped    KeyPackageFlaw = "package inside a message header"
	PackageCutByte    KeyPackageFlaw = "package cut by its last byte"
	PackageCutHalf    KeyPackageFlaw = "package cut in half"
	PackageCutVersion KeyPackageFlaw = "package cut after its version"
	PackageNothing    KeyPackageFlaw = "package of no bytes"
	PackageLongLength KeyPackageFlaw = "package with a length not in its shortest form"
	PackagePrefix11   KeyPackageFlaw = "package with a length whose first bits are 11"

	// Installation keys that give no topic.
	PackageKey0    KeyPackageFlaw = "signature key of 0 bytes"
	PackageKey31   KeyPackageFlaw = "signature key of 31 bytes"
	PackageKey33   KeyPackageFlaw = "signature key of 33 bytes"
	PackageKeyP256 KeyPackageFlaw = "signature key of P-256"

	// Packages that decode.
	SourceUpdate      KeyPackageFlaw = "leaf of an update"
	SourceCommit      KeyPackageFlaw = "leaf of a commit"
	LeafFlipped       KeyPackageFlaw = "leaf signature with a bit flipped"
	LeafUnsigned      KeyPackageFlaw = "leaf signature of no bytes"
	LeafCut           KeyPackageFlaw = "leaf signature of 63 bytes"
	LeafLabel         KeyPackageFlaw = "leaf signed under the package's label"
	LeafPosition      KeyPackageFlaw = "leaf signed with a position in a tree"
	SignedByOther     KeyPackageFlaw = "both layers signed by another key"
	PackageFlipped    KeyPackageFlaw = "package signature with a bit flipped"
	PackageUnsigned   KeyPackageFlaw = "package signature of no bytes"
	PackageCutSign    KeyPackageFlaw = "package signature of 63 bytes"
	PackageLabel      KeyPackageFlaw = "package signed under the leaf's label"
	PackageByOther    KeyPackageFlaw = "package signed by another key"
	SameKeys          KeyPackageFlaw = "init key equal to the encryption key"
	SuiteOfOtherCurve KeyPackageFlaw = "suite of P-256 with an Ed25519 key"
)

// KeyPackageFlaws lists the flaws of key packages.
func KeyPackageFlaws() []KeyPackageFlaw {
	return []KeyPackageFlaw{PackageTrailing, PackageTwice, PackageWrapped, PackageCutByte, PackageCutHalf, PackageCutVersion, PackageNothing,
		PackageLongLength, PackagePrefix11, PackageKey0, PackageKey31, PackageKey33, PackageKeyP256, SourceUpdate, SourceCommit, LeafFlipped,
		LeafUnsigned, LeafCut, LeafLabel, LeafPosition, SignedByOther, PackageFlipped, PackageUnsigned, PackageCutSign, PackageLabel,
		PackageByOther, SameKeys, SuiteOfOtherCurve}
}

// Undecodable reports whether the flaw leaves bytes that are not the encoding
// of any key package (API-040).
func (f KeyPackageFlaw) Undecodable() bool {
	switch f {
	case PackageWrapped, PackageCutByte, PackageCutHalf, PackageCutVersion, PackageNothing, PackageLongLength, PackagePrefix11:
		return true
	default:
		return false
	}
}

// NoTopic reports whether the flaw leaves a package without a topic to derive:
// it does not decode, or its key is no installation's.
func (f KeyPackageFlaw) NoTopic() bool {
	switch f {
	case PackageKey0, PackageKey31, PackageKey33, PackageKeyP256:
		return true
	default:
		return f.Undecodable()
	}
}

// KeyPackageVariant is what is odd about a key package: something that a
// companion or an implementation forbids, or one that is allowed and rare.
type KeyPackageVariant string

// Variants of key packages.
const (
	OrdinaryPackage KeyPackageVariant = ""

	// Of the version, the suite and the leaf's source.
	Version0     KeyPackageVariant = "version 0"
	Version2     KeyPackageVariant = "version 2"
	SuiteZero    KeyPackageVariant = "suite 0"
	SuiteUnknown KeyPackageVariant = "suite that nobody knows"
	SuiteGrease  KeyPackageVariant = "suite of the reserved random values"
	SuiteXWing   KeyPackageVariant = "suite X-Wing"
	SourceZero   KeyPackageVariant = "leaf of source 0"
	SourceFour   KeyPackageVariant = "leaf of source 4"

	// Of extensions and capabilities.
	XMTPShape          KeyPackageVariant = "extensions as XMTP clients write them"
	PackageExtTwice    KeyPackageVariant = "extension twice in the package"
	LeafExtTwice       KeyPackageVariant = "extension twice in the leaf"
	LeafLastResort     KeyPackageVariant = "last resort in the leaf"
	LeafRatchetTree    KeyPackageVariant = "ratchet tree in the leaf"
	LeafExtUnlisted    KeyPackageVariant = "leaf extension that capabilities do not list"
	LastResortUnlisted KeyPackageVariant = "last resort that capabilities do not list"
	WrapperUnlisted    KeyPackageVariant = "wrapper extension that capabilities do not list"
	UnknownUnlisted    KeyPackageVariant = "unknown extension that capabilities do not list"
	UnknownListed      KeyPackageVariant = "unknown extension that capabilities list"
	WrapperGarbage     KeyPackageVariant = "wrapper extension of random bytes"
	ExtApplicationID   KeyPackageVariant = "application id in the package"
	ExtRequired        KeyPackageVariant = "required capabilities in the package"
	ExtExternalPub     KeyPackageVariant = "external key in the package"
	ExtGrease          KeyPackageVariant = "extension of the reserved random values"
	CapabilitiesEmpty  KeyPackageVariant = "capabilities empty"
	CapabilitiesGrease KeyPackageVariant = "capabilities with reserved random values"
	SuiteUnlisted      KeyPackageVariant = "own suite not in capabilities"
	CredentialUnlisted KeyPackageVariant = "credential type not in capabilities"
	CredentialX509     KeyPackageVariant = "credential of X.509"
	CredentialUnknown  KeyPackageVariant = "credential of an unknown type"
	IdentityCut        KeyPackageVariant = "credential cut"
	IdentityWireType   KeyPackageVariant = "credential with a number for its inbox"
	IdentityUTF8       KeyPackageVariant = "credential that is not UTF-8"
	IdentityAddress    KeyPackageVariant = "credential of a bare address"
	IdentityEmpty      KeyPackageVariant = "credential of no bytes"
	IdentityNotHex     KeyPackageVariant = "credential whose inbox is not hex"
	IdentityShort      KeyPackageVariant = "credential whose inbox is short"
	SmallOrderKey      KeyPackageVariant = "signature key of small order"
)

// KeyPackageVariants lists the variants of key packages.
func KeyPackageVariants() []KeyPackageVariant {
	return []KeyPackageVariant{Version0, Version2, SuiteZero, SuiteUnknown, SuiteGrease, SuiteXWing, SourceZero, SourceFour, XMTPShape,
		PackageExtTwice, LeafExtTwice, LeafLastResort, LeafRatchetTree, LeafExtUnlisted, LastResortUnlisted, WrapperUnlisted, UnknownUnlisted,
		UnknownListed, WrapperGarbage, ExtApplicationID, ExtRequired, ExtExternalPub, ExtGrease, CapabilitiesEmpty, CapabilitiesGrease,
		SuiteUnlisted, CredentialUnlisted, CredentialX509, CredentialUnknown, IdentityCut, IdentityWireType, IdentityUTF8, IdentityAddress,
		IdentityEmpty, IdentityNotHex, IdentityShort, SmallOrderKey}
}
