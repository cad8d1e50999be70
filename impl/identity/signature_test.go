package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/identity/associations"
)

// textOf is the text of the update that the next test update will be.
func textOf(inboxID string, ns uint64, acts ...act) string {
	u := Update{InboxID: inboxID, TimestampNS: ns}
	for _, a := range acts {
		u.Actions = append(u.Actions, a.Action)
	}
	return Text(u)
}

func TestAddressSignatures(t *testing.T) {
	b := newInbox(t, w1(), 0)
	text := textOf(b.id, b.now, create(w1(), 0))
	good := w1().signHash(personalHash(text))
	withV := func(v byte) []byte { c := bytes.Clone(good); c[64] = v; return c }
	parity := good[64] - 27
	twin := flipS(good)
	otherV := bytes.Clone(twin)
	otherV[64] = 27 + (1 - parity)
	n := ethcrypto.S256().Params().N

	for _, c := range []struct {
		name  string
		sig   []byte
		class Class // 0: accepted
		rule  Rule
	}{
		{name: "V of 27 or 28 is accepted", sig: good},
		{name: "V of 0 or 1 is accepted", sig: withV(parity)},
		{name: "V of 37 or 38, a transaction's on chain 1, is accepted", sig: withV(37 + parity)},
		{name: "the highest transaction V is accepted", sig: withV(254 + (parity+1)%2)},
		{"V of the other parity is a stranger's signature", withV(28 - parity), InvalidUpdate, RuleOwnerSigns},
		{"V of 2 is refused", withV(2), InvalidSignature, RuleAddressSignature},
		{"V of 5 is refused", withV(5), InvalidSignature, RuleAddressSignature},
		{"V of 26 is refused", withV(26), InvalidSignature, RuleAddressSignature},
		{"V of 29 is refused", withV(29), InvalidSignature, RuleAddressSignature},
		{"V of 34 is refused", withV(34), InvalidSignature, RuleAddressSignature},
		{"64 bytes are refused", good[:64], InvalidSignature, RuleAddressSignature},
		{"66 bytes are refused", append(bytes.Clone(good), 0), InvalidSignature, RuleAddressSignature},
		{"no bytes are refused", nil, InvalidSignature, RuleAddressSignature},
		{"65 zeros are refused", make([]byte, 65), InvalidSignature, RuleAddressSignature},
		{"R of the group order is refused", append(append(n.Bytes(), good[32:64]...), 27), InvalidSignature, RuleAddressSignature},
		{"S of the group order is refused", append(append(bytes.Clone(good[:32]), n.Bytes()...), 27), InvalidSignature, RuleAddressSignature},
		{"an R that is no x of the curve is refused", append(append(bytes.Repeat([]byte{0}, 31), 5), append(good[32:64:64], 27)...), InvalidSignature, RuleAddressSignature},
		{name: "S in the upper half with the same V is the same signature", sig: twin},
		{"S in the upper half with the other V is a stranger's signature", otherV, InvalidUpdate, RuleOwnerSigns},
		{"a hash without the EIP-191 prefix makes a stranger's signature", w1().signHash([32]byte(ethcrypto.Keccak256([]byte(text)))), InvalidUpdate, RuleOwnerSigns},
		{
			"a length off by one in the EIP-191 prefix makes a stranger's signature",
			w1().signHash([32]byte(ethcrypto.Keccak256(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(text)+1, text)))),
			InvalidUpdate, RuleOwnerSigns,
		},
		{
			"a padded length in the EIP-191 prefix makes a stranger's signature",
			w1().signHash([32]byte(ethcrypto.Keccak256(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%04d%s", len(text), text)))),
			InvalidUpdate, RuleOwnerSigns,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			a := create(w1(), 0)
			a.signed = addressSignature(c.sig)
			u := sign(b.id, b.now, a)
			if c.class == 0 {
				b.acceptWire(u)
				return
			}
			b.refuseWire(c.class, c.rule, u)
		})
	}
}

func TestTextsThatDifferInOneDetailAreNotSigned(t *testing.T) {
	b := newInbox(t, w1(), 0)
	acts := []act{create(w1(), 0), add(w1(), i1()), recover_(w1(), k1().id())}
	ns := uint64(1700000000999999999)
	text := textOf(b.id, ns, acts...)
	replace := func(old, new string) string {
		if strings.Count(text, old) == 0 {
			t.Fatalf("%q is not in the text", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	lines := strings.Split(text, "\n")
	swapped := append([]string(nil), lines...)
	swapped[5], swapped[6], swapped[7], swapped[8] = lines[7], lines[8], lines[5], lines[6]
	upperKey := strings.ToUpper(i1().id().Text())

	for name, wrong := range map[string]string{
		"a line end after the last line":         text + "\n",
		"CRLF line ends":                         strings.ReplaceAll(text, "\n", "\r\n"),
		"a fraction in the time":                 replace("20Z", "20.999999999Z"),
		"an offset in place of Z":                replace("20Z", "20+00:00"),
		"the time rounded up":                    replace("20Z", "21Z"),
		"an installation key with 0x":            replace("ID: "+i1().id().Text(), "ID: 0x"+i1().id().Text()),
		"an installation key in upper case":      replace("ID: "+i1().id().Text(), "ID: "+upperKey),
		"a blank line between actions":           replace("\n- Grant", "\n\n- Grant"),
		"the actions in another order":           strings.Join(swapped, "\n"),
		"a slash after the footer":               text + "/",
		"the label Passkey on the recovery line": replace("(Address: 04", "(Passkey: 04"),
		"another inbox":                          replace(b.id, InboxID(w1().id(), 1)),
	} {
		t.Run(name+" by an address is a stranger's", func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			b.refuseWire(InvalidUpdate, RuleOwnerSigns, func() *associations.IdentityUpdate {
				u := signText(wrong, b.id, ns, acts...)
				u.Actions[1].GetAdd().NewMemberSignature = i1().sign(text)
				return u
			}())
		})
		t.Run(name+" by an installation does not verify", func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			u := sign(b.id, ns, acts...)
			u.Actions[1].GetAdd().NewMemberSignature = i1().sign(wrong)
			b.refuseWire(InvalidSignature, RuleInstallationSignature, u)
		})
	}
	t.Run("the text itself is accepted from all", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.acceptWire(signText(text, b.id, ns, acts...))
	})
}

func TestExtremeTimestampsAreAccepted(t *testing.T) {
	for _, ns := range []uint64{0, 1 << 63, 1<<64 - 1} {
		newInbox(t, w1(), 0).acceptWire(sign(InboxID(w1().id(), 0), ns, create(w1(), 0)))
	}
}

func TestInstallationSignatures(t *testing.T) {
	b := newInbox(t, w1(), 0)
	acts := []act{create(w1(), 0), add(w1(), i1())}
	text := textOf(b.id, b.now, acts...)
	good := i1().sign(text).GetInstallationKey().GetBytes()
	once := sha512.Sum512([]byte(text))
	offCurve := make([]byte, 32)
	offCurve[0] = 2

	for _, c := range []struct {
		name  string
		sig   *associations.Signature
		class Class
		rule  Rule
	}{
		{name: "Ed25519ph with the context is accepted", sig: i1().sign(text)},
		{"plain Ed25519 is refused", installationSignature(ed25519.Sign(i1().key, []byte(text)), i1().public()), InvalidSignature, RuleInstallationSignature},
		{"another context is refused", i1().signIn("PUBLIC SIGNATURE CONTEXT", text), InvalidSignature, RuleInstallationSignature},
		{"an empty context is refused", i1().signIn("", text), InvalidSignature, RuleInstallationSignature},
		{"a digest of the digest is refused", i1().sign(string(once[:])), InvalidSignature, RuleInstallationSignature},
		{"63 bytes are refused", installationSignature(good[:63], i1().public()), InvalidSignature, RuleInstallationSignature},
		{"a signature of zeros is refused", installationSignature(make([]byte, 64), i1().public()), InvalidSignature, RuleInstallationSignature},
		{"another key's signature is refused", installationSignature(good, i2().public()), InvalidSignature, RuleInstallationSignature},
		{"a key of 31 bytes has no domain form", installationSignature(good, i1().public()[:31]), Malformed, RuleDecodes},
		{"a key off the curve has no domain form", installationSignature(good, offCurve), Malformed, RuleDecodes},
		{"a good signature by another installation is another party's", i2().sign(text), InvalidUpdate, RuleJoinerSigns},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			u := sign(b.id, b.now, acts...)
			u.Actions[1].GetAdd().NewMemberSignature = c.sig
			if c.class == 0 {
				b.acceptWire(u)
				return
			}
			b.refuseWire(c.class, c.rule, u)
		})
	}
}

