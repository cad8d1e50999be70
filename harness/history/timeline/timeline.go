// Package timeline draws the part of a history in which something went wrong, as
// one HTML page that needs nothing else. Start with Write.
//
// Every actor has a row, every event a column, so that what overlaps stands
// below each other however long it took. A message of an open call is a stroke on
// the call's bar. It promises that nothing from a history
// reaches the page unescaped. It judges nothing: what it marks it was told.
package timeline

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"sort"

	"assay/harness/history"
	"assay/model"
)

// Violation is one thing to show.
type Violation struct {
	// Title, Expected and Got are for people; any text is safe.
	Title, Expected, Got string
	// Call is the breached call and Events are the indices that prove it.
	Call   int
	Events []int
}

// most bounds what is drawn: pages beyond it show nothing that a person reads.
const (
	mostViolations = 12
	mostCalls      = 250
	mostMessages   = 750 // of one window; what proves is always drawn
	mostText       = 400
	// margin is the number of events drawn before and after the proof.
	margin = 12
)

// Write writes the page. describe says in a few words what an event is. With no
// violations the page shows the beginning of the history.
func Write(w io.Writer, h *history.History, violations []Violation, describe func(model.Event) string) error {
	p := page{Header: h.Header, Events: len(h.Events), Calls: h.Calls(), Omitted: max(0, len(violations)-mostViolations)}
	for _, v := range violations[:min(len(violations), mostViolations)] {
		from, to := window(h, v.Events)
		p.Windows = append(p.Windows, draw(h, v, from, to, describe))
	}
	if len(violations) == 0 {
		p.Windows = append(p.Windows, draw(h, Violation{Title: "nothing is violated; the history begins so"}, 0, min(len(h.Events), 2*mostCalls), describe))
	}
	if err := layout.Execute(w, p); err != nil {
		return fmt.Errorf("draw the history: %w", err)
	}
	return nil
}

// window is the stretch of events to draw: from before the first proving event
// to behind the last, or around each where they are far apart.
func window(h *history.History, proof []int) (from, to int) {
	from, to = len(h.Events), 0
	for _, e := range proof {
		from, to = min(from, e), max(to, e)
	}
	if from > to {
		return 0, min(len(h.Events), 2*mostCalls)
	}
	return max(0, from-margin), min(len(h.Events), to+margin+1)
}

type page struct {
	Header        history.Header
	Events, Calls int
	Windows       []drawn
	Omitted       int
}

// drawn is one window, laid out.
type drawn struct {
	Violation
	Actors  []lane
	Lines   []line
	Columns int
	Height  int
	Width   int
	Cut     int // calls left out
	Unsaid  int // messages left out
}

type lane struct {
	Name string
	Top  int
	Bars []bar
}

type bar struct {
	Left, Width, Top int
	Text, Full       string
	Proof, Breached  bool
	Open             bool
	Strokes          []stroke
}

// stroke is one message of an open call, by its place on the bar.
type stroke struct {
	Left  int
	Full  string
	In    bool // it arrived
	Proof bool
}

type line struct {
	Index, Call int
	At          string
	Actor       string
	Phase       string
	Text        string
	Proof       bool
}

const (
	columnWidth = 26
	laneHeight  = 34
)

// span is one call as it lies in the history.
type span struct {
	call, invoked, returned int // returned is the number of events when it never did
	actor                   string
}

func spans(h *history.History) []span {
	at := make(map[int]int)
	var out []span
	for i, e := range h.Events {
		switch e.Phase {
		case model.Invoke:
			at[e.Call] = len(out)
			out = append(out, span{call: e.Call, invoked: i, returned: len(h.Events), actor: e.Actor})
		case model.Return:
			if k, ok := at[e.Call]; ok {
				out[k].returned = i
			}
		}
	}
	return out
}

func draw(h *history.History, v Violation, from, to int, describe func(model.Event) string) drawn {
	d := drawn{Violation: v}
	d.Title, d.Expected, d.Got = bounded(v.Title), bounded(v.Expected), bounded(v.Got)
	proves := func(i int) bool { return slices.Contains(v.Events, i) }
	var inside []span
	for _, s := range spans(h) {
		if s.invoked >= to || s.returned < from {
			continue
		}
		inside = append(inside, s)
	}
	if len(inside) > mostCalls { // keep what proves, then what lies nearest to the end
		sort.SliceStable(inside, func(a, b int) bool {
			pa, pb := proves(inside[a].invoked) || proves(inside[a].returned), proves(inside[b].invoked) || proves(inside[b].returned)
			if pa != pb {
				return pa
			}
			return inside[a].invoked > inside[b].invoked
		})
		d.Cut = len(inside) - mostCalls
		inside = inside[:mostCalls]
	}
	// Columns are the events of the drawn calls, in order.
	var events []int
	for _, s := range inside {
		events = append(events, s.invoked)
		if s.returned < len(h.Events) {
			events = append(events, s.returned)
		}
	}
	messages, unsaid := said(h, inside, from, to, proves)
	d.Unsaid = unsaid
	events = append(events, messages...)
	slices.Sort(events)
	column := make(map[int]int, len(events))
	for i, e := range events {
		column[e] = i
	}
	lanes := make(map[string]int)
	sort.SliceStable(inside, func(a, b int) bool { return inside[a].invoked < inside[b].invoked })
	for _, s := range inside {
		n, ok := lanes[s.actor]
		if !ok {
			n = len(d.Actors)
			lanes[s.actor] = n
			d.Actors = append(d.Actors, lane{Name: bounded(s.actor), Top: n * laneHeight})
		}
		left, right := column[s.invoked], len(events)
		proof := proves(s.invoked) || proves(s.returned)
		var strokes []stroke
		for _, e := range messages {
			if h.Events[e].Call != s.call {
				continue
			}
			proof = proof || proves(e)
			strokes = append(strokes, stroke{Left: (column[e] - left) * columnWidth, In: h.Events[e].Phase == model.Receive, Proof: proves(e),
				Full: fmt.Sprintf("event %d, %s: %s", e, h.Events[e].Phase, bounded(describe(h.Events[e])))})
		}
		text := bounded(describe(h.Events[s.invoked]))
		full := fmt.Sprintf("call %d: %s", s.call, text)
		open := s.returned >= len(h.Events)
		if !open {
			right = column[s.returned]
			full += "\n→ " + bounded(describe(h.Events[s.returned]))
		} else {
			full += "\n→ no return"
		}
		d.Actors[n].Bars = append(d.Actors[n].Bars, bar{Left: left * columnWidth, Width: (right-left+1)*columnWidth - 4, Top: n * laneHeight, Text: text, Full: full,
			Proof: proof, Breached: s.call == v.Call, Open: open, Strokes: strokes})
	}
	for _, e := range events {
		ev := h.Events[e]
		d.Lines = append(d.Lines, line{Index: e, Call: ev.Call, At: fmt.Sprintf("%.3f ms", float64(ev.At.Nanoseconds())/1e6), Actor: bounded(ev.Actor),
			Phase: ev.Phase.String(), Text: bounded(describe(ev)), Proof: proves(e)})
	}
	d.Columns, d.Height, d.Width = len(events), len(d.Actors)*laneHeight+8, (len(events)+1)*columnWidth
	return d
}

