package craft_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"

	"assay/harness/backend/craft"
	"assay/model/backend"
	"assay/spec/gen/xmtp/identity/associations"
)

// signedBy makes the signature of a revocation, flawed and sound, and the text
// it is about, at second 7.
func signedBy(t *testing.T, s backend.Signing) (sig, sound *associations.Signature, text func(second int64) string) {
	t.Helper()
	c := craft.New(1, "n", "signatures")
	r := newReference(t, c, noWallets{})
	make := func(s backend.Signing) *associations.Signature {
		u, _ := r.make(backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: w2}, Second: 7, Actions: []backend.Action{revoke(w3, s)}})
		return u.GetActions()[0].GetRevoke().GetRecoveryIdentifierSignature()
	}
	bare := s
	bare.Flaw, bare.Variant = "", ""
	return make(s), make(bare), func(second int64) string {
		return craft.SignedText(craft.InboxID(c.Identifier(w2), 0), second, 0, "", craft.Named(backend.RevokeAssociation, backend.Wallet, c.Identifier(w3)))
	}
}

func TestEveryFlawOfAWalletsSignatureIsWhatItsNameSays(t *testing.T) {
	address := craft.New(1, "n", "signatures").Identifier(w1)
	personal := func(length, text string) []byte {
		return ethcrypto.Keccak256([]byte("\x19Ethereum Signed Message:\n" + length + text))
	}
	over := func(hash func(text func(int64) string) []byte) func(t *testing.T, b, sound []byte, text func(int64) string) {
		return func(t *testing.T, b, _ []byte, text func(int64) string) {
			b = bytes.Clone(b)
			b[64] -= 27
			public, err := ethcrypto.SigToPub(hash(text), b)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ToLower(ethcrypto.PubkeyToAddress(*public).Hex()); got != address {
				t.Errorf("the hash of its name is signed by %s, not by %s", got, address)
			}
		}
	}
	n := ethcrypto.S256().Params().N
	for f, check := range map[backend.SignatureFlaw]func(t *testing.T, b, sound []byte, text func(int64) string){
		backend.SoundSignature: over(func(text func(int64) string) []byte { return personal(fmt.Sprint(len(text(7))), text(7)) }),
		backend.OverOtherText:  over(func(text func(int64) string) []byte { return personal(fmt.Sprint(len(text(8))), text(8)) }),
		backend.RawKeccak:      over(func(text func(int64) string) []byte { return ethcrypto.Keccak256([]byte(text(7))) }),
		backend.PrefixPadded:   over(func(text func(int64) string) []byte { return personal("0"+fmt.Sprint(len(text(7))), text(7)) }),
		backend.PrefixOffByOne: over(func(text func(int64) string) []byte { return personal(fmt.Sprint(len(text(7))+1), text(7)) }),
		backend.EthereumCut: func(t *testing.T, b, sound []byte, _ func(int64) string) {
			if !bytes.Equal(b, sound[:64]) {
				t.Errorf("%x is not the first 64 bytes of %x", b, sound)
			}
		},
		backend.EthereumLong: func(t *testing.T, b, sound []byte, _ func(int64) string) {
			if len(b) != 66 || !bytes.Equal(b[:65], sound) {
				t.Errorf("%x is not %x and a byte", b, sound)
			}
		},
		backend.EthereumV5: func(t *testing.T, b, sound []byte, _ func(int64) string) {
			if len(b) != 65 || b[64] != 5 || !bytes.Equal(b[:64], sound[:64]) {
				t.Errorf("%x is not %x with V 5", b, sound)
			}
		},
		backend.EthereumZeros: func(t *testing.T, b, _ []byte, _ func(int64) string) {
			if !bytes.Equal(b, make([]byte, 65)) {
				t.Errorf("%x are not 65 zeros", b)
			}
		},
		backend.EthereumLargeR: func(t *testing.T, b, sound []byte, _ func(int64) string) {
			if new(big.Int).SetBytes(b[:32]).Cmp(n) < 0 || !bytes.Equal(b[32:], sound[32:]) {
				t.Errorf("%x is not %x with a large r", b, sound)
			}
		},
	} {
		t.Run(string(f), func(t *testing.T) {
			s, sound, text := signedBy(t, backend.Signing{Party: w1, Flaw: f})
			check(t, s.GetErc_191().GetBytes(), sound.GetErc_191().GetBytes(), text)
		})
	}
	for v, check := range map[backend.SignatureVariant]func(b, sound []byte) bool{
		backend.ParityV:    func(b, sound []byte) bool { return bytes.Equal(b[:64], sound[:64]) && b[64] == sound[64]-27 },
		backend.ChainV:     func(b, sound []byte) bool { return bytes.Equal(b[:64], sound[:64]) && b[64] == sound[64]+10 },
		backend.HighS:      func(b, sound []byte) bool { return twins(b, sound, n) && b[64] == 55-sound[64] },
		backend.HighSSameV: func(b, sound []byte) bool { return twins(b, sound, n) && b[64] == sound[64] },
	} {
		s, sound, _ := signedBy(t, backend.Signing{Party: w1, Variant: v})
		if b, sound := s.GetErc_191().GetBytes(), sound.GetErc_191().GetBytes(); !check(b, sound) {
			t.Errorf("%s of %x is %x", v, sound, b)
		}
	}
}

