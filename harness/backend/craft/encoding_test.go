package craft

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// samples are intents of every kind, form and flaw, by a few contents.
func samples() []backend.Envelope {
	var out []backend.Envelope
	add := func(k backend.Kind, f backend.Form, flaws ...backend.Flaw) {
		for _, flaw := range flaws {
			for i := range 12 {
				out = append(out, backend.Envelope{Log: backend.Log{Kind: k, Name: "x"}, Form: f, Flaw: flaw, Content: fmt.Sprint(i)})
			}
		}
	}
	for _, f := range []backend.Form{backend.Plain, backend.PrivateProposal, backend.PrivateCommit, backend.PublicProposal, backend.PublicCommit} {
		add(backend.Group, f, backend.Sound, backend.GroupEmpty, backend.GroupHugeLength, backend.GroupID17, backend.GroupHoldsWelcome)
	}
	add(backend.Welcome, backend.Plain, backend.Sound, backend.WelcomeKey0, backend.WelcomeVersionUnset)
	add(backend.Welcome, backend.Pointer, backend.Sound, backend.WelcomeKey33)
	add(backend.CommitLog, backend.Plain, backend.Sound, backend.CommitLogGarbage, backend.CommitLogNoGroup)
	add(backend.KeyPackage, backend.Plain, backend.KeyPackageEmpty, backend.KeyPackageGarbage, backend.KeyPackageWrapped)
	add(backend.Identity, backend.Plain, backend.IdentityInboxShort, backend.IdentityInboxText)
	add(backend.Unset, backend.Plain, backend.PayloadUnset)
	return out
}

func TestEveryEncodingDecodesToTheSameValueAndSoundOnesLookDifferent(t *testing.T) {
	c := New(1, "n", "s")
	for _, e := range samples() {
		canonical, want, err := c.Envelope(e)
		if err != nil {
			t.Fatal(err)
		}
		var value backendv1.ClientEnvelope
		if err := proto.Unmarshal(canonical, &value); err != nil {
			t.Fatal(err)
		}
		for _, enc := range []backend.Encoding{backend.Reordered, backend.Padded, backend.Explicit} {
			e.Encoding = enc
			wire, got, err := c.Envelope(e)
			if err != nil {
				t.Fatal(err)
			}
			var decoded backendv1.ClientEnvelope
			if err := proto.Unmarshal(wire, &decoded); err != nil {
				t.Fatalf("%v: %v", e, err)
			}
			if !proto.Equal(&decoded, &value) {
				t.Fatalf("%v decodes to another value", e)
			}
			if got.Identity != want.Identity || got.CanonicalLen != want.CanonicalLen || got.Topic != want.Topic {
				t.Fatalf("%v: artefact %+v, canonical one %+v", e, got, want)
			}
			if got.WireLen != len(wire) {
				t.Fatalf("%v: %d bytes, artefact says %d", e, len(wire), got.WireLen)
			}
			if e.Flaw == backend.Sound && bytes.Equal(wire, canonical) {
				t.Fatalf("%v is written as the canonical one", e)
			}
		}
	}
}

func TestACanonicalEnvelopeIsWhatAnotherCanonicalEncoderWrites(t *testing.T) {
	c := New(1, "n", "s")
	for _, e := range samples() {
		wire, _, err := c.Envelope(e)
		if err != nil {
			t.Fatal(err)
		}
		var decoded backendv1.ClientEnvelope
		if err := proto.Unmarshal(wire, &decoded); err != nil {
			t.Fatal(err)
		}
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(&decoded)
		if err != nil || !bytes.Equal(again, wire) {
			t.Fatalf("%v\n got %x\nwant %x (%v)", e, wire, again, err)
		}
	}
}

func TestPaddedVarintsKeepTheirValuesAndTheLongestStaysAsItIs(t *testing.T) {
	w := writer{encoding: backend.Padded}
	for v, want := range map[uint64]string{0: "8000", 1: "8100", 127: "ff00", 128: "808100", 1<<64 - 1: "ffffffffffffffffff01"} {
		if got := fmt.Sprintf("%x", w.appendVarint(nil, v)); got != want {
			t.Errorf("%d is %s, want %s", v, got, want)
		}
		if n := w.varintSize(v); 2*n != len(want) {
			t.Errorf("%d has size %d", v, n)
		}
	}
}

