package backend

import (
	"math"
	"slices"
	"testing"

	"assay/harness/verdict"
	"assay/spec"
	specbackend "assay/spec/backend"
	"assay/spec/gen/backendreq"
)

// script makes every kind of call that a suite would, for any subject to answer.
func script(answer func(c *Call) Return, adjust ...func(*Terms)) *story {
	h := tell(adjust...)
	say := func(u *turn) { u.answers(answer(u.call)) }
	g, w, c := groupLog("g"), welcomeLog("w"), commitLog("c")
	for range 2 { // the second round repeats every envelope
		say(h.publish("A", group("one")))
		say(h.publish("A", formed(group("two"), PrivateCommit), welcome("one"), entryOf("one"), group("one")))
		say(h.publish("B", encoded(group("one"), Reordered), encoded(welcome("one"), Padded)))
		say(h.publish("B", many(5, welcome)...))
		say(h.publish("A", entryOf("two"), entryOf("two")))
		h.publish("A", group("lost")).lost()
		say(h.publish("A", group("lost")))
	}
	for _, f := range flaws() {
		say(h.publish("A", flawed(f)))
		say(h.publish("A", welcome("twin"), welcome("twin"), flawed(f)))
	}
	say(h.publish("A", sized(welcome("at"), 1<<20)))
	say(h.publish("A", sized(welcome("above"), 1<<20+1)))
	say(h.publish("A", many(27, func(c string) Envelope { return sized(welcome(c), 1_000_000) })...))
	say(h.publish("A", many(6, func(c string) Envelope { return on(welcomeLog(c), "x") })...))
	h.headers = []string{"authorization", "x-app-version", "x-libxmtp-version"}
	say(h.publish("A", group("with headers")))
	for _, limit := range []uint32{0, 1, 2, 5000} {
		say(h.query("A", limit, all(g)))
		say(h.query("A", limit, all(g), all(w), all(c), all(groupLog("never"))))
		say(h.query("A", limit, after(g, 1), after(g, 0), all(w)))
	}
	h.headers = nil
	say(h.query("A", 0, all(c)))
	say(h.query("A", 0, after(g, math.MaxInt64)))
	say(h.query("A", 0, after(g, math.MaxInt64-1)))
	say(h.query("A", 0, after(g, math.MaxInt64+1)))
	say(h.query("A", 0, all(g), after(g, math.MaxInt64+1)))
	say(h.query("A", 0, all(Log{Kind: KeyPackage, Name: "k"})))
	for _, f := range TopicFlaws() {
		say(h.query("A", 0, Read{Log: g, Flaw: f}))
		say(h.newest("A", true, Read{Log: w, Flaw: f}))
	}
	say(h.query("A", 0, all(g), all(w), all(c), all(welcomeLog("m0")), all(welcomeLog("m1"))))
	say(h.query("A", 0, all(g), all(g), all(g), all(g), all(g), all(g)))
	for _, full := range []bool{false, true} {
		say(h.newest("A", full, all(g)))
		say(h.newest("A", full, all(g), all(g), all(w), all(c), all(groupLog("never"))))
		say(h.newest("A", full, all(g), all(g), all(g), all(g), all(g), all(g)))
	}
	say(h.ask(MethodConfiguration))
	say(h.ask(MethodHealth))
	say(h.other(RetiredGet))
	return h
}

// smallLimits are limits that the script passes.
func smallLimits(t *Terms) {
	for _, name := range []string{limitPublishTopics, limitQueryTopics, limitNewestMetadata, limitNewestFull} {
		configured(name, 5)(t)
	}
	configured(limitQueryMost, 4)(t)
	configured(limitQueryDefault, 3)(t)
}

// concluded tallies a story as a run would, for a scenario that undertakes to
// decide everything, and returns the requirements by status.
func concluded(t *testing.T, h *story) map[verdict.Status][]spec.ID {
	t.Helper()
	catalogue, err := specbackend.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var every []spec.ID
	for _, r := range catalogue.Requirements() {
		every = append(every, r.ID)
	}
	tally := verdict.NewTally(catalogue, spec.AccessOf(spec.Wire, spec.Control), Ambient())
	if err := tally.Promise("script", every, nil); err != nil {
		t.Fatal(err)
	}
	if err := tally.Add("script", "", h.judged()); err != nil {
		t.Fatal(err)
	}
	out := make(map[verdict.Status][]spec.ID)
	for _, v := range tally.Conclude() {
		out[v.Status] = append(out[v.Status], v.Requirement)
	}
	return out
}

// everything is what the script decides about an honest server.
var everything = []spec.ID{
	backendreq.API001, backendreq.API002, backendreq.API003, backendreq.API004, backendreq.API010, backendreq.API011, backendreq.API015, backendreq.API016,
	backendreq.API020, backendreq.API021, backendreq.API023, backendreq.API030, backendreq.API031, backendreq.API032, backendreq.API033, backendreq.API034,
	backendreq.API036, backendreq.API037, backendreq.API040, backendreq.API041, backendreq.API045, backendreq.API046, backendreq.API047, backendreq.API065, backendreq.API066,
	backendreq.API070, backendreq.API071, backendreq.API072, backendreq.API073, backendreq.API075, backendreq.API076, backendreq.API077,
	backendreq.API080, backendreq.API081, backendreq.API082, backendreq.API083, backendreq.API084,
	backendreq.API130, backendreq.API131, backendreq.API135, backendreq.API150, backendreq.API152, backendreq.API161, backendreq.API162,
}

func TestTheScriptProvesEverythingOfAnHonestServer(t *testing.T) {
	h := tell(smallLimits)
	server := h.server
	told := script(server.answer, smallLimits)
	told.innocent(t)
	got := concluded(t, told)[verdict.Satisfied]
	for _, id := range everything {
		if !slices.Contains(got, id) {
			t.Errorf("%s is not satisfied by an honest server", id)
		}
	}
}

