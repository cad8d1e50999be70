package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"assay/harness/history"
	"assay/harness/run"
	"assay/harness/schedule"
	"assay/harness/subject"
	"assay/model"
	"assay/spec"
)

// The toy protocol: one log over HTTP, in memory. POST /append stores the body
// and answers its position; GET /read?after=N answers the lines above N. This
// file is the whole of a suite, and docs/add-a-suite.md walks through it.

const toyRequirements = `
suite: toy
title: A log over HTTP
source: this file
sections:
  - {number: "1", title: The log}
glossary:
  - {word: position, meaning: the number of a line in the log}
requirements:
  - id: TOY-001
    section: "1"
    title: Positions increase
    statement: The position of an appended line is higher than every position handed out before.
    level: must
    binds: [server]
    decided_by: [[wire]]
  - id: TOY-002
    section: "1"
    title: A read returns what lies above
    statement: A read returns every line above the position it names, in order.
    level: must
    binds: [server]
    decided_by: [[wire]]
`

const toyLimits = "limits: []\n"

// Calls and returns of the protocol.
type (
	toyAppend struct{ Line string }
	toyRead   struct{ After int }
	toyReturn struct {
		Position int      `json:"position,omitempty"`
		Lines    []string `json:"lines,omitempty"`
		Failed   string   `json:"failed,omitempty"`
	}
)

var (
	toyIncreases = model.Assertion{Name: "position-increases", Requirement: "TOY-001", Basis: model.Spec}
	toyComplete  = model.Assertion{Name: "read-is-complete", Requirement: "TOY-002", Basis: model.Spec}
)

// toyJudge is the model: the rules of the protocol over one history.
func toyJudge(h *history.History) model.Judged {
	out := model.Judged{Witnesses: map[string]bool{}}
	calls := map[int]model.Event{}
	var lines []string
	highest := 0
	for _, e := range h.Events {
		if e.Phase == model.Invoke {
			calls[e.Call] = e
			continue
		}
		r, ok := e.Value.(*toyReturn)
		if !ok || r.Failed != "" {
			continue
		}
		proof := []int{calls[e.Call].Index, e.Index}
		switch c := calls[e.Call].Value.(type) {
		case *toyAppend:
			j := model.Judgement{Assertion: toyIncreases, Call: e.Call}
			if r.Position <= highest {
				j.Breach = &model.Breach{Expected: fmt.Sprint("a position above ", highest), Got: fmt.Sprint(r.Position), Events: proof}
			}
			out.Judgements = append(out.Judgements, j)
			highest, lines = r.Position, append(lines, c.Line)
		case *toyRead:
			// An empty read proves nothing unless another read found something.
			j := model.Judgement{Assertion: toyComplete, Call: e.Call, Needs: "call:read"}
			want := lines[min(c.After, len(lines)):]
			if strings.Join(r.Lines, "\n") != strings.Join(want, "\n") {
				j.Breach = &model.Breach{Expected: fmt.Sprintf("%q", want), Got: fmt.Sprintf("%q", r.Lines), Events: proof}
			}
			out.Witnesses["call:read"] = out.Witnesses["call:read"] || len(r.Lines) > 0
			out.Judgements = append(out.Judgements, j)
		}
	}
	return out
}

// toySuite implements run.Suite.
type toySuite struct{ catalogue *spec.Catalogue }

func newToySuite() (*toySuite, error) {
	c, err := spec.LoadCatalogue([]byte(toyRequirements), []byte(toyLimits))
	return &toySuite{c}, err
}

func (t *toySuite) Name() string                                  { return "toy" }
func (t *toySuite) Catalogue() *spec.Catalogue                    { return t.catalogue }
func (t *toySuite) Judge(h *history.History) model.Judged         { return toyJudge(h) }
func (t *toySuite) Ambient() []spec.ID                            { return nil }
func (t *toySuite) Codec() run.Codec                              { return toyCodec{} }
func (t *toySuite) Probe(context.Context, subject.Endpoint) error { return nil }
func (t *toySuite) Connect(_ context.Context, c run.Connection) (run.Client, error) {
	return &toyClient{"http://" + c.Endpoint.Address}, nil
}

