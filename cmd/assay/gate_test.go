package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
	"assay/harness/verdict"
	"assay/reports"
)

// spoken is a stream that somebody waits on for a line.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// eventually asks until something is there.
func eventually(t *testing.T, what string, there func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !there(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestTheDocumentedRaceIsFoundWithLearnedPoints watches the backend of
// docs/reproduce-a-race.md through assay gate --learn, and races it with what
// was learned.
func TestTheDocumentedRaceIsFoundWithLearnedPoints(t *testing.T) {
	page, err := os.ReadFile("../../docs/reproduce-a-race.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source, racy := filepath.Join(dir, "main.go"), filepath.Join(dir, "racy")
	if err := os.WriteFile(source, regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(page)[1], 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", racy, source)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	db := pgtest.ForTest(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var out, talk spoken
	status := make(chan int, 1)
	go func() {
		status <- Main(ctx, []string{"gate", "--listen", "127.0.0.1:0", "--database", db.URL(), "--learn"}, strings.NewReader(""), &out, &talk, os.LookupEnv)
	}()
	var at []string
	eventually(t, "the gate's address", func() bool {
		at = regexp.MustCompile(`listening at (\S+)`).FindStringSubmatch(talk.String())
		return at != nil
	})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := free.Addr().String()
	_ = free.Close()
	backend := exec.CommandContext(ctx, racy)
	backend.Env = append(os.Environ(), "DATABASE_URL="+db.URLAt(at[1]), "LISTEN="+listen)
	if err := backend.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the backend to listen", func() bool {
		c, err := net.Dial("tcp", listen)
		return err == nil && c.Close() == nil
	})
	var ignored bytes.Buffer
	Main(t.Context(), []string{"verify", "backend/query", "--target", "grpc://" + listen}, strings.NewReader(""), &ignored, &ignored, os.LookupEnv)
	end()
	_ = backend.Wait() // it was killed
	if got := <-status; got != statusPassed {
		t.Fatalf("assay gate ended with %d:\n%s", got, talk.String())
	}
	if _, err := gate.ParsePoints("learned.yaml", []byte(out.String())); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), ignored.String())
	}
	for _, want := range []string{"name: begin", "name: publish.insert", "name: commit", "name: query.page"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	points := filepath.Join(dir, "learned.yaml")
	if err := os.WriteFile(points, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var result bytes.Buffer
	Main(t.Context(), []string{"verify", "backend/race/lower-id-of-a-welcome-commits-last", "--json", "--out", filepath.Join(dir, "out"), "--points", points,
		"--spawn", "DATABASE_URL={database} LISTEN={listen} exec " + racy}, strings.NewReader(""), &result, &talk, os.LookupEnv)
	r, err := reports.ReadJSON(&result, "stdout")
	if err != nil {
		t.Fatalf("%v\n%s", err, talk.String())
	}
	for _, q := range r.Requirements {
		if q.ID == "API-011" && q.Status != verdict.Violated {
			t.Errorf("API-011 is %s with\n%s", q.Status, out.String())
		}
	}
}

func TestTheGateRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--database is missing", nil},
		{"the database url does not parse", []string{"--database", "postgres://me:a-secret@host:port/x"}},
		{"--learn writes a points file and --points reads one", []string{"--database", "postgres://h/d", "--learn", "--points", "f"}},
		{"--cert and --key belong together", []string{"--database", "postgres://h/d", "--cert", "f"}},
		{"--points: open", []string{"--database", "postgres://h/d", "--points", "no-such-file"}},
		{"choose another address", []string{"--database", "postgres://h/d", "--listen", "256.0.0.1:1"}},
	} {
		got := assay(t, append([]string{"gate"}, c.args...)...)
		if got.status != statusBroken || !strings.Contains(got.errors, c.want) || strings.Contains(got.errors, "secret") || got.out != "" {
			t.Errorf("%v: status %d, %s", c.args, got.status, got.errors)
		}
	}
}
