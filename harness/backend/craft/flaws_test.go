package craft_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/impl/identity"
	"assay/impl/mls"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/mls/messagecontents"
)

var now = time.Unix(1_900_000_000, 0)

func make1(t *testing.T, e backend.Envelope) (*backendv1.ClientEnvelope, backend.Artefact) {
	t.Helper()
	wire, a, err := craft.New(7, "nonce", "scope").Envelope(e)
	if err != nil {
		t.Fatal(err)
	}
	var env backendv1.ClientEnvelope
	if err := proto.Unmarshal(wire, &env); err != nil {
		t.Fatal(err)
	}
	if len(wire) != a.WireLen {
		t.Errorf("%d bytes, artefact says %d", len(wire), a.WireLen)
	}
	if n := proto.Size(&env); n != a.CanonicalLen {
		t.Errorf("canonical length %d, artefact says %d", n, a.CanonicalLen)
	}
	if env.ProtoReflect().GetUnknown() != nil {
		t.Error("the envelope has unknown fields")
	}
	return &env, a
}

// groupForms are the forms a group message can take.
var groupForms = []backend.Form{
	backend.Plain, backend.PrivateProposal, backend.PrivateCommit, backend.PublicProposal, backend.PublicCommit,
}

// contents are enough names for every variant that a content's shape picks.
func contents(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("content %d", i)
	}
	return out
}

func TestASoundGroupMessageParsesWithItsTopicAndContentType(t *testing.T) {
	want := map[backend.Form]mls.ContentType{
		backend.Plain: mls.Application, backend.PrivateProposal: mls.Proposal, backend.PrivateCommit: mls.Commit,
		backend.PublicProposal: mls.Proposal, backend.PublicCommit: mls.Commit,
	}
	for _, form := range groupForms {
		for _, trailing := range []int{0, 1, 1000} {
			for _, content := range contents(40) {
				e := backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: content, Form: form, Trailing: trailing}
				env, a := make1(t, e)
				data := env.GetGroupMessage().GetData()
				m, err := mls.ParseGroupMessage(data)
				if err != nil {
					t.Fatalf("%s %q: %v", form, content, err)
				}
				if topic := "\x00" + string(m.GroupID); topic != string(a.Topic) || len(topic) != 17 {
					t.Errorf("%s: topic %x, artefact says %s", form, topic, a.Topic)
				}
				if m.ContentType != want[form] {
					t.Errorf("%s: content type %s", form, m.ContentType)
				}
				if len(data)-m.Len != trailing {
					t.Errorf("%s: %d trailing bytes, want %d", form, len(data)-m.Len, trailing)
				}
				if len(env.GetGroupMessage().GetSenderHmac()) == 0 {
					t.Errorf("%s: no sender hmac", form)
				}
			}
		}
	}
}

func TestEachFlawOfAGroupMessageIsRefusedForItsOwnReason(t *testing.T) {
	none := mls.Problem(0)
	for _, c := range []struct {
		flaw    backend.Flaw
		problem mls.Problem // 0: the message parses and its group id has length
		length  int
	}{
		{backend.GroupEmpty, mls.Truncated, 0},
		{backend.GroupHeaderOnly, mls.Truncated, 0},
		{backend.GroupVersion, mls.UnknownValue, 0},
		{backend.GroupWireFormat, mls.UnknownValue, 0},
		{backend.GroupHoldsWelcome, mls.NotProtocolMessage, 0},
		{backend.GroupHoldsGroupInfo, mls.NotProtocolMessage, 0},
		{backend.GroupHoldsKeyPackage, mls.NotProtocolMessage, 0},
		{backend.GroupContentType, mls.UnknownValue, 0},
		{backend.GroupCutAfterType, mls.Truncated, 0},
		{backend.GroupCutLastByte, mls.Truncated, 0},
		{backend.GroupHugeLength, mls.Truncated, 0},
		{backend.GroupID0, none, 0},
		{backend.GroupID15, none, 15},
		{backend.GroupID17, none, 17},
		{backend.GroupID32, none, 32},
	} {
		for _, form := range groupForms {
			for _, content := range contents(25) {
				env, a := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: content, Form: form, Flaw: c.flaw})
				if a.Topic != "" {
					t.Errorf("%s: topic %s, want none", c.flaw, a.Topic)
				}
				m, err := mls.ParseGroupMessage(env.GetGroupMessage().GetData())
				if c.problem == none {
					if err != nil || len(m.GroupID) != c.length {
						t.Errorf("%s %s: group id of %d bytes, want %d: %v", c.flaw, form, len(m.GroupID), c.length, err)
					}
					continue
				}
				var d *mls.DecodeError
				if !errors.As(err, &d) || d.Problem != c.problem {
					t.Errorf("%s %s: got %v, want problem %s", c.flaw, form, err, c.problem)
				}
			}
		}
	}
}

