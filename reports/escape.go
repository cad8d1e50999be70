package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one text of a subject in a report, in bytes. What is cut here
// is whole in the evidence.
const maxText = 2000

// clean makes text that may come from a subject safe to show on one line:
// anything a terminal, an XML parser or a reader's eye could take for more
// than a character (control codes, bidirectional overrides, invisible
// characters, bytes that are not UTF-8) becomes a visible escape, and what is
// longer than most bytes is cut.
func clean(s string, most int) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+n]
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf(`\x%02x`, s[i])
		case unicode.IsPrint(r):
		case r == '\n':
			piece = `\n`
		case r == '\t':
			piece = `\t`
		case r < 0x80:
			piece = fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			piece = fmt.Sprintf(`\u%04x`, r)
		default:
			piece = fmt.Sprintf(`\U%08x`, r)
		}
		if b.Len()+len(piece) > most {
			fmt.Fprintf(&b, "… (%d bytes more)", len(s)-i)
			break
		}
		b.WriteString(piece)
		i += n
	}
	return b.String()
}

// text makes a string one that JSON can hold: bytes that are not UTF-8 become
// visible escapes, where the encoder would make them all the same question
// mark, and what is longer than a file should carry is cut.
func text(s string) string {
	const most = 64 << 10
	if len(s) <= most && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if b.Len() > most {
			fmt.Fprintf(&b, "… (%d bytes more)", len(s)-i)
			break
		}
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// wrap breaks cleaned text into lines, at spaces where there are any: the first
// of at most first characters, the others of at most rest. A width below 20
// does not wrap.
func wrap(s string, first, rest int) []string {
	if first < 20 || rest < 20 {
		return []string{s}
	}
	var lines []string
	width := first
	for utf8.RuneCountInString(s) > width {
		runes := []rune(s)
		cut := width
		for i := width; i > width/2; i-- {
			if runes[i] == ' ' {
				cut = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(runes[:cut]), " "))
		s = strings.TrimLeft(string(runes[cut:]), " ")
		width = rest
	}
	if s != "" || lines == nil {
		lines = append(lines, s)
	}
	return lines
}