// emptyAnswer is OK with an empty message of the right type.
func emptyAnswer(c *Call) Return {
	switch c.Method {
	case MethodPublish:
		return Return{Publish: &Published{}}
	case MethodQuery:
		return Return{Query: &Page{}}
	case MethodNewest:
		return Return{Newest: &Heads{}}
	case MethodConfiguration:
		return Return{Configuration: &Configuration{Limits: map[string]uint64{}}}
	default:
		return Return{}
	}
}

func TestLiarsEarnNothingThatNeedsEvidence(t *testing.T) {
	// storing answers publishes honestly and lies when it is read.
	storing := func(read func(s *server, c *Call) Return) func(c *Call) Return {
		h := tell(smallLimits)
		return func(c *Call) Return {
			if c.Method == MethodQuery || c.Method == MethodNewest {
				return read(h.server, c)
			}
			return h.server.answer(c)
		}
	}
	// What a subject can show by publishing honestly alone.
	published := []spec.ID{backendreq.API001, backendreq.API002, backendreq.API010, backendreq.API020, backendreq.API021, backendreq.API030, backendreq.API031, backendreq.API032, backendreq.API033,
		backendreq.API034, backendreq.API036, backendreq.API040, backendreq.API041, backendreq.API046, backendreq.API047, backendreq.API130, backendreq.API131, backendreq.API135, backendreq.API150,
		backendreq.API161, backendreq.API162}
	id := uint64(0)
	for _, liar := range []struct {
		name   string
		answer func(c *Call) Return
		// may lists what may be satisfied all the same, because it was seen.
		may []spec.ID
	}{
		{"OK with empty messages to everything", emptyAnswer, nil},
		{"OK with the right counts and zeros", func(c *Call) Return {
			r := emptyAnswer(c)
			switch c.Method {
			case MethodPublish:
				r.Publish.Metas = make([]Meta, len(c.Publish.Envelopes))
			case MethodQuery:
				r.Query.Rows = make([]Row, min(3, len(c.Query.Entries)))
			case MethodNewest:
				for _, e := range c.Newest.Entries {
					r.Newest.Rows = append(r.Newest.Rows, Row{Asked: e.Topic})
				}
			}
			return r
		}, nil},
		{"OK with messages that are there and hold zeros", func(c *Call) Return {
			zero := Meta{HasCursor: true, HasHash: true, HasTopic: true}
			r := emptyAnswer(c)
			switch c.Method {
			case MethodPublish:
				r.Publish.Metas = slices.Repeat([]Meta{zero}, len(c.Publish.Envelopes))
			case MethodQuery:
				r.Query.Rows = slices.Repeat([]Row{{HasMeta: true, HasEnvelope: true, Meta: zero}}, len(c.Query.Entries))
			case MethodNewest:
				for _, e := range c.Newest.Entries {
					r.Newest.Rows = append(r.Newest.Rows, Row{Asked: e.Topic, HasMeta: true, HasEnvelope: true, Meta: zero})
				}
			}
			return r
		}, nil},
		{"INVALID_ARGUMENT with a fine detail to everything", func(*Call) Return { return invalid(0, ReasonMalformedPayload) }, nil},
		{"OUT_OF_RANGE to everything", func(*Call) Return { return Return{Code: OutOfRange, Text: "too long"} }, nil},
		{"UNIMPLEMENTED to everything", func(*Call) Return { return Return{Code: Unimplemented} }, nil},
		{"UNAVAILABLE to everything", func(*Call) Return { return Return{Code: Unavailable} }, nil},
		{"OK that does not decode to everything", func(*Call) Return { return Return{Garbled: "no protobuf"} }, nil},
		{"publishes are stored and every read is empty", storing(func(_ *server, c *Call) Return { return emptyAnswer(c) }), published},
		{"publishes are stored and every read is refused", storing(func(_ *server, c *Call) Return {
			return Return{Code: InvalidArgument, Text: "a fine text"}
		}), published},
		{"publishes are stored and every read returns one and the same row", storing(func(s *server, c *Call) Return {
			r := emptyAnswer(c)
			row := s.rows[topicOf(groupLog("g"))][0]
			if c.Method == MethodQuery {
				r.Query.Rows = []Row{row}
			} else {
				row.Asked, row.HasEnvelope = row.Meta.Topic, c.Newest.Full
				r.Newest.Rows = []Row{row}
			}
			return r
		}), append(slices.Clone(published), backendreq.API011, backendreq.API065, backendreq.API023, backendreq.API076, backendreq.API080, backendreq.API082, backendreq.API084,
			backendreq.API152)},
		{"publishes are answered with fresh metadata and nothing is stored", func(c *Call) Return {
			r := emptyAnswer(c)
			if c.Method == MethodPublish {
				for _, s := range c.Publish.Envelopes {
					id++
					hash := make([]byte, 32)
					hash[0], hash[1] = byte(id), byte(id>>8)
					r.Publish.Metas = append(r.Publish.Metas, Meta{HasCursor: true, Sequence: id, ServerNS: 5, HasHash: true, Hash: Bytes(hash), HasTopic: true, Topic: s.Artefact.Topic})
				}
			}
			return r
		}, []spec.ID{backendreq.API001, backendreq.API010, backendreq.API032, backendreq.API161}},
	} {
		t.Run(liar.name, func(t *testing.T) {
			for _, got := range concluded(t, script(liar.answer, smallLimits))[verdict.Satisfied] {
				if !slices.Contains(liar.may, got) {
					t.Errorf("%s is called satisfied", got)
				}
			}
		})
	}
}
