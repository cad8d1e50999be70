package stream

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"assay/impl/backend"
)

// faulty puts something around a machine.
type faulty struct {
	Machine
	events  func(Event) []Event
	effects func(Event, []Effect) []Effect
}

func (f faulty) Step(now time.Time, e Event) []Effect {
	events := []Event{e}
	if f.events != nil {
		events = f.events(e)
	}
	var out []Effect
	for _, e := range events {
		effects := f.Machine.Step(now, e)
		if f.effects != nil {
			effects = f.effects(e, effects)
		}
		out = append(out, effects...)
	}
	return out
}

// narrowLog follows ids where it should follow transactions.
type narrowLog struct {
	Log
	highest int64
}

func (l *narrowLog) Tail(ctx context.Context, since Snapshot) (Tail, error) {
	tail, err := l.Log.Tail(ctx, since)
	var moved []backend.Position
	before := l.highest
	for _, p := range tail.Moved {
		if p.After > before {
			moved = append(moved, p)
			l.highest = max(l.highest, p.After)
		}
	}
	tail.Moved = moved
	return tail, err
}

// deafLog forgets a topic that moved beside another.
type deafLog struct{ Log }

func (l deafLog) Tail(ctx context.Context, since Snapshot) (Tail, error) {
	tail, err := l.Log.Tail(ctx, since)
	if len(tail.Moved) > 1 {
		tail.Moved = tail.Moved[1:]
	}
	return tail, err
}

// The world that finds nothing wrong with the session must find what is wrong
// with these.
func TestTheWorldSeesWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine func(Machine) Machine
		log     func(Log) Log
	}{
		{name: "topics are registered after their heads were read", machine: func(m Machine) Machine {
			var held []Effect
			return faulty{Machine: m, effects: func(e Event, effects []Effect) (out []Effect) {
				if _, ok := e.(HeadsRead); ok {
					out, held = held, nil
				}
				for _, f := range effects {
					if _, ok := f.(Register); ok {
						held = append(held, f)
						continue
					}
					out = append(out, f)
				}
				return out
			}}
		}},
		{name: "a wake-up is forgotten", machine: func(m Machine) Machine {
			return faulty{Machine: m, events: func(e Event) []Event {
				if _, ok := e.(Moved); ok {
					return nil
				}
				return []Event{e}
			}}
		}},
		{name: "what arrives in the step after an Applied is dropped", machine: func(m Machine) Machine {
			after := false
			return faulty{Machine: m, events: func(e Event) []Event {
				_, arrived := e.(Arrived)
				drop := after && arrived
				_, after = e.(HeadsRead)
				if drop {
					return nil
				}
				return []Event{e}
			}}
		}},
		{name: "a page that was read when its topic was removed is sent", machine: func(m Machine) Machine {
			return faulty{Machine: m, effects: func(e Event, effects []Effect) []Effect {
				if p, ok := e.(PageRead); ok && len(p.Page.Rows) > 0 && len(effects) == 0 {
					return []Effect{Send{Frame: Messages{Rows: p.Page.Rows}}}
				}
				return effects
			}}
		}},
		{name: "the first message goes out before the Applied", machine: func(m Machine) Machine {
			var held []Effect
			return faulty{Machine: m, effects: func(_ Event, effects []Effect) (out []Effect) {
				for _, f := range effects {
					s, ok := f.(Send)
					_, applied := s.Frame.(Applied)
					_, messages := s.Frame.(Messages)
					switch {
					case ok && applied:
						held = append(held, f)
					case ok && messages:
						out = append(append(out, f), held...)
						held = nil
					default:
						out = append(out, f)
					}
				}
				return out
			}}
		}},
		{name: "the tail follows ids", log: func(l Log) Log { return &narrowLog{Log: l} }},
		{name: "the tail forgets a topic", log: func(l Log) Log { return deafLog{l} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			machine, log := test.machine, test.log
			if machine == nil {
				machine = same[Machine]
			}
			if log == nil {
				log = same[Log]
			}
			lives := rapid.Custom(func(t *rapid.T) string {
				if err := play(t, machine, log); err != nil {
					return err.Error()
				}
				return ""
			})
			for seed := range 3000 {
				if wrong := lives.Example(seed); wrong != "" {
					t.Logf("life %d: %s", seed, wrong)
					return
				}
			}
			t.Error("3000 lives showed nothing")
		})
	}
}
