package gate

import (
	"net/url"
	"strings"
)

// plain is a statement without comments and with one blank between words, as
// patterns of a points file see it. Strings and quoted names stay as they are.
func plain(text string) string { return squeeze(text, false) }

// Shape is a statement without comments, with one blank between words and a
// question mark for each literal: the same for statements that differ in values
// alone, and free of what a client sent as a value in its text.
func Shape(text string) string { return squeeze(text, true) }

func squeeze(text string, literals bool) string {
	var out strings.Builder
	out.Grow(len(text))
	blank := false
	put := func(s string) {
		if blank && out.Len() > 0 {
			out.WriteByte(' ')
		}
		blank = false
		out.WriteString(s)
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			blank = true
			i++
		case strings.HasPrefix(text[i:], "--"):
			blank = true
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*"):
			blank = true
			i += comment(text[i:])
		case c == '\'' || c == '"' || c == '$' && dollar(text[i:]) > 0:
			n := quoted(text[i:])
			if literals && c != '"' {
				put("?")
			} else {
				put(text[i : i+n])
			}
			i += n
		case word(c):
			n := 1
			for i+n < len(text) && (word(text[i+n]) || text[i+n] == '.' && number(text[i:i+n])) {
				n++
			}
			w := text[i : i+n]
			if literals && w[0] >= '0' && w[0] <= '9' {
				w = "?"
			}
			put(w)
			i += n
		default:
			put(text[i : i+1])
			i++
		}
	}
	return strings.TrimRight(out.String(), "; ")
}

func word(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func number(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// comment is the length of the block comment that text begins with; they nest.
func comment(text string) int {
	depth := 0
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(text[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(text)
}

// dollar is the length of the $tag$ that text begins with, 0 for none.
func dollar(text string) int {
	end := strings.IndexByte(text[1:], '$')
	if end < 0 {
		return 0
	}
	for i, c := range []byte(text[1 : 1+end]) {
		if !word(c) || c == '$' || i == 0 && c >= '0' && c <= '9' {
			return 0
		}
	}
	return end + 2
}

// quoted is the length of the string or quoted name that text begins with. A
// quote is doubled inside; a backslash is taken for itself, as Postgres does.
func quoted(text string) int {
	if n := dollar(text); text[0] == '$' && n > 0 {
		if end := strings.Index(text[n:], text[:n]); end >= 0 {
			return n + end + n
		}
		return len(text)
	}
	for i := 1; i < len(text); i++ {
		if text[i] != text[0] {
			continue
		}
		if i+1 < len(text) && text[i+1] == text[0] {
			i++
			continue
		}
		return i + 1
	}
	return len(text)
}

// tags reads the comment in the style of sqlcommenter at the beginning or the
// end of a statement: /*key='value',key='value'*/. One in the middle may be part
// of a string, and is not read.
func tags(text string) map[string]string {
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	if strings.HasPrefix(text, "/*") {
		if t := pairs(text[:comment(text)]); t != nil {
			return t
		}
	}
	if strings.HasSuffix(text, "*/") {
		if at := strings.LastIndex(text, "/*"); at >= 0 {
			return pairs(text[at:])
		}
	}
	return nil
}

func pairs(comment string) map[string]string {
	inside := strings.TrimSuffix(strings.TrimPrefix(comment, "/*"), "*/")
	var out map[string]string
	for _, p := range strings.Split(inside, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		if !ok || len(value) < 2 || value[0] != '\'' || value[len(value)-1] != '\'' {
			return nil
		}
		k, err := url.PathUnescape(key)
		v, err2 := url.PathUnescape(value[1 : len(value)-1])
		if err != nil || err2 != nil {
			return nil
		}
		if out == nil {
			out = make(map[string]string, 1)
		}
		out[k] = v
	}
	return out
}

// bound says what a statement does to a transaction.
type bound int8

const (
	within bound = iota
	opens
	ends
)

// bounds looks at the first words. What a function or a later statement of the
// same text does is seen from the server's answer.
func bounds(plain string) bound {
	words := strings.Fields(strings.ToUpper(plain[:min(len(plain), 64)]))
	if len(words) == 0 {
		return within
	}
	switch strings.TrimRight(words[0], ";") {
	case "BEGIN":
		return opens
	case "START":
		if len(words) > 1 && strings.HasPrefix(words[1], "TRANSACTION") {
			return opens
		}
	case "COMMIT", "END", "ABORT":
		return ends
	case "ROLLBACK":
		if len(words) > 1 && words[1] == "TO" || len(words) > 2 && words[2] == "TO" {
			return within
		}
		return ends
	case "PREPARE":
		if len(words) > 1 && words[1] == "TRANSACTION" {
			return ends
		}
	}
	return within
}
