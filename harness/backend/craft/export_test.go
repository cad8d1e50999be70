package craft

import (
	"encoding/hex"

	"assay/model/backend"
)

// SoundCreate is the update that identityUpdate spoils: the same owner,
// signature and fields with the inbox id they lead to.
func (c *Crafter) SoundCreate(e backend.Envelope) []byte {
	o := ownerOf(c.draw(e))
	return writer{}.append(nil, []field{o.create(inboxID(o.identifier(), createNonce))})
}

// SetSecret gives a party a secret of the test's choice, before it has one.
func (c *Crafter) SetSecret(p backend.Party, secret [32]byte) error {
	k, err := newKeys(p.Kind, p.Behaviour, secret)
	if err == nil {
		c.parties.known.Store(p, k)
	}
	return err
}

// Identifier is the text by which a party is named.
func (c *Crafter) Identifier(p backend.Party) string {
	k, err := c.keysOf(p)
	if err != nil {
		return err.Error()
	}
	return k.identifier()
}

// CompressedHex is a passkey's other identifier.
func (c *Crafter) CompressedHex(p backend.Party) string {
	k, err := c.keysOf(p)
	if err != nil {
		return err.Error()
	}
	return hex.EncodeToString(k.compressed)
}

// Named is a block of a signed text whose subject has no key.
func Named(kind backend.ActionKind, subject backend.PartyKind, name string) block {
	return block{kind, subject, name}
}

// SignedText is the text of an update.
func SignedText(inbox string, second int64, nanosecond uint32, flaw backend.UpdateFlaw, blocks ...block) string {
	return signedText(inbox, second, nanosecond, blocks, flaw)
}

// PersonalHash is the EIP-191 hash of a text.
func PersonalHash(text string) []byte { return personalHash(text, backend.SoundSignature) }

// InboxID is the id of an identifier's inbox.
func InboxID(identifier string, nonce uint64) string { return inboxID(identifier, nonce) }