// Whatever field of whatever payload changes, the identity does; fields that the
// schema does not know change nothing.
func TestIdentityTellsEveryFieldApart(t *testing.T) {
	c := New(1, "n", "s")
	seen := make(map[backend.Digest]string)
	remember := func(what string, env *backendv1.ClientEnvelope) {
		t.Helper()
		id := Identity(env)
		if before, found := seen[id]; found {
			t.Errorf("%s has the identity of %s", what, before)
		}
		seen[id] = what
	}
	remember("the empty envelope", &backendv1.ClientEnvelope{})
	if Identity(nil) != Identity(&backendv1.ClientEnvelope{}) {
		t.Error("no envelope differs from an empty one")
	}
	for _, e := range []backend.Envelope{
		{Log: backend.Log{Kind: backend.Group, Name: "x"}},
		{Log: backend.Log{Kind: backend.Welcome, Name: "x"}},
		{Log: backend.Log{Kind: backend.Welcome, Name: "x"}, Form: backend.Pointer},
		{Log: backend.Log{Kind: backend.CommitLog, Name: "x"}},
		{Log: backend.Log{Kind: backend.KeyPackage, Name: "x"}, Flaw: backend.KeyPackageGarbage},
		{Log: backend.Log{Kind: backend.Identity, Name: "x"}, Flaw: backend.IdentityInboxShort},
	} {
		wire, _, err := c.Envelope(e)
		if err != nil {
			t.Fatal(err)
		}
		var env backendv1.ClientEnvelope
		if err := proto.Unmarshal(wire, &env); err != nil {
			t.Fatal(err)
		}
		remember(e.Log.String()+" "+e.Form.String(), &env)
		vary(env.ProtoReflect(), func(what string) { remember(e.Log.String()+" "+e.Form.String()+" with another "+what, &env) })

		before := Identity(&env)
		env.ProtoReflect().SetUnknown([]byte{0x78, 0x01})
		if Identity(&env) != before {
			t.Errorf("%s: an unknown field changes the identity", e.Log)
		}
	}
}

// vary changes each scalar of m in turn, calls changed, and puts it back; the
// scalars of fields that are not set are reached by setting the message.
func vary(m protoreflect.Message, changed func(string)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		before, had := m.Get(f), m.Has(f)
		if !had && f.ContainingOneof() != nil {
			continue
		}
		switch {
		case f.IsList():
			if before.List().Len() > 0 && f.Message() != nil {
				vary(before.List().Get(0).Message(), changed)
			}
			continue
		case f.Message() != nil:
			if had {
				vary(before.Message(), changed)
			}
			continue
		case f.Kind() == protoreflect.BytesKind:
			m.Set(f, protoreflect.ValueOfBytes(append([]byte("~"), before.Bytes()...)))
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString("~"+before.String()))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(!before.Bool()))
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(before.Enum()+5))
		default:
			m.Set(f, protoreflect.ValueOfUint64(before.Uint()+1))
		}
		changed(string(f.FullName()))
		if had {
			m.Set(f, before)
		} else {
			m.Clear(f)
		}
	}
}

// Identity handles the kinds of field that the schema has. This walks the schema,
// so that one that gets a map or a floating point number fails here.
func TestTheSchemaHasOnlyKindsThatIdentityKnows(t *testing.T) {
	seen := map[protoreflect.FullName]bool{}
	var walk func(protoreflect.MessageDescriptor)
	walk = func(d protoreflect.MessageDescriptor) {
		if seen[d.FullName()] {
			return
		}
		seen[d.FullName()] = true
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			if f.IsMap() || f.Kind() == protoreflect.FloatKind || f.Kind() == protoreflect.DoubleKind {
				t.Errorf("%s: identity does not know this kind of field", f.FullName())
			}
			if f.Message() != nil {
				walk(f.Message())
			}
		}
	}
	walk((&backendv1.ClientEnvelope{}).ProtoReflect().Descriptor())
	if len(seen) < 10 {
		t.Fatalf("only %d messages walked", len(seen))
	}
}
