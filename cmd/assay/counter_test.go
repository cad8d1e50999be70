package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"assay/harness/history"
	"assay/harness/postgres/pgtest"
	"assay/harness/run"
	"assay/harness/schedule"
	"assay/harness/subject"
	"assay/model"
	"assay/spec"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"
)

// The counter is a protocol of one call, GET /, which answers a number higher
// than every number before. These tests drive the command with it, so that they
// need no Postgres and depend on no real suite.

const counterRequirements = `
suite: counter
title: A counter over HTTP
source: this file
sections: [{number: "1", title: Counting}]
glossary: [{word: count, meaning: one call}]
requirements:
  - {id: CNT-001, section: "1", title: Numbers increase, statement: Each number is higher than the one before., level: must, binds: [server], decided_by: [[wire]]}
  - {id: CNT-002, section: "1", title: Numbers survive a crash, statement: A restart does not lower them., level: must, binds: [server], decided_by: [[wire, control]]}
  - {id: CNT-003, section: "1", title: Clients remember, statement: A client keeps the last number., level: should, binds: [client], undecidable: no client is driven}
`

type (
	asked    struct{}
	answered struct {
		N int64 `json:"n"`
	}
)

type counterSuite struct{ catalogue *spec.Catalogue }

func (s *counterSuite) Name() string               { return "counter" }
func (s *counterSuite) Catalogue() *spec.Catalogue { return s.catalogue }
func (s *counterSuite) Ambient() []spec.ID         { return nil }
func (s *counterSuite) Codec() run.Codec           { return counterCodec{} }

func (s *counterSuite) Probe(ctx context.Context, e subject.Endpoint) error {
	_, err := get(ctx, e)
	return err
}

func (s *counterSuite) Judge(h *history.History) model.Judged {
	increases := model.Assertion{Name: "increases", Requirement: "CNT-001", Basis: model.Spec}
	var out model.Judged
	last := model.Event{Index: -1}
	for _, e := range h.Events {
		r, ok := e.Value.(answered)
		if !ok {
			continue
		}
		j := model.Judgement{Assertion: increases, Call: e.Call}
		if before, ok := last.Value.(answered); ok && r.N <= before.N {
			j.Breach = &model.Breach{Expected: fmt.Sprint("a number above ", before.N), Got: fmt.Sprint(r.N), Events: []int{last.Index, e.Index}}
		}
		out.Judgements, last = append(out.Judgements, j), e
	}
	return out
}

func (s *counterSuite) Scenarios() ([]run.Scenario, error) {
	return []run.Scenario{{
		Name: "counter/count/three-times", Summary: "Three calls in a row.", Decides: []spec.ID{"CNT-001"}, Source: "counter_test.go",
		Body: func(ctx context.Context, p *run.Play) error {
			session, err := p.Open("")
			if err != nil {
				return err
			}
			for range 3 {
				if _, err := session.Perform(ctx, "A", asked{}); err != nil {
					return err
				}
			}
			return nil
		},
	}, {
		Name: "counter/crash/numbers-go-on", Summary: "A restart between two calls.", Decides: []spec.ID{"CNT-001", "CNT-002"}, Needs: spec.AccessOf(spec.Gate), Source: "counter_test.go",
		Body: func(context.Context, *run.Play) error { return errors.New("no test has this access") },
	}}, nil
}

func (s *counterSuite) Connect(_ context.Context, c run.Connection) (run.Client, error) {
	return counterClient{c.Endpoint}, nil
}

type counterClient struct{ endpoint subject.Endpoint }

func (counterClient) Close() error { return nil }
func (c counterClient) Session(info run.SessionInfo) (run.Session, error) {
	return counterSession{c.endpoint, info.Recorder}, nil
}

type counterSession struct {
	endpoint subject.Endpoint
	recorder *history.Recorder
}

func (counterSession) Close() error                          { return nil }
func (counterSession) Meets(schedule.Expectation, any) error { return nil }
func (s counterSession) Perform(ctx context.Context, actor string, op schedule.Operation) (any, error) {
	a := s.recorder.Actor(actor)
	call := a.Invoke(op)
	n, err := get(ctx, s.endpoint)
	if err != nil {
		return nil, err
	}
	a.Return(call, answered{n})
	return n, nil
}

type counterCodec struct{}

func (counterCodec) Encode(e model.Event) (json.RawMessage, error) { return json.Marshal(e.Value) }
func (counterCodec) Decode(p model.Phase, data json.RawMessage) (any, error) {
	if p == model.Invoke {
		return asked{}, json.Unmarshal(data, &asked{})
	}
	var r answered
	err := json.Unmarshal(data, &r)
	return r, err
}

func get(ctx context.Context, e subject.Endpoint) (int64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.Address, nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := transport.RoundTrip(q)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, 100))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// counter serves the protocol; a step of 0 breaks it.
func counter(step int64) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, n.Add(step)) })
}

// counting runs a counter at an address and returns the target to give.
func counting(t *testing.T, step int64) string {
	t.Helper()
	s := httptest.NewServer(counter(step))
	t.Cleanup(s.Close)
	return s.URL
}

// counterSuites is the wiring of these tests.
func counterSuites() ([]suite, error) {
	c, err := spec.LoadCatalogue([]byte(counterRequirements), []byte("limits: []\n"))
	return []suite{{
		Suite:     &counterSuite{c},
		reference: `COUNTER_LISTEN={listen} exec "$ASSAY_SELF"`,
		sources:   func() (fs.FS, error) { return fstest.MapFS{"counter.txt": {Data: []byte("GET /\n")}}, nil },
		serve:     serveCounter,
		mutants: []run.Mutant{
			{Name: "stuck", Summary: "Every number is the same.", Requirements: []spec.ID{"CNT-001"}},
			{Name: "mislabelled", Summary: "Every number is the same, and it says that something else breaks.", Requirements: []spec.ID{"CNT-002"}},
			{Name: "harmless", Summary: "Numbers skip one.", Requirements: []spec.ID{"CNT-001"}},
		},
		permanent: "counts never expire",
	}}, err
}

// serveCounter is the counter as a reference implementation.
func serveCounter(set *pflag.FlagSet) func(context.Context, serving) error {
	listen := set.String("listen", "127.0.0.1:0", "")
	return func(ctx context.Context, s serving) error {
		l, err := net.Listen("tcp", *listen)
		if err != nil {
			return err
		}
		server := &http.Server{Handler: counter(1)}
		stop := context.AfterFunc(ctx, func() { server.Close() })
		defer stop()
		s.ready(l.Addr())
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}

// step is how far a mutant counts.
func step(args []string) int64 {
	switch args[len(args)-1] {
	case "stuck", "mislabelled":
		return 0
	case "harmless":
		return 2
	default:
		return 1
	}
}

// TestMain lets the test binary be the built-in subject too.
func TestMain(m *testing.M) {
	if listen := os.Getenv("COUNTER_LISTEN"); listen != "" {
		l, err := net.Listen("tcp", listen)
		if err == nil {
			err = http.Serve(l, counter(step(os.Args)))
		}
		if errors.Is(err, http.ErrServerClosed) {
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}
