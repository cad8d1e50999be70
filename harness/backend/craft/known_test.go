package craft_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
	"assay/spec/gen/xmtp/identity/associations"
)

// The known answers come from fixed keys, each secret one byte 32 times over, and
// were made by other programs than this one.
var (
	knownW1 = backend.Party{Kind: backend.Wallet, Name: "w1"}
	knownW2 = backend.Party{Kind: backend.Wallet, Name: "w2"}
	knownI1 = backend.Party{Kind: backend.Installation, Name: "i1"}
	knownK  = backend.Party{Kind: backend.Passkey, Name: "k"}
)

const (
	addressW1 = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
	addressW2 = "0x1563915e194d8cfba1943570603f7606a3115508"
	inboxA    = "1b814a0b4a7d3871d695ac17439012c3809f3bdcb4d4ea8726a5b3a8df569893"
	publicI1  = "17cb79fb2b4120f2b1ec65e4198d6e08b28e813feb01e4a400839b85e18080ce"
	publicK   = "045b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d0e14bed8d4682a34d83538bdff5b96e89a6666ec0db5745d02fa1210072df75a"
	inboxK    = "3ee8eb9622a89408d8828e76f4655dac7bd1301bdf48de7b6a4f395e59b00dfa"
)

func known(t *testing.T) *craft.Crafter {
	t.Helper()
	c := craft.New(1, "n", "s")
	for p, b := range map[backend.Party]byte{knownW1: 0x11, knownW2: 0x22, knownI1: 0x33, knownK: 0x44} {
		if err := c.SetSecret(p, [32]byte(bytes.Repeat([]byte{b}, 32))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func knownUpdate(t *testing.T, u backend.IdentityUpdate) *associations.IdentityUpdate {
	t.Helper()
	wire, _, err := known(t).Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u})
	if err != nil {
		t.Fatal(err)
	}
	var e backendv1.ClientEnvelope
	if err := proto.Unmarshal(wire, &e); err != nil {
		t.Fatal(err)
	}
	return e.GetIdentityUpdate()
}

func TestPartiesOfKnownSecretsHaveTheKnownIdentifiers(t *testing.T) {
	c := known(t)
	for p, want := range map[backend.Party]string{knownW1: addressW1, knownW2: addressW2, knownI1: publicI1, knownK: publicK} {
		if got := c.Identifier(p); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
	if got, want := c.CompressedHex(knownK), "02"+publicK[2:66]; got != want {
		t.Errorf("%s compressed is %s, want %s", knownK, got, want)
	}
}

func TestInboxIDsAreTheKnownOnes(t *testing.T) {
	for _, c := range []struct {
		identifier string
		nonce      uint64
		want       string
	}{
		{"0x1234567890abcdef1234567890abcdef12345678", 0, "fcd18d86276d7a99fe522dba9660c420f03c8648785ada7c5daae232a3df77a9"},
		{addressW1, 0, inboxA},
		{addressW1, 1, "45915bad9a857a62ceed43a7573d3eef87966c96961128c520dc1c5d6fa5d38b"},
		{addressW1, 10, "92d9f585cb972754576c4d3db3d76bb04b0d0af79b2559b2d744a2a821c418d2"},
		{addressW1, math.MaxUint64, "55285f3084bd6151dd83917412421365d45056691b257fafaeed1b8d5ecb850b"},
		{publicK, 0, inboxK},
	} {
		if got := craft.InboxID(c.identifier, c.nonce); got != c.want {
			t.Errorf("%s with nonce %d: %s, want %s", c.identifier, c.nonce, got, c.want)
		}
	}
}

func TestSignedTextsAreTheKnownOnes(t *testing.T) {
	const wallet, installation, passkey = backend.Wallet, backend.Installation, backend.Passkey
	const create, add, revoke, recovery = backend.CreateInbox, backend.AddAssociation, backend.RevokeAssociation, backend.ChangeRecovery
	for _, c := range []struct {
		name, text     string
		length         int
		sha256, eip191 string
	}{
		{"example A, an inbox and its first installation",
			craft.SignedText(inboxA, 1700000000, 123456789, "", craft.Named(create, wallet, addressW1), craft.Named(add, installation, publicI1)),
			358, "c96e1e5eeff77c6b9fe14e3a01f5ef08a9d31be3f872ff23e0130822ac65df43", "5263706fb94dfe3fbdebb5e7971a5d478a448dbf7ca006f57e0a1bb1cb5d1539"},
		{"example B, a second address",
			craft.SignedText(inboxA, 1712750400, 0, "", craft.Named(add, wallet, addressW2)),
			264, "", "e9a99a9a3bb40784eb4a81b2bc8e35ee9a3b0887ec659affad5326fd0f8ede92"},
		{"example C, a revocation and a change of recovery",
			craft.SignedText(inboxA, 1712750401, 0, "", craft.Named(revoke, wallet, addressW2), craft.Named(recovery, wallet, addressW2)),
			356, "", "c092fc099867600beb0e821ab41e6315eca05c922249b597994219de07228ee9"},
		{"example D, an inbox of a passkey",
			craft.SignedText(inboxK, 1700000000, 123456789, "", craft.Named(create, passkey, publicK)),
			341, "8f47cf8002effa3e5a262239b6f953acf8ffc2b1d119a132e83a861aff514bea", ""},
		{"example F, six actions",
			craft.SignedText("fcd18d86276d7a99fe522dba9660c420f03c8648785ada7c5daae232a3df77a9", 0, 12, "",
				craft.Named(create, wallet, "0x1234567890abcdef1234567890abcdef12345678"),
				craft.Named(add, wallet, "0x4567890abcdef1234567890abcdef12345678123"),
				craft.Named(add, installation, "010203"),
				craft.Named(revoke, wallet, "0x4567890abcdef1234567890abcdef12345678123"),
				craft.Named(revoke, installation, "010203"),
				craft.Named(recovery, wallet, "0x7890abcdef1234567890abcdef12345678123456")),
			602, "4ed17618a43bb361b910a6da12ebc9f0b9f3582a10af3196f3c47bc9a3204942", ""},
		{"example F, the phrases of passkeys",
			craft.SignedText(inboxA, 1712750402, 0, "", craft.Named(add, passkey, publicK), craft.Named(revoke, passkey, publicK), craft.Named(recovery, passkey, publicK)),
			700, "196c45b0c1b4869e43c5b4cb73094a168c07ddfdc4efbe43b592557ac04a6a57", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.text) != c.length {
				t.Errorf("%d bytes, want %d:\n%s", len(c.text), c.length, c.text)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256([]byte(c.text))); c.sha256 != "" && got != c.sha256 {
				t.Errorf("SHA-256 %s, want %s:\n%s", got, c.sha256, c.text)
			}
			if got := hex.EncodeToString(craft.PersonalHash(c.text)); c.eip191 != "" && got != c.eip191 {
				t.Errorf("EIP-191 hash %s, want %s", got, c.eip191)
			}
		})
	}
}

