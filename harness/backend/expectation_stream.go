package backend

import (
	"fmt"
	"slices"
	"strconv"

	rules "assay/model/backend"
)

const streamExpectations = "started, applied, applied N, N targets, pong, pong N, N pings, N keepalives, end, end CODE or CODE"

// streamExpectation is what only a subscription can meet. It waits for frames of
// the whole subscription so far, not just for those behind the step.
type streamExpectation struct {
	answers []answerExpectation
	// pongs are nonces, 0 for that of the step.
	pongs          []uint64
	pings, keepers int
	end            bool
	codes          []rules.Code // none for any end
}

// answerExpectation is a Started or an Applied.
type answerExpectation struct {
	started bool
	// applied is the id of an update, 0 for that of the step.
	applied uint64
	// targets is how many it has, -1 for any number.
	targets int
}

func isStreamExpectation(w, next string) bool {
	switch w {
	case "started", "applied", "pong", "end":
		return true
	}
	return next == "targets" || next == "pings" || next == "keepalives"
}

// parse reads one item of streamExpectations and returns how many words it took.
func (e *streamExpectation) parse(words []word) (took int, err error) {
	word := func(i int) string {
		if i < len(words) && !words[i].quoted {
			return words[i].text
		}
		return ""
	}
	named := func() (uint64, int) {
		if n, err := strconv.ParseUint(word(1), 10, 64); err == nil && !isStreamExpectation(word(1), word(2)) && word(2) != "rows" {
			return n, 2
		}
		return 0, 1
	}
	switch word(0) {
	case "started":
		e.answers = append(e.answers, answerExpectation{started: true, targets: -1})
		return 1, nil
	case "applied":
		id, took := named()
		e.answers = append(e.answers, answerExpectation{applied: id, targets: -1})
		return took, nil
	case "pong":
		nonce, took := named()
		e.pongs = append(e.pongs, nonce)
		return took, nil
	case "end":
		e.end, took = true, 1
		for {
			c, err := rules.ParseCode(word(took))
			if err != nil {
				return took, nil
			}
			e.codes = append(e.codes, c)
			if took++; word(took) != "or" {
				return took, nil
			}
			took++
		}
	}
	n, err := strconv.Atoi(word(0))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q %s: write a number", word(0), word(1))
	}
	switch word(1) {
	case "targets":
		if len(e.answers) == 0 {
			return 0, fmt.Errorf("%d targets: write started or applied before, which has them", n)
		}
		e.answers[len(e.answers)-1].targets = n
	case "pings":
		e.pings = n
	default:
		e.keepers = n
	}
	return 2, nil
}

// await waits for one thing after the other.
func (e *streamExpectation) await(l *listening) error {
	t := l.stream
	wait := func(what string, awaited *rules.Awaited, cond func(*Seen) bool) error {
		patience := listenPatience
		if awaited.End {
			patience = endPatience
		}
		return t.await(l.ctx, patience, what, awaited, cond)
	}
	for _, a := range e.answers {
		if a.applied == 0 {
			a.applied = l.update
		}
		what, awaited, targets := "Started", &rules.Awaited{Started: true}, 0
		if !a.started {
			what, awaited = fmt.Sprintf("Applied %d", a.applied), &rules.Awaited{Applied: &a.applied}
		}
		if err := wait(what, awaited, func(s *Seen) bool {
			applied := s.Applied[a.applied]
			switch {
			case a.started && s.Started != nil:
				targets = len(s.Started.Targets)
			case !a.started && applied != nil:
				targets = len(applied.Targets)
			default:
				return false
			}
			return true
		}); err != nil {
			return err
		}
		if a.targets >= 0 && targets != a.targets {
			return fmt.Errorf("%s: expected %d targets, got %d", what, a.targets, targets)
		}
	}
	for _, nonce := range e.pongs {
		if nonce == 0 {
			nonce = l.nonce
		}
		if err := wait(fmt.Sprintf("Pong %d", nonce), &rules.Awaited{Pong: &nonce}, func(s *Seen) bool { return s.Pongs[nonce] > 0 }); err != nil {
			return err
		}
	}
	if e.pings > 0 {
		if err := wait(fmt.Sprintf("%d Pings", e.pings), &rules.Awaited{Frame: true}, func(s *Seen) bool { return len(s.Pings) >= e.pings }); err != nil {
			return err
		}
	}
	if e.keepers > 0 {
		if err := wait(fmt.Sprintf("%d Keepalives", e.keepers), &rules.Awaited{Frame: true}, func(s *Seen) bool { return s.Keepalives >= e.keepers }); err != nil {
			return err
		}
	}
	if !e.end {
		return nil
	}
	var end rules.Return
	if err := wait("the end", &rules.Awaited{End: true}, func(s *Seen) bool {
		if s.End != nil {
			end = *s.End
		}
		return s.End != nil
	}); err != nil {
		return err
	}
	if len(e.codes) > 0 && (end.Lost != rules.Answered || end.Garbled != "" || !slices.Contains(e.codes, end.Code)) {
		return fmt.Errorf("expected %s, got the end %w", describeCodes(e.codes), &Ended{Actor: t.actor, What: "listen", Return: &end})
	}
	return nil
}