// Half of all encodings are points. The library's own verdict cannot be asked
// for directly, but a signature made for a point with a known key must never
// meet a refusal, and the encodings of small order are points too.
func TestEveryPublicKeyIsOnTheCurve(t *testing.T) {
	for i := range 200 {
		seed := sha256.Sum256([]byte{byte(i)})
		public := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
		if !onEdwards25519([32]byte(public)) {
			t.Errorf("key %x counts as off the curve", public)
		}
	}
	on := 0
	for i := range 1000 {
		if onEdwards25519(sha256.Sum256([]byte(fmt.Sprint(i)))) {
			on++
		}
	}
	if on < 400 || on > 600 {
		t.Errorf("%d of 1000 random encodings are points, expected about half", on)
	}
	for _, y := range []byte{0, 1} { // the points of order 4 and 1
		if !onEdwards25519([32]byte{y}) {
			t.Errorf("y = %d counts as off the curve", y)
		}
	}
}

func TestPasskeySignatures(t *testing.T) {
	b := newInbox(t, k1(), 0)
	text := textOf(b.id, b.now, create(k1(), 0))
	challenge := base64.RawURLEncoding.EncodeToString([]byte(text))
	if len(text)%3 == 0 {
		t.Fatal("this text needs no padding, so it cannot show that padding is refused")
	}
	sum := sha256.Sum256([]byte(text))
	client := func(body string) *associations.Signature { return k1().assert([]byte("auth"), []byte(body)) }
	edit := func(change func(*associations.RecoverablePasskeySignature)) *associations.Signature {
		s := proto.CloneOf(k1().sign(text))
		change(s.GetPasskey())
		return s
	}
	raw := func(s *associations.RecoverablePasskeySignature) (r, sv *big.Int) {
		var rs struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(s.Signature, &rs); err != nil {
			t.Fatal(err)
		}
		return rs.R, rs.S
	}

	for _, c := range []struct {
		name  string
		sig   *associations.Signature
		class Class
		rule  Rule
	}{
		{name: "an assertion over the text is accepted", sig: k1().sign(text)},
		{name: "another type, no flags and no authenticator data are accepted", sig: k1().assert(nil, []byte(`{"type":"webauthn.create","challenge":"`+challenge+`","origin":"x"}`))},
		{name: "unknown members, even twice, are accepted", sig: client(`{"a":1,"a":[{"challenge":1}],"challenge":"` + challenge + `","origin":"x"}`)},
		{name: "white space and escapes are JSON and accepted", sig: client(" {\n\"\\u0063hallenge\" : \"" + challenge + "\" , \"origin\":\"\" } ")},
		{name: "S in the other half is accepted", sig: edit(func(s *associations.RecoverablePasskeySignature) {
			r, sv := raw(s)
			s.Signature = mustDER(t, r, sv.Sub(k1().key.Params().N, sv))
		})},
		{"a padded challenge is refused", client(`{"challenge":"` + base64.URLEncoding.EncodeToString([]byte(text)) + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"the text in hex is refused", client(`{"challenge":"` + hex.EncodeToString([]byte(text)) + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"the hash of the text is refused", client(`{"challenge":"` + base64.RawURLEncoding.EncodeToString(sum[:]) + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"no origin is refused", client(`{"challenge":"` + challenge + `"}`), InvalidSignature, RulePasskeySignature},
		{"no challenge is refused", client(`{"origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"an origin that is no string is refused", client(`{"challenge":"` + challenge + `","origin":7}`), InvalidSignature, RulePasskeySignature},
		{"an origin of null is refused", client(`{"challenge":"` + challenge + `","origin":null}`), InvalidSignature, RulePasskeySignature},
		{"an origin that is broken UTF-8 is refused", client(`{"challenge":"` + challenge + "\",\"origin\":\"\xff\"}"), InvalidSignature, RulePasskeySignature},
		{"two challenges are refused", client(`{"challenge":"x","challenge":"` + challenge + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"two origins are refused", client(`{"origin":"x","challenge":"` + challenge + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"a Challenge in another letter case is refused", client(`{"Challenge":"` + challenge + `","origin":"x"}`), InvalidSignature, RulePasskeySignature},
		{"trailing data is refused", client(`{"challenge":"` + challenge + `","origin":"x"}{}`), InvalidSignature, RulePasskeySignature},
		{"an unfinished object is refused", client(`{"challenge":"` + challenge + `","origin":"x"`), InvalidSignature, RulePasskeySignature},
		{"an array is refused", client(`["` + challenge + `","x"]`), InvalidSignature, RulePasskeySignature},
		{"no JSON at all is refused", client(``), InvalidSignature, RulePasskeySignature},
		{"client data changed after signing is refused", edit(func(s *associations.RecoverablePasskeySignature) {
			s.ClientDataJson = append(s.ClientDataJson, ' ')
		}), InvalidSignature, RulePasskeySignature},
		{"authenticator data changed after signing is refused", edit(func(s *associations.RecoverablePasskeySignature) {
			s.AuthenticatorData = append(s.AuthenticatorData, 0)
		}), InvalidSignature, RulePasskeySignature},
		{"64 raw bytes in place of DER are refused", edit(func(s *associations.RecoverablePasskeySignature) {
			r, sv := raw(s)
			s.Signature = append(r.FillBytes(make([]byte, 32)), sv.FillBytes(make([]byte, 32))...)
		}), InvalidSignature, RulePasskeySignature},
		{"a byte after the DER is refused", edit(func(s *associations.RecoverablePasskeySignature) {
			s.Signature = append(s.Signature, 0)
		}), InvalidSignature, RulePasskeySignature},
		{"a key off the curve is refused", edit(func(s *associations.RecoverablePasskeySignature) {
			s.PublicKey = append(bytes.Clone(s.PublicKey[:64]), s.PublicKey[64]^1)
		}), InvalidSignature, RulePasskeySignature},
		{"a compressed key off the curve is refused", edit(func(s *associations.RecoverablePasskeySignature) {
			s.PublicKey = append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...)
		}), InvalidSignature, RulePasskeySignature},
		{"no key is refused", edit(func(s *associations.RecoverablePasskeySignature) { s.PublicKey = nil }), InvalidSignature, RulePasskeySignature},
		{"the compressed encoding of the same key is another party", passkey{k1().key, true}.sign(text), InvalidUpdate, RuleOwnerSigns},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newInbox(t, k1(), 0)
			a := create(k1(), 0)
			a.signed = c.sig
			u := sign(b.id, b.now, a)
			if c.class == 0 {
				b.acceptWire(u)
				return
			}
			b.refuseWire(c.class, c.rule, u)
		})
	}
}

func mustDER(t *testing.T, r, s *big.Int) []byte {
	t.Helper()
	der, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestDelegatedSignatures(t *testing.T) {
	d := delegated{w1(), newWallet(0x99)}
	b := newInbox(t, w1(), 0)
	text := textOf(b.id, b.now, create(d, 0))
	edit := func(change func(*associations.LegacyDelegatedSignature)) *associations.Signature {
		s := proto.CloneOf(d.sign(text))
		change(s.GetDelegatedErc_191())
		return s
	}
	for _, c := range []struct {
		name  string
		sig   *associations.Signature
		class Class
		rule  Rule
	}{
		{name: "a vouched key that signs the text is accepted", sig: d.sign(text)},
		{"a key that signed another text is refused", d.sign(text + "."), InvalidSignature, RuleDelegatedSignature},
		{"a signature by the wallet itself is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			s.Signature.Bytes = w1().signHash(personalHash(text))
		}), InvalidSignature, RuleDelegatedSignature},
		{"a short signature by the key is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			s.Signature.Bytes = s.Signature.Bytes[:64]
		}), InvalidSignature, RuleDelegatedSignature},
		{"a key that does not parse is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			s.DelegatedKey.KeyBytes = []byte{0xff}
		}), InvalidSignature, RuleDelegatedSignature},
		{"a key without a point is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			s.DelegatedKey.KeyBytes = nil
		}), InvalidSignature, RuleDelegatedSignature},
		{"a voucher without an arm is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			s.DelegatedKey.Signature.Union = nil
		}), InvalidSignature, RuleDelegatedSignature},
		{"a short voucher is refused", edit(func(s *associations.LegacyDelegatedSignature) {
			w := s.DelegatedKey.Signature.GetWalletEcdsaCompact()
			w.Bytes = w.Bytes[:63]
		}), InvalidSignature, RuleDelegatedSignature},
		{"a voucher by another wallet is another party's", delegated{w2(), d.delegate}.sign(text), InvalidUpdate, RuleOwnerSigns},
		{"a missing key has no domain form", edit(func(s *associations.LegacyDelegatedSignature) { s.DelegatedKey = nil }), Malformed, RuleDecodes},
		{"a missing signature has no domain form", edit(func(s *associations.LegacyDelegatedSignature) { s.Signature = nil }), Malformed, RuleDecodes},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			a := create(w1(), 0)
			a.signed = c.sig
			u := sign(b.id, b.now, a)
			if c.class == 0 {
				b.acceptWire(u)
				return
			}
			b.refuseWire(c.class, c.rule, u)
		})
	}
}