// What one flaw changed, changed back, is the sound message.
func TestAFlawedGroupMessageDiffersFromTheSoundOneInOneWay(t *testing.T) {
	type change struct {
		flaw backend.Flaw
		undo func(flawed, sound []byte) []byte
	}
	replace := func(at, n int) func(flawed, sound []byte) []byte {
		return func(flawed, sound []byte) []byte {
			return append(append(append([]byte{}, flawed[:at]...), sound[at:at+n]...), flawed[at+n:]...)
		}
	}
	for _, c := range []change{
		{backend.GroupVersion, replace(0, 2)},
		{backend.GroupWireFormat, replace(2, 2)},
		{backend.GroupContentType, replace(29, 1)},
		{backend.GroupNoHeader, func(f, s []byte) []byte { return append(append([]byte{}, s[:4]...), f...) }},
		{backend.GroupLongLength, func(f, s []byte) []byte { return append(append([]byte{}, s[:5]...), f[6:]...) }},
		{backend.GroupCutLastByte, func(f, s []byte) []byte { return append(append([]byte{}, f...), s[len(s)-1]) }},
		{backend.GroupCutAfterType, func(f, s []byte) []byte { return append(append([]byte{}, f...), s[30:]...) }},
		{backend.GroupID17, func(f, s []byte) []byte { return append(append([]byte{}, s[:21]...), f[22:]...) }},
		{backend.GroupID15, func(f, s []byte) []byte { return append(append([]byte{}, s[:21]...), f[20:]...) }},
		{backend.GroupID0, func(f, s []byte) []byte { return append(append([]byte{}, s[:21]...), f[5:]...) }},
		{backend.GroupID32, func(f, s []byte) []byte { return append(append([]byte{}, s[:21]...), f[37:]...) }},
		{backend.GroupHeaderOnly, func(f, s []byte) []byte { return append(append([]byte{}, f...), s[4:]...) }},
	} {
		t.Run(string(c.flaw), func(t *testing.T) {
			for _, content := range contents(20) {
				e := backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: content}
				sound, _ := make1(t, e)
				e.Flaw = c.flaw
				flawed, _ := make1(t, e)
				if bytes.Equal(flawed.GetGroupMessage().GetData(), sound.GetGroupMessage().GetData()) {
					t.Fatal("the flawed message is the sound one")
				}
				undone := c.undo(flawed.GetGroupMessage().GetData(), sound.GetGroupMessage().GetData())
				flawed.GetGroupMessage().Data = undone
				if !proto.Equal(flawed, sound) {
					t.Fatalf("%q: undone, the message is\n %x, not\n %x", content, undone, sound.GetGroupMessage().GetData())
				}
			}
		})
	}
}

func TestALengthNotInItsShortestFormIsTheOnlyThingWrong(t *testing.T) {
	env, _ := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Flaw: backend.GroupLongLength})
	_, err := mls.ParseGroupMessage(env.GetGroupMessage().GetData())
	var d *mls.DecodeError
	if !errors.As(err, &d) || d.Field != "group_id" {
		t.Fatalf("got %v, want a refusal of the group id's length", err)
	}
}

func TestAGroupMessageOfOneByteHasOneByte(t *testing.T) {
	for _, content := range contents(20) {
		env, _ := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: content, Flaw: backend.GroupOneByte})
		if n := len(env.GetGroupMessage().GetData()); n != 1 {
			t.Fatalf("%d bytes", n)
		}
	}
}

