package craft

import (
	"crypto"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"assay/model/backend"
)

// Relying parties of the passkeys: where they are used, and somewhere else.
const (
	origin        = "https://xmtp.chat"
	relyingParty  = "xmtp.chat"
	foreignOrigin = "https://elsewhere.example"
)

// Flags of authenticator data: the user was present and verified.
const userFlags = 0x05

// authenticatorData is what an authenticator signs beside the client data: the
// hash of the relying party, flags, and a counter (WebAuthn, 6.1).
func authenticatorData(s backend.Signing) []byte {
	if s.Variant == backend.NoAuthData {
		return nil
	}
	party := sha256.Sum256([]byte(relyingParty))
	flags := byte(userFlags)
	if s.Variant == backend.CreateCeremony {
		flags = 0
	}
	return binary.BigEndian.AppendUint32(append(party[:], flags), s.Salt)
}

// clientData is the JSON that a browser makes for the authenticator. The
// challenge is the whole text (WebAuthn, 5.8.1).
func clientData(text string, s backend.Signing) string {
	kind, challenge, from := "webauthn.get", base64.RawURLEncoding.EncodeToString([]byte(text)), origin
	switch s.Flaw {
	case backend.ChallengePadded:
		// A text whose length is a multiple of three has no padding: one is added.
		challenge = base64.URLEncoding.EncodeToString([]byte(text))
		if !strings.HasSuffix(challenge, "=") {
			challenge += "="
		}
	case backend.ChallengeHex:
		challenge = hex.EncodeToString([]byte(text))
	case backend.ChallengeHashed:
		sum := sha256.Sum256([]byte(text))
		challenge = base64.RawURLEncoding.EncodeToString(sum[:])
	case backend.ClientDataGarbage:
		return "challenge=" + challenge
	}
	switch s.Variant {
	case backend.CreateCeremony:
		kind = "webauthn.create"
	case backend.OtherOrigin:
		from = foreignOrigin
	}
	members := []string{fmt.Sprintf(`"type":%q`, kind)}
	if s.Flaw != backend.ChallengeMissing {
		members = append(members, fmt.Sprintf(`"challenge":%q`, challenge))
	}
	if s.Variant != backend.NoOrigin {
		members = append(members, fmt.Sprintf(`"origin":%q`, from))
	}
	members = append(members, `"crossOrigin":false`)
	if s.Variant == backend.ExtraMembers {
		members = append(members, `"topOrigin":null`, `"other_keys_can_be_added_here":{"challenge":[1,"two"]}`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// passkeySignature is the Signature message of a passkey.
func (k *keys) passkeySignature(text string, s backend.Signing) (field, error) {
	if s.Flaw == backend.RawRS && (s.Variant == backend.UpperS || s.Variant == backend.LowerS) {
		return field{}, fmt.Errorf("a passkey signature with flaw %q has no DER to be %q", s.Flaw, s.Variant)
	}
	auth, client := authenticatorData(s), []byte(clientData(text, s))
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(auth[:len(auth):len(auth)], hash[:]...))
	// Without a source of randomness the nonce follows from key and digest (RFC 6979).
	der, err := k.passkey.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return field{}, fmt.Errorf("sign as a passkey: %w", err)
	}
	if der, err = reshape(der, k.passkey.Params().N, s); err != nil {
		return field{}, err
	}
	switch s.Flaw {
	case backend.ClientDataChanged:
		// White space that changes no member.
		client = append([]byte("{ "), client[1:]...)
	case backend.AuthDataChanged:
		if len(auth) == 0 {
			auth = []byte{0}
		}
		auth[len(auth)-1] ^= 0x80
	}
	public := k.point
	if s.Variant == backend.CompressedKey {
		public = k.compressed
	}
	return message(passkeyField, bytesOf(1, public), bytesOf(2, der), bytesOf(3, auth), bytesOf(4, client)), nil
}

// reshape rewrites a DER signature where its intent asks for another half of s,
// or for no DER at all.
func reshape(der []byte, order *big.Int, s backend.Signing) ([]byte, error) {
	if s.Flaw != backend.RawRS && s.Variant != backend.UpperS && s.Variant != backend.LowerS {
		return der, nil
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return nil, fmt.Errorf("read a signature just made: %w", err)
	}
	if s.Flaw == backend.RawRS {
		out := make([]byte, 64)
		pair.R.FillBytes(out[:32])
		pair.S.FillBytes(out[32:])
		return out, nil
	}
	high := pair.S.Cmp(new(big.Int).Rsh(order, 1)) > 0
	if high != (s.Variant == backend.UpperS) {
		pair.S.Sub(order, pair.S)
	}
	return asn1.Marshal(pair)
}