func TestAccountIDs(t *testing.T) {
	address := addressW1
	for _, c := range []struct {
		name, text, chain string
		number            uint64
		numbered          bool
	}{
		{"an Ethereum chain", "eip155:1:" + address, "eip155:1", 1, true},
		{"a checksummed address", "eip155:1337:0x" + strings.ToUpper(address[2:]), "eip155:1337", 1337, true},
		{"another namespace", "cosmos:cosmoshub-4:abc", "cosmos:cosmoshub-4", 0, false},
		{"a padded reference", "eip155:01:" + address, "eip155:01", 1, true},
		{"a reference that is no number", "eip155:0x1:" + address, "eip155:0x1", 0, false},
		{"a reference beyond 64 bits", "eip155:18446744073709551616:" + address, "eip155:18446744073709551616", 0, false},
		{"the longest parts", "abcdefgh:" + strings.Repeat("_", 32) + ":" + strings.Repeat("%", 128), "abcdefgh:" + strings.Repeat("_", 32), 0, false},
	} {
		t.Run(c.name+" parses", func(t *testing.T) {
			account, err := ParseAccountID(c.text)
			if err != nil {
				t.Fatal(err)
			}
			number, ok := account.ChainNumber()
			if account.Chain != c.chain || account.String() != c.text || number != c.number || ok != c.numbered {
				t.Errorf("got %+v with number %d (%v)", account, number, ok)
			}
		})
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"two parts":             "eip155:" + address,
		"four parts":            "eip155:1:1:" + address,
		"a slash":               "eip/155:1:" + address,
		"an upper-case scheme":  "EIP155:1:" + address,
		"a short namespace":     "ab:1:" + address,
		"a long namespace":      "abcdefghi:1:" + address,
		"an empty reference":    "eip155::" + address,
		"a plus sign":           "eip155:+1:" + address,
		"a long reference":      "eip155:" + strings.Repeat("1", 33) + ":" + address,
		"an empty address":      "eip155:1:",
		"a long address":        "eip155:1:" + strings.Repeat("a", 129),
		"a space":               "eip155:1:0x ",
		"a line end at the end": "eip155:1:" + address + "\n",
		"a letter beyond ASCII": "eip155:1:ä",
	} {
		t.Run(name+" does not parse", func(t *testing.T) {
			if account, err := ParseAccountID(text); err == nil {
				t.Errorf("got %+v", account)
			}
		})
	}
}

// derTwin turns R, S into R, n-S of P-256.
func derTwin(t *testing.T, der []byte) []byte {
	t.Helper()
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &rs); err != nil {
		t.Fatal(err)
	}
	return mustDER(t, rs.R, rs.S.Sub(k1().key.Params().N, rs.S))
}
