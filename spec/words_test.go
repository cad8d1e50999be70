package spec_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"assay/spec"
)

func TestEveryWordReadsBackAsItself(t *testing.T) {
	for _, v := range []fmt.Stringer{
		spec.Must, spec.Should,
		spec.Server, spec.Client, spec.Application, spec.Operator, spec.Project,
		spec.Wire, spec.Gate, spec.Chain, spec.Replica, spec.Control, spec.Watch,
	} {
		t.Run(v.String(), func(t *testing.T) {
			var got any
			var err error
			switch v.(type) {
			case spec.Level:
				got, err = spec.ParseLevel(v.String())
			case spec.Party:
				got, err = spec.ParseParty(v.String())
			case spec.Access:
				got, err = spec.ParseAccess(v.String())
			}
			if err != nil || got != v {
				t.Errorf("%q read as %v, %v", v, got, err)
			}
		})
	}
}

func TestTheZeroValueAndUnknownValuesHaveNoWord(t *testing.T) {
	for _, v := range []interface {
		fmt.Stringer
		encoding.TextMarshaler
	}{
		spec.Level(0), spec.Level(9), spec.Party(0), spec.Party(255), spec.Access(0), spec.Access(7),
	} {
		if v.String() != "invalid" {
			t.Errorf("%T(%[1]d) is called %q", v, v)
		}
		if text, err := v.MarshalText(); err == nil {
			t.Errorf("%T(%[1]d) was written as %q", v, text)
		}
	}
	for _, word := range []string{"", "invalid", "Must", "must "} {
		if _, err := spec.ParseLevel(word); err == nil {
			t.Errorf("the level %q was read", word)
		}
	}
}

func TestAccessSetsAreReadAsTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		set  spec.AccessSet
		text string
		json string
	}{
		{"the empty set", 0, "none", `[]`},
		{"one access", spec.AccessOf(spec.Wire), "wire", `["wire"]`},
		{"two in the order of their constants", spec.AccessOf(spec.Chain, spec.Wire), "wire+chain", `["wire","chain"]`},
		{"all", spec.AccessOf(spec.Wire, spec.Gate, spec.Chain, spec.Replica, spec.Control, spec.Watch),
			"wire+gate+chain+replica+control+watch", `["wire","gate","chain","replica","control","watch"]`},
		{"what is no access adds nothing", spec.AccessOf(0, 7, 200, spec.Gate), "gate", `["gate"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.set.String(); got != c.text {
				t.Errorf("written as %q, want %q", got, c.text)
			}
			if got, err := spec.ParseAccessSet(c.text); err != nil || got != c.set {
				t.Errorf("%q read as %v, %v", c.text, got, err)
			}
			text, err := json.Marshal(c.set)
			if err != nil || string(text) != c.json {
				t.Errorf("JSON is %s, %v, want %s", text, err, c.json)
			}
			var back spec.AccessSet
			if err := json.Unmarshal(text, &back); err != nil || back != c.set {
				t.Errorf("%s read as %v, %v", text, back, err)
			}
		})
	}
	for _, junk := range []string{"", "+", "wire+", "wire,chain", "wire+telepathy", "WIRE"} {
		if set, err := spec.ParseAccessSet(junk); err == nil {
			t.Errorf("%q was read as %v", junk, set)
		}
	}
}

func TestAccessSetsCompareByMembers(t *testing.T) {
	run, need := spec.AccessOf(spec.Wire, spec.Control), spec.AccessOf(spec.Wire, spec.Chain)
	if run.Contains(need) || !need.With(spec.Control).Contains(run) || !run.Contains(0) {
		t.Error("Contains is wrong")
	}
	if got := need.Without(run); got != spec.AccessOf(spec.Chain) {
		t.Errorf("%v without %v is %v", need, run, got)
	}
	if !run.Has(spec.Control) || run.Has(spec.Chain) || run.Has(0) {
		t.Error("Has is wrong")
	}
}

func TestPartySetsNameEveryMember(t *testing.T) {
	both := spec.Parties(spec.Client, spec.Server, 0, 77)
	if both.String() != "server and client" || spec.PartySet(0).String() != "nobody" {
		t.Errorf("got %q and %q", both, spec.PartySet(0))
	}
	if !both.Has(spec.Client) || both.Has(spec.Operator) || both.Has(0) {
		t.Error("Has is wrong")
	}
	text, err := json.Marshal(both)
	var back spec.PartySet
	if err != nil || string(text) != `["server","client"]` || json.Unmarshal(text, &back) != nil || back != both {
		t.Errorf("JSON is %s, %v and reads as %v", text, err, back)
	}
	if err := json.Unmarshal([]byte(`["nobody"]`), &back); err == nil {
		t.Error("an unknown party was read")
	}
}
