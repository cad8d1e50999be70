package wire

import (
	"bytes"
	"slices"
)

// Execution is one statement that a client asks to run.
type Execution struct {
	// Text is the SQL as it was sent; when it was above a Buffer's limit, its
	// beginning.
	Text string
	// Known is false when the text is not: the portal was bound before anybody
	// looked.
	Known bool
	// Values are the bound values as they were sent, nil for NULL. They point
	// into a Buffer.
	Values [][]byte
	// Whole is false when some values are missing or cut short.
	Whole bool
}

// Memory is what one client has prepared and bound. The zero value is ready.
//
// It believes the client: a Parse that the server refuses is remembered all the
// same, until the name is used again.
//
// It is bounded: of a client that prepares and binds more than MemoryLimit, what
// comes above is not known.
type Memory struct {
	named   map[string]string
	unnamed []byte
	portals map[string]*portal
	texts   int // bytes in named
	values  int // bytes in portals
}

// MemoryLimit bounds what a Memory keeps of named statements, and of portals, in
// bytes.
const MemoryLimit = 32 << 20

// entrySize is what a name costs beside its bytes, about.
const entrySize = 200

type portal struct {
	Execution
	executed, own bool
	size          int
}

// Note remembers what a Parse says and forgets what a Close names. It takes no
// memory for statements without a name.
func (m *Memory) Note(k Kind, body []byte) {
	switch k {
	case Parse:
		name, text, ok := ReadParse(body)
		switch {
		case !ok:
		case len(name) == 0:
			m.unnamed = append(m.unnamed[:0], text...)
		default:
			if m.named == nil {
				m.named = make(map[string]string)
			}
			m.forget(name)
			if size := len(name) + len(text) + entrySize; m.texts+size <= MemoryLimit {
				m.named[string(name)] = string(text)
				m.texts += size
			}
		}
	case Close:
		switch what, name := ReadTarget(body); what {
		case 'S':
			m.forget(name)
		case 'P':
			m.close(name)
		}
	}
}

// forget takes out a named statement, if it is there.
func (m *Memory) forget(name []byte) {
	if text, ok := m.named[string(name)]; ok {
		m.texts -= len(name) + len(text) + entrySize
		delete(m.named, string(name))
	}
}

// close takes out a portal, if it is there.
func (m *Memory) close(name []byte) {
	if p, ok := m.portals[string(name)]; ok {
		m.values -= p.size
		delete(m.portals, string(name))
	}
}

// Collect does what Note does and binds portals too. For a Query and an Execute
// it returns what is to run.
func (m *Memory) Collect(k Kind, body []byte, short bool) (x Execution, runs bool) {
	switch k {
	case Query:
		return Execution{Text: string(ReadQuery(body)), Known: true, Whole: !short}, true
	case FunctionCall:
		return Execution{}, true
	case Bind:
		b, ok := ReadBind(body)
		if !ok {
			return x, false
		}
		text, known := m.text(b.Statement)
		if m.portals == nil {
			m.portals = make(map[string]*portal)
		}
		m.close(b.Portal)
		if size := len(body) + len(text) + entrySize; m.values+size <= MemoryLimit {
			m.portals[string(b.Portal)] = &portal{Execution: Execution{Text: text, Known: known, Values: b.Values, Whole: b.Whole}, size: size}
			m.values += size
		}
	case Execute:
		p := m.portals[string(ReadExecute(body))]
		if p == nil {
			return Execution{}, true
		}
		p.executed = true
		return p.Execution, true
	default:
		m.Note(k, body)
	}
	return x, false
}

func (m *Memory) text(statement []byte) (string, bool) {
	if len(statement) == 0 {
		return string(m.unnamed), m.unnamed != nil
	}
	text, ok := m.named[string(statement)]
	return text, ok
}

// Passed is called when the messages collected so far leave their buffer. What
// may still run keeps its values; what has run keeps its text.
func (m *Memory) Passed() {
	for _, p := range m.portals {
		switch {
		case p.own:
		case p.executed:
			p.Values, p.Whole, p.own = nil, false, true
		default:
			p.Values, p.own = slices.Clone(p.Values), true
			for i, v := range p.Values {
				p.Values[i] = bytes.Clone(v)
			}
		}
	}
}

// Ended forgets portals, which do not outlive their transaction.
func (m *Memory) Ended() {
	clear(m.portals)
	m.values = 0
}
