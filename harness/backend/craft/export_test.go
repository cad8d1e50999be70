package craft

import (
	"assay/model/backend"
)

// SoundCreate is the update that identityUpdate spoils: the same owner,
// signature and fields with the inbox id they lead to.
func (c *Crafter) SoundCreate(e backend.Envelope) []byte {
	o := ownerOf(c.draw(e))
	return writer{}.append(nil, []field{o.create(inboxID(o.identifier(), createNonce))})
}