func TestTimesInTheTextAreTheKnownOnes(t *testing.T) {
	for _, c := range []struct {
		second int64
		ns     uint32
		field  uint64
		want   string
	}{
		{0, 0, 0, "1970-01-01T00:00:00Z"},
		{0, 12, 12, "1970-01-01T00:00:00Z"},
		{1700000000, 123456789, 1700000000123456789, "2023-11-14T22:13:20Z"},
		{1700000000, 999999999, 1700000000999999999, "2023-11-14T22:13:20Z"},
		{9223372036, 854775807, math.MaxInt64, "2262-04-11T23:47:16Z"},
		{-9223372037, 145224192, 1 << 63, "1677-09-21T00:12:43Z"},
		{-1, 999999999, math.MaxUint64, "1969-12-31T23:59:59Z"},
		{-1, 0, math.MaxUint64 - 999999999, "1969-12-31T23:59:59Z"},
	} {
		text := craft.SignedText(inboxA, c.second, c.ns, "", craft.Named(backend.CreateInbox, backend.Wallet, addressW1))
		if !strings.Contains(text, "\nCurrent time: "+c.want+"\n") {
			t.Errorf("second %d and nanosecond %d in\n%s\nwant %s", c.second, c.ns, text, c.want)
		}
		u := knownUpdate(t, backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: knownW1}, Second: c.second, Nanosecond: c.ns,
			Actions: []backend.Action{{Kind: backend.CreateInbox, Subject: knownW1}}})
		if u.GetClientTimestampNs() != c.field {
			t.Errorf("second %d and nanosecond %d make field %d, want %d", c.second, c.ns, u.GetClientTimestampNs(), c.field)
		}
	}
}