// said lists the messages of the drawn calls that stand in the window, and counts
// those that are one too many.
func said(h *history.History, inside []span, from, to int, proves func(int) bool) (out []int, unsaid int) {
	drawn := make(map[int]bool, len(inside))
	for _, s := range inside {
		drawn[s.call] = true
	}
	for i := from; i < to; i++ {
		e := h.Events[i]
		if e.Phase != model.Send && e.Phase != model.Receive || !drawn[e.Call] {
			continue
		}
		if len(out) >= mostMessages && !proves(i) {
			unsaid++
			continue
		}
		out = append(out, i)
	}
	return out, unsaid
}

// bounded keeps one text from filling the page.
func bounded(s string) string {
	if len(s) <= mostText {
		return s
	}
	cut := []rune(s[:mostText])
	return string(cut[:len(cut)-1]) + "…"
}

var layout = template.Must(template.New("timeline").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>assay: timeline</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}
.chart{position:relative;overflow-x:auto;border:1px solid #ccc;margin:1em 0;padding-left:8em}
.plot{position:relative}
.name{position:absolute;left:.5em;width:7em;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;padding-top:8px;color:#555}
.bar{position:absolute;height:24px;margin-top:4px;border-radius:3px;background:#cfe0f5;border:1px solid #7ba0cc;overflow:hidden;white-space:nowrap;font-size:12px;padding:1px 2px;box-sizing:border-box}
.stroke{position:absolute;top:0;width:3px;height:24px;background:#4a6f9c}
.stroke.in{background:#2f7d4f}
.stroke.proof{background:#c98a1e;width:5px}
.bar.open{border-right-style:dashed}
.bar.proof{background:#ffe2b8;border-color:#c98a1e}
.bar.breached{background:#f9c9c6;border-color:#b3261e}
table{border-collapse:collapse;font-size:13px}td,th{padding:2px 8px;text-align:left;vertical-align:top}
tr.proof{background:#fff1da}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
dt{float:left;width:6em;color:#555}dd{margin-left:6em}
</style></head><body>
<h1>Timeline</h1>
<p>{{.Header.Suite}} {{.Header.Scenario}} {{.Header.Session}} · seed {{.Header.Seed}} · {{.Header.Subject}} · {{.Calls}} calls in {{.Events}} events.
Every event has a column, in the order in which it was seen; bars that share a column overlap. Orange proves, red is the call that breaches; blue strokes are messages that left, green ones arrived.</p>
{{if .Omitted}}<p>{{.Omitted}} more violations are not drawn.</p>{{end}}
{{range .Windows}}<section><h2>{{.Title}}</h2>
{{if .Expected}}<dl><dt>expected</dt><dd>{{.Expected}}</dd><dt>got</dt><dd>{{.Got}}</dd></dl>{{end}}
{{if .Cut}}<p>{{.Cut}} calls of this stretch are not drawn.</p>{{end}}
{{if .Unsaid}}<p>{{.Unsaid}} messages of this stretch are not drawn.</p>{{end}}
<div class="chart" style="height:{{.Height}}px">{{range .Actors}}<div class="name" style="top:{{.Top}}px">{{.Name}}</div>{{end}}
<div class="plot" style="width:{{.Width}}px">{{range .Actors}}{{range .Bars}}<div class="bar{{if .Open}} open{{end}}{{if .Breached}} breached{{else if .Proof}} proof{{end}}" style="left:{{.Left}}px;top:{{.Top}}px;width:{{.Width}}px" title="{{.Full}}">{{.Text}}{{range .Strokes}}<i class="stroke{{if .In}} in{{end}}{{if .Proof}} proof{{end}}" style="left:{{.Left}}px" title="{{.Full}}"></i>{{end}}</div>{{end}}{{end}}</div></div>
<details><summary>events</summary><table><tr><th>event</th><th>at</th><th>actor</th><th>call</th><th></th><th></th></tr>
{{range .Lines}}<tr{{if .Proof}} class="proof"{{end}}><td class="n">{{.Index}}</td><td class="n">{{.At}}</td><td>{{.Actor}}</td><td class="n">{{.Call}}</td><td>{{.Phase}}</td><td>{{.Text}}</td></tr>
{{end}}</table></details></section>
{{end}}</body></html>
`))
