package subject

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A template is a shell command with placeholders, read once.
//
// A value never becomes shell text. Each placeholder turns into the expansion
// of a variable that carries the value, "${ASSAY_PLACE_LISTEN}", and the shell
// does not read the result of an expansion again: quotes, blanks, $() or braces
// in a value stay what they are. Writing the value itself in single quotes
// would be as safe where the placeholder stands bare, but not inside quotes of
// the user's, and it would show a database password to everyone who can list
// the processes of the machine.
type template struct {
	script string
	names  []string // placeholders in use, sorted
}

// One match is {name}, or {{name}} for a literal {name}. A name begins with a
// letter, so that {0..9}, {}, { list; } and JSON stay the shell's own.
var placeholderPattern = regexp.MustCompile(`^(?:\{\{([a-z][a-z0-9_]*)\}\}|\{([a-z][a-z0-9_]*)\})`)

// variable is the environment variable that carries a placeholder's value.
func variable(name string) string { return "ASSAY_PLACE_" + strings.ToUpper(name) }

// parseTemplate finds the placeholders in shell and refuses those not in known.
func parseTemplate(shell string, known []string) (template, error) {
	if strings.TrimSpace(shell) == "" {
		return template{}, fmt.Errorf("the command is empty; write a shell command")
	}
	if strings.ContainsRune(shell, 0) {
		return template{}, fmt.Errorf("the command contains a NUL byte, which no shell accepts")
	}
	var (
		out   strings.Builder
		names []string
		quote quoting
	)
	for i := 0; i < len(shell); {
		if m := placeholderPattern.FindStringSubmatch(shell[i:]); m != nil && !strings.HasSuffix(shell[:i], "$") {
			switch {
			case m[1] != "":
				out.WriteString("{" + m[1] + "}")
			case !slices.Contains(known, m[2]):
				return template{}, fmt.Errorf("unknown placeholder {%s} at byte %d of the command; known are {%s}; write {{%s}} for a literal {%s}",
					escape([]byte(m[2]), 60), i+1, strings.Join(known, "} {"), escape([]byte(m[2]), 60), escape([]byte(m[2]), 60))
			default:
				names = append(names, m[2])
				out.WriteString(quote.expansion(variable(m[2])))
			}
			i += len(m[0])
			continue
		}
		n := quote.step(shell[i:])
		out.WriteString(shell[i : i+n])
		i += n
	}
	slices.Sort(names)
	return template{script: out.String(), names: slices.Compact(names)}, nil
}

func (t template) uses(name string) bool { return slices.Contains(t.names, name) }

// environment gives the variables for the placeholders in use.
func (t template) environment(value func(name string) (string, error)) ([]string, error) {
	var env []string
	for _, name := range t.names {
		text, err := value(name)
		if err != nil {
			return nil, fmt.Errorf("placeholder {%s}: %w", name, err)
		}
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("placeholder {%s}: its value contains a NUL byte, which no environment can carry", name)
		}
		env = append(env, variable(name)+"="+text)
	}
	return env, nil
}

// quoting follows how the shell quotes the current byte, closely enough to know
// which quotes an expansion needs around it. Where it is wrong (a here
// document, say) a value is split or keeps a quote too many; it is never run.
type quoting struct {
	stack []byte // ' or " or the closing byte of a substitution: ) or `
	word  bool   // inside a word, so that # begins no comment
}

func (q *quoting) top() byte {
	if len(q.stack) == 0 {
		return 0
	}
	return q.stack[len(q.stack)-1]
}

func (q *quoting) push(b byte) { q.stack = append(q.stack, b) }

func (q *quoting) pop() { q.stack = q.stack[:len(q.stack)-1] }

// expansion writes ${name} so that the shell keeps its value in one piece here.
func (q *quoting) expansion(name string) string {
	q.word = true
	switch q.top() {
	case '\'':
		return `'"${` + name + `}"'`
	case '"':
		return "${" + name + "}"
	default:
		return `"${` + name + `}"`
	}
}

// step reads the next piece of shell text and gives its length.
func (q *quoting) step(rest string) int {
	b, top := rest[0], q.top()
	word := q.word
	q.word = !strings.ContainsRune(" \t\n;&|()", rune(b))
	switch {
	case top == '\'':
		if b == '\'' {
			q.pop()
		}
	case b == '\\':
		return min(2, len(rest))
	case top == '"' && b == '"', (top == '`' || top == ')') && b == top:
		q.pop()
	case b == '"':
		q.push('"')
	case strings.HasPrefix(rest, "$("):
		q.push(')')
		q.word = false
		return 2
	case b == '`':
		q.push('`')
		q.word = false
	case top == '"':
	case b == '\'':
		q.push('\'')
	case b == '(':
		q.push(')')
	case b == '#' && !word:
		// A comment ends before the end of its line; a quote in it means nothing.
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			return end
		}
		return len(rest)
	}
	return 1
}
