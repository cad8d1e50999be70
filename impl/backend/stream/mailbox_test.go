package stream

import (
	"fmt"
	"testing"
)

func said(events []Event) (out []string) {
	for _, e := range events {
		switch e := e.(type) {
		case Arrived:
			out = append(out, sayFrame(Messages(e)))
		case Moved:
			out = append(out, fmt.Sprintf("moved %s%d", name(e.Topic), e.Head))
		default:
			out = append(out, fmt.Sprintf("%T", e))
		}
	}
	return out
}

func TestWhatArrivesTogetherIsLookedAtTogether(t *testing.T) {
	m := newMailbox()
	shared := rows('a', 9, 1, 2, 3)
	m.Tell(Arrived{shared[:2:2]})
	m.Tell(Arrived{rows('b', 9, 4)})
	m.Tell(HalfClosed{})
	m.Tell(Arrived{rows('a', 9, 5)})
	m.sent(Send{Frame: Pong{}, Size: 3})
	m.sent(Send{Frame: Ping{}, Size: 4})
	taken, events := m.take()
	if got := fmt.Sprint(said(events)); got != "[messages a1 a2 b4 stream.HalfClosed messages a5]" {
		t.Errorf("events are %s", got)
	}
	if taken != (Taken{Frames: 2, Bytes: 7, Ping: true}) {
		t.Errorf("taken is %+v", taken)
	}
	if shared[2].ID != 3 {
		t.Error("rows that others share were written to")
	}
	if taken, events := m.take(); taken != (Taken{}) || len(events) != 0 {
		t.Errorf("left are %v, %v", taken, events)
	}
}

// A session that does not look must not hold every envelope there is. From the
// first that finds no room on, it is only woken: one that came later and did
// find room would overtake it.
func TestASessionThatDoesNotLookIsOnlyWoken(t *testing.T) {
	m := newMailbox()
	m.Tell(Arrived{rows('a', mailboxBytes-10, 1)})
	m.Tell(Arrived{rows('a', 100, 2, 3)})
	m.Tell(Arrived{rows('a', 1, 4)})
	m.Tell(Arrived{rows('b', 1, 5)})
	_, events := m.take()
	if got := fmt.Sprint(said(events)); got != "[messages a1 moved a4 moved b5]" {
		t.Errorf("events are %s", got)
	}
	m.Tell(Arrived{rows('a', 1, 6)})
	if _, events := m.take(); fmt.Sprint(said(events)) != "[messages a6]" {
		t.Errorf("after a look the events are %v", said(events))
	}
}
