package identity

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/messagecontents"
)

// A party can sign a text and be named in an action.
type party interface {
	id() Identifier
	sign(text string) *associations.Signature
}

// The parties of the known answers: each secret is one byte 32 times over.
func w1() wallet       { return newWallet(0x11) }
func w2() wallet       { return newWallet(0x22) }
func w3() wallet       { return newWallet(0x55) }
func i1() installation { return newInstallation(0x33) }
func i2() installation { return newInstallation(0x66) }
func i3() installation { return newInstallation(0x77) }
func k1() passkey      { return newPasskey(0x44) }

type wallet struct{ key *ecdsa.PrivateKey }

func newWallet(b byte) wallet {
	key, err := ethcrypto.ToECDSA(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		panic(err)
	}
	return wallet{key}
}

func (w wallet) id() Identifier {
	return EthereumAddress(addressOf(ethcrypto.FromECDSAPub(&w.key.PublicKey)))
}

func (w wallet) signHash(hash [32]byte) []byte {
	sig, err := ethcrypto.Sign(hash[:], w.key)
	if err != nil {
		panic(err)
	}
	sig[64] += 27
	return sig
}

func (w wallet) sign(text string) *associations.Signature {
	return addressSignature(w.signHash(personalHash(text)))
}

func addressSignature(b []byte) *associations.Signature {
	return &associations.Signature{Signature: &associations.Signature_Erc_191{
		Erc_191: &associations.RecoverableEcdsaSignature{Bytes: b},
	}}
}

type installation struct{ key ed25519.PrivateKey }

func newInstallation(b byte) installation {
	return installation{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32))}
}

func (i installation) public() []byte { return i.key.Public().(ed25519.PublicKey) }
func (i installation) id() Identifier { return InstallationKey(i.public()) }

func (i installation) signIn(context, text string) *associations.Signature {
	digest := sha512.Sum512([]byte(text))
	sig, err := i.key.Sign(nil, digest[:], &ed25519.Options{Hash: crypto.SHA512, Context: context})
	if err != nil {
		panic(err)
	}
	return installationSignature(sig, i.public())
}

func (i installation) sign(text string) *associations.Signature {
	return i.signIn(installationContext, text)
}

func installationSignature(sig, public []byte) *associations.Signature {
	return &associations.Signature{Signature: &associations.Signature_InstallationKey{
		InstallationKey: &associations.RecoverableEd25519Signature{Bytes: sig, PublicKey: public},
	}}
}

type passkey struct {
	key        *ecdsa.PrivateKey
	compressed bool
}

func newPasskey(b byte) passkey {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{b}, 32))
	if err != nil {
		panic(err)
	}
	return passkey{key: key}
}

func (k passkey) public() []byte {
	b, err := k.key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	if k.compressed {
		b = append([]byte{2 + b[64]&1}, b[1:33]...)
	}
	return b
}

func (k passkey) id() Identifier { return PasskeyKey(k.public()) }

func (k passkey) sign(text string) *associations.Signature {
	challenge := base64.RawURLEncoding.EncodeToString([]byte(text))
	return k.assert([]byte("authenticator"), []byte(`{"type":"webauthn.get","challenge":"`+challenge+`","origin":"https://xmtp.chat"}`))
}

// assert signs client data that may be anything.
func (k passkey) assert(authenticator, clientData []byte) *associations.Signature {
	hash := sha256.Sum256(clientData)
	digest := sha256.Sum256(append(bytes.Clone(authenticator), hash[:]...))
	der, err := ecdsa.SignASN1(rand.Reader, k.key, digest[:])
	if err != nil {
		panic(err)
	}
	return &associations.Signature{Signature: &associations.Signature_Passkey{
		Passkey: &associations.RecoverablePasskeySignature{
			PublicKey: k.public(), Signature: der, AuthenticatorData: authenticator, ClientDataJson: clientData,
		},
	}}
}

// contract is a wallet whose verdict the test's verifier decides by account.
// Each of its signatures is unique to the text.
type contract struct {
	account string
	block   uint64
}

func (c contract) id() Identifier {
	account, err := ParseAccountID(c.account)
	if err != nil {
		panic(err)
	}
	return EthereumAddress(lookupAddress(account.Address))
}

