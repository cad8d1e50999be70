// Package pgtest gives tests a real Postgres: [ForTest] is an empty database for one test, on a server that all tests
// of a test binary share.
//
// The server is found or started by package postgres at the first call, and ends with the test binary, however that
// ends; nobody has to stop it. A package that checks for leaked goroutines, or wants to stop it sooner, calls [Main]
// from its TestMain. A machine without any Postgres fails the test: a skipped test would say nothing.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"assay/harness/postgres"
)

// URLVariable names an environment variable that may hold the URL of a server to use instead of a private one.
const URLVariable = "ASSAY_TEST_POSTGRES_URL"

// dropTimeout bounds the removal of a test's database.
const dropTimeout = 20 * time.Second

// shared is this package's one piece of global state: tests of one binary can share a server in no other way, as they
// have no caller of ours in common.
var shared holder

type holder struct {
	mu     sync.Mutex
	server *postgres.Server
	err    error
}

func (h *holder) get() (*postgres.Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil && h.err == nil {
		h.server, h.err = postgres.Open(context.Background(), postgres.Options{URL: os.Getenv(URLVariable)})
	}
	return h.server, h.err
}

func (h *holder) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return nil
	}
	err := h.server.Close()
	h.server = nil
	return err
}

// Server is the server that the tests of this binary share.
func Server(t testing.TB) *postgres.Server {
	t.Helper()
	s, err := shared.get()
	if err != nil {
		t.Fatalf("this test needs a Postgres server: %v", err)
	}
	return s
}

// ForTest creates an empty database that is dropped when the test ends, whoever is still connected to it.
func ForTest(t testing.TB) *postgres.Database {
	t.Helper()
	s := Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	d, err := s.CreateDatabase(ctx, t.Name())
	if err != nil {
		t.Fatalf("creating a database for this test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		if err := d.Drop(ctx); err != nil {
			t.Errorf("dropping this test's database: %v", err)
		}
	})
	return d
}

// Main runs the tests, stops the shared server and then runs the checks, such as a search for leaked goroutines. It
// returns what TestMain hands to os.Exit.
func Main(m *testing.M, checks ...func() error) int {
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the tests' Postgres server:", err)
		code = max(code, 1)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}
