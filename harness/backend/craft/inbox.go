package craft

import (
	"strings"

	"assay/model/backend"
)

// identityUpdate is the first update of an inbox of its own, really signed, with
// the one flaw of its inbox id: what an intent without an IdentityUpdate says.
func identityUpdate(e backend.Envelope, d draw) []field {
	o := ownerOf(d)
	inbox := inboxID(o.identifier(), createNonce)
	switch e.Flaw {
	case backend.IdentityInboxShort:
		inbox = inbox[:62]
	case backend.IdentityInboxText:
		inbox = notHex(inbox)
	}
	return []field{o.create(inbox)}
}

// notHex is as long as an inbox id, and no character of it is a hex digit.
func notHex(id string) string {
	return strings.Map(func(r rune) rune { return 'g' + r%16 }, id)
}

// owner is the wallet that such an inbox starts with.
type owner struct{ *keys }

// Nonce and second of these updates. Nobody compares the time with a clock.
const (
	createNonce  = 1
	createSecond = 1_700_000_000
)

func ownerOf(d draw) owner {
	// Every secret leads to a wallet's key.
	k, _ := newKeys(backend.Wallet, backend.Plainly, d.root("owner"))
	return owner{k}
}

// create is the update that creates an inbox with the given id.
func (o owner) create(inbox string) field {
	signed := signedText(inbox, createSecond, 0, []block{{backend.CreateInbox, backend.Wallet, o.identifier()}}, backend.SoundUpdate)
	// Only a hash of another length than 32 bytes makes signing fail.
	b, _ := personal(o.ethereum, signed, backend.Signing{})
	action := message(1, message(1, text(1, o.identifier()), number(2, createNonce), message(3, message(erc191Field, bytesOf(1, b))), number(4, kindEthereum)))
	return message(identityUpdateField, action, number(2, timestamp(createSecond, 0)), text(3, inbox))
}
