package backend

import "slices"

// SignatureFlaw is the one way in which a signature is wrong.
type SignatureFlaw string

// Flaws of signatures. The empty flaw is none.
const (
	SoundSignature SignatureFlaw = ""
	// SignatureMissing leaves the signature out, SignatureUnset its kind.
	SignatureMissing SignatureFlaw = "signature missing"
	SignatureUnset   SignatureFlaw = "signature without a kind"
	// OverOtherText signs the text of the next second.
	OverOtherText SignatureFlaw = "signature over the text of another second"

	// Flaws of what an Ethereum key signs, its own or as a contract's owner.
	RawKeccak        SignatureFlaw = "signature over the text's hash without a prefix"
	PrefixPadded     SignatureFlaw = "signature over a prefix with a padded length"
	PrefixOffByOne   SignatureFlaw = "signature over a prefix with the length off by one"
	EthereumCut      SignatureFlaw = "ECDSA signature of 64 bytes"
	EthereumLong     SignatureFlaw = "ECDSA signature of 66 bytes"
	EthereumV5       SignatureFlaw = "ECDSA signature with V 5"
	EthereumZeros    SignatureFlaw = "ECDSA signature of zeros"
	EthereumLargeR   SignatureFlaw = "ECDSA signature with r above the group order"
	DelegateStranger SignatureFlaw = "delegated key that did not sign"

	// Flaws of an installation's signature.
	PlainEd25519   SignatureFlaw = "plain Ed25519"
	OtherContext   SignatureFlaw = "Ed25519ph with the context of public signatures"
	EmptyContext   SignatureFlaw = "Ed25519ph with an empty context"
	HashedTwice    SignatureFlaw = "Ed25519ph over a text hashed twice"
	Ed25519Cut     SignatureFlaw = "Ed25519 signature of 63 bytes"
	Ed25519Key31   SignatureFlaw = "Ed25519 public key of 31 bytes"
	Ed25519NoPoint SignatureFlaw = "Ed25519 public key that is no point"

	// Flaws of a passkey's signature. Client data is signed as it is, except in
	// ClientDataChanged.
	ChallengePadded   SignatureFlaw = "challenge with padding"
	ChallengeHex      SignatureFlaw = "challenge in hex"
	ChallengeHashed   SignatureFlaw = "challenge of the text's hash"
	ChallengeMissing  SignatureFlaw = "client data without a challenge"
	ClientDataChanged SignatureFlaw = "client data changed after signing"
	ClientDataGarbage SignatureFlaw = "client data that is no JSON"
	AuthDataChanged   SignatureFlaw = "authenticator data changed after signing"
	RawRS             SignatureFlaw = "passkey signature as raw r and s"

	// Flaws of a contract's signature.
	AccountColons   SignatureFlaw = "account id with a wrong separator"
	AccountTwoParts SignatureFlaw = "account id of two parts"
	// WrapperMissing gives a contract that is not deployed 65 bytes of an
	// ordinary signature's shape instead of what deploys it.
	WrapperMissing SignatureFlaw = "signature without what deploys its contract"
)

// SignatureFlaws lists the flaws that a signature by a party of the kind can
// have. A contract's include those of its owner's key where it checks one.
func SignatureFlaws(k PartyKind) []SignatureFlaw {
	every := []SignatureFlaw{SignatureMissing, SignatureUnset, OverOtherText}
	switch k {
	case Wallet:
		return append(every, RawKeccak, PrefixPadded, PrefixOffByOne, EthereumCut, EthereumLong, EthereumV5, EthereumZeros, EthereumLargeR, DelegateStranger)
	case Installation:
		return append(every, PlainEd25519, OtherContext, EmptyContext, HashedTwice, Ed25519Cut, Ed25519Key31, Ed25519NoPoint)
	case Passkey:
		return append(every, ChallengePadded, ChallengeHex, ChallengeHashed, ChallengeMissing, ClientDataChanged, ClientDataGarbage, AuthDataChanged, RawRS)
	case Contract:
		return append(every, RawKeccak, PrefixPadded, PrefixOffByOne, AccountColons, AccountTwoParts, WrapperMissing)
	default:
		return nil
	}
}

