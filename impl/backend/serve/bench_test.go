package serve_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/harness/postgres/pgtest"
	. "assay/impl/backend/backendtest"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

const (
	clients     = 8
	payloadSize = 300
	batchSize   = 100
	// pgbenchSeconds is how long the peer is measured.
	pgbenchSeconds = 5
	topicsInUse    = 1000
)

// transactionShape is what one publish of one envelope makes the database do,
// statement by statement, without the backend: the same reads, locks and writes
// on the same tables. Values are made by the database, which costs it little.
const transactionShape = `
\set r random(1, 9000000000000000)
\set t random(1, 1000)
\set key :t * 7919
SELECT e.sequence_id, e.server_ns, e.expiry_ns, e.is_commit_or_proposal FROM unnest(ARRAY[{topic}], ARRAY[{hash}]) WITH ORDINALITY AS k (topic, message_hash, place) JOIN envelope AS e ON e.topic = k.topic AND e.message_hash = k.message_hash;
BEGIN;
SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest(ARRAY[:key::bigint]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS sorted UNION ALL SELECT pg_advisory_xact_lock_shared(0, 2);
SELECT e.sequence_id, e.server_ns, e.expiry_ns, e.is_commit_or_proposal FROM unnest(ARRAY[{topic}], ARRAY[{hash}]) WITH ORDINALITY AS k (topic, message_hash, place) JOIN envelope AS e ON e.topic = k.topic AND e.message_hash = k.message_hash;
SELECT nextval('envelope_sequence') AS id \gset
WITH inserted AS (INSERT INTO envelope SELECT :id::bigint, {topic}, {hash}, now.ns, now.ns + 1000000, false, {payload} FROM (SELECT (extract(epoch FROM current_timestamp) * 1000000)::bigint * 1000 AS ns) AS now RETURNING sequence_id, topic, server_ns, expiry_ns), moved AS (INSERT INTO topic_head AS h SELECT topic, max(sequence_id) FROM inserted GROUP BY topic ON CONFLICT (topic) DO UPDATE SET last_sequence_id = excluded.last_sequence_id WHERE h.last_sequence_id < excluded.last_sequence_id RETURNING topic) SELECT sequence_id, server_ns, expiry_ns, (SELECT count(*) FROM moved) FROM inserted;
COMMIT;
`

// plainInsert stores the rows of a batch and nothing else.
const plainInsert = `
\set r random(1, 9000000000000000)
\set t random(1, 1000)
INSERT INTO envelope SELECT nextval('envelope_sequence'), {topic}, sha256(int8send(:r::bigint) || int8send(i::bigint)), 1, 2, false, {payload} FROM generate_series(1, 100) AS i;
`

// BenchmarkPublish compares the whole path of a publish, from the client's call
// to its answer, with the same transaction under pgbench on the same server, in
// one run. "ratio" is the backend's part of what pgbench reaches; at least half
// is wanted.
func BenchmarkPublish(b *testing.B) {
	for _, bench := range []struct {
		name, script string
		envelopes    int
	}{
		{"single", transactionShape, 1},
		{"batch of 100", plainInsert, batchSize},
	} {
		b.Run(bench.name, func(b *testing.B) {
			backend := Start(b, pgtest.ForTest(b).URL(), Options{})
			// The peer has a database of its own, so that neither finds the
			// tables that the other filled.
			peer := pgbench(b, Start(b, pgtest.ForTest(b).URL(), Options{}).DatabaseURL, bench.script)
			var counter atomic.Uint64
			b.SetParallelism((clients + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := publishSome(b.Context(), backend, counter.Add(1), bench.envelopes); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			ours := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(ours, "publishes/s")
			b.ReportMetric(peer, "pgbench/s")
			b.ReportMetric(ours/peer, "ratio")
		})
	}
}

// publishSome publishes n new envelopes to one of a thousand topics.
func publishSome(ctx context.Context, b *Backend, number uint64, n int) error {
	request := &backendv1.PublishRequest{Envelopes: make([]*backendv1.ClientEnvelope, n)}
	key := binary.BigEndian.AppendUint64(make([]byte, 24, 32), number%topicsInUse)
	for i := range n {
		data := make([]byte, payloadSize)
		binary.BigEndian.PutUint64(data, number)
		binary.BigEndian.PutUint64(data[8:], uint64(i))
		request.Envelopes[i] = WelcomeTo(key, string(data))
	}
	_, err := b.Publish.Publish(ctx, request)
	return err
}

var tps = regexp.MustCompile(`tps = ([0-9.]+) `)

// pgbench runs a script and returns its transactions a second.
func pgbench(b *testing.B, url, script string) float64 {
	b.Helper()
	program, err := findPgbench()
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "script.sql")
	for name, sql := range map[string]string{
		"{topic}":   `decode(lpad(to_hex(:t::bigint), 66, '0'), 'hex')`,
		"{hash}":    `sha256(int8send(:r::bigint))`,
		"{payload}": fmt.Sprintf(`decode(repeat('ab', %d), 'hex')`, payloadSize),
	} {
		script = strings.ReplaceAll(script, name, sql)
	}
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 10*pgbenchSeconds*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(pgbenchSeconds), "-f", file, url).CombinedOutput()
	if err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	found := tps.FindSubmatch(out)
	if found == nil {
		b.Fatalf("pgbench printed no tps:\n%s", out)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// findPgbench looks on the path and where Debian and Homebrew keep it.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/pgbench", "/opt/homebrew/opt/postgresql@*/bin/pgbench", "/usr/local/opt/postgresql@*/bin/pgbench"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("pgbench is not installed: it comes with the Postgres server (Debian: postgresql)")
}
