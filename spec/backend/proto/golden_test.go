// Package proto holds the protobuf sources of the backend API and the tests of
// the code that tools/protogen writes from them. It has no code of its own.
package proto_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// golden are envelopes in canonical form with the SHA-256 of their bytes. The
// numbers come from the protocol's own test suite.
var golden = []struct {
	name, canonical, hash string
	check                 func(*backendv1.ClientEnvelope) bool
}{
	{
		"a group message", "0a0b0a0300ff42120201021801",
		"5fd2916dcdd5fe79bb09ab21d545d5637307ace6e5352d4c2d287dbdd9338888",
		func(e *backendv1.ClientEnvelope) bool {
			m := e.GetGroupMessage()
			return bytes.Equal(m.GetData(), []byte{0, 0xff, 0x42}) && bytes.Equal(m.GetSenderHmac(), []byte{1, 2}) && m.GetShouldPush()
		},
	},
	{
		"a welcome", "12120a100a0210111201121a02131420012a0115",
		"9a47fe38765eeebb1f272663381503c987fabbf9bb99b023fc88eaaffda60d5f",
		func(e *backendv1.ClientEnvelope) bool {
			w := e.GetWelcomeMessage().GetV1()
			return bytes.Equal(w.GetInstallationKey(), []byte{0x10, 0x11}) && bytes.Equal(w.GetData(), []byte{0x12}) &&
				bytes.Equal(w.GetHpkePublicKey(), []byte{0x13, 0x14}) && w.GetWrapperAlgorithm() == 1 && bytes.Equal(w.GetWelcomeMetadata(), []byte{0x15})
		},
	},
	{
		"a key package", "1a050a03202122",
		"3f46232f37d76bcc2e80d3c54c9f9d5a7273d78ef8f91336249ef79746fd06dc",
		func(e *backendv1.ClientEnvelope) bool {
			return bytes.Equal(e.GetKeyPackage().GetKeyPackageTlsSerialized(), []byte{0x20, 0x21, 0x22})
		},
	},
	{
		"an identity update", "220610071a026162",
		"0aab40455ce3dacc36006ef421e2746016960606e24d125946e7a73dc9cf6f9b",
		func(e *backendv1.ClientEnvelope) bool {
			return e.GetIdentityUpdate().GetClientTimestampNs() == 7 && e.GetIdentityUpdate().GetInboxId() == "ab"
		},
	},
	{
		"a commit-log entry", "2a0d0a02303112070a013212023334",
		"108bc3029f48dda98d9d43238154830ae0ee71e7d2e083264a2b07a3d736bee2",
		func(e *backendv1.ClientEnvelope) bool {
			c := e.GetCommitLogEntry()
			return string(c.GetSerializedCommitLogEntry()) == "01" && string(c.GetSignature().GetBytes()) == "2" && string(c.GetSignature().GetPublicKey()) == "34"
		},
	},
}

func TestGoldenBytesRoundTrip(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			want := unhex(t, g.canonical)
			if sum := sha256.Sum256(want); hex.EncodeToString(sum[:]) != g.hash {
				t.Fatalf("the vector contradicts itself: its bytes hash to %x", sum)
			}
			var e backendv1.ClientEnvelope
			if err := proto.Unmarshal(want, &e); err != nil {
				t.Fatal(err)
			}
			if !g.check(&e) {
				t.Fatalf("decodes to other fields: %v", &e)
			}
			got, err := proto.MarshalOptions{Deterministic: true}.Marshal(&e)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("re-encodes to %x, want %s", got, g.canonical)
			}
		})
	}
}

func TestReorderedFieldsAndAnUnknownOneReadAsTheSameEnvelope(t *testing.T) {
	var e backendv1.ClientEnvelope
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(unhex(t, "0a0b1801120201020a0300ff42800100"), &e); err != nil {
		t.Fatal(err)
	}
	got, err := proto.MarshalOptions{Deterministic: true}.Marshal(&e)
	if err != nil {
		t.Fatal(err)
	}
	if hex.EncodeToString(got) != golden[0].canonical {
		t.Fatalf("re-encodes to %x, want %s", got, golden[0].canonical)
	}
}

// The retired read by sequence id must stay out of the schema (API-152), and
// the rest must be in it.
func TestServicesHaveExactlyTheMethodsOfTheSpecification(t *testing.T) {
	want := map[string]bool{
		"QueryService.Query": true, "QueryService.QueryNewest": true, "PublishService.Publish": true,
		"SubscriptionService.Subscribe": true, "SubscriptionService.SubscribeStatic": true,
		"IdentityService.GetInboxIds": true, "IdentityService.VerifySmartContractWalletSignatures": true,
		"ConfigurationService.GetConfiguration": true,
	}
	services := backendv1.File_backend_v1_backend_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			name := string(services.Get(i).Name()) + "." + string(methods.Get(j).Name())
			if !want[name] {
				t.Errorf("the schema has %s, which the specification has not", name)
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("the schema lacks %s", name)
	}
}

// Presence is part of the schema: a client tells an absent index from index 0.
func TestFieldsWithPresenceAreThoseOfTheSpecification(t *testing.T) {
	want := map[protoreflect.FullName]bool{
		"xmtp.backend.v1.PublishError.index":                                                true,
		"xmtp.backend.v1.GetInboxIdsResponse.Response.inbox_id":                             true,
		"xmtp.backend.v1.VerifySmartContractWalletSignaturesRequest.Signature.block_number": true,
		"xmtp.backend.v1.VerifySmartContractWalletSignaturesResponse.Response.block_number": true,
		"xmtp.backend.v1.VerifySmartContractWalletSignaturesResponse.Response.error":        true,
		"xmtp.backend.v1.MlsConfiguration.commit_log_enabled":                               true,
	}
	got := make(map[protoreflect.FullName]bool)
	var walk func(protoreflect.MessageDescriptors)
	walk = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			fields := messages.Get(i).Fields()
			for j := range fields.Len() {
				if fields.Get(j).HasOptionalKeyword() {
					got[fields.Get(j).FullName()] = true
				}
			}
			walk(messages.Get(i).Messages())
		}
	}
	walk(backendv1.File_backend_v1_backend_proto.Messages())
	for name := range got {
		if !want[name] {
			t.Errorf("%s is optional, which the specification does not say", name)
		}
	}
	for name := range want {
		if !got[name] {
			t.Errorf("%s is not optional", name)
		}
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