// twins reports whether two signatures share r and their s add up to the order.
func twins(b, sound []byte, n *big.Int) bool {
	sum := new(big.Int).Add(new(big.Int).SetBytes(b[32:64]), new(big.Int).SetBytes(sound[32:64]))
	return bytes.Equal(b[:32], sound[:32]) && sum.Cmp(n) == 0
}

func TestEveryFlawOfAnInstallationsSignatureIsWhatItsNameSays(t *testing.T) {
	hashed := func(context string, times int) func(key, b []byte, text string) bool {
		return func(key, b []byte, text string) bool {
			digest := []byte(text)
			for range times {
				sum := sha512.Sum512(digest)
				digest = sum[:]
			}
			return ed25519.VerifyWithOptions(key, digest, b, &ed25519.Options{Hash: crypto.SHA512, Context: context}) == nil
		}
	}
	for f, check := range map[backend.SignatureFlaw]func(key, b []byte, text string) bool{
		backend.SoundSignature: hashed("IDENTITY UPDATE SIGNATURE", 1),
		backend.OtherContext:   hashed("PUBLIC SIGNATURE CONTEXT", 1),
		backend.EmptyContext:   hashed("", 1),
		backend.HashedTwice:    hashed("IDENTITY UPDATE SIGNATURE", 2),
		backend.PlainEd25519:   func(key, b []byte, text string) bool { return ed25519.Verify(key, []byte(text), b) },
	} {
		s, _, text := signedBy(t, backend.Signing{Party: i1, Flaw: f})
		k := s.GetInstallationKey()
		if !check(k.GetPublicKey(), k.GetBytes(), text(7)) {
			t.Errorf("%q: the signature of its name does not verify", f)
		}
	}
	for f, check := range map[backend.SignatureFlaw]func(s, sound *associations.RecoverableEd25519Signature) bool{
		backend.Ed25519Cut: func(s, sound *associations.RecoverableEd25519Signature) bool {
			return bytes.Equal(s.GetBytes(), sound.GetBytes()[:63]) && bytes.Equal(s.GetPublicKey(), sound.GetPublicKey())
		},
		backend.Ed25519Key31: func(s, sound *associations.RecoverableEd25519Signature) bool {
			return bytes.Equal(s.GetBytes(), sound.GetBytes()) && bytes.Equal(s.GetPublicKey(), sound.GetPublicKey()[:31])
		},
		backend.Ed25519NoPoint: func(s, sound *associations.RecoverableEd25519Signature) bool {
			return bytes.Equal(s.GetBytes(), sound.GetBytes()) && len(s.GetPublicKey()) == 32 && !bytes.Equal(s.GetPublicKey(), sound.GetPublicKey())
		},
	} {
		if s, sound, _ := signedBy(t, backend.Signing{Party: i1, Flaw: f}); !check(s.GetInstallationKey(), sound.GetInstallationKey()) {
			t.Errorf("%q: %v beside the sound %v", f, s, sound)
		}
	}
}

