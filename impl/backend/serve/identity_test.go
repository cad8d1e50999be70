package serve_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/impl/identity"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// wallet is a key that creates inboxes.
type wallet struct {
	secret []byte
	owner  identity.Identifier
}

func newWallet(t *testing.T, seed byte) wallet {
	t.Helper()
	secret := Key(seed)
	key, err := ethcrypto.ToECDSA(secret)
	if err != nil {
		t.Fatal(err)
	}
	return wallet{secret, identity.EthereumAddress(strings.ToLower(ethcrypto.PubkeyToAddress(key.PublicKey).Hex()))}
}

// create is the update that opens an inbox, signed by its owner.
func (w wallet) create(t *testing.T, nonce, seconds uint64) *backendv1.ClientEnvelope {
	t.Helper()
	action := &associations.CreateInbox{InitialIdentifier: w.owner.Text(), Nonce: nonce, InitialIdentifierKind: associations.IdentifierKind_IDENTIFIER_KIND_ETHEREUM}
	u := &associations.IdentityUpdate{InboxId: identity.InboxID(w.owner, nonce), ClientTimestampNs: seconds * 1e9,
		Actions: []*associations.IdentityAction{{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: action}}}}
	action.InitialIdentifierSignature = w.sign(t, make([]byte, 32))
	decoded, err := identity.Decode(u)
	if err != nil {
		t.Fatal(err)
	}
	text := identity.ReferenceRules().Text(decoded)
	hash := ethcrypto.Keccak256([]byte("\x19Ethereum Signed Message:\n" + strconv.Itoa(len(text)) + text))
	action.InitialIdentifierSignature = w.sign(t, hash)
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_IdentityUpdate{IdentityUpdate: u}}
}

func (w wallet) sign(t *testing.T, hash []byte) *associations.Signature {
	t.Helper()
	key, err := ethcrypto.ToECDSA(w.secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ethcrypto.Sign(hash, key)
	if err != nil {
		t.Fatal(err)
	}
	return &associations.Signature{Signature: &associations.Signature_Erc_191{Erc_191: &associations.RecoverableEcdsaSignature{Bytes: raw}}}
}

// reason must be that of a refused publish.
func reason(t *testing.T, b *Backend, want backendv1.PublishError_Reason, envelopes ...*backendv1.ClientEnvelope) {
	t.Helper()
	_, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: envelopes})
	s := status.Convert(err)
	if s.Code() != codes.InvalidArgument || len(s.Details()) != 1 {
		t.Errorf("got %v with %v, want %v", s, s.Details(), want)
		return
	}
	if d, ok := s.Details()[0].(*backendv1.PublishError); !ok || d.Reason != want {
		t.Errorf("got %v, want %v", s.Details()[0], want)
	}
}

func TestAnIdentityUpdateMustApplyToItsInbox(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	w := newWallet(t, 0x11)
	create := w.create(t, 0, 100)
	first := publish(t, b, create)[0]
	if first.GetExpiryNs() != 0 || len(first.GetTopic().GetTopic()) != 33 || first.GetTopic().GetTopic()[0] != byte(backend.KindIdentityUpdate) {
		t.Errorf("stored as %v", first)
	}
	// Stored already, so it succeeds although it would not apply any more (API-035).
	if again := publish(t, b, create)[0]; !cmp.Equal(first, again, protocmp.Transform()) {
		t.Errorf("a retry got %v, stored was %v", again, first)
	}
	reason(t, b, backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, w.create(t, 0, 101))
	stranger := w.create(t, 7, 100)
	stranger.GetIdentityUpdate().Actions[0].GetCreateInbox().InitialIdentifierSignature = newWallet(t, 0x22).sign(t, make([]byte, 32))
	_, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{stranger}})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("an update signed by a stranger: %v", err)
	}
	malformed := w.create(t, 8, 100)
	malformed.GetIdentityUpdate().InboxId = "not hex"
	reason(t, b, backendv1.PublishError_REASON_MALFORMED_PAYLOAD, malformed)
	// Two updates of one inbox in one request (API-050).
	reason(t, b, backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, w.create(t, 9, 100), w.create(t, 9, 101))
}

