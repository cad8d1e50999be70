package subject

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What is kept of a subject's output, whatever it prints. Enough to see a stack
// trace's head or a refusal to start, small enough that a flood costs nothing.
const (
	maxLine      = 400    // bytes of one line that are kept
	maxLastLines = 20     // lines that an error repeats
	maxLogged    = 10_000 // lines of one process that reach the log
)

const masked = "*****"

// A masker replaces secrets in text. The zero value replaces nothing.
type masker struct {
	replacer *strings.Replacer
	longest  int
}

func newMasker(secrets []string) masker {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" })
	if len(secrets) == 0 {
		return masker{}
	}
	// Longest first, so that a secret which contains another goes as a whole.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, masked)
	}
	return masker{replacer: strings.NewReplacer(pairs...), longest: len(secrets[0])}
}

func (m masker) mask(text string) string {
	if m.replacer == nil {
		return text
	}
	return m.replacer.Replace(text)
}

// escape makes foreign bytes printable on one line and bounds them to about
// limit bytes; what was cut is counted.
func escape(b []byte, limit int) string {
	var out strings.Builder
	for i := 0; i < len(b); {
		if out.Len() >= limit {
			fmt.Fprintf(&out, "… (%d bytes more)", len(b)-i)
			break
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, b[i])
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < 0x80 && !unicode.IsPrint(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// A recorder reads a child's output line by line in bounded memory: it keeps
// the last lines and hands each one, masked, escaped and bounded, to log.
type recorder struct {
	masker masker
	log    func(line string)

	mu     sync.Mutex
	last   []string
	logged int
	bytes  int64
}

// read consumes r to its end. It never stops early: a child must not block on a
// full pipe because we lost interest.
func (r *recorder) read(from io.Reader) {
	buffer := make([]byte, 32<<10)
	// The head of the current line. It holds what is shown and the longest
	// secret that may begin within it, so that cutting a line cannot cut a
	// secret before it is masked.
	keep := maxLine + r.masker.longest
	head := make([]byte, 0, keep)
	skipped := 0
	for {
		n, err := from.Read(buffer)
		chunk := buffer[:n]
		r.count(n)
		for len(chunk) > 0 {
			part, rest, ended := bytes.Cut(chunk, []byte{'\n'})
			taken := min(len(part), keep-len(head))
			head = append(head, part[:taken]...)
			skipped += len(part) - taken
			if ended {
				r.line(head, skipped)
				head, skipped = head[:0], 0
			}
			chunk = rest
		}
		if err != nil {
			if len(head) > 0 || skipped > 0 {
				r.line(head, skipped)
			}
			return
		}
	}
}

func (r *recorder) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += int64(n)
}

func (r *recorder) line(head []byte, skipped int) {
	raw := []byte(r.masker.mask(string(bytes.TrimSuffix(head, []byte{'\r'}))))
	text := ""
	if cut := len(raw) - maxLine; cut > 0 || skipped > 0 {
		text = fmt.Sprintf("%s… (%d bytes more)", escape(raw[:min(len(raw), maxLine)], 4*maxLine), max(cut, 0)+skipped)
	} else {
		text = escape(raw, 4*maxLine)
	}
	r.mu.Lock()
	r.last = append(r.last, text)
	if len(r.last) > maxLastLines {
		r.last = slices.Delete(r.last, 0, len(r.last)-maxLastLines)
	}
	r.logged++
	logged := r.logged
	r.mu.Unlock()
	switch {
	case r.log == nil || logged > maxLogged:
	case logged == maxLogged:
		r.log(fmt.Sprintf("(%d lines shown; what the subject prints from here on is kept out of the log)", maxLogged))
	default:
		r.log(text)
	}
}

// lines gives the last lines printed, oldest first.
func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}

// describe renders the last lines for an error.
func (r *recorder) describe() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == 0 {
		if r.bytes > 0 {
			return fmt.Sprintf("it printed %d bytes and no end of line", r.bytes)
		}
		return "it printed nothing"
	}
	var out strings.Builder
	out.WriteString("it printed last:")
	for _, line := range r.last {
		out.WriteString("\n  | ")
		out.WriteString(line)
	}
	return out.String()
}