const toyScript = `# What was appended is read back, from any position.
decides TOY-001 TOY-002

A: append "one"
A: append "two"
B: read 0          expect "one" "two"
B: read 1          expect "two"
`

func (t *toySuite) Scenarios() ([]run.Scenario, error) {
	script, err := schedule.Parse("toy/append-and-read.txt", toyScript, toyLanguage{})
	if err != nil {
		return nil, err
	}
	s, err := run.FromScript("toy/append-and-read", "toy/append-and-read.txt", script)
	return []run.Scenario{s}, err
}

// toyLanguage parses the suite's half of a scenario line.
type toyLanguage struct{}

func (toyLanguage) Operation(verb, args string) (schedule.Operation, error) {
	switch verb {
	case "append":
		return &toyAppend{strings.Trim(args, `"`)}, nil
	case "read":
		n, err := strconv.Atoi(args)
		return &toyRead{n}, err
	}
	return nil, fmt.Errorf("verb %q is unknown: use append or read", verb)
}

func (toyLanguage) Expectation(text string) (schedule.Expectation, error) { return text, nil }

type toyClient struct{ url string }

func (c *toyClient) Session(info run.SessionInfo) (run.Session, error) {
	return &toySession{c.url + "/" + strings.ReplaceAll(info.Header.Nonce+info.Header.Scenario, "/", "-"), info.Recorder}, nil
}
func (c *toyClient) Close() error { return nil }

type toySession struct {
	url      string
	recorder *history.Recorder
}

func (s *toySession) Close() error { return nil }

// Perform makes one call and records it.
func (s *toySession) Perform(ctx context.Context, actor string, op schedule.Operation) (any, error) {
	a := s.recorder.Actor(actor)
	call := a.Invoke(op)
	var r toyReturn
	var err error
	switch c := op.(type) {
	case *toyAppend:
		err = s.post(ctx, "/append", c.Line, &r)
	case *toyRead:
		err = s.post(ctx, fmt.Sprint("/read?after=", c.After), "", &r)
	}
	if err != nil {
		r.Failed = err.Error()
	}
	a.Return(call, &r)
	return &r, nil
}

func (s *toySession) post(ctx context.Context, path, body string, to *toyReturn) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(to)
}

func (s *toySession) Meets(want schedule.Expectation, outcome any) error {
	var got []string
	for _, l := range outcome.(*toyReturn).Lines {
		got = append(got, strconv.Quote(l))
	}
	if text := strings.Join(got, " "); text != want {
		return fmt.Errorf("expected %s, got %s", want, text)
	}
	return nil
}

// toyCodec writes values into history files.
type toyCodec struct{}

func (toyCodec) Encode(e model.Event) (json.RawMessage, error) { return json.Marshal(e.Value) }
func (toyCodec) Decode(p model.Phase, data json.RawMessage) (any, error) {
	if p == model.Return {
		r := new(toyReturn)
		return r, json.Unmarshal(data, r)
	}
	if bytes.Contains(data, []byte("Line")) {
		c := new(toyAppend)
		return c, json.Unmarshal(data, c)
	}
	c := new(toyRead)
	return c, json.Unmarshal(data, c)
}

// toyServer is the reference implementation; its mutant forgets the newest
// line when it reads.
func toyServer(mutant bool) *httptest.Server {
	var mu sync.Mutex
	logs := map[string][]string{}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		log, verb, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
		var r toyReturn
		if verb == "append" {
			line, _ := io.ReadAll(q.Body)
			logs[log] = append(logs[log], string(line))
			r.Position = len(logs[log])
		} else {
			after, _ := strconv.Atoi(q.URL.Query().Get("after"))
			r.Lines = logs[log][after:]
			if mutant && len(r.Lines) > 0 {
				r.Lines = r.Lines[:len(r.Lines)-1]
			}
		}
		_ = json.NewEncoder(w).Encode(r)
	}))
}
