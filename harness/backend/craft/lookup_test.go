package craft_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestALookupIsSentAsItSays(t *testing.T) {
	c := craft.New(1, "n", "lookups")
	contract := contractThat(backend.Always)
	address, key, id := c.Identifier(w1), c.Identifier(pk), c.Identifier(i1)
	for _, x := range []struct {
		name       string
		lookup     backend.Lookup
		identifier string
		kind       uint32
	}{
		{"an address in lower case under kind 1", backend.Lookup{Party: w1}, address, 1},
		{"a contract's address too", backend.Lookup{Party: contract}, c.Identifier(contract), 1},
		{"in upper case, but for its prefix", backend.Lookup{Party: w1, Spelling: backend.UpperSpelling}, "0x" + strings.ToUpper(address[2:]), 1},
		{"under the other kind", backend.Lookup{Party: w1, Spelling: backend.OtherKindSpelling}, address, 2},
		{"under kind 0", backend.Lookup{Party: w1, Spelling: backend.KindZeroSpelling}, address, 0},
		{"under a kind that is none", backend.Lookup{Party: w1, Spelling: backend.KindUnknownSpelling}, address, 99},
		{"a passkey under kind 2", backend.Lookup{Party: pk}, key, 2},
		{"a passkey in upper case", backend.Lookup{Party: pk, Spelling: backend.UpperSpelling}, strings.ToUpper(key), 2},
		{"a passkey compressed", backend.Lookup{Party: pk, Spelling: backend.CompressedSpelling}, c.CompressedHex(pk), 2},
		{"a passkey with a prefix", backend.Lookup{Party: pk, Spelling: backend.PrefixedSpelling}, "0x" + key, 2},
		{"a passkey under kind 1", backend.Lookup{Party: pk, Spelling: backend.OtherKindSpelling}, key, 1},
		{"an installation under kind 2", backend.Lookup{Party: i1}, id, 2},
		{"an installation under kind 1", backend.Lookup{Party: i1, Spelling: backend.OtherKindSpelling}, id, 1},
		{"nonsense", backend.Lookup{Party: w1, Spelling: backend.NonsenseSpelling}, "nobody", 1},
		{"nothing", backend.Lookup{Party: w1, Spelling: backend.EmptySpelling}, "", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			request, call, err := c.LookupRequest([]backend.Lookup{x.lookup, x.lookup})
			if err != nil {
				t.Fatal(err)
			}
			want := backend.LookedUp{Lookup: x.lookup, Identifier: x.identifier, Kind: x.kind}
			if !slices.Equal(call.Entries, []backend.LookedUp{want, want}) {
				t.Errorf("says %v, want %v twice", call.Entries, want)
			}
			var r backendv1.GetInboxIdsRequest
			if err := proto.Unmarshal(request, &r); err != nil || len(r.GetRequests()) != 2 {
				t.Fatalf("%d entries, %v", len(r.GetRequests()), err)
			}
			for _, e := range r.GetRequests() {
				if e.GetIdentifier() != x.identifier || uint32(e.GetIdentifierKind()) != x.kind {
					t.Errorf("sends %v", e)
				}
			}
		})
	}
	mixed, err := c.LookUp(backend.Lookup{Party: w1, Spelling: backend.ChecksummedSpelling})
	if err != nil || mixed.Identifier == address || !strings.EqualFold(mixed.Identifier, address) {
		t.Errorf("checksummed, %s is %s, %v", address, mixed.Identifier, err)
	}
	for _, l := range []backend.Lookup{{Party: w1, Spelling: backend.CompressedSpelling}, {Party: pk, Spelling: backend.ChecksummedSpelling}, {Party: w1, Spelling: "sideways"}, {}} {
		if got, err := c.LookUp(l); err == nil {
			t.Errorf("%v was written as %v", l, got)
		}
	}
}

func TestAVerificationIsSentAsItSays(t *testing.T) {
	r := withChain(t, "verifications")
	plain := contractThat(backend.Plainly)
	request, call, err := r.craft.VerifyRequest([]backend.Verification{
		{By: by(plain), Content: "a"},
		{By: backend.Signing{Party: plain, Block: backend.Genesis}, Content: "a"},
		{By: backend.Signing{Party: plain, Block: backend.Newest}, Content: "b"},
		{By: by(plain), Content: "a", Hash: backend.OtherHash},
		{By: by(plain), Content: "a", Hash: backend.Hash31},
		{By: by(plain), Content: "a", Hash: backend.Hash33},
		{By: by(plain), Content: "a", Hash: backend.HashEmpty},
	})
	if err != nil {
		t.Fatal(err)
	}
	var m backendv1.VerifySmartContractWalletSignaturesRequest
	if err := proto.Unmarshal(request, &m); err != nil {
		t.Fatal(err)
	}
	s := m.GetSignatures()
	if len(s) != 7 || len(call.Entries) != 7 {
		t.Fatalf("%d and %d entries", len(s), len(call.Entries))
	}
	for i, e := range s {
		said := call.Entries[i]
		if e.GetAccountId() != said.Account || (e.BlockNumber == nil) != (said.Number == nil) || e.BlockNumber != nil && *e.BlockNumber != *said.Number {
			t.Errorf("entry %d sends %v and says %v", i, e, said)
		}
	}
	if s[1].BlockNumber == nil || *s[1].BlockNumber != 0 {
		t.Error("block 0 was left out")
	}
	if s[2].BlockNumber != nil {
		t.Error("the newest block has a number")
	}
	first := s[0].GetHash()
	if len(first) != 32 || !bytes.Equal(s[1].GetHash(), first) || bytes.Equal(s[2].GetHash(), first) {
		t.Error("hashes do not follow from their contents")
	}
	if bytes.Equal(s[3].GetHash(), first) || len(s[3].GetHash()) != 32 || !bytes.Equal(s[3].GetSignature(), s[0].GetSignature()) {
		t.Error("another hash comes with another signature, or is none")
	}
	if !bytes.Equal(s[4].GetHash(), first[:31]) || len(s[5].GetHash()) != 33 || len(s[6].GetHash()) != 0 {
		t.Error("hashes of wrong lengths have other lengths")
	}
	for _, v := range []backend.Verification{
		{By: by(i1)}, {By: by(plain), Hash: "of no kind"}, {By: backend.Signing{Party: plain, Flaw: backend.EthereumV5}}, {By: backend.Signing{Party: w1, Variant: backend.HighS}},
	} {
		if _, _, err := r.craft.VerifyRequest([]backend.Verification{v}); err == nil {
			t.Errorf("%v was written", v)
		}
	}
	if _, _, err := craft.New(1, "n", "s").VerifyRequest([]backend.Verification{{By: by(plain)}}); err == nil {
		t.Error("a contract signed without a chain")
	}
}
