package stream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// stage plays a session by hand: tests give events and read what it does, one
// word an effect.
type stage struct {
	t    *testing.T
	s    Machine
	now  time.Time
	said []string
	// frames are those queued; sizes and pings are for taking them.
	frames []Send
	end    error
	ended  bool
}

func newStage(t *testing.T, change func(*Settings)) *stage {
	t.Helper()
	c := config.Default()
	settings := Settings{Limits: c.Limits, Streams: c.Streams}
	if change != nil {
		change(&settings)
	}
	return &stage{t: t, s: NewSession(settings), now: time.Unix(1000, 0)}
}

// open opens a bidirectional stream and forgets its Started.
func open(t *testing.T, change func(*Settings)) *stage {
	t.Helper()
	g := newStage(t, change)
	g.step(Opened{})
	g.expect("started 30000")
	g.takeAll()
	return g
}

func (g *stage) step(e Event) {
	for _, f := range g.s.Step(g.now, e) {
		switch f := f.(type) {
		case Send:
			g.frames = append(g.frames, f)
			g.said = append(g.said, sayFrame(f.Frame))
		case Register:
			g.said = append(g.said, "register "+names(f.Topics))
		case Unregister:
			slices.Sort(f.Topics)
			g.said = append(g.said, "unregister "+names(f.Topics))
		case ReadHeads:
			g.said = append(g.said, "heads "+names(f.Topics))
		case ReadPage:
			var from []string
			for _, p := range f.From {
				from = append(from, fmt.Sprintf("%s>%d", name(p.Topic), p.After))
			}
			g.said = append(g.said, "page "+strings.Join(from, " "))
		case End:
			g.end, g.ended = f.Err, true
			g.said = append(g.said, "end "+codeOf(f.Err).String())
		case Wake:
		}
	}
}

func codeOf(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	return err.(*backend.Refusal).Code
}

// expect compares what was done since the last time.
func (g *stage) expect(want ...string) {
	g.t.Helper()
	if !slices.Equal(g.said, want) {
		g.t.Fatalf("the session did\n  %s\nand not\n  %s", strings.Join(g.said, "\n  "), strings.Join(want, "\n  "))
	}
	g.said = nil
}

// takeAll has the transport take everything.
func (g *stage) takeAll() {
	taken := Taken{Frames: len(g.frames)}
	for _, f := range g.frames {
		taken.Bytes += f.Size
		if _, ok := f.Frame.(Ping); ok {
			taken.Ping = true
		}
	}
	g.frames = nil
	if taken.Frames > 0 {
		g.step(taken)
	}
}

func sayFrame(f Frame) string {
	switch f := f.(type) {
	case Started:
		return strings.TrimSpace(fmt.Sprintf("started %d %s", f.KeepaliveMS, targets(f.Targets)))
	case Applied:
		return strings.TrimSpace(fmt.Sprintf("applied %d %s", f.ID, targets(f.Targets)))
	case Messages:
		var rows []string
		for _, r := range f.Rows {
			rows = append(rows, fmt.Sprintf("%s%d", name(r.Topic), r.ID))
		}
		return "messages " + strings.Join(rows, " ")
	case Ping:
		return fmt.Sprintf("ping %d", f.Nonce)
	case Pong:
		return fmt.Sprintf("pong %d", f.Nonce)
	}
	return "keepalive"
}

func targets(all []Target) string {
	var out []string
	for _, t := range all {
		out = append(out, fmt.Sprintf("%s=%d", name(t.Topic), t.Through))
	}
	return strings.Join(out, " ")
}

// Topics are called by one letter: a is the welcome topic of key a.
func topic(letter byte) backend.Topic {
	return backend.Topic("\x01" + strings.Repeat(string(letter), 32))
}

func name(t backend.Topic) string {
	if len(t) < 2 {
		return "?"
	}
	return string(t[1])
}

func names(topics []backend.Topic) string {
	var out []string
	for _, t := range topics {
		out = append(out, name(t))
	}
	return strings.Join(out, " ")
}

// row is an envelope of n bytes.
func row(letter byte, id int64, n int) Row {
	return Row{Topic: topic(letter), ID: id, Wire: make([]byte, n)}
}

func rows(letter byte, n int, ids ...int64) []Row {
	var out []Row
	for _, id := range ids {
		out = append(out, row(letter, id, n))
	}
	return out
}

func page(cut int, groups ...[]Row) PageRead {
	return PageRead{Page: Page{Rows: slices.Concat(groups...), Cut: cut}}
}

// update is an update whose adds are letters with cursors ("a0", "b7") and whose
// removes are letters behind a minus ("-a").
func update(id uint64, changes ...string) Received {
	u := &backendv1.SubscribeRequest_Update{Id: id}
	for _, c := range changes {
		if c[0] == '-' {
			u.Removes = append(u.Removes, &backendv1.Topic{Topic: []byte(topic(c[1]))})
			continue
		}
		var cursor uint64
		if _, err := fmt.Sscan(c[1:], &cursor); err != nil {
			panic(err)
		}
		u.Adds = append(u.Adds, &backendv1.TopicQuery{Topic: &backendv1.Topic{Topic: []byte(topic(c[0]))}, Cursor: &backendv1.Cursor{SequenceId: cursor}})
	}
	return Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}}}
}

func clientPing(nonce uint64) Received {
	return Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Ping{Ping: &backendv1.Ping{Nonce: nonce}}}}
}

func clientPong(nonce uint64) Received {
	return Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Pong{Pong: &backendv1.Pong{Nonce: nonce}}}}
}

func heads(h ...int64) HeadsRead { return HeadsRead{Heads: h} }
