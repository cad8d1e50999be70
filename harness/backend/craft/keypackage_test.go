package craft_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/impl/mls"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// atNow is a crafter whose key packages are made at now.
func atNow(scope string) *craft.Crafter {
	return craft.New(1, "n", scope).WithClock(func() time.Time { return now })
}

func packageOf(t *testing.T, c *craft.Crafter, p backend.KeyPackageIntent) ([]byte, backend.Artefact) {
	t.Helper()
	wire, a, err := c.Envelope(backend.Envelope{Log: p.Installation.Log(), Package: &p})
	if err != nil {
		t.Fatal(err)
	}
	var e backendv1.ClientEnvelope
	if err := proto.Unmarshal(wire, &e); err != nil {
		t.Fatal(err)
	}
	if n := proto.Size(&e); n != a.CanonicalLen || len(wire) != a.WireLen {
		t.Errorf("lengths %d and %d, artefact says %d and %d", len(wire), n, a.WireLen, a.CanonicalLen)
	}
	return e.GetKeyPackage().GetKeyPackageTlsSerialized(), a
}

// outcome is what the reference says of a package: "", "undecodable" or every
// rule that it breaks.
func outcome(b []byte, at time.Time) string {
	p, err := mls.ParseKeyPackage(b)
	if err != nil {
		var d *mls.DecodeError
		if errors.As(err, &d) {
			return "undecodable: " + d.Problem.String()
		}
		return "undecodable"
	}
	var broken []string
	for rule := mls.RuleLeafSource; rule <= mls.RuleCredentialContent; rule++ {
		if p.Check(rule, at) != nil {
			broken = append(broken, rule.String())
		}
	}
	return strings.Join(broken, ", ")
}

func TestASoundKeyPackageIsAcceptedInBothSuites(t *testing.T) {
	inbox := backend.InboxRef{Creator: w1}
	for _, suite := range []uint16{0, 1, 3} {
		c := atNow(fmt.Sprint(suite))
		p := backend.KeyPackageIntent{Installation: i1, Inbox: inbox, Suite: suite}
		b, a := packageOf(t, c, p)
		if got := outcome(b, now); got != "" {
			t.Errorf("suite %d: %s", suite, got)
		}
		if a.Topic != c.Topic(i1.Log()) || a.Topic != backend.Bytes("\x03"+string(unhex(t, c.Identifier(i1)))) {
			t.Errorf("suite %d: topic %s", suite, a.Topic)
		}
		if want := craft.InboxID(c.Identifier(w1), 0); !bytes.Contains(b, []byte(want)) {
			t.Errorf("suite %d: inbox %s is not named", suite, want)
		}
		p.Serial = 1
		if second, other := packageOf(t, c, p); bytes.Equal(second, b) || other.Topic != a.Topic || outcome(second, now) != "" {
			t.Errorf("suite %d: another serial is the same package, on another topic, or refused", suite)
		}
	}
}