func TestWelcomesHaveTheirTopicsKeyAndForm(t *testing.T) {
	for _, c := range []struct {
		name   string
		form   backend.Form
		flaw   backend.Flaw
		length int
	}{
		{"a welcome", backend.Plain, backend.Sound, 32},
		{"a pointer", backend.Pointer, backend.Sound, 32},
		{"no key", backend.Plain, backend.WelcomeKey0, 0},
		{"a key of 31", backend.Plain, backend.WelcomeKey31, 31},
		{"a key of 33", backend.Plain, backend.WelcomeKey33, 33},
		{"a pointer's key of 33", backend.Pointer, backend.WelcomeKey33, 33},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, content := range contents(20) {
				e := backend.Envelope{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Content: content, Form: c.form, Flaw: c.flaw}
				env, a := make1(t, e)
				key := env.GetWelcomeMessage().GetV1().GetInstallationKey()
				if c.form == backend.Pointer {
					key = env.GetWelcomeMessage().GetWelcomePointer().GetInstallationKey()
				}
				if len(key) != c.length {
					t.Fatalf("key of %d bytes", len(key))
				}
				if want := backend.Bytes("\x01" + string(key)); c.flaw == backend.Sound && a.Topic != want || c.flaw != backend.Sound && a.Topic != "" {
					t.Fatalf("topic %s", a.Topic)
				}
				if len(env.GetWelcomeMessage().GetV1().GetData())+len(env.GetWelcomeMessage().GetWelcomePointer().GetWelcomePointer()) == 0 {
					t.Fatal("no data")
				}
			}
		})
	}
	env, _ := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Flaw: backend.WelcomeVersionUnset})
	if env.GetWelcomeMessage() == nil || env.GetWelcomeMessage().GetVersion() != nil {
		t.Error("a welcome without a version has one, or is no welcome")
	}
}

func TestCommitLogEntriesCarryTheirGroupAndFlaw(t *testing.T) {
	for _, c := range []struct {
		flaw    backend.Flaw
		decodes bool
		length  int
	}{
		{backend.Sound, true, 16},
		{backend.CommitLogGarbage, false, 0},
		{backend.CommitLogNoGroup, true, 0},
		{backend.CommitLogID15, true, 15},
		{backend.CommitLogID17, true, 17},
	} {
		t.Run("flaw "+string(c.flaw), func(t *testing.T) {
			env, a := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.CommitLog, Name: "g"}, Content: "c", Flaw: c.flaw})
			var entry messagecontents.PlaintextCommitLogEntry
			err := proto.Unmarshal(env.GetCommitLogEntry().GetSerializedCommitLogEntry(), &entry)
			if (err == nil) != c.decodes || len(entry.GetGroupId()) != c.length {
				t.Fatalf("group id of %d bytes, decoding: %v", len(entry.GetGroupId()), err)
			}
			if want := backend.Bytes("\x04" + string(entry.GetGroupId())); c.flaw == backend.Sound && a.Topic != want || c.flaw != backend.Sound && a.Topic != "" {
				t.Fatalf("topic %s", a.Topic)
			}
			if len(env.GetCommitLogEntry().GetSignature().GetBytes()) == 0 {
				t.Error("no signature, which is to be stored and returned (API-046)")
			}
		})
	}
}

func TestAPayloadUnsetIsAnEnvelopeOfNoBytes(t *testing.T) {
	for k := backend.Unset; k <= backend.CommitLog; k++ {
		_, a := make1(t, backend.Envelope{Log: backend.Log{Kind: k, Name: "x"}, Flaw: backend.PayloadUnset})
		if a.WireLen != 0 || a.Topic != "" {
			t.Errorf("%s: %d bytes, topic %s", k, a.WireLen, a.Topic)
		}
	}
}

func TestFlawedKeyPackagesDoNotDecodeAndTheWrappedOneIsValidInside(t *testing.T) {
	for _, content := range contents(20) {
		for _, flaw := range []backend.Flaw{backend.KeyPackageEmpty, backend.KeyPackageGarbage, backend.KeyPackageWrapped} {
			env, a := make1(t, backend.Envelope{Log: backend.Log{Kind: backend.KeyPackage, Name: "k"}, Content: content, Flaw: flaw})
			data := env.GetKeyPackage().GetKeyPackageTlsSerialized()
			var d *mls.DecodeError
			if _, err := mls.ParseKeyPackage(data); !errors.As(err, &d) {
				t.Errorf("%s: got %v, want a refusal to decode", flaw, err)
			}
			if env.GetKeyPackage() == nil || a.Topic != "" || (flaw == backend.KeyPackageEmpty) != (len(data) == 0) {
				t.Errorf("%s: topic %s, %d bytes", flaw, a.Topic, len(data))
			}
			if flaw != backend.KeyPackageWrapped {
				continue
			}
			k, err := mls.ParseKeyPackage(data[4:])
			if err != nil {
				t.Fatalf("the package inside: %v", err)
			}
			if err := k.Validate(now); err != nil {
				t.Fatalf("the package inside: %v", err)
			}
		}
	}
}

