package main

import "fmt"

// didYouMean returns a question with the nearest candidate, or "" when none is
// near enough to be a typing mistake.
func didYouMean(typed string, candidates []string) string {
	best, least := "", len(typed)/3+2
	for _, c := range candidates {
		if d := distance(typed, c, least); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance counts the single-character edits, neighbours swapped included, that
// turn a into b. Once it is known to be at least most, most is returned.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return min(last[len(b)], most)
}