func TestExampleAIsMadeByteForByte(t *testing.T) {
	u := backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: knownW1}, Second: 1700000000, Nanosecond: 123456789, Actions: []backend.Action{
		{Kind: backend.CreateInbox, Subject: knownW1},
		{Kind: backend.AddAssociation, Subject: knownI1, By: backend.Signing{Party: knownW1}},
	}}
	wire, a, err := known(t).Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%x", sha256.Sum256(wire)), "a782388c82e738a39de4e61a2686e44cf7dceba78a5e5dd337d129b0b32e6813"; got != want || len(wire) != 417 {
		t.Errorf("envelope of %d bytes with SHA-256 %s, want 417 and %s", len(wire), got, want)
	}
	if got, want := fmt.Sprintf("%x", sha256.Sum256(wire[3:])), "f7d170f2ec7b4e30b0f894314a0a00df867002bd3012acdbecdc794c3e494cb7"; got != want {
		t.Errorf("update with SHA-256 %s, want %s", got, want)
	}
	if topic := backend.Bytes("\x02" + string(unhex(t, inboxA))); a.Topic != topic || known(t).Topic(u.Inbox.Log()) != topic {
		t.Errorf("topic %s, and %s by name, want %s", a.Topic, known(t).Topic(u.Inbox.Log()), topic)
	}
	for _, c := range []struct {
		what string
		s    backend.Signing
		want string
	}{
		{"W1's signature", backend.Signing{}, "f21a76954677b38fbeaa620706feae0ea4f465467889b888b098d3eb112f8bf508e2ab720da79520b2580689c4a9905dbbe6273e15748dedb39a0783977fda9f1b"},
		{"its twin", backend.Signing{Variant: backend.HighS}, "f21a76954677b38fbeaa620706feae0ea4f465467889b888b098d3eb112f8bf5f71d548df2586adf4da7f9763b566fa0fec8b5a899d4124e0c38570938b666a21c"},
		{"I1's signature", backend.Signing{Party: knownI1}, "d5a15c2b89d3f429f3958068c13e6de4b359381ff0a342424d4ac4a41ae1fdbe85189bc87745e6cf2f4501e5db4f60b961dec7daf949ba3a77001ba14c1dd709"},
		{"a plain one of I1", backend.Signing{Party: knownI1, Flaw: backend.PlainEd25519}, "84fc574dc9fe8451fdc700040806155c4999184c39929afe8c1a0b77470a38b6044e53c3c17efdf87bba16ecb055a380a4cd61dc28c57f887075e2e826824a0c"},
	} {
		u := u
		u.Actions = append([]backend.Action(nil), u.Actions...)
		u.Actions[0].By = c.s
		got := knownUpdate(t, u).GetActions()[0].GetCreateInbox().GetInitialIdentifierSignature()
		b := append(got.GetErc_191().GetBytes(), got.GetInstallationKey().GetBytes()...)
		if hex.EncodeToString(b) != c.want {
			t.Errorf("%s is %x, want %s", c.what, b, c.want)
		}
	}
}

