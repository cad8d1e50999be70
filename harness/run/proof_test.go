package run_test

import (
	"context"
	"fmt"
	"testing"

	"assay/harness/history"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/model"
)

// longHistory has calls one after the other, by one actor.
func longHistory(calls int) *history.History {
	h := &history.History{}
	for c := 1; c <= calls; c++ {
		for _, p := range []model.Phase{model.Invoke, model.Return} {
			h.Events = append(h.Events, model.Event{Index: len(h.Events), Phase: p, Actor: "a", Call: c})
		}
	}
	return h
}

// needing judges that a history with all of the needed calls breaches, and
// counts how much it was given to judge.
func needing(events *int, call int, needed ...int) func(*history.History) model.Judged {
	return func(h *history.History) model.Judged {
		*events += len(h.Events)
		at := map[int]int{}
		for i, e := range h.Events {
			at[e.Call] = i
		}
		proof := []int{}
		for _, n := range needed {
			if _, ok := at[n]; !ok {
				return model.Judged{}
			}
			proof = append(proof, at[n])
		}
		return model.Judged{Judgements: []model.Judgement{{Assertion: crowded, Call: call, Breach: &model.Breach{Expected: "x", Got: "y", Events: proof[:2]}}}}
	}
}

func TestTheCallsThatProveABreachAreTriedBeforeAnythingElse(t *testing.T) {
	for name, c := range map[string]struct {
		needed []int // the first two are named as proof
		want   int   // calls that are left
	}{
		"the named calls suffice":                     {[]int{100, 900}, 2},
		"what lies between the named calls is needed": {[]int{100, 103, 102}, 4},
		"what lies elsewhere is needed":               {[]int{100, 900, 5}, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			judged := 0
			judge := needing(&judged, 100, c.needed...)
			h := longHistory(1000)
			breach := judge(h).Breaches()[0]
			part, v := run.ProofAlone(judge, h, breach)
			if part.Calls() != c.want || v.Breach == nil {
				t.Errorf("%d calls are left, want %d", part.Calls(), c.want)
			}
			if judged > 4*len(h.Events) {
				t.Errorf("%d events were judged to find out", judged)
			}
		})
	}
}

func TestAProofThatNamesWhatIsNotThereIsLeftAlone(t *testing.T) {
	h := longHistory(3)
	breach := model.Judgement{Assertion: crowded, Call: 1, Breach: &model.Breach{Events: []int{99}}}
	if part, _ := run.ProofAlone(func(*history.History) model.Judged { return model.Judged{} }, h, breach); part != h {
		t.Error("the history was cut")
	}
}

// listening is a suite that notes how it is connected.
type listening struct {
	*toySuite
	got []string
}

func (l *listening) Connect(ctx context.Context, c run.Connection) (run.Client, error) {
	for _, e := range append([]subject.Endpoint{c.Endpoint}, c.Others...) {
		l.got = append(l.got, e.Address)
	}
	return l.toySuite.Connect(ctx, c)
}

func TestFurtherInstancesReachTheClient(t *testing.T) {
	toy, err := newToySuite()
	if err != nil {
		t.Fatal(err)
	}
	var source run.TargetSource
	var addresses []string
	for i := range 3 {
		server := toyServer(false)
		t.Cleanup(server.Close)
		e, err := subject.ParseEndpoint(server.URL, subject.TLSOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, e.Address)
		target := subject.Target{Endpoint: e, Probe: toy.Probe}
		if i == 0 {
			source.Target = target
		} else {
			source.Others = append(source.Others, target)
		}
	}
	l := &listening{toySuite: toy}
	if _, err := run.Verify(t.Context(), run.Options{Suite: run.OnInstances(l, source.Instances()), Source: source, Seed: 1, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(l.got) != fmt.Sprint(addresses) {
		t.Errorf("connected to %v, want %v", l.got, addresses)
	}
}
