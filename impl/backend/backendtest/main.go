package backendtest

import (
	"testing"

	"go.uber.org/goleak"

	"assay/harness/postgres/pgtest"
)

// Main runs the tests of a package, stops the Postgres server they shared, and
// fails when a goroutine is left.
func Main(m *testing.M) int {
	return pgtest.Main(m, func() error { return goleak.Find() })
}
