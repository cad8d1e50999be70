package craft

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"fmt"

	"assay/model/backend"
)

// Contexts of Ed25519ph (RFC 8032, 5.1): that of identity updates, and one that
// installation keys use for something else.
const (
	updateContext = "IDENTITY UPDATE SIGNATURE"
	publicContext = "PUBLIC SIGNATURE CONTEXT"
)

// noPoint is no encoding of a point of edwards25519: no x belongs to y = 2.
func noPoint() []byte { return append([]byte{2}, make([]byte, ed25519.PublicKeySize-1)...) }

// installationSignature is the Signature message of an installation.
func (k *keys) installationSignature(text string, s backend.Signing) (field, error) {
	digest := sha512.Sum512([]byte(text))
	context := updateContext
	switch s.Flaw {
	case backend.HashedTwice:
		digest = sha512.Sum512(digest[:])
	case backend.OtherContext:
		context = publicContext
	case backend.EmptyContext:
		context = ""
	}
	signature, err := k.installation.Sign(nil, digest[:], &ed25519.Options{Hash: crypto.SHA512, Context: context})
	if err != nil {
		return field{}, fmt.Errorf("sign as an installation: %w", err)
	}
	public := []byte(k.public)
	switch s.Flaw {
	case backend.PlainEd25519:
		signature = ed25519.Sign(k.installation, []byte(text))
	case backend.Ed25519Cut:
		signature = signature[:len(signature)-1]
	case backend.Ed25519Key31:
		public = public[:len(public)-1]
	case backend.Ed25519NoPoint:
		public = noPoint()
	}
	return message(installationField, bytesOf(1, signature), bytesOf(2, public)), nil
}