func (c contract) sign(text string) *associations.Signature {
	hash := personalHash(text)
	return contractSignature(c.account, c.block, append(hash[:], "signed"...))
}

func contractSignature(account string, block uint64, sig []byte) *associations.Signature {
	return &associations.Signature{Signature: &associations.Signature_Erc_6492{
		Erc_6492: &associations.SmartContractWalletSignature{AccountId: account, BlockNumber: block, Signature: sig},
	}}
}

// delegated is a wallet that signs through a key it vouched for.
type delegated struct {
	owner    wallet
	delegate wallet
}

func (d delegated) id() Identifier { return d.owner.id() }

func (d delegated) sign(text string) *associations.Signature {
	keyBytes, err := proto.Marshal(&messagecontents.UnsignedPublicKey{
		CreatedNs: 1,
		Union: &messagecontents.UnsignedPublicKey_Secp256K1Uncompressed_{
			Secp256K1Uncompressed: &messagecontents.UnsignedPublicKey_Secp256K1Uncompressed{
				Bytes: ethcrypto.FromECDSAPub(&d.delegate.key.PublicKey),
			},
		},
	})
	if err != nil {
		panic(err)
	}
	voucher := d.owner.signHash(personalHash(voucherText(keyBytes)))
	return &associations.Signature{Signature: &associations.Signature_DelegatedErc_191{
		DelegatedErc_191: &associations.LegacyDelegatedSignature{
			DelegatedKey: &messagecontents.SignedPublicKey{
				KeyBytes: keyBytes,
				Signature: &messagecontents.Signature{Union: &messagecontents.Signature_WalletEcdsaCompact{
					WalletEcdsaCompact: &messagecontents.Signature_WalletECDSACompact{
						Bytes: voucher[:64], Recovery: uint32(voucher[64]) - 27,
					},
				}},
			},
			Signature: &associations.RecoverableEcdsaSignature{Bytes: d.delegate.signHash(personalHash(text))},
		},
	}}
}

// imposter signs as one party and is named as another.
type imposter struct {
	party
	named Identifier
}

func (i imposter) id() Identifier { return i.named }

// act is an action together with who signs it.
type act struct {
	Action
	by, joining party
	// signed replaces what by signs; joined what joining signs.
	signed, joined *associations.Signature
}

func create(owner party, nonce uint64) act {
	return act{Action: Action{Verb: Create, Subject: owner.id(), Nonce: nonce}, by: owner}
}

func add(by, joining party) act {
	return act{Action: Action{Verb: Add, Subject: joining.id()}, by: by, joining: joining}
}

func revoke(by party, subject Identifier) act {
	return act{Action: Action{Verb: Revoke, Subject: subject}, by: by}
}

func recover_(by party, subject Identifier) act {
	return act{Action: Action{Verb: ChangeRecovery, Subject: subject}, by: by}
}

const second = uint64(1_000_000_000)

// sign makes the wire form of an update whose parties sign its own text.
func sign(inboxID string, ns uint64, acts ...act) *associations.IdentityUpdate {
	u := Update{InboxID: inboxID, TimestampNS: ns}
	for _, a := range acts {
		u.Actions = append(u.Actions, a.Action)
	}
	return signText(Text(u), inboxID, ns, acts...)
}

// signText is sign with another text.
func signText(text, inboxID string, ns uint64, acts ...act) *associations.IdentityUpdate {
	wire := &associations.IdentityUpdate{InboxId: inboxID, ClientTimestampNs: ns}
	for _, a := range acts {
		by := a.signed
		if by == nil {
			by = a.by.sign(text)
		}
		joined := a.joined
		if joined == nil && a.joining != nil {
			joined = a.joining.sign(text)
		}
		wire.Actions = append(wire.Actions, encode(a.Action, by, joined))
	}
	return wire
}

