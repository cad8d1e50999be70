package backend_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	implchain "assay/impl/chain"
	"assay/impl/identity"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
	"assay/spec/gen/xmtp/identity/associations"
)

// draws is how many updates the agreement is tried on; 20,000 take minutes.
var draws = flag.Int("identity.draws", 1500, "number of random identity updates on which model and reference must agree")

// dice is a seeded source of choice.
type dice struct{ *rand.Rand }

func (d dice) Intn(n int, _ string) int { return d.IntN(n) }

// reference validates bytes as a backend does, against the history of their topic.
type reference struct {
	craft     *craft.Crafter
	validator *identity.Validator
	history   map[backend.Bytes][]*associations.IdentityUpdate
}

// answer is what a backend would say: a reason of 0 is a success.
type answer struct {
	reason      backend.Reason
	unavailable bool
	added       int
	text        string
}

func (r *reference) publish(t *testing.T, u backend.IdentityUpdate) answer {
	t.Helper()
	wire, a, err := r.craft.Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u})
	if err != nil {
		t.Fatalf("%+v cannot be made: %v", u, err)
	}
	var e backendv1.ClientEnvelope
	if err := proto.Unmarshal(wire, &e); err != nil {
		t.Fatal(err)
	}
	if a.Topic == "" {
		return answer{reason: backend.ReasonMalformedPayload, text: "no topic"}
	}
	history := r.history[a.Topic]
	if len(history) >= 256 {
		return answer{reason: backend.ReasonInvalidIdentityUpdate, text: "a full log"}
	}
	change, err := r.validator.Validate(t.Context(), history, e.GetIdentityUpdate())
	var refused *identity.Error
	if err == nil {
		r.history[a.Topic] = append(history, e.GetIdentityUpdate())
		return answer{added: len(change.Added)}
	}
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	out := answer{text: err.Error()}
	switch refused.Class {
	case identity.Malformed:
		out.reason = backend.ReasonMalformedPayload
	case identity.TooLarge:
		out.reason = backend.ReasonTooLarge
	case identity.InvalidSignature:
		out.reason = backend.ReasonInvalidSignature
	case identity.InvalidUpdate:
		out.reason = backend.ReasonInvalidIdentityUpdate
	default:
		out.unavailable = true
	}
	return out
}

// explains reports whether a ruling allows an answer.
func explains(r backend.Ruling, a answer) bool {
	reasons, any := r.Reasons()
	switch {
	case a.unavailable:
		return r.Unavailable()
	case a.reason == 0:
		return !r.MustRefuse()
	default:
		return !r.MustAccept() && (any || slices.Contains(reasons, a.reason))
	}
}

// The model never sees a byte and the reference sees nothing else: on every
// update they must say the same, and every rule must be the deciding one.
func TestModelAndReferenceAgreeOnRandomIdentityUpdates(t *testing.T) {
	c, err := chain.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	v, err := implchain.New(implchain.Config{Timeout: time.Minute, Routes: map[string]string{fmt.Sprintf("eip155:%d", c.ID()): c.URL(), "eip155:31337": c.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r := &reference{craft: craft.New(1, "agreement", "updates").WithChain(c), history: make(map[backend.Bytes][]*associations.IdentityUpdate),
		validator: identity.NewValidator(identity.Config{Rules: identity.ReferenceRules(), Wallets: v, MaxWalletSignatures: 100, Remember: 4096})}
	lives := backend.NewLives(backend.Conditions{Known: true, Node: backend.Node{Routed: true, SecondRouted: true}})
	source := dice{rand.New(rand.NewPCG(7, 11))}

	accepted, decided := 0, make(map[backend.Rule]int)
	aimed, began := make(map[backend.Rule]int), time.Now()
	for n := range *draws {
		u, aim := lives.Draw(source)
		ruling := lives.Ruling(&u)
		a := r.publish(t, u)
		if !explains(ruling, a) {
			t.Fatalf("update %d, drawn against %q: the reference says %+v\nthe model: must accept %v, must refuse %v, decides %q\n%+v", n, aim, a, ruling.MustAccept(), ruling.MustRefuse(), ruling.Decides(), u)
		}
		aimed[aim]++
		decided[ruling.Decides()]++
		if a.reason != 0 || a.unavailable {
			continue
		}
		accepted++
		found := lives.Findable(u.Inbox)
		lives.Accept(u)
		if after := lives.Findable(u.Inbox); found >= 0 && after >= 0 && after-found > a.added {
			t.Fatalf("update %d: the reference adds %d to lookups, the model %d\n%+v", n, a.added, after-found, u)
		}
	}
	var table strings.Builder
	for _, rule := range append(backend.Rules(), "") {
		fmt.Fprintf(&table, "%6d %6d  %s\n", aimed[rule], decided[rule], rule)
	}
	t.Logf("%d updates in %v, %.0f %% accepted; drawn against and decided by:\n%s", *draws, time.Since(began).Round(time.Second), 100*float64(accepted)/float64(*draws), table.String())
	if accepted*100 < 40**draws {
		t.Errorf("%d of %d updates are accepted: fewer than 40 %%", accepted, *draws)
	}
	for _, rule := range backend.Rules() {
		if want := *draws / 200; decided[rule] < want && (rule != backend.RuleLogLength || *draws >= 20_000) {
			t.Errorf("rule %q decides %d times, fewer than %d", rule, decided[rule], want)
		}
	}
}
