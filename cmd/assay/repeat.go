package main

import (
	"fmt"
	"time"

	"assay/harness/run"
)

// rounds tells what became of each scenario that ran more than once, a line
// for each, and one for all.
func rounds(found *run.Result) []string {
	type sum struct{ ran, violated, open int }
	sums := make(map[string]*sum)
	var names []string
	var spent time.Duration
	for _, f := range found.Scenarios {
		s := sums[f.Name]
		if s == nil {
			s = &sum{}
			sums[f.Name], names = s, append(names, f.Name)
		}
		s.ran++
		spent += f.Elapsed
		switch {
		case f.Breaches > 0:
			s.violated++
		case f.Failure != "":
			s.open++
		}
	}
	var lines []string
	steady := 0
	for _, n := range names {
		s := sums[n]
		if s.violated == s.ran || s.open == s.ran || s.violated+s.open == 0 {
			steady++
		}
		lines = append(lines, fmt.Sprintf("%s: %d rounds, %d violated, %d inconclusive", n, s.ran, s.violated, s.open))
	}
	return append(lines, fmt.Sprintf("%d of %d scenarios came to the same end in every round; a round took %s on average",
		steady, len(names), (spent/time.Duration(max(len(found.Scenarios), 1))).Round(100*time.Microsecond)))
}