func TestAnIdentifierResolvesToItsLatestInbox(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	w := newWallet(t, 0x11)
	publish(t, b, w.create(t, 0, 100))
	publish(t, b, w.create(t, 1, 100))
	upper := "0x" + strings.ToUpper(w.owner.Text()[2:])
	service := backendv1.NewIdentityServiceClient(b.Conn)
	ethereum, passkey := associations.IdentifierKind_IDENTIFIER_KIND_ETHEREUM, associations.IdentifierKind_IDENTIFIER_KIND_PASSKEY
	r, err := service.GetInboxIds(t.Context(), &backendv1.GetInboxIdsRequest{Requests: []*backendv1.GetInboxIdsRequest_Request{
		{Identifier: upper, IdentifierKind: ethereum},
		{Identifier: "0xnobody", IdentifierKind: ethereum},
		{Identifier: w.owner.Text(), IdentifierKind: ethereum},
		{Identifier: w.owner.Text()[2:], IdentifierKind: passkey},
	}})
	if err != nil {
		t.Fatal(err)
	}
	latest := identity.InboxID(w.owner, 1)
	want := &backendv1.GetInboxIdsResponse{Responses: []*backendv1.GetInboxIdsResponse_Response{
		{Identifier: upper, IdentifierKind: ethereum, InboxId: &latest},
		{Identifier: "0xnobody", IdentifierKind: ethereum},
		{Identifier: w.owner.Text(), IdentifierKind: ethereum, InboxId: &latest},
		{Identifier: w.owner.Text()[2:], IdentifierKind: passkey},
	}}
	if d := cmp.Diff(want, r, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	many := make([]*backendv1.GetInboxIdsRequest_Request, 251)
	if _, err := service.GetInboxIds(t.Context(), &backendv1.GetInboxIdsRequest{Requests: many}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("251 identifiers: %v", err)
	}
	if _, err := service.GetInboxIds(t.Context(), &backendv1.GetInboxIdsRequest{Requests: many[:250]}); err != nil {
		t.Errorf("250 identifiers: %v", err)
	}
}

func TestAnInboxHoldsABoundedNumberOfUpdates(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{Configure: func(c *config.Config) { c.Limits.MaxIdentityEntries = 1 }})
	w := newWallet(t, 0x11)
	create := w.create(t, 0, 100)
	publish(t, b, create)
	reason(t, b, backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, w.create(t, 0, 101))
	publish(t, b, create)
}

// API-051: of conflicting updates at the same time at most one is stored, and
// the others are told that they lost or that they do not apply.
func TestConflictingUpdatesNeverBothSucceed(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	w := newWallet(t, 0x11)
	const rivals = 8
	outcomes := make([]codes.Code, rivals)
	var wait sync.WaitGroup
	for i := range rivals {
		u := w.create(t, 0, uint64(100+i))
		wait.Go(func() {
			_, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{u}})
			outcomes[i] = status.Code(err)
		})
	}
	wait.Wait()
	stored := 0
	for _, code := range outcomes {
		switch code {
		case codes.OK:
			stored++
		case codes.Aborted, codes.InvalidArgument:
		default:
			t.Errorf("a rival was told %v", code)
		}
	}
	if stored != 1 {
		t.Errorf("%d of %d rivals were stored: %v", stored, rivals, outcomes)
	}
}

func TestWalletsWithoutAChainCannotBeAsked(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	service := backendv1.NewIdentityServiceClient(b.Conn)
	ask := func(n int, account string) error {
		r := &backendv1.VerifySmartContractWalletSignaturesRequest{}
		for range n {
			r.Signatures = append(r.Signatures, &backendv1.VerifySmartContractWalletSignaturesRequest_Signature{AccountId: account, Hash: Key(1)})
		}
		_, err := service.VerifySmartContractWalletSignatures(t.Context(), r)
		return err
	}
	for _, test := range []struct {
		name    string
		n       int
		account string
		want    codes.Code
	}{
		{"nobody asked", 0, "", codes.OK},
		{"a chain that is not configured", 1, "eip155:1:0x0000000000000000000000000000000000000001", codes.Unavailable},
		{"an account that is none", 1, "somebody", codes.InvalidArgument},
		{"one signature too many", 101, "eip155:1:0x0000000000000000000000000000000000000001", codes.InvalidArgument},
	} {
		if err := ask(test.n, test.account); status.Code(err) != test.want {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestKeyPackagesAreValidatedAndTheNewestIsRead(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	raw, err := os.ReadFile("../../mls/testdata/vectors/keypackages.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name, Hex       string
			Valid           bool
			ExpectedReason  string `json:"expected_reason"`
			InstallationKey string `json:"installation_key"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	byKey := make(map[string]*backendv1.EnvelopeMeta)
	for _, c := range file.Cases {
		tls, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatal(err)
		}
		e := &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_KeyPackage{KeyPackage: &backendv1.KeyPackage{KeyPackageTlsSerialized: tls}}}
		r, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{e}})
		if c.Valid != (err == nil) {
			t.Errorf("%s: valid %v, but got %v", c.Name, c.Valid, err)
			continue
		}
		if err == nil {
			byKey[c.InstallationKey] = r.EnvelopeMetas[0]
			continue
		}
		got := ""
		for _, d := range status.Convert(err).Details() {
			got = d.(*backendv1.PublishError).Reason.String()
		}
		if got != c.ExpectedReason && got != "REASON_"+c.ExpectedReason {
			t.Errorf("%s: got %s, want %s", c.Name, got, c.ExpectedReason)
		}
	}
	for key, want := range byKey {
		id, err := hex.DecodeString(key)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Query.QueryNewest(t.Context(), &backendv1.QueryNewestRequest{Topics: []*backendv1.Topic{Topic(backend.KindKeyPackage, id)}})
		if err != nil || len(r.Results) != 1 || !cmp.Equal(want, r.Results[0].Meta, protocmp.Transform()) {
			t.Errorf("newest of %s: %v, %v; want %v", key, r, err, want)
		}
	}
}
