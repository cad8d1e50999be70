package backend

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/harness/schedule"
	rules "assay/model/backend"
)

// Language is the suite's half of a scenario file: verbs and expectations.
// docs/verify-your-backend.md shows it by example.
type Language struct{}

var _ schedule.Language = Language{}

// operation is one parsed verb: it runs against a session.
type operation func(ctx context.Context, s *Session, actor string) (*rules.Return, error)

const verbs = "publish, publish-cut, query, newest, configuration, health, call, " + streamVerbs

// Operation parses a verb and its arguments.
func (Language) Operation(verb, arguments string) (schedule.Operation, error) {
	words, err := split(arguments)
	if err != nil {
		return nil, err
	}
	switch verb {
	case "publish", "publish-cut":
		return parsePublish(words, verb == "publish-cut")
	case "query":
		return parseQuery(words)
	case "newest":
		return parseNewest(words)
	case "configuration":
		return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
			return s.Configuration(ctx, actor)
		}), none(verb, words)
	case "health":
		service := ""
		if len(words) > 0 {
			service = words[0].text
			words = words[1:]
		}
		return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
			return s.Health(ctx, actor, service)
		}), none(verb, words)
	case "call":
		if len(words) != 1 || !strings.HasPrefix(words[0].text, "/") {
			return nil, fmt.Errorf("call takes one path, such as /package.Service/Method")
		}
		path := words[0].text
		return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
			return s.Other(ctx, actor, path, nil)
		}), nil
	default:
		if op, err := parseStreamVerb(verb, words); op != nil || err != nil {
			return op, err
		}
		return nil, fmt.Errorf("verb %q is unknown: use %s", verb, verbs)
	}
}

func none(verb string, words []word) error {
	if len(words) > 0 {
		return fmt.Errorf("%s takes no %q", verb, words[0].text)
	}
	return nil
}

// Perform runs a parsed operation.
func (s *Session) Perform(ctx context.Context, actor string, op schedule.Operation) (any, error) {
	switch do := op.(type) {
	case operation:
		return do(ctx, s, actor)
	case streamOperation:
		return do(ctx, s, actor)
	default:
		return nil, fmt.Errorf("operation %T is not of the backend suite", op)
	}
}

// word is one token: quoted text, a comma, or a bare word.
type word struct {
	text   string
	quoted bool
}

// split cuts arguments at blanks and commas, outside quotation marks.
func split(s string) ([]word, error) {
	var out []word
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, " \t") {
		switch {
		case s[0] == ',':
			out, s = append(out, word{text: ","}), s[1:]
		case s[0] == '"':
			end := strings.IndexByte(s[1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("%s has no closing quotation mark", s)
			}
			out, s = append(out, word{s[1 : end+1], true}), s[end+2:]
		default:
			end := strings.IndexAny(s, " \t,")
			if end < 0 {
				end = len(s)
			}
			out, s = append(out, word{text: s[:end]}), s[end:]
		}
	}
	return out, nil
}

// items cuts words at commas.
func items(words []word) [][]word {
	var out [][]word
	var item []word
	for _, w := range words {
		if w.text == "," && !w.quoted {
			out, item = append(out, item), nil
			continue
		}
		item = append(item, w)
	}
	return append(out, item)
}

func parseLog(w []word) (rules.Log, []word, error) {
	if len(w) < 2 || w[0].quoted || w[1].quoted {
		return rules.Log{}, nil, fmt.Errorf("a topic is written KIND NAME, such as \"group g\"")
	}
	k, err := rules.ParseKind(w[0].text)
	if err != nil {
		return rules.Log{}, nil, err
	}
	l := rules.Log{Kind: k, Name: w[1].text}
	if k == rules.Identity {
		inbox, err := parseInbox(w[1].text)
		if err != nil {
			return rules.Log{}, nil, err
		}
		l = inbox.Log()
	}
	if p, err := parseParty(w[1].text); err == nil && k == rules.KeyPackage && p.Kind == rules.Installation {
		l = p.Log()
	}
	return l, w[2:], nil
}

// parsePublish reads: KIND NAME ["content"] [FORM] [encoding E] [trailing N]
// [outer NAME] [size N] [flaw "…"] [times N] | identity INBOX UPDATE |
// key-package INSTALLATION of INBOX [number N], …
func parsePublish(words []word, cut bool) (schedule.Operation, error) {
	var envelopes []rules.Envelope
	for _, item := range items(words) {
		es, err := parseEnvelope(item)
		if err != nil {
			return nil, err
		}
		envelopes = append(envelopes, es...)
	}
	return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
		if cut {
			return s.PublishCut(ctx, actor, envelopes...)
		}
		return s.Publish(ctx, actor, envelopes...)
	}), nil
}

