package craft

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/harness/backend/chain/contract"
	"assay/model/backend"
)

// keys is who a party is: what it signs with and what it is called.
type keys struct {
	kind backend.PartyKind
	// ethereum is a wallet's key, or that of a contract's owner.
	ethereum *ecdsa.PrivateKey
	address  common.Address
	// delegate is the key that signs for a wallet in the retired form.
	delegate *ecdsa.PrivateKey
	contract contract.Wallet

	installation ed25519.PrivateKey
	public       ed25519.PublicKey

	passkey *ecdsa.PrivateKey
	// point and compressed are the passkey's two encodings (SEC 1, 2.3.3).
	point, compressed []byte
}

// parties remembers keys: deriving one costs as much as signing with it.
type parties struct{ known sync.Map }

// keysOf returns the keys of a party.
func (c *Crafter) keysOf(p backend.Party) (*keys, error) {
	if k, ok := c.parties.known.Load(p); ok {
		return k.(*keys), nil
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	k, err := newKeys(p.Kind, p.Behaviour, c.root("party", p.Kind.String(), p.Name, string(p.Behaviour)))
	if err != nil {
		return nil, fmt.Errorf("keys of %s: %w", p, err)
	}
	first, _ := c.parties.known.LoadOrStore(p, k)
	return first.(*keys), nil
}

// newKeys makes a party of a secret.
func newKeys(kind backend.PartyKind, b backend.Behaviour, secret [32]byte) (*keys, error) {
	k := &keys{kind: kind}
	var err error
	switch kind {
	case backend.Wallet:
		k.ethereum = secp256k1(secret)
		k.address = crypto.PubkeyToAddress(k.ethereum.PublicKey)
		k.delegate = secp256k1(sha256.Sum256(append([]byte("delegate"), secret[:]...)))
	case backend.Contract:
		k.ethereum = secp256k1(secret)
		k.contract, err = contract.New(b, crypto.PubkeyToAddress(k.ethereum.PublicKey), secret)
		k.address = k.contract.Address
	case backend.Installation:
		k.installation = ed25519.NewKeyFromSeed(secret[:])
		k.public = k.installation.Public().(ed25519.PublicKey)
	case backend.Passkey:
		k.passkey = p256(secret)
		k.point, err = k.passkey.PublicKey.Bytes()
		if err == nil {
			k.compressed = elliptic.MarshalCompressed(elliptic.P256(), k.passkey.X, k.passkey.Y)
		}
	default:
		err = errors.New("the party has no kind")
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// secp256k1 is the key that a secret leads to. All but one in 2^127 numbers of
// 32 bytes are a key; the next hash is tried for the others.
func secp256k1(secret [32]byte) *ecdsa.PrivateKey {
	for {
		if key, err := crypto.ToECDSA(secret[:]); err == nil {
			return key
		}
		secret = sha256.Sum256(secret[:])
	}
}

// p256 is the P-256 key that a secret leads to; one in 2^32 numbers is none.
func p256(secret [32]byte) *ecdsa.PrivateKey {
	for {
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret[:]); err == nil {
			return key
		}
		secret = sha256.Sum256(secret[:])
	}
}

// identifier is the text by which a party is named and signed for: an address in
// lower case, or the hex of a key.
func (k *keys) identifier() string {
	switch k.kind {
	case backend.Wallet, backend.Contract:
		return "0x" + hex.EncodeToString(k.address[:])
	case backend.Installation:
		return hex.EncodeToString(k.public)
	default:
		return hex.EncodeToString(k.point)
	}
}

// checksummed is an address in the mixed case of EIP-55. One address in some
// thousands is all lower case there too; its first letter is then raised, so
// that the text differs from the identifier whatever the address is.
func (k *keys) checksummed() string {
	s := k.address.Hex()
	if lower := strings.ToLower(s); s == lower {
		if i := strings.IndexAny(s[2:], "abcdef"); i >= 0 {
			s = s[:2+i] + strings.ToUpper(s[2+i:3+i]) + s[3+i:]
		}
	}
	return s
}

// inboxID is the id of the inbox that the owner of an identifier creates.
func inboxID(identifier string, nonce uint64) string {
	return inboxHash(fmt.Sprintf("%s%d", identifier, nonce))
}

func inboxHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// inbox is the id that an inbox really has.
func (c *Crafter) inbox(r backend.InboxRef) (string, error) {
	k, err := c.keysOf(r.Creator)
	if err != nil {
		return "", err
	}
	return inboxID(k.identifier(), r.Nonce), nil
}

// named finds the identifier of a topic whose name is that of an inbox or of an
// installation; nil for every other name.
func (c *Crafter) named(l backend.Log) []byte {
	switch l.Kind {
	case backend.Identity:
		if !strings.Contains(l.Name, "/") {
			return nil
		}
		r, err := backend.ParseInbox(l.Name)
		if err != nil {
			return nil
		}
		id, err := c.inbox(r)
		if err != nil {
			return nil
		}
		return common.FromHex(id)
	case backend.KeyPackage, backend.Welcome:
		if !strings.HasPrefix(l.Name, backend.Installation.String()+" ") {
			return nil
		}
		p, err := backend.ParseParty(l.Name)
		if err != nil {
			return nil
		}
		k, err := c.keysOf(p)
		if err != nil {
			return nil
		}
		return k.public
	default:
		return nil
	}
}
