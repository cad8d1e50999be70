package run

import (
	"assay/harness/history"
	"assay/model"
)

// ProofAlone returns the smallest of a few obvious parts of a history in which
// the same breach shows: the calls that prove it, or all calls of the stretch
// from the first of them to the last. It judges a handful of small histories
// where dropping call after call from a long one would judge hundreds of long
// ones. When no part shows the breach it returns what it was given. What it returns is a
// good beginning for Reduce.
func ProofAlone(judge func(*history.History) model.Judged, h *history.History, breach model.Judgement) (*history.History, model.Judgement) {
	calls := map[int]bool{breach.Call: true}
	first, last := len(h.Events), 0
	for _, i := range breach.Breach.Events {
		if i < 0 || i >= len(h.Events) {
			return h, breach // a judge that names what is not there has no proof to keep
		}
		calls[h.Events[i].Call] = true
		first, last = min(first, i), max(last, i)
	}
	stretch := make(map[int]bool)
	for i, e := range h.Events {
		if e.Phase != model.Mark && first <= i && i <= last {
			stretch[e.Call] = true
		}
	}
	for _, keep := range []map[int]bool{calls, stretch} {
		drop := make(map[int]bool)
		for _, e := range h.Events {
			if e.Phase != model.Mark && !keep[e.Call] {
				drop[e.Call] = true
			}
		}
		if len(drop) == 0 {
			continue
		}
		part := h.Without(drop)
		if v, ok := sameBreach(judge(part), breach); ok {
			return part, v
		}
	}
	return h, breach
}

// sameBreach finds a breach of the same assertion by the same call in the same words.
func sameBreach(j model.Judged, breach model.Judgement) (model.Judgement, bool) {
	for _, v := range j.Breaches() {
		if v.Assertion == breach.Assertion && v.Call == breach.Call && v.Breach.Expected == breach.Breach.Expected && v.Breach.Got == breach.Breach.Got {
			return v, true
		}
	}
	return model.Judgement{}, false
}