func parseEnvelope(item []word) ([]rules.Envelope, error) {
	l, w, err := parseLog(item)
	if err != nil {
		return nil, err
	}
	if l.Kind == rules.Identity {
		inbox, err := rules.ParseInbox(l.Name)
		if err != nil {
			return nil, err
		}
		e, err := parseUpdate(inbox, w)
		return []rules.Envelope{e}, err
	}
	if l.Kind == rules.KeyPackage && len(w) > 0 && !w[0].quoted && w[0].text == "of" {
		e, err := parsePackage(item[1].text, w[1:])
		return []rules.Envelope{e}, err
	}
	e := rules.Envelope{Log: l}
	times := 1
	for len(w) > 0 {
		head := w[0]
		w = w[1:]
		argument := func() (word, error) {
			if len(w) == 0 {
				return word{}, fmt.Errorf("%s wants an argument", head.text)
			}
			a := w[0]
			w = w[1:]
			return a, nil
		}
		number := func(to *int) error {
			a, err := argument()
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(a.text)
			if err != nil || n < 0 {
				return fmt.Errorf("%s wants a number, not %q", head.text, a.text)
			}
			*to = n
			return nil
		}
		var err error
		switch {
		case head.quoted:
			e.Content = head.text
		case head.text == "outer":
			var a word
			if a, err = argument(); err == nil {
				e.Outer = a.text
			}
		case head.text == "trailing":
			err = number(&e.Trailing)
		case head.text == "size":
			err = number(&e.Size)
		case head.text == "times":
			err = number(&times)
		case head.text == "encoding":
			var a word
			if a, err = argument(); err == nil {
				e.Encoding, err = rules.ParseEncoding(a.text)
			}
		case head.text == "flaw":
			var a word
			if a, err = argument(); err == nil {
				e.Flaw, err = rules.ParseFlaw(a.text)
			}
		default:
			e.Form, err = rules.ParseForm(head.text)
			if err == nil && !e.Form.Fits(l.Kind) {
				err = fmt.Errorf("a %s takes no form %s", l.Kind, e.Form)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if times == 1 {
		return []rules.Envelope{e}, nil
	}
	out := make([]rules.Envelope, times)
	for i := range out {
		out[i] = e
		out[i].Content = fmt.Sprintf("%s%d", e.Content, i+1)
	}
	return out, nil
}

// read is one parsed entry of a read; its cursor may depend on what was published.
type read struct {
	rules.Read
	position string // "", "none", "last", "max", "beyond", "nth"
	n        int
}

// parseRead reads: KIND NAME [after N | after last | after id NUMBER | after
// max | after beyond | without cursor] [flaw "…"]. "after N" is the Nth
// envelope of the topic, "after max" 2^63-1 and "after beyond" 2^63.
func parseRead(w []word) (read, error) {
	l, w, err := parseLog(w)
	if err != nil {
		return read{}, err
	}
	r := read{Read: rules.Read{Log: l}, position: "nth"}
	for len(w) > 0 {
		switch {
		case w[0].text == "without" && len(w) > 1 && w[1].text == "cursor":
			r.position = "none"
			w = w[2:]
		case w[0].text == "after" && len(w) > 1 && (w[1].text == "last" || w[1].text == "max" || w[1].text == "beyond"):
			r.position = w[1].text
			w = w[2:]
		case w[0].text == "after" && len(w) > 1:
			if r.n, err = strconv.Atoi(w[1].text); err != nil || r.n < 0 {
				return read{}, fmt.Errorf("after %q: write the number of an envelope, last, max or beyond", w[1].text)
			}
			w = w[2:]
		case w[0].text == "flaw" && len(w) > 1:
			if r.Flaw, err = rules.ParseTopicFlaw(w[1].text); err != nil {
				return read{}, err
			}
			w = w[2:]
		default:
			return read{}, fmt.Errorf("%q is no part of a read: write KIND NAME, after …, without cursor, or flaw \"…\"", w[0].text)
		}
	}
	return r, nil
}

// resolve turns positions into cursors of the session.
func resolve(s *Session, reads []read) ([]rules.Read, error) {
	out := make([]rules.Read, len(reads))
	for i, r := range reads {
		out[i] = r.Read
		var cursor uint64
		ids := s.Positions(r.Log)
		switch r.position {
		case "none":
			continue
		case "max":
			cursor = math.MaxInt64
		case "beyond":
			cursor = math.MaxInt64 + 1
		case "last":
			if len(ids) > 0 {
				cursor = ids[len(ids)-1]
			}
		default:
			if r.n > len(ids) {
				return nil, fmt.Errorf("topic %s has %d known envelopes, not %d", r.Log, len(ids), r.n)
			}
			if r.n > 0 {
				cursor = ids[r.n-1]
			}
		}
		out[i].Cursor = &cursor
	}
	return out, nil
}

func parseReads(words []word) ([]read, error) {
	var out []read
	for _, item := range items(words) {
		if len(item) == 0 {
			continue
		}
		r, err := parseRead(item)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// parseQuery reads: [limit N] READ, READ, …
func parseQuery(words []word) (schedule.Operation, error) {
	limit := uint64(0)
	if len(words) > 1 && words[0].text == "limit" {
		var err error
		if limit, err = strconv.ParseUint(words[1].text, 10, 32); err != nil {
			return nil, fmt.Errorf("limit %q: write a number", words[1].text)
		}
		words = words[2:]
	}
	reads, err := parseReads(words)
	if err != nil {
		return nil, err
	}
	return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
		resolved, err := resolve(s, reads)
		if err != nil {
			return nil, err
		}
		return s.Query(ctx, actor, uint32(limit), resolved...)
	}), nil
}

// parseNewest reads: [full] READ, READ, …
func parseNewest(words []word) (schedule.Operation, error) {
	full := len(words) > 0 && words[0].text == "full"
	if full {
		words = words[1:]
	}
	reads, err := parseReads(words)
	if err != nil {
		return nil, err
	}
	return operation(func(ctx context.Context, s *Session, actor string) (*rules.Return, error) {
		resolved, err := resolve(s, reads)
		if err != nil {
			return nil, err
		}
		return s.Newest(ctx, actor, full, resolved...)
	}), nil
}
