package craft

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"assay/model/backend"
)

// identityUpdate is the first update of an inbox, really signed by its owner,
// with the one flaw of its inbox id.
func identityUpdate(e backend.Envelope, d draw) []field {
	owner := ownerOf(d)
	inbox := owner.inbox()
	switch e.Flaw {
	case backend.IdentityInboxShort:
		inbox = inbox[:62]
	case backend.IdentityInboxText:
		// As long as an inbox id, and no character of it is a hex digit.
		inbox = strings.Map(func(r rune) rune { return 'g' + r%16 }, inbox)
	}
	return []field{owner.create(inbox)}
}

// owner is the account that an inbox starts with.
type owner struct{ key *ecdsa.PrivateKey }

// Nonce and time of every first update. Nobody compares the time with a clock.
const (
	createNonce = 1
	createTime  = 1_700_000_000_000_000_000
)

const kindEthereum = 1 // IDENTIFIER_KIND_ETHEREUM

func ownerOf(d draw) owner {
	root := d.root("owner")
	for {
		// All but one in 2^127 numbers of 32 bytes are a key.
		if key, err := crypto.ToECDSA(root[:]); err == nil {
			return owner{key}
		}
		root = sha256.Sum256(root[:])
	}
}

// address is the owner's account in the form that updates carry.
func (o owner) address() string {
	return "0x" + hex.EncodeToString(crypto.PubkeyToAddress(o.key.PublicKey).Bytes())
}

// inbox is the id of the inbox that the owner creates: the hash of account and
// nonce as text.
func (o owner) inbox() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%d", o.address(), createNonce))
	return hex.EncodeToString(sum[:])
}

// create is the update that creates an inbox with the given id.
func (o owner) create(inbox string) field {
	signed := fmt.Sprintf("XMTP : Authenticate to inbox\n\nInbox ID: %s\nCurrent time: %s\n\n- Create inbox\n  (Owner: %s)\n\nFor more info: https://xmtp.org/signatures",
		inbox, time.Unix(0, createTime).UTC().Format("2006-01-02T15:04:05Z"), o.address())
	signature := message(3, message(1, bytesOf(1, o.sign(signed))))
	action := message(1, message(1, text(1, o.address()), number(2, createNonce), signature, number(4, kindEthereum)))
	return message(identityUpdateField, action, number(2, createTime), text(3, inbox))
}

// sign makes a personal message's signature of 65 bytes (EIP-191).
func (o owner) sign(text string) []byte {
	digest := crypto.Keccak256(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(text), text))
	signature, err := crypto.Sign(digest, o.key)
	if err != nil {
		// Only a digest of another length than 32 bytes makes Sign fail.
		return nil
	}
	signature[64] += 27
	return signature
}
