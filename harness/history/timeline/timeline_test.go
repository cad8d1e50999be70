package timeline_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/harness/history"
	"assay/harness/history/timeline"
	"assay/model"
)

// overlapping makes a history in which every call overlaps the next.
func overlapping(calls int) *history.History {
	h := &history.History{Header: history.Header{Suite: "toy", Subject: `<img src=x onerror="alert(1)">`}}
	add := func(p model.Phase, actor string, call int) {
		h.Events = append(h.Events, model.Event{Index: len(h.Events), Phase: p, At: time.Duration(len(h.Events)) * time.Millisecond, Actor: actor, Call: call})
	}
	for c := 1; c <= calls; c++ {
		add(model.Invoke, fmt.Sprint("actor", c%3), c)
		if c > 1 {
			add(model.Return, fmt.Sprint("actor", (c-1)%3), c-1)
		}
	}
	return h
}

func describe(e model.Event) string { return fmt.Sprintf("<script>event %d</script>", e.Index) }

func TestAPageShowsTheProofAndEscapesEverything(t *testing.T) {
	h := overlapping(40)
	var out bytes.Buffer
	v := timeline.Violation{Title: "X-001 <b>order</b>", Expected: "a & b", Got: "<i>", Call: 20, Events: []int{37, 38}}
	if err := timeline.Write(&out, h, []timeline.Violation{v}, describe); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"<script", "<img", "<b>order", "<i>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q unescaped", bad)
		}
	}
	for _, want := range []string{"X-001", "event 38", "actor0", "actor1", "actor2", `class="bar breached"`, "default-src 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "event 2&lt;") {
		t.Error("the page shows what lies far from the proof")
	}
	for _, outside := range []string{"http://", "https://", "src=", "href="} {
		if strings.Contains(strings.ReplaceAll(page, "src=x", ""), outside) {
			t.Errorf("the page needs something else: %q", outside)
		}
	}
}

func TestALongHistoryMakesABoundedPageThatKeepsItsProof(t *testing.T) {
	h := overlapping(20_000)
	var out bytes.Buffer
	v := timeline.Violation{Title: "X-001", Call: 2, Events: []int{3, 39_000}}
	if err := timeline.Write(&out, h, []timeline.Violation{v}, describe); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", out.Len())
	}
	for _, want := range []string{"event 3&lt;", "event 39000&lt;", "calls of this stretch are not drawn"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestAHistoryWithoutAViolationIsDrawnFromItsBeginning(t *testing.T) {
	var out bytes.Buffer
	if err := timeline.Write(&out, overlapping(3), nil, describe); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "nothing is violated") || !strings.Contains(out.String(), "no return") {
		t.Errorf("page: %s", out.String())
	}
}

// talking makes a history of one call that stays open over many messages.
func talking(messages int) *history.History {
	h := &history.History{Header: history.Header{Suite: "toy"}}
	add := func(p model.Phase) {
		h.Events = append(h.Events, model.Event{Index: len(h.Events), Phase: p, At: time.Duration(len(h.Events)) * time.Millisecond, Actor: "s", Call: 1})
	}
	add(model.Invoke)
	for i := range messages {
		add([]model.Phase{model.Send, model.Receive}[i%2])
	}
	return h
}

func TestMessagesAreStrokesOnTheBarOfTheirCall(t *testing.T) {
	var out bytes.Buffer
	v := timeline.Violation{Title: "X-001", Call: 1, Events: []int{0, 3}}
	if err := timeline.Write(&out, talking(4), []timeline.Violation{v}, describe); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{`class="stroke in"`, `class="stroke proof"`, "event 2, receive: ", "event 3, send: ", `class="stroke"`, `class="stroke in"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, `<i class="stroke`); n != 4 {
		t.Errorf("the page has %d strokes, want 4", n)
	}
}

func TestACallOfManyMessagesMakesABoundedPageThatKeepsItsProof(t *testing.T) {
	var out bytes.Buffer
	v := timeline.Violation{Title: "X-001", Call: 1, Events: []int{0, 99_999}}
	if err := timeline.Write(&out, talking(100_000), []timeline.Violation{v}, describe); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", out.Len())
	}
	for _, want := range []string{"event 99999&lt;", "messages of this stretch are not drawn"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