func TestFlawedIdentityUpdatesAreWrongOnlyInTheirInboxID(t *testing.T) {
	c := craft.New(7, "nonce", "scope")
	e := backend.Envelope{Log: backend.Log{Kind: backend.Identity, Name: "i"}, Content: "first"}
	var sound backendv1.ClientEnvelope
	if err := proto.Unmarshal(c.SoundCreate(e), &sound); err != nil {
		t.Fatal(err)
	}
	v := identity.NewValidator(identity.Config{Rules: identity.ReferenceRules()})
	if _, err := v.Validate(t.Context(), nil, sound.GetIdentityUpdate()); err != nil {
		t.Fatalf("with its own inbox id the update is refused: %v", err)
	}
	for flaw, length := range map[backend.Flaw]int{backend.IdentityInboxShort: 62, backend.IdentityInboxText: 64} {
		e.Flaw = flaw
		env, a := make1(t, e)
		u := env.GetIdentityUpdate()
		if a.Topic != "" || len(u.GetInboxId()) != length {
			t.Errorf("%s: inbox id %q, topic %s", flaw, u.GetInboxId(), a.Topic)
		}
		_, err := v.Validate(t.Context(), nil, u)
		var refused *identity.Error
		if !errors.As(err, &refused) || refused.Class != identity.Malformed && refused.Rule != identity.RuleInboxMatches {
			t.Errorf("%s: got %v, want a refusal of the inbox id", flaw, err)
		}
		fixed := proto.Clone(u).(*associations.IdentityUpdate)
		fixed.InboxId = sound.GetIdentityUpdate().GetInboxId()
		fixed.Actions[0].GetCreateInbox().InitialIdentifierSignature = sound.GetIdentityUpdate().Actions[0].GetCreateInbox().InitialIdentifierSignature
		if !proto.Equal(fixed, sound.GetIdentityUpdate()) {
			t.Errorf("%s: more than the inbox id, and the signature over it, differs", flaw)
		}
	}
}

func TestIntentsThatHaveNoBytesAreRefusedWithAReason(t *testing.T) {
	group, key := backend.Log{Kind: backend.Group, Name: "g"}, backend.Log{Kind: backend.KeyPackage, Name: "k"}
	for name, e := range map[string]backend.Envelope{
		"a sound key package":            {Log: key},
		"a sound identity update":        {Log: backend.Log{Kind: backend.Identity, Name: "i"}},
		"a log without a kind":           {Log: backend.Log{Name: "x"}},
		"a log of an unknown kind":       {Log: backend.Log{Kind: 77, Name: "x"}},
		"a form of another kind":         {Log: group, Form: backend.Pointer},
		"a form nobody knows":            {Log: group, Form: 99},
		"a flaw of another kind":         {Log: group, Flaw: backend.WelcomeKey0},
		"a flaw nobody knows":            {Log: group, Flaw: "wrong colour"},
		"an encoding nobody knows":       {Log: group, Encoding: 99},
		"negative trailing bytes":        {Log: group, Trailing: -1},
		"a negative size":                {Log: group, Size: -1},
		"trailing bytes behind a cut":    {Log: group, Flaw: backend.GroupCutLastByte, Trailing: 1},
		"trailing bytes on a welcome":    {Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Trailing: 1},
		"a size below the shortest":      {Log: group, Size: 20},
		"a size between two lengths":     {Log: group, Size: 130},
		"a size for no bytes":            {Log: key, Flaw: backend.KeyPackageEmpty, Size: 100},
		"a size for an envelope unset":   {Log: group, Flaw: backend.PayloadUnset, Size: 10},
		"a form for an envelope unset":   {Log: group, Flaw: backend.PayloadUnset, Form: backend.PrivateCommit},
		"a size for a short group bytes": {Log: group, Flaw: backend.GroupOneByte, Size: 50_000},
	} {
		if _, _, err := craft.New(1, "", "").Envelope(e); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