func TestEveryFlawOfAKeyPackageIsRefusedForIt(t *testing.T) {
	want := map[backend.KeyPackageFlaw]string{
		backend.PackageTrailing:   "undecodable: bytes are left over after the last field",
		backend.PackageTwice:      "undecodable: bytes are left over after the last field",
		backend.PackageWrapped:    "undecodable",
		backend.PackageCutByte:    "undecodable: the input ends inside the field",
		backend.PackageCutHalf:    "undecodable: the input ends inside the field",
		backend.PackageCutVersion: "undecodable: the input ends inside the field",
		backend.PackageNothing:    "undecodable: the input ends inside the field",
		backend.PackageLongLength: "undecodable: the length is not in its shortest form",
		backend.PackagePrefix11:   "undecodable: the length is not in its shortest form",
		backend.PackageKey0:       "undecodable: the installation key is not 32 bytes",
		backend.PackageKey31:      "undecodable: the installation key is not 32 bytes",
		backend.PackageKey33:      "undecodable: the installation key is not 32 bytes",
		backend.PackageKeyP256:    "undecodable: the installation key is not 32 bytes",
		// Such leaves have no lifetime to check.
		backend.SourceUpdate:      "leaf source, lifetime",
		backend.SourceCommit:      "leaf source, lifetime",
		backend.LeafFlipped:       "leaf signature",
		backend.LeafUnsigned:      "leaf signature",
		backend.LeafCut:           "leaf signature",
		backend.LeafLabel:         "leaf signature",
		backend.LeafPosition:      "leaf signature",
		backend.SignedByOther:     "leaf signature, package signature",
		backend.PackageFlipped:    "package signature",
		backend.PackageUnsigned:   "package signature",
		backend.PackageCutSign:    "package signature",
		backend.PackageLabel:      "package signature",
		backend.PackageByOther:    "package signature",
		backend.SameKeys:          "distinct keys",
		backend.SuiteOfOtherCurve: "leaf signature, package signature",
	}
	for _, f := range backend.KeyPackageFlaws() {
		t.Run(string(f), func(t *testing.T) {
			for serial := range uint32(20) {
				c := atNow("flaws")
				p := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}, Serial: serial, Flaw: f}
				b, a := packageOf(t, c, p)
				if got := outcome(b, now); got != want[f] && (want[f] != "undecodable" || !strings.HasPrefix(got, want[f])) {
					t.Fatalf("the reference says %q, want %q", got, want[f])
				}
				if f.NoTopic() != (a.Topic == "") {
					t.Fatalf("topic %s", a.Topic)
				}
				p.Flaw = ""
				if sound, _ := packageOf(t, c, p); outcome(sound, now) != "" {
					t.Fatalf("the sound package is refused: %s", outcome(sound, now))
				}
			}
		})
	}
}

// Undone, each flaw of the bytes leaves the sound package.
func TestFlawsOfBytesAreTheOnlyThingWrong(t *testing.T) {
	for f, undo := range map[backend.KeyPackageFlaw]func(b, sound []byte) []byte{
		backend.PackageTrailing:   func(b, _ []byte) []byte { return b[:len(b)-1] },
		backend.PackageTwice:      func(b, _ []byte) []byte { return b[len(b)/2:] },
		backend.PackageWrapped:    func(b, _ []byte) []byte { return b[4:] },
		backend.PackageCutByte:    func(b, sound []byte) []byte { return append(b, sound[len(b):]...) },
		backend.PackageCutHalf:    func(b, sound []byte) []byte { return append(b, sound[len(b):]...) },
		backend.PackageCutVersion: func(b, sound []byte) []byte { return append(b, sound[2:]...) },
		backend.PackageNothing:    func(b, sound []byte) []byte { return append(b, sound...) },
		backend.PackageLongLength: func(b, _ []byte) []byte { return slices.Delete(b, 4, 5) },
		backend.PackagePrefix11:   func(b, _ []byte) []byte { b[4] &= 0x3f; return b },
		backend.PackageFlipped:    func(b, _ []byte) []byte { b[len(b)-1] ^= 1; return b },
	} {
		c := atNow("bytes")
		p := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}}
		sound, _ := packageOf(t, c, p)
		p.Flaw = f
		b, _ := packageOf(t, c, p)
		switch f {
		case backend.PackageLongLength:
			// Two bytes of length begin with 01; without the first the rest is sound.
			if b[4] != 0x40 || b[5] != 0x20 {
				t.Fatalf("%s: length %x", f, b[4:6])
			}
		}
		if got := undo(slices.Clone(b), sound); !bytes.Equal(got, sound) {
			t.Errorf("%s: undone, the package is\n%x, not\n%x", f, got, sound)
		}
	}
}

