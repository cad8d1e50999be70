package backend

import (
	"fmt"
	"slices"
	"strconv"

	"assay/harness/schedule"
	rules "assay/model/backend"
)

// expectation is what a step meant to reach.
type expectation struct {
	code     rules.Code
	reason   *rules.Reason
	index    *int // -1: no index
	contents []string
	nothing  bool
	rows     *int
	more     *bool
	// stream is what only a subscription can meet, nil for nothing of the kind.
	stream *streamExpectation
}

// Expectation parses: OK | CODE [REASON] [at N | without index] | "content" … |
// nothing | N rows | more | no more, and of a subscription what
// parseStreamExpectation says.
func (Language) Expectation(text string) (schedule.Expectation, error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	e := &expectation{code: rules.OK}
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := func() string {
			if i+1 < len(words) {
				return words[i+1].text
			}
			return ""
		}
		switch {
		case !w.quoted && isStreamExpectation(w.text, next()):
			if e.stream == nil {
				e.stream = &streamExpectation{}
			}
			n, err := e.stream.parse(words[i:])
			if err != nil {
				return nil, err
			}
			i += n - 1
		case w.quoted:
			e.contents = append(e.contents, w.text)
		case w.text == "," || w.text == "and":
		case w.text == "nothing":
			e.nothing = true
		case w.text == "more":
			yes := true
			e.more = &yes
		case w.text == "no" && next() == "more":
			no := false
			e.more = &no
			i++
		case next() == "rows":
			n, err := strconv.Atoi(w.text)
			if err != nil {
				return nil, fmt.Errorf("%q rows: write a number", w.text)
			}
			e.rows = &n
			i++
		case w.text == "at":
			n, err := strconv.Atoi(next())
			if err != nil {
				return nil, fmt.Errorf("at %q: write the index of an envelope", next())
			}
			e.index = &n
			i++
		case w.text == "without" && next() == "index":
			n := -1
			e.index = &n
			i++
		default:
			if c, err := rules.ParseCode(w.text); err == nil {
				e.code = c
			} else if r, err := rules.ParseReason(w.text); err == nil {
				e.reason = &r
			} else {
				return nil, fmt.Errorf("%q is no expectation: write a status code, a reason, at N, without index, \"content\", nothing, N rows, more, or no more; of a subscription also %s", w.text, streamExpectations)
			}
		}
	}
	return e, nil
}

// Meets compares a return with what the step meant to reach.
func (s *Session) Meets(want schedule.Expectation, outcome any) error {
	e, ok := want.(*expectation)
	if l, is := outcome.(*listening); ok && is {
		return l.meets(e)
	}
	r, is := outcome.(*rules.Return)
	if ok && e.stream != nil {
		return fmt.Errorf("only a subscription can meet %s", streamExpectations)
	}
	if !ok || !is {
		return fmt.Errorf("expectation %T of %T is not of the backend suite", want, outcome)
	}
	if r.Lost != rules.Answered {
		return fmt.Errorf("expected %s, got %s", e.code, r.Lost)
	}
	if r.Code != e.code {
		return fmt.Errorf("expected %s, got %s (%q)", e.code, r.Code, r.Text)
	}
	if e.reason != nil || e.index != nil {
		if err := e.detail(r); err != nil {
			return err
		}
	}
	var rows []rules.Row
	page := r.Query
	switch {
	case page != nil:
		rows = page.Rows
	case r.Newest != nil:
		rows = r.Newest.Rows
	}
	switch {
	case e.nothing && len(rows) > 0:
		return fmt.Errorf("expected nothing, got %d rows", len(rows))
	case e.rows != nil && len(rows) != *e.rows:
		return fmt.Errorf("expected %d rows, got %d", *e.rows, len(rows))
	case e.more != nil && (page == nil || page.HasMore != *e.more):
		return fmt.Errorf("expected has_more %v", *e.more)
	}
	if e.contents != nil {
		if got := s.Contents(&rules.Page{Rows: rows}); !slices.Equal(got, e.contents) {
			return fmt.Errorf("expected %q, got %q", e.contents, got)
		}
	}
	return nil
}

func (e *expectation) detail(r *rules.Return) error {
	if len(r.Details) == 0 {
		return fmt.Errorf("expected a publish error, got none")
	}
	d := r.Details[0]
	if e.reason != nil && d.Reason != *e.reason {
		return fmt.Errorf("expected reason %s, got %s", e.reason, d.Reason)
	}
	if e.index == nil {
		return nil
	}
	switch {
	case *e.index < 0 && d.Index != nil:
		return fmt.Errorf("expected no index, got %d", *d.Index)
	case *e.index >= 0 && (d.Index == nil || int(*d.Index) != *e.index):
		return fmt.Errorf("expected index %d", *e.index)
	}
	return nil
}