// Fits reports whether the flaw can be that of the signing. A signature that is
// odd has no flaw as well, unless its variant is the form that the flaw spoils.
func (f SignatureFlaw) Fits(s Signing) bool {
	switch {
	case f == SoundSignature:
		return true
	case f == DelegateStranger:
		return s.Variant == Delegated
	case !slices.Contains(SignatureFlaws(s.Party.Kind), f):
		return false
	case f == SignatureMissing || f == SignatureUnset:
		return s.Variant == OrdinarySignature
	}
	overHash := f == OverOtherText || f == RawKeccak || f == PrefixPadded || f == PrefixOffByOne
	switch s.Variant {
	case AsContract:
		return overHash
	case Delegated, OrdinarySignature:
	default:
		return false
	}
	switch {
	case s.Party.Kind != Contract:
		return true
	case overHash:
		// A contract that looks at no signature finds nothing wrong with one.
		return s.Party.Behaviour == Plainly || s.Party.Behaviour == Counterfactual
	case f == WrapperMissing:
		return s.Party.Behaviour == Counterfactual
	default:
		return s.Chain == RunChain // the account ids that are spoilt are the run's
	}
}

// SignatureVariant is what is odd about a signature.
type SignatureVariant string

// Variants of signatures.
const (
	OrdinarySignature SignatureVariant = ""

	// Of a wallet: other writings of V and S for the same signature.
	ParityV SignatureVariant = "V of 0 or 1"
	// ChainV is V of 37 or 38, as EIP-155 writes 27 or 28 for chain 1.
	ChainV SignatureVariant = "V with a chain id"
	// HighS is n-s with the other parity: a second encoding of the signature.
	HighS SignatureVariant = "high S with the other V"
	// HighSSameV is n-s with the same parity, which recovers another key.
	HighSSameV SignatureVariant = "high S with the same V"
	// Delegated is the retired form: a key that the wallet vouched for signs.
	Delegated SignatureVariant = "through a delegated key"
	// AsContract sends a wallet's signature where a contract's would be.
	AsContract SignatureVariant = "as a contract's"

	// Of a passkey.
	ExtraMembers SignatureVariant = "client data with more members"
	// OtherOrigin names another origin, NoOrigin none.
	OtherOrigin SignatureVariant = "client data of another origin"
	NoOrigin    SignatureVariant = "client data without an origin"
	// CreateCeremony is client data of a registration, flags 0.
	CreateCeremony SignatureVariant = "client data of a registration"
	NoAuthData     SignatureVariant = "authenticator data of no bytes"
	// UpperS and LowerS choose the half of S; an ordinary signature has either.
	UpperS SignatureVariant = "DER signature with high S"
	LowerS SignatureVariant = "DER signature with low S"
	// CompressedKey names the key in its compressed form.
	CompressedKey SignatureVariant = "compressed public key"

	// Of a contract.
	AccountChecksummed SignatureVariant = "account id checksummed"
)

// SignatureVariants lists the variants that a signature by a party of the kind
// can have.
func SignatureVariants(k PartyKind) []SignatureVariant {
	switch k {
	case Wallet:
		return []SignatureVariant{ParityV, ChainV, HighS, HighSSameV, Delegated, AsContract}
	case Passkey:
		return []SignatureVariant{ExtraMembers, OtherOrigin, NoOrigin, CreateCeremony, NoAuthData, UpperS, LowerS, CompressedKey}
	case Contract:
		return []SignatureVariant{AccountChecksummed}
	default:
		return nil
	}
}

// Fits reports whether the variant can be that of a signature by the party.
func (v SignatureVariant) Fits(p Party) bool {
	return v == OrdinarySignature || slices.Contains(SignatureVariants(p.Kind), v)
}