func encode(a Action, by, joined *associations.Signature) *associations.IdentityAction {
	switch a.Verb {
	case Create:
		text, kind := named(a.Subject)
		return &associations.IdentityAction{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: &associations.CreateInbox{
			InitialIdentifier: text, InitialIdentifierKind: kind, Nonce: a.Nonce, InitialIdentifierSignature: by,
		}}}
	case Add:
		return &associations.IdentityAction{Kind: &associations.IdentityAction_Add{Add: &associations.AddAssociation{
			NewMemberIdentifier: member(a.Subject), ExistingMemberSignature: by, NewMemberSignature: joined,
		}}}
	case Revoke:
		return &associations.IdentityAction{Kind: &associations.IdentityAction_Revoke{Revoke: &associations.RevokeAssociation{
			MemberToRevoke: member(a.Subject), RecoveryIdentifierSignature: by,
		}}}
	default:
		text, kind := named(a.Subject)
		return &associations.IdentityAction{Kind: &associations.IdentityAction_ChangeRecoveryAddress{ChangeRecoveryAddress: &associations.ChangeRecoveryAddress{
			NewRecoveryIdentifier: text, NewRecoveryIdentifierKind: kind, ExistingRecoveryIdentifierSignature: by,
		}}}
	}
}

func named(id Identifier) (string, associations.IdentifierKind) {
	return id.Text(), associations.IdentifierKind(id.Kind)
}

func member(id Identifier) *associations.MemberIdentifier {
	switch id.Kind {
	case Ethereum:
		return &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_EthereumAddress{EthereumAddress: id.Value}}
	case Passkey:
		return &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_Passkey{Passkey: &associations.Passkey{Key: []byte(id.Value)}}}
	default:
		return &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_InstallationPublicKey{InstallationPublicKey: []byte(id.Value)}}
	}
}

// verdicts is a wallet verifier that answers by account id text; an account
// it does not know is an outage.
type verdicts map[string]bool

var errOutage = errors.New("outage")

func (v verdicts) VerifyWallet(_ context.Context, c WalletClaim) (bool, error) {
	valid, known := v[c.Account.String()]
	if !known {
		return false, errOutage
	}
	return valid, nil
}

// inbox is a log that a test appends to, each update one second later.
type inbox struct {
	t       *testing.T
	v       *Validator
	id      string
	now     uint64
	history []*associations.IdentityUpdate
}

// newInbox starts the log of the inbox that owner creates, nothing in it yet.
func newInbox(t *testing.T, owner party, nonce uint64) *inbox {
	t.Helper()
	return &inbox{t: t, v: validator(verdicts{}), id: InboxID(owner.id(), nonce), now: 1_700_000_000 * second}
}

func validator(wallets WalletVerifier) *Validator {
	return NewValidator(Config{Rules: ReferenceRules(), Wallets: wallets, MaxWalletSignatures: 100, Remember: 1000})
}

func (b *inbox) sign(acts ...act) *associations.IdentityUpdate {
	b.now += second
	return sign(b.id, b.now, acts...)
}

func (b *inbox) accept(acts ...act) Change {
	b.t.Helper()
	return b.acceptWire(b.sign(acts...))
}

func (b *inbox) acceptWire(u *associations.IdentityUpdate) Change {
	b.t.Helper()
	change, err := b.v.Validate(b.t.Context(), b.history, u)
	if err != nil {
		b.t.Fatalf("refused an update that must be accepted: %v", err)
	}
	b.history = append(b.history, u)
	return change
}

func (b *inbox) refuse(class Class, rule Rule, acts ...act) {
	b.t.Helper()
	b.refuseWire(class, rule, b.sign(acts...))
}

func (b *inbox) refuseWire(class Class, rule Rule, u *associations.IdentityUpdate) {
	b.t.Helper()
	_, err := b.v.Validate(b.t.Context(), b.history, u)
	requireRefusal(b.t, err, class, rule)
}

func requireRefusal(t *testing.T, err error, class Class, rule Rule) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatalf("accepted an update that must be refused as %v because %q", class, rule)
	}
	if refusal.Class != class || refusal.Rule != rule {
		t.Fatalf("refused as %v because %q, not as %v because %q: %v", refusal.Class, refusal.Rule, class, rule, err)
	}
}

// later returns the same update one nanosecond later: other bytes, same text.
func later(u *associations.IdentityUpdate) *associations.IdentityUpdate {
	c := proto.CloneOf(u)
	c.ClientTimestampNs++
	return c
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// flipS turns R, S, V into R, n-S, V.
func flipS(sig []byte) []byte {
	c := bytes.Clone(sig)
	s := new(big.Int).SetBytes(c[32:64])
	s.Sub(ethcrypto.S256().Params().N, s)
	s.FillBytes(c[32:64])
	return c
}
