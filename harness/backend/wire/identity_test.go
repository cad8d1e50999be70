package wire

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
	"assay/spec/gen/xmtp/identity/associations"
)

func some[T any](v T) *T { return &v }

func TestALookupResponseKeepsAnAbsentInboxApartFromAnEmptyOne(t *testing.T) {
	var got backend.Return
	err := decodeLookup(&got, encode(t, &backendv1.GetInboxIdsResponse{Responses: []*backendv1.GetInboxIdsResponse_Response{
		{Identifier: "0xAB", IdentifierKind: 1, InboxId: some("inbox")}, {Identifier: "x", IdentifierKind: associations.IdentifierKind(77)}, {InboxId: some("")}, {},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{InboxIDs: &backend.InboxIDs{Entries: []backend.InboxID{
		{Identifier: "0xAB", Kind: 1, Inbox: some("inbox")}, {Identifier: "x", Kind: 77}, {Inbox: some("")}, {},
	}}})
}

func TestAVerificationResponseKeepsAbsentFieldsApartFromZeros(t *testing.T) {
	var got backend.Return
	err := decodeVerify(&got, encode(t, &backendv1.VerifySmartContractWalletSignaturesResponse{Responses: []*backendv1.VerifySmartContractWalletSignaturesResponse_Response{
		{IsValid: true, BlockNumber: some(uint64(7))}, {BlockNumber: some(uint64(0))}, {Error: some("bad\nwolf")}, {},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Verified: &backend.WalletAnswers{Entries: []backend.WalletAnswer{
		{Valid: true, Number: some(uint64(7))}, {Number: some(uint64(0))}, {Error: some(bounded("bad\nwolf"))}, {},
	}}})
	if strings.Contains(*got.Verified.Entries[2].Error, "\n") {
		t.Error("an error text keeps its line end")
	}
}

func TestEmptyAndForeignResponsesHaveNoEntries(t *testing.T) {
	for name, message := range map[string][]byte{"empty": nil, "another field": protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.VarintType), 1)} {
		var l, v backend.Return
		if err := decodeLookup(&l, message); err != nil || len(l.InboxIDs.Entries) != 0 {
			t.Errorf("%s: %v, %v", name, l.InboxIDs, err)
		}
		if err := decodeVerify(&v, message); err != nil || len(v.Verified.Entries) != 0 {
			t.Errorf("%s: %v, %v", name, v.Verified, err)
		}
	}
}

func TestResponsesOfIdentityCallsThatDoNotDecodeAreRefused(t *testing.T) {
	entry := func(b string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), b)
	}
	for name, message := range map[string][]byte{
		"a cut message": {0x0a, 0x05, 0x00}, "an entry of garbage": entry("\xff\xff"), "text that is not UTF-8": entry("\x0a\x02\xff\xfe"),
	} {
		var r backend.Return
		if decodeLookup(&r, message) == nil {
			t.Errorf("%s: read as a lookup: %v", name, r.InboxIDs)
		}
	}
	for name, message := range map[string][]byte{"a cut message": {0x0a, 0x05, 0x00}, "an entry of garbage": entry("\xff\xff"), "an error that is not UTF-8": entry("\x1a\x02\xff\xfe")} {
		var r backend.Return
		if decodeVerify(&r, message) == nil {
			t.Errorf("%s: read as a verification: %v", name, r.Verified)
		}
	}
}

func TestAHostileResponseOfIdentityCallsIsBounded(t *testing.T) {
	many := strings.Repeat("\x0a\x00", mostAnswers+1)
	var r backend.Return
	if err := decodeLookup(&r, []byte(many)); err == nil || len(r.InboxIDs.Entries) != mostAnswers {
		t.Errorf("%d entries, %v", len(r.InboxIDs.Entries), err)
	}
	if err := decodeVerify(&r, []byte(many)); err == nil || len(r.Verified.Entries) != mostAnswers {
		t.Errorf("%d entries, %v", len(r.Verified.Entries), err)
	}
	long := strings.Repeat("a", 1<<20)
	if err := decodeLookup(&r, encode(t, &backendv1.GetInboxIdsResponse{Responses: []*backendv1.GetInboxIdsResponse_Response{{Identifier: long, InboxId: &long}}})); err != nil {
		t.Fatal(err)
	}
	if e := r.InboxIDs.Entries[0]; len(e.Identifier) != mostIdentifier || len(*e.Inbox) != mostIdentifier {
		t.Errorf("kept %d and %d bytes", len(e.Identifier), len(*e.Inbox))
	}
}

func TestIdentityCallsGoToTheirPaths(t *testing.T) {
	paths := make(chan string, 2)
	c, err := Dial(serve(t, "grpc", func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write([]byte{0, 0, 0, 0, 0})
		w.Header().Set("Grpc-Status", "0")
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r := c.Lookup(t.Context(), nil); r.Code != backend.OK || r.InboxIDs == nil {
		t.Errorf("lookup: %+v", r)
	}
	if r := c.Verify(t.Context(), nil); r.Code != backend.OK || r.Verified == nil {
		t.Errorf("verification: %+v", r)
	}
	if a, b := <-paths, <-paths; a != "/xmtp.backend.v1.IdentityService/GetInboxIds" || b != "/xmtp.backend.v1.IdentityService/VerifySmartContractWalletSignatures" {
		t.Errorf("called %s and %s", a, b)
	}
}