func TestEveryFlawOfAPasskeysSignatureIsWhatItsNameSays(t *testing.T) {
	url := base64.RawURLEncoding.EncodeToString
	hash := func(s string) []byte { sum := sha256.Sum256([]byte(s)); return sum[:] }
	// Of these the assertion is good, and only the client data is not.
	for f, challenge := range map[backend.SignatureFlaw]func(text string) any{
		backend.SoundSignature: func(text string) any { return url([]byte(text)) },
		backend.OverOtherText:  nil,
		backend.ChallengePadded: func(text string) any {
			if s := base64.URLEncoding.EncodeToString([]byte(text)); strings.HasSuffix(s, "=") {
				return s
			}
			return url([]byte(text)) + "="
		},
		backend.ChallengeHex:     func(text string) any { return hex.EncodeToString([]byte(text)) },
		backend.ChallengeHashed:  func(text string) any { return url(hash(text)) },
		backend.ChallengeMissing: func(string) any { return nil },
	} {
		t.Run(string(f), func(t *testing.T) {
			s, _, text := signedBy(t, backend.Signing{Party: pk, Flaw: f})
			k := s.GetPasskey()
			if !verifies(k) {
				t.Error("the assertion does not verify")
			}
			want := any(url([]byte(text(8))))
			if challenge != nil {
				want = challenge(text(7))
			}
			var data map[string]any
			if err := json.Unmarshal(k.GetClientDataJson(), &data); err != nil || data["challenge"] != want || data["origin"] != "https://xmtp.chat" {
				t.Errorf("client data %s, %v, want challenge %v", k.GetClientDataJson(), err, want)
			}
		})
	}
	t.Run("the others", func(t *testing.T) {
		get := func(f backend.SignatureFlaw) (s, sound *associations.RecoverablePasskeySignature) {
			a, b, _ := signedBy(t, backend.Signing{Party: pk, Flaw: f})
			return a.GetPasskey(), b.GetPasskey()
		}
		s, sound := get(backend.ClientDataChanged)
		var a, b map[string]any
		if json.Unmarshal(s.GetClientDataJson(), &a) != nil || json.Unmarshal(sound.GetClientDataJson(), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) ||
			bytes.Equal(s.GetClientDataJson(), sound.GetClientDataJson()) || !bytes.Equal(s.GetSignature(), sound.GetSignature()) || verifies(s) {
			t.Errorf("client data changed: %v", s)
		}
		s, _ = get(backend.ClientDataGarbage)
		if !verifies(s) || json.Valid(s.GetClientDataJson()) {
			t.Errorf("client data garbage: %v", s)
		}
		s, sound = get(backend.AuthDataChanged)
		if verifies(s) || !bytes.Equal(s.GetSignature(), sound.GetSignature()) || len(s.GetAuthenticatorData()) != 37 {
			t.Errorf("authenticator data changed: %v", s)
		}
		s, sound = get(backend.RawRS)
		var rs struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(sound.GetSignature(), &rs); err != nil || len(s.GetSignature()) != 64 ||
			new(big.Int).SetBytes(s.GetSignature()[:32]).Cmp(rs.R) != 0 || new(big.Int).SetBytes(s.GetSignature()[32:]).Cmp(rs.S) != 0 {
			t.Errorf("raw r and s: %v beside %v", s, sound)
		}
	})
	// Both halves of s, and salts that give different signatures.
	half := new(big.Int).Rsh(elliptic.P256().Params().N, 1)
	seen := make(map[string]bool)
	for salt := range uint32(4) {
		for _, v := range []backend.SignatureVariant{backend.UpperS, backend.LowerS} {
			s, _, _ := signedBy(t, backend.Signing{Party: pk, Variant: v, Salt: salt})
			var rs struct{ R, S *big.Int }
			if _, err := asn1.Unmarshal(s.GetPasskey().GetSignature(), &rs); err != nil || (rs.S.Cmp(half) > 0) != (v == backend.UpperS) {
				t.Errorf("%s with salt %d: s is %v, %v", v, salt, rs.S, err)
			}
			if !verifies(s.GetPasskey()) || seen[string(s.GetPasskey().GetSignature())] {
				t.Errorf("%s with salt %d does not verify or is no new signature", v, salt)
			}
			seen[string(s.GetPasskey().GetSignature())] = true
		}
	}
}

// verifies checks an assertion without looking into the client data.
func verifies(s *associations.RecoverablePasskeySignature) bool {
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), s.GetPublicKey())
	if err != nil {
		return false
	}
	client := sha256.Sum256(s.GetClientDataJson())
	digest := sha256.Sum256(append(bytes.Clone(s.GetAuthenticatorData()), client[:]...))
	return ecdsa.VerifyASN1(public, digest[:], s.GetSignature())
}

func TestAContractsSignatureNamesAccountBlockAndBytes(t *testing.T) {
	plain := contractThat(backend.Plainly)
	r := withChain(t, "accounts")
	address := r.craft.Identifier(plain)
	mixed := ""
	for _, c := range []struct {
		s    backend.Signing
		want string
	}{
		{by(plain), "eip155:1337:" + address},
		{backend.Signing{Party: plain, Chain: backend.SecondRoute}, "eip155:31337:" + address},
		{backend.Signing{Party: plain, Chain: backend.NoRoute}, "eip155:999999:" + address},
		{backend.Signing{Party: plain, Chain: backend.CosmosChain}, "cosmos:cosmoshub-4:" + address},
		{backend.Signing{Party: plain, Chain: backend.PaddedChain}, "eip155:01337:" + address},
		{backend.Signing{Party: plain, Flaw: backend.AccountColons}, "eip/155:1337:" + address},
		{backend.Signing{Party: plain, Flaw: backend.AccountTwoParts}, "eip155:1337"},
		{backend.Signing{Party: plain, Variant: backend.AccountChecksummed}, ""},
		{backend.Signing{Party: w1, Variant: backend.AsContract}, "eip155:1337:" + r.craft.Identifier(w1)},
	} {
		u, _ := r.make(backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: w2}, Second: 7, Actions: []backend.Action{revoke(w3, c.s)}})
		s := u.GetActions()[0].GetRevoke().GetRecoveryIdentifierSignature().GetErc_6492()
		if c.s.Variant == backend.AccountChecksummed {
			mixed = s.GetAccountId()
		} else if s.GetAccountId() != c.want {
			t.Errorf("%v: account %q, want %q", c.s, s.GetAccountId(), c.want)
		}
		if len(s.GetSignature()) < 32 {
			t.Errorf("%v: a signature of %d bytes", c.s, len(s.GetSignature()))
		}
	}
	if mixed == "eip155:1337:"+address || !strings.EqualFold(mixed, "eip155:1337:"+address) {
		t.Errorf("account %q in mixed case", mixed)
	}
}
