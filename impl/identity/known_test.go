package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/messagecontents"
)

// The known answers were made from fixed keys outside this package.
const (
	addressW1 = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
	addressW2 = "0x1563915e194d8cfba1943570603f7606a3115508"
	inboxA    = "1b814a0b4a7d3871d695ac17439012c3809f3bdcb4d4ea8726a5b3a8df569893"
	publicI1  = "17cb79fb2b4120f2b1ec65e4198d6e08b28e813feb01e4a400839b85e18080ce"
	publicK   = "045b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d0e14bed8d4682a34d83538bdff5b96e89a6666ec0db5745d02fa1210072df75a"

	signatureA = "f21a76954677b38fbeaa620706feae0ea4f465467889b888b098d3eb112f8bf508e2ab720da79520b2580689c4a9905dbbe6273e15748dedb39a0783977fda9f1b"
	updateA    = "0a770a750a2a3078313965376533373665376332313362376537653765343663633730613564643038366461666632611a450a430a41" + signatureA +
		"20010ad60112d3010a22122017cb79fb2b4120f2b1ec65e4198d6e08b28e813feb01e4a400839b85e18080ce12450a430a41" + signatureA +
		"1a661a640a40d5a15c2b89d3f429f3958068c13e6de4b359381ff0a342424d4ac4a41ae1fdbe85189bc87745e6cf2f4501e5db4f60b961dec7daf949ba3a77001ba14c1dd709122017cb79fb2b4120f2b1ec65e4198d6e08b28e813feb01e4a400839b85e18080ce" +
		"10959a97ece39fe7cb171a4031623831346130623461376433383731643639356163313734333930313263333830396633626463623464346561383732366135623361386466353639383933"
)

func TestInboxIDsOfTheKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		owner Identifier
		nonce uint64
		want  string
	}{
		{EthereumAddress("0x1234567890abcdef1234567890abcdef12345678"), 0, "fcd18d86276d7a99fe522dba9660c420f03c8648785ada7c5daae232a3df77a9"},
		{EthereumAddress(addressW1), 0, inboxA},
		{EthereumAddress(addressW1), 1, "45915bad9a857a62ceed43a7573d3eef87966c96961128c520dc1c5d6fa5d38b"},
		{EthereumAddress(addressW1), 10, "92d9f585cb972754576c4d3db3d76bb04b0d0af79b2559b2d744a2a821c418d2"},
		{EthereumAddress(addressW1), 18446744073709551615, "55285f3084bd6151dd83917412421365d45056691b257fafaeed1b8d5ecb850b"},
		{PasskeyKey(unhex(publicK)), 0, "3ee8eb9622a89408d8828e76f4655dac7bd1301bdf48de7b6a4f395e59b00dfa"},
	} {
		t.Run(fmt.Sprintf("%v with nonce %d", c.owner, c.nonce), func(t *testing.T) {
			if got := InboxID(c.owner, c.nonce); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheTestKeysAreThoseOfTheKnownAnswers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{w1().id().Text(), addressW1},
		{w2().id().Text(), addressW2},
		{i1().id().Text(), publicI1},
		{k1().id().Text(), publicK},
		{passkey{k1().key, true}.id().Text(), "02" + publicK[2:66]},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestSignedTextsOfTheKnownAnswers(t *testing.T) {
	address := func(text string) Identifier { return EthereumAddress(text) }
	w2 := address(addressW2)
	k := PasskeyKey(unhex(publicK))
	for _, c := range []struct {
		name   string
		update Update
		length int
		sha256 string // either of the two hashes, whichever is known
		eip191 string
	}{
		{
			name: "an inbox and its first installation",
			update: Update{inboxA, 1700000000123456789, []Action{
				{Verb: Create, Subject: address(addressW1)},
				{Verb: Add, Subject: InstallationKey(unhex(publicI1))},
			}},
			length: 358,
			sha256: "c96e1e5eeff77c6b9fe14e3a01f5ef08a9d31be3f872ff23e0130822ac65df43",
			eip191: "5263706fb94dfe3fbdebb5e7971a5d478a448dbf7ca006f57e0a1bb1cb5d1539",
		},
		{
			name:   "a second address",
			update: Update{inboxA, 1712750400000000000, []Action{{Verb: Add, Subject: w2}}},
			length: 264,
			eip191: "e9a99a9a3bb40784eb4a81b2bc8e35ee9a3b0887ec659affad5326fd0f8ede92",
		},
		{
			name:   "a revocation and a change of recovery",
			update: Update{inboxA, 1712750401000000000, []Action{{Verb: Revoke, Subject: w2}, {Verb: ChangeRecovery, Subject: w2}}},
			length: 356,
			eip191: "c092fc099867600beb0e821ab41e6315eca05c922249b597994219de07228ee9",
		},
		{
			name:   "an inbox of a passkey",
			update: Update{"3ee8eb9622a89408d8828e76f4655dac7bd1301bdf48de7b6a4f395e59b00dfa", 1700000000123456789, []Action{{Verb: Create, Subject: k}}},
			length: 341,
			sha256: "8f47cf8002effa3e5a262239b6f953acf8ffc2b1d119a132e83a861aff514bea",
		},
		{
			name: "six actions, every phrase but the passkey's",
			update: Update{"fcd18d86276d7a99fe522dba9660c420f03c8648785ada7c5daae232a3df77a9", 12, []Action{
				{Verb: Create, Subject: address("0x1234567890abcdef1234567890abcdef12345678")},
				{Verb: Add, Subject: address("0x4567890abcdef1234567890abcdef12345678123")},
				{Verb: Add, Subject: InstallationKey([]byte{1, 2, 3})},
				{Verb: Revoke, Subject: address("0x4567890abcdef1234567890abcdef12345678123")},
				{Verb: Revoke, Subject: InstallationKey([]byte{1, 2, 3})},
				{Verb: ChangeRecovery, Subject: address("0x7890abcdef1234567890abcdef12345678123456")},
			}},
			length: 602,
			sha256: "4ed17618a43bb361b910a6da12ebc9f0b9f3582a10af3196f3c47bc9a3204942",
		},
		{
			name:   "the passkey's phrases",
			update: Update{inboxA, 1712750402000000000, []Action{{Verb: Add, Subject: k}, {Verb: Revoke, Subject: k}, {Verb: ChangeRecovery, Subject: k}}},
			length: 700,
			sha256: "196c45b0c1b4869e43c5b4cb73094a168c07ddfdc4efbe43b592557ac04a6a57",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := Text(c.update)
			if len(text) != c.length {
				t.Errorf("the text has %d bytes, want %d:\n%s", len(text), c.length, text)
			}
			if sum := sha256.Sum256([]byte(text)); c.sha256 != "" && hex.EncodeToString(sum[:]) != c.sha256 {
				t.Errorf("SHA-256 is %x, want %s, of the text\n%s", sum, c.sha256, text)
			}
			if hash := personalHash(text); c.eip191 != "" && hex.EncodeToString(hash[:]) != c.eip191 {
				t.Errorf("EIP-191 hash is %x, want %s, of the text\n%s", hash, c.eip191, text)
			}
		})
	}
}

func TestTimestampsAreSignedInWholeSecondsOfASignedNumber(t *testing.T) {
	for _, c := range []struct {
		ns   uint64
		want string
	}{
		{0, "1970-01-01T00:00:00Z"},
		{1, "1970-01-01T00:00:00Z"},
		{12, "1970-01-01T00:00:00Z"},
		{1700000000123456789, "2023-11-14T22:13:20Z"},
		{1700000000999999999, "2023-11-14T22:13:20Z"},
		{1712750400000000000, "2024-04-10T12:00:00Z"},
		{9223372036854775807, "2262-04-11T23:47:16Z"},
		{9223372036854775808, "1677-09-21T00:12:43Z"},
		{18446744072709551616, "1969-12-31T23:59:59Z"},
		{18446744073709551615, "1969-12-31T23:59:59Z"},
	} {
		if got := textTime(c.ns); got != c.want {
			t.Errorf("%d ns: got %s, want %s", c.ns, got, c.want)
		}
	}
}

func TestTheKnownUpdateIsMadeAndAcceptedByteForByte(t *testing.T) {
	made := sign(inboxA, 1700000000123456789, create(w1(), 0), add(w1(), i1()))
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(encoded); got != updateA {
		t.Errorf("made\n%s\nwant\n%s", got, updateA)
	}
	if sum := sha256.Sum256(unhex(updateA)); hex.EncodeToString(sum[:]) != "f7d170f2ec7b4e30b0f894314a0a00df867002bd3012acdbecdc794c3e494cb7" {
		t.Errorf("the known update has another hash: %x", sum)
	}
	var wire associations.IdentityUpdate
	if err := proto.Unmarshal(unhex(updateA), &wire); err != nil {
		t.Fatal(err)
	}
	b := newInbox(t, w1(), 0)
	change := b.acceptWire(&wire)
	if len(change.Added) != 1 || change.Added[0] != (LookupKey{Ethereum, addressW1}) || len(change.Removed) != 0 || change.InboxID != inboxA {
		t.Errorf("the change is %+v, want only %s added to %s", change, addressW1, inboxA)
	}

	second := sign(inboxA, 1712750400000000000, add(w1(), w2()))
	const (
		existing = "6fcc70bbd41534df4f98e412005be4e76bed84ec9faaf4d9e7a6bfd4f18dff180a536923a6dfa9e36ad8c0014c8809507cc19e9ffa2dc890bad7d192620560ff1b"
		joining  = "da8de3dfdf2e25e6bb778723c10d1e655a78964cdab37f069b72c27ad210e4ab3e83795653a511b20a81215b2378afaa0e423214985796872f0e06a441c6e34d1b"
	)
	if got := hex.EncodeToString(second.Actions[0].GetAdd().GetExistingMemberSignature().GetErc_191().GetBytes()); got != existing {
		t.Errorf("existing member's signature is %s, want %s", got, existing)
	}
	if got := hex.EncodeToString(second.Actions[0].GetAdd().GetNewMemberSignature().GetErc_191().GetBytes()); got != joining {
		t.Errorf("new member's signature is %s, want %s", got, joining)
	}
	if change := b.acceptWire(second); len(change.Added) != 1 || change.Added[0] != (LookupKey{Ethereum, addressW2}) {
		t.Errorf("the change is %+v, want only %s added", change, addressW2)
	}

	const both = "a99b33ad7a0f41835570b78f90988958bfa72d8d380b292ba7623c8b0f4a79f46b712122f37afbe2e2715edcef4a1a2e0bb748f0970840e4f1a565625c3163e11c"
	third := sign(inboxA, 1712750401000000000, revoke(w1(), w2().id()), recover_(w1(), w2().id()))
	if got := hex.EncodeToString(third.Actions[1].GetChangeRecoveryAddress().GetExistingRecoveryIdentifierSignature().GetErc_191().GetBytes()); got != both {
		t.Errorf("the signature is %s, want %s", got, both)
	}
	if change := b.acceptWire(third); len(change.Removed) != 1 || change.Removed[0] != (LookupKey{Ethereum, addressW2}) || len(change.Added) != 0 {
		t.Errorf("the change is %+v, want only %s removed", change, addressW2)
	}
}

func TestKnownInstallationSignatures(t *testing.T) {
	text := Text(Update{inboxA, 1700000000123456789, []Action{
		{Verb: Create, Subject: w1().id()},
		{Verb: Add, Subject: i1().id()},
	}})
	if sum := sha512.Sum512([]byte(text)); hex.EncodeToString(sum[:]) != "027683be51267afbbfc013595ad465cb1b17e120597ff7dfb5358bf8fddf12c2330a63d294f0ff5e998978f5f0f5ebcc21de45b8a93aab4407dc71e85654ea36" {
		t.Errorf("SHA-512 of the text is %x", sum)
	}
	for _, c := range []struct {
		name, signature string
		good            bool
	}{
		{"Ed25519ph with the context is good", "d5a15c2b89d3f429f3958068c13e6de4b359381ff0a342424d4ac4a41ae1fdbe85189bc87745e6cf2f4501e5db4f60b961dec7daf949ba3a77001ba14c1dd709", true},
		{"plain Ed25519 over the text is bad", "84fc574dc9fe8451fdc700040806155c4999184c39929afe8c1a0b77470a38b6044e53c3c17efdf87bba16ecb055a380a4cd61dc28c57f887075e2e826824a0c", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if plain := ed25519.Sign(i1().key, []byte(text)); !c.good && !bytes.Equal(plain, unhex(c.signature)) {
				t.Errorf("the known plain signature is not over this text")
			}
			_, err := InstallationSignature{unhex(c.signature), [32]byte(i1().public())}.verify(t.Context(), newMessage(text), nil)
			if (err == nil) != c.good {
				t.Errorf("verification says %v", err)
			}
		})
	}
}

func TestKnownPasskeyAssertionCreatesAnInbox(t *testing.T) {
	const inboxK = "3ee8eb9622a89408d8828e76f4655dac7bd1301bdf48de7b6a4f395e59b00dfa"
	action := Action{Verb: Create, Subject: k1().id()}
	text := Text(Update{inboxK, 1700000000123456789, []Action{action}})
	clientData := []byte(`{"type":"webauthn.get","challenge":"` + base64.RawURLEncoding.EncodeToString([]byte(text)) + `","origin":"https://xmtp.chat","crossOrigin":false}`)
	if sum := sha256.Sum256(clientData); hex.EncodeToString(sum[:]) != "0678059714979aac6cdb7adc2a76f3d2b0308c0d7e6193f74d4b26c099a20982" {
		t.Fatalf("the client data has another hash: %x", sum)
	}
	b := newInbox(t, k1(), 0)
	change := b.acceptWire(&associations.IdentityUpdate{InboxId: inboxK, ClientTimestampNs: 1700000000123456789, Actions: []*associations.IdentityAction{
		encode(action, &associations.Signature{Signature: &associations.Signature_Passkey{Passkey: &associations.RecoverablePasskeySignature{
			PublicKey: unhex(publicK),
			// S is in the upper half, which is accepted.
			Signature:         unhex("3045022016830864d0797077df1df14e6592496fddd0d8c3a7e52457e9b0f34250a72aa70221009e8dada624d4bd8ab13aef90b466a2b010a6dcd62bc52403b8f837b07343e7c8"),
			AuthenticatorData: unhex("6c405b6995b37aa1b69cff631edb4c7d589997dc9833e8f93337f40b9aea0a760500000000"),
			ClientDataJson:    clientData,
		}}}, nil),
	}})
	if len(change.Added) != 1 || change.Added[0] != (LookupKey{Passkey, publicK}) {
		t.Errorf("the change is %+v, want only the passkey added", change)
	}
}

func TestKnownLegacyKeyBelongsToItsWallet(t *testing.T) {
	var key messagecontents.SignedPublicKey
	if err := proto.Unmarshal(unhex("0a4f08c0c3a5aecb99e7d5171a430a4104d854aefcc6e1dba8efa63ee9ce6c359b5784082b5b245b515dd543f145051ff9ba817790042c364cb95f3d17e74807a91246714fad520d2592c92baeb4217d2b124612440a40078864ac9bf7e6fffdf74e32d4e2294eefb788f77a589bf5dbb7d7ca2a59a28060607883114626e7021b5b1d426e808c012ad9b902b5d0648f8fdb9fae01e9bf1001"), &key); err != nil {
		t.Fatal(err)
	}
	hash := personalHash(voucherText(key.GetKeyBytes()))
	if got := hex.EncodeToString(hash[:]); got != "0931c7691ed572a01954dcb4ec4a7214eb684b64a381e2af1ca763e18841fcfc" {
		t.Errorf("the voucher's hash is %s", got)
	}
	wallet, _, err := recoverAddress(hash, decodeVoucher(key.GetSignature()))
	if err != nil || wallet != "0x220ca99fb7fafa18cb623d924794dde47b4bc2e9" {
		t.Errorf("the voucher is by %s (%v)", wallet, err)
	}
	var unsigned messagecontents.UnsignedPublicKey
	if err := proto.Unmarshal(key.GetKeyBytes(), &unsigned); err != nil {
		t.Fatal(err)
	}
	point, err := ethcrypto.UnmarshalPubkey(unsigned.GetSecp256K1Uncompressed().GetBytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := addressOf(ethcrypto.FromECDSAPub(point)); got != "0xdf74037516f680d39d2fc9821f80aa2ccf5dbc89" {
		t.Errorf("the delegated key's address is %s", got)
	}
}
