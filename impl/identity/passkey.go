package identity

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"unicode/utf8"
)

// PasskeySignature is a WebAuthn assertion whose challenge is the signed text
// itself. The signer is the public key exactly as it was encoded.
//
// Type, origin, relying party hash, flags and counter of the assertion are
// not judged: nothing in an inbox says which origin a passkey belongs to.
type PasskeySignature struct {
	PublicKey         []byte // SEC1, compressed or not
	Signature         []byte // ASN.1 DER
	AuthenticatorData []byte
	ClientDataJSON    []byte
}

func (s PasskeySignature) verify(_ context.Context, m message, _ WalletVerifier) (Signed, *Error) {
	used, err := s.check(m.text)
	if err != nil {
		return Signed{}, refuse(InvalidSignature, RulePasskeySignature, "%v", err)
	}
	return Signed{By: PasskeyKey(s.PublicKey), Scheme: ByPasskey, Used: used}, nil
}

// check verifies the assertion and returns its used key, R and S with S in
// the lower half: the other half is a second encoding of the same signature.
func (s PasskeySignature) check(text string) (used string, err error) {
	challenge, err := challengeOf(s.ClientDataJSON)
	if err != nil {
		return "", fmt.Errorf("client data: %w", err)
	}
	if challenge != base64.RawURLEncoding.EncodeToString([]byte(text)) {
		return "", errors.New("the challenge is not the signed text in unpadded base64url")
	}
	public, err := parseP256(s.PublicKey)
	if err != nil {
		return "", err
	}
	clientData := sha256.Sum256(s.ClientDataJSON)
	digest := sha256.Sum256(append(bytes.Clone(s.AuthenticatorData), clientData[:]...))
	if !ecdsa.VerifyASN1(public, digest[:], s.Signature) {
		return "", errors.New("the DER signature does not verify under the passkey")
	}
	var rs struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(s.Signature, &rs); err != nil || len(rest) != 0 {
		return "", errors.New("the DER signature is not one pair of integers")
	}
	n := public.Params().N
	if rs.S.Cmp(new(big.Int).Rsh(n, 1)) > 0 {
		rs.S.Sub(n, rs.S)
	}
	pair := make([]byte, 64)
	rs.R.FillBytes(pair[:32])
	rs.S.FillBytes(pair[32:])
	return string(pair), nil
}

// parseP256 reads a SEC1 point: 65 bytes uncompressed or 33 compressed.
func parseP256(b []byte) (*ecdsa.PublicKey, error) {
	curve := elliptic.P256()
	uncompressed := b
	if len(b) == 33 {
		x, y := elliptic.UnmarshalCompressed(curve, b)
		if x == nil {
			return nil, errors.New("the compressed passkey is no point of P-256")
		}
		uncompressed = append([]byte{4}, make([]byte, 64)...)
		x.FillBytes(uncompressed[1:33])
		y.FillBytes(uncompressed[33:])
	}
	public, err := ecdsa.ParseUncompressedPublicKey(curve, uncompressed)
	if err != nil {
		return nil, fmt.Errorf("the passkey of %d bytes is no SEC1 point of P-256", len(b))
	}
	return public, nil
}

// challengeOf reads client data: one JSON object in which challenge and origin
// are strings and occur once. Other members may be anything.
//
// The object is walked by hand because json.Unmarshal would also accept
// "Challenge", let the last of two challenges win, and mend broken UTF-8:
// three ways to show a signer one thing and a verifier another.
func challengeOf(clientData []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(clientData))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return "", errors.New("not a JSON object")
	}
	wanted := map[string]*string{"challenge": nil, "origin": nil}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", errors.New("a member name is not JSON")
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return "", errors.New("a member is not JSON")
		}
		key, _ := name.(string)
		seen, isWanted := wanted[key]
		if !isWanted {
			continue
		}
		if seen != nil {
			return "", fmt.Errorf("%s occurs twice", key)
		}
		var value string
		if len(raw) == 0 || raw[0] != '"' || !utf8.Valid(raw) || json.Unmarshal(raw, &value) != nil {
			return "", fmt.Errorf("%s is not a string", key)
		}
		wanted[key] = &value
	}
	if _, err := decoder.Token(); err != nil {
		return "", errors.New("the object does not end")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("something follows the object")
	}
	for _, key := range []string{"challenge", "origin"} {
		if wanted[key] == nil {
			return "", fmt.Errorf("%s is missing", key)
		}
	}
	return *wanted["challenge"], nil
}