func TestExamplesBAndCAreSignedAsKnown(t *testing.T) {
	inbox := backend.InboxRef{Creator: knownW1}
	b := knownUpdate(t, backend.IdentityUpdate{Inbox: inbox, Second: 1712750400, Actions: []backend.Action{
		{Kind: backend.AddAssociation, Subject: knownW2, By: backend.Signing{Party: knownW1}},
	}}).GetActions()[0].GetAdd()
	c := knownUpdate(t, backend.IdentityUpdate{Inbox: inbox, Second: 1712750401, Actions: []backend.Action{
		{Kind: backend.RevokeAssociation, Subject: knownW2, By: backend.Signing{Party: knownW1}},
		{Kind: backend.ChangeRecovery, Subject: knownW2, By: backend.Signing{Party: knownW1}},
	}}).GetActions()
	const byW1 = "a99b33ad7a0f41835570b78f90988958bfa72d8d380b292ba7623c8b0f4a79f46b712122f37afbe2e2715edcef4a1a2e0bb748f0970840e4f1a565625c3163e11c"
	for _, x := range []struct {
		what string
		got  *associations.Signature
		want string
	}{
		{"existing member", b.GetExistingMemberSignature(), "6fcc70bbd41534df4f98e412005be4e76bed84ec9faaf4d9e7a6bfd4f18dff180a536923a6dfa9e36ad8c0014c8809507cc19e9ffa2dc890bad7d192620560ff1b"},
		{"new member", b.GetNewMemberSignature(), "da8de3dfdf2e25e6bb778723c10d1e655a78964cdab37f069b72c27ad210e4ab3e83795653a511b20a81215b2378afaa0e423214985796872f0e06a441c6e34d1b"},
		{"revoker", c[0].GetRevoke().GetRecoveryIdentifierSignature(), byW1},
		{"former recovery identifier", c[1].GetChangeRecoveryAddress().GetExistingRecoveryIdentifierSignature(), byW1},
	} {
		if got := hex.EncodeToString(x.got.GetErc_191().GetBytes()); got != x.want {
			t.Errorf("%s: %s, want %s", x.what, got, x.want)
		}
	}
}

func TestExampleDHasTheKnownClientDataAndAuthenticatorData(t *testing.T) {
	u := knownUpdate(t, backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: knownK}, Second: 1700000000, Nanosecond: 123456789,
		Actions: []backend.Action{{Kind: backend.CreateInbox, Subject: knownK}}})
	s := u.GetActions()[0].GetCreateInbox().GetInitialIdentifierSignature().GetPasskey()
	if got, want := fmt.Sprintf("%x", sha256.Sum256(s.GetClientDataJson())), "0678059714979aac6cdb7adc2a76f3d2b0308c0d7e6193f74d4b26c099a20982"; got != want {
		t.Errorf("client data with SHA-256 %s, want %s: %s", got, want, s.GetClientDataJson())
	}
	if got, want := hex.EncodeToString(s.GetAuthenticatorData()), "6c405b6995b37aa1b69cff631edb4c7d589997dc9833e8f93337f40b9aea0a760500000000"; got != want {
		t.Errorf("authenticator data %s, want %s", got, want)
	}
	if got := hex.EncodeToString(s.GetPublicKey()); got != publicK {
		t.Errorf("public key %s, want %s", got, publicK)
	}
	if got := u.GetActions()[0].GetCreateInbox(); got.GetInitialIdentifier() != publicK || got.GetInitialIdentifierKind() != associations.IdentifierKind_IDENTIFIER_KIND_PASSKEY {
		t.Errorf("created by %s of kind %d", got.GetInitialIdentifier(), got.GetInitialIdentifierKind())
	}
}

func TestTheHashUnderExampleAsInstallationSignature(t *testing.T) {
	text := craft.SignedText(inboxA, 1700000000, 123456789, "", craft.Named(backend.CreateInbox, backend.Wallet, addressW1), craft.Named(backend.AddAssociation, backend.Installation, publicI1))
	if got, want := fmt.Sprintf("%x", sha512.Sum512([]byte(text))), "027683be51267afbbfc013595ad465cb1b17e120597ff7dfb5358bf8fddf12c2330a63d294f0ff5e998978f5f0f5ebcc21de45b8a93aab4407dc71e85654ea36"; got != want {
		t.Errorf("SHA-512 of the text %s, want %s", got, want)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
