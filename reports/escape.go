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

// wrap breaks cleaned text into lines of at most width characters, at spaces
// where there are any. A width below 20 does not wrap.
func wrap(s string, width int) []string {
	if width < 20 {
		return []string{s}
	}
	var lines []string
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
	}
	if s != "" || lines == nil {
		lines = append(lines, s)
	}
	return lines
}