func TestEveryVariantOfAKeyPackageIsTakenAsTheReferenceTakesIt(t *testing.T) {
	want := map[backend.KeyPackageVariant]string{
		backend.Version0: "version", backend.Version2: "version",
		backend.SuiteZero: "undecodable", backend.SuiteUnknown: "undecodable", backend.SuiteGrease: "undecodable",
		backend.SourceZero: "undecodable", backend.SourceFour: "undecodable",
		backend.PackageExtTwice: "undecodable", backend.LeafExtTwice: "undecodable", backend.LeafLastResort: "undecodable", backend.LeafRatchetTree: "undecodable",
		backend.LastResortUnlisted: "listed extensions", backend.WrapperUnlisted: "listed extensions", backend.UnknownUnlisted: "listed extensions",
		backend.ExtApplicationID: "allowed extensions", backend.ExtRequired: "allowed extensions", backend.ExtExternalPub: "allowed extensions", backend.ExtGrease: "allowed extensions",
		backend.CredentialX509: "credential type, credential content", backend.CredentialUnknown: "credential type",
		backend.IdentityCut: "credential content", backend.IdentityWireType: "credential content", backend.IdentityUTF8: "credential content", backend.IdentityAddress: "credential content",
		backend.SmallOrderKey: "leaf signature, package signature",
	}
	for _, v := range backend.KeyPackageVariants() {
		t.Run(string(v), func(t *testing.T) {
			b, a := packageOf(t, atNow("variants"), backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}, Variant: v})
			if got := outcome(b, now); got != want[v] && (want[v] != "undecodable" || !strings.HasPrefix(got, want[v])) {
				t.Errorf("the reference says %q, want %q", got, want[v])
			}
			if a.Topic == "" {
				t.Error("no topic")
			}
		})
	}
}

func TestLifetimesAreCountedFromTheFirstMaking(t *testing.T) {
	begins, ends := now.Add(-time.Hour), now.Add(84*24*time.Hour)
	for l, want := range map[backend.Lifetime]struct {
		from, to int64
		rule     string
	}{
		backend.Current:      {begins.Unix(), ends.Unix(), ""},
		backend.BegunJustNow: {now.Unix() - 120, ends.Unix() - 120, ""},
		backend.EndsSoon:     {begins.Unix(), now.Unix() + 120, ""},
		backend.EndsShortly:  {begins.Unix(), now.Unix() + 35, ""},
		backend.NotYet:       {now.Unix() + 120, ends.Unix(), "lifetime"},
		backend.Ended:        {begins.Unix(), now.Unix() - 120, "lifetime"},
		backend.LongAgo:      {1, 2, "lifetime"},
		backend.Reversed:     {ends.Unix(), begins.Unix(), "lifetime"},
		backend.Century:      {begins.Unix(), now.Unix() + 100*365*86400, ""},
		backend.Boundless:    {0, -1, ""},
	} {
		clock := now
		c := craft.New(1, "n", "lifetimes").WithClock(func() time.Time { return clock })
		p := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}, Lifetime: l}
		b, _ := packageOf(t, c, p)
		if got := outcome(b, now); got != want.rule {
			t.Errorf("%q: the reference says %q, want %q", l, got, want.rule)
		}
		if kp, err := mls.ParseKeyPackage(b); err != nil || kp.Leaf.Lifetime.NotBefore != uint64(want.from) || kp.Leaf.Lifetime.NotAfter != uint64(want.to) {
			t.Errorf("%q: %+v, %v, want %d to %d", l, kp, err, want.from, want.to)
		}
		clock = clock.Add(time.Minute)
		if again, _ := packageOf(t, c, p); !bytes.Equal(again, b) {
			t.Errorf("%q: made again a minute later, it is another package", l)
		}
		if later, _ := packageOf(t, c.WithClock(func() time.Time { return now.Add(math.MaxInt32 * time.Second) }), p); !bytes.Equal(later, b) {
			t.Errorf("%q: made again by another clock, it is another package", l)
		}
	}
}
