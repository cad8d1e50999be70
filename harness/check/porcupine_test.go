package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// TestPorcupineAgreesOnTenThousandHistories asks both checkers about generated histories, good ones
// and ones that a blind corrupter changed.
func TestPorcupineAgreesOnTenThousandHistories(t *testing.T) {
	const histories = 10_000
	type tally struct{ good, corrupted, stillLegal, gaveUp, disagreed int }
	var total tally
	var mu sync.Mutex
	var wait sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := worker; n < histories; n += runtime.GOMAXPROCS(0) {
				seed := uint64(n)
				h := generate(seed, 2+n%3, 3+n%5)
				bad := n%2 == 1
				if bad {
					h = corrupt(h, rand.New(rand.NewPCG(seed, 7)))
				}
				report := Run(h.facts())
				verdict := opinion(h, 10*time.Second)
				legal := len(report.Findings) == 0
				mu.Lock()
				if bad {
					total.corrupted++
				} else {
					total.good++
				}
				switch {
				case verdict == porcupine.Unknown:
					total.gaveUp++
				case legal != (verdict == porcupine.Ok):
					total.disagreed++
					if total.disagreed <= 12 {
						t.Errorf("history %d (corrupted %v): check says legal %v, porcupine says %v\n%s%s", n, bad, legal, verdict, h, h.verdict(report))
						keep(t, h, n)
					}
				case bad && legal:
					total.stillLegal++
				}
				mu.Unlock()
			}
		}()
	}
	wait.Wait()
	t.Logf("%d good, %d corrupted of which %d still legal, %d given up, %d disagreements", total.good, total.corrupted, total.stillLegal, total.gaveUp, total.disagreed)
	if total.stillLegal*10 < total.corrupted*3 {
		t.Errorf("%d of %d corrupted histories are still legal, want at least 30 in 100: the corrupter must not only make nonsense", total.stillLegal, total.corrupted)
	}
	if total.gaveUp > 0 {
		t.Errorf("porcupine gave up on %d histories", total.gaveUp)
	}
}

// TestKeptDisagreementsAccuseNobody reads histories on which the two differ: each
// is one that the search excludes and check leaves open. A history that check
// calls illegal and the search legal would be a false accusation.
func TestKeptDisagreementsAccuseNobody(t *testing.T) {
	paths, err := filepath.Glob("testdata/disagreements/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := parseHist(strings.Split(string(data), "\n"))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		report, verdict := Run(h.facts()), opinion(h, 30*time.Second)
		switch legal := len(report.Findings) == 0; {
		case !legal && verdict == porcupine.Ok:
			t.Errorf("%s: a false accusation\n%s%s", path, h, h.verdict(report))
		case legal == (verdict == porcupine.Ok):
			t.Errorf("%s: the two agree by now (%v): remove it", path, verdict)
		}
	}
}

// keep writes a disagreement down as a case, to be read and given its verdict.
func keep(t *testing.T, h hist, n int) {
	dir := filepath.Join("testdata", "disagreements")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", n)), []byte(h.String()), 0o644); err != nil {
		t.Error(err)
	}
}
