package backend

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"assay/model"
)

// innocents are histories that look wrong and are not. Each names what excuses it.
func innocents() []ruling {
	innocent := func(name string, tell func(h *story), with ...func(*Terms)) ruling {
		return ruling{name: name, tell: tell, with: with}
	}
	g, w := groupLog("g"), welcomeLog("w")
	large := func(n int, size int) []Envelope {
		return many(n, func(c string) Envelope { return sized(welcome(c), size) })
	}
	return []ruling{
		innocent("API-013: gaps between ids carry no meaning", func(h *story) {
			for i := range 4 {
				h.server.sequence += 1000 * uint64(i)
				h.publish("A", group(fmt.Sprint(i))).answered()
			}
			h.query("A", 2, all(g)).answered()
			h.query("A", 0, after(g, h.at(g, 1)+5)).answered()
		}),
		innocent("section 4: a server time before an earlier one is allowed", func(h *story) {
			h.publish("A", group("one")).answered()
			h.server.clock -= 3_600_000_000_000
			h.publish("A", group("two")).answered()
			h.query("A", 0, all(g)).answered()
			h.newest("A", true, all(g)).answered()
		}),
		innocent("section 4: two publishes with equal server times are allowed", func(h *story) {
			h.publish("A", group("one")).answered()
			h.server.clock -= 1_000_000
			h.publish("A", group("two")).answered()
			h.query("A", 0, all(g)).answered()
		}),
		innocent("API-030: a batch with a duplicate has the duplicate's older time in it", func(h *story) {
			h.publish("A", group("old")).answered()
			h.publish("A", group("new"), group("old"), welcome("new")).answered()
			h.query("A", 0, all(g), all(w)).answered()
		}),
		innocent("API-030: a batch has the time and id of a lost attempt for one row, which no read had shown", func(h *story) {
			h.publish("A", group("one")).lands().lost()
			h.publish("B", group("two")).answered()
			h.query("B", 0, after(g, h.at(g, 0))).answered()
			h.publish("A", group("one"), group("three")).answered()
			h.query("B", 0, all(g)).answered()
		}),
		innocent("API-011: a retry returns an id below a head that was read before the retry", func(h *story) {
			h.publish("A", group("lost")).lands().lost()
			h.publish("B", group("two")).answered()
			h.newest("B", false, all(g)).answered()
			h.publish("A", group("lost")).answered()
		}),
		innocent("API-016: a page lacks a row whose publish had not returned", func(h *story) {
			h.publish("A", group("one")).answered()
			open := h.publish("B", group("two"))
			h.query("A", 0, all(g)).answered()
			open.answered()
			h.query("A", 0, all(g)).answered()
		}),
		innocent("API-016: a page has a row whose publish has not returned yet", func(h *story) {
			h.publish("A", group("one")).answered()
			open := h.publish("B", group("two")).lands()
			h.query("A", 0, all(g)).answered()
			open.answered()
		}),
		innocent("API-011: a returned row is hidden while a lower id is unsettled", func(h *story) {
			h.publish("A", group("one")).answered()
			before := h.server.copied()
			open := h.publish("B", group("two"))
			h.publish("C", group("three")).answered()
			h.query("A", 0, all(g)).answeredBy(before)
			h.newest("A", false, all(g)).answeredBy(before)
			open.lost()
			h.query("A", 0, all(g)).answeredBy(before)
		}),
		innocent("API-073: a page and its has_more may or may not count a concurrent publish", func(h *story) {
			h.publish("A", many(5, group)...).answered()
			open := h.publish("B", group("six"))
			h.query("A", 5, all(g)).answered(more(true))
			h.query("A", 5, all(g)).answered(more(false))
			open.answered()
		}),
		innocent("API-037: a lost publish lands later", func(h *story) {
			h.publish("A", group("one")).answered()
			lost := h.publish("A", group("two")).lost()
			h.query("A", 0, all(g)).answered()
			h.newest("A", true, all(g)).answered()
			lost.lands()
			h.query("A", 0, all(g)).answered()
			h.newest("A", true, all(g)).answered()
		}),
		innocent("API-037: a lost publish never lands", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", group("two"), welcome("two")).lost()
			for range 3 {
				h.query("A", 0, all(g), all(w)).answered()
				h.newest("A", true, all(g), all(w)).answered()
			}
		}),
		innocent("API-037: two reads overlap the landing of a lost publish, and only the later one shows it", func(h *story) {
			lost := h.publish("A", group("one")).lost()
			early := h.query("B", 0, all(g))
			late := h.query("C", 0, all(g))
			before := h.server.copied()
			lost.lands()
			late.answered()
			early.answeredBy(before)
		}),
		innocent("API-037: a lost publish is read, and retried afterwards", func(h *story) {
			h.publish("A", group("one")).lands().lost()
			h.query("B", 0, all(g)).answered()
			h.publish("A", group("one")).answered()
			h.query("B", 0, all(g)).answered()
		}),
		innocent("API-037: one row of a lost publish is read, then the head of its other topic, and the other row is retried later", func(h *story) {
			h.publish("A", group("one"), welcome("two")).lands().lost()
			h.query("B", 0, all(g)).answered()
			h.newest("B", true, all(w)).answered()
			h.newest("B", false, all(w), all(g)).answered()
			h.publish("A", welcome("two")).answered()
			h.query("B", 0, all(g), all(w)).answered()
		}),
		innocent("API-037: one row of a lost publish is read, then the metadata of its other topic's head", func(h *story) {
			h.publish("A", group("one"), welcome("two")).lands().lost()
			h.query("B", 0, all(g)).answered()
			h.newest("B", false, all(w)).answered()
			h.query("B", 0, after(w, 1)).answered()
		}),
		innocent("API-037: a retry is answered while the first attempt is still open", func(h *story) {
			first := h.publish("A", group("one"))
			h.publish("B", group("one")).answered()
			h.query("B", 0, all(g)).answered()
			first.answered()
		}),
		innocent("API-037: a retry is lost as well, and a third attempt is not", func(h *story) {
			h.publish("A", group("one"), welcome("one")).lost()
			h.publish("A", group("one"), welcome("one")).lands().lost()
			h.publish("A", group("one"), welcome("one")).answered()
			h.query("A", 0, all(g), all(w)).answered()
		}),
		innocent("API-037: a publish is answered OUT_OF_RANGE for its response and did commit", func(h *story) {
			same := slices.Repeat([]Envelope{welcome("tiny")}, 1000)
			h.publish("A", same...).lands().code(OutOfRange)
			h.query("A", 0, all(w)).answered()
			h.publish("A", welcome("tiny")).answered()
			h.query("A", 0, all(w)).answered()
		}, limit(limitResponseBytes, 65_536)),
		innocent("API-037: a publish is answered RESOURCE_EXHAUSTED for its response and did not commit", func(h *story) {
			h.publish("A", slices.Repeat([]Envelope{welcome("tiny")}, 1000)...).code(ResourceExhausted)
			h.query("A", 0, all(w)).answered()
		}, limit(limitResponseBytes, 65_536)),
		innocent("API-037: a publish is answered UNAVAILABLE and did commit", func(h *story) {
			h.publish("A", group("one"), welcome("one")).lands().code(Unavailable)
			h.query("A", 0, all(g), all(w)).answered()
			h.publish("A", group("one"), welcome("one")).answered()
		}),
		innocent("API-047: a request with a long envelope and an unset one may be refused for either", func(h *story) {
			both := []Envelope{welcome("a"), sized(welcome("long"), 1<<20+1), flawed(PayloadUnset), flawed(WelcomeVersionUnset)}
			h.publish("A", both...).answers(invalid(1, ReasonTooLarge))
			h.publish("A", both...).answers(invalid(2, ReasonMalformedPayload))
		}),
		innocent("API-047: a request of too many topics with a malformed payload may be refused for either", func(h *story) {
			both := []Envelope{flawed(PayloadUnset), on(welcomeLog("a"), "x"), on(welcomeLog("b"), "x"), on(welcomeLog("c"), "x")}
			h.publish("A", both...).answers(invalid(-1, ReasonTooLarge))
			h.publish("A", both...).answers(invalid(0, ReasonMalformedPayload))
		}, limit(limitPublishTopics, 2)),
		innocent("API-130: a request above the byte limit may be refused by the application", func(h *story) {
			h.publish("A", large(27, 1_000_000)...).answers(invalid(-1, ReasonTooLarge))
			h.publish("A", large(27, 1_000_000)...).code(OutOfRange)
		}),
		innocent("API-030: an envelope that was refused with a bad neighbour is stored without it", func(h *story) {
			h.publish("A", group("one"), flawed(PayloadUnset)).answered()
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(g)).answered()
		}),
		innocent("API-003: a read with several defects may be refused for any", func(h *story) {
			h.query("A", 0, Read{Log: g, Flaw: TopicLong}, after(g, 1<<63), all(Log{Kind: KeyPackage, Name: "k"})).answered()
		}),
		innocent("API-134: a page that may be too long for a response is refused or not", func(h *story) {
			h.publish("A", large(3, 33_000)...).answered()
			h.query("A", 0, all(w)).answered()
			h.query("A", 0, all(w)).code(OutOfRange)
			h.query("A", 0, all(w)).code(ResourceExhausted)
		}, limit(limitResponseBytes, 99_200)),
		innocent("API-134: a page is too long for a response only with what an unsettled publish may add", func(h *story) {
			h.publish("A", large(2, 30_000)...).answered()
			h.publish("A", sized(welcome("open"), 45_000)).lost()
			h.query("A", 0, all(w)).code(OutOfRange)
		}, limit(limitResponseBytes, 100_000)),
		innocent("API-134: a full newest read of long envelopes is refused for its size", func(h *story) {
			h.publish("A", sized(group("one"), 60_000), sized(welcome("one"), 60_000)).answered()
			h.newest("A", true, all(g), all(w)).code(OutOfRange)
			h.newest("A", true, all(g)).answered()
		}, limit(limitResponseBytes, 100_000)),
		innocent("API-018: a newest read lags behind a publish that returned", func(h *story) {
			h.publish("A", group("one")).answered()
			replica := h.server.copied()
			h.publish("A", group("two"), welcome("three")).answered()
			h.newest("A", true, all(g), all(w)).answeredBy(replica)
			h.newest("A", false, all(g), all(w)).answered()
			h.newest("A", false, all(g), all(w)).answeredBy(replica)
		}, withReplica),
		innocent("API-071: a subject publishes a page size of 50", func(h *story) {
			h.publish("A", many(60, group)...).answered()
			h.query("A", 0, all(g)).answered()
			h.query("A", 1000, all(g)).answered()
			h.query("A", 7, all(g)).answered()
		}, limit(limitQueryMost, 50), limit(limitQueryDefault, 50)),
		innocent("API-071: a subject publishes a default page size above its maximum", func(h *story) {
			h.publish("A", many(60, group)...).answered()
			h.query("A", 0, all(g)).answered()
			h.query("A", 0, all(g)).answered(func(r *Return) { r.Query.Rows, r.Query.HasMore = h.server.rows[topicOf(g)], false })
		}, limit(limitQueryMost, 50)),
		innocent("API-131: a subject publishes limits below what a scenario sends", func(h *story) {
			h.publish("A", group("a")).answers(invalid(0, ReasonTooLarge))
			h.query("A", 0, all(g), all(w), all(groupLog("h"))).answers(Return{Code: InvalidArgument, Text: "too many topics"})
			h.newest("A", true, all(g), all(w)).answers(Return{Code: InvalidArgument, Text: "too many topics"})
			h.query("A", 0, all(g)).answered()
		}, limit(limitEnvelopeBytes, 10), limit(limitQueryTopics, 2), limit(limitNewestFull, 1)),
		innocent("API-130: a subject with a tiny request limit refuses a long query", func(h *story) {
			h.query("A", 0, all(g), all(w), all(groupLog("h"))).code(OutOfRange)
			h.query("A", 0, all(g)).answered()
		}, limit(limitRequestBytes, 100)),
		innocent("API-021: a subject without a published retention expires rows after a day", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered(func(r *Return) {
				for i := range r.Publish.Metas {
					r.Publish.Metas[i].ExpiryNS = r.Publish.Metas[i].ServerNS + 86_400_000_000_000
				}
			})
		}, func(t *Terms) { t.RetentionAssumed = true }),
		innocent("API-021: a subject without a published retention never expires welcomes", func(h *story) {
			h.publish("A", welcome("two")).answered(meta(0, func(m *Meta) { m.ExpiryNS = 0 }))
		}, func(t *Terms) { t.RetentionAssumed = true }),
		innocent("section 12: everything is UNAVAILABLE", func(h *story) {
			h.publish("A", group("one")).code(Unavailable)
			h.publish("A", flawed(PayloadUnset)).code(Unavailable)
			h.query("A", 0, all(g)).code(Unavailable)
			h.query("A", 0, after(g, 1<<63)).code(Unavailable)
			h.newest("A", true, all(g)).code(Unavailable)
			h.ask(MethodConfiguration).code(Unavailable)
			h.ask(MethodHealth).code(Unavailable)
			h.other(RetiredGet).code(Unavailable)
		}),
		innocent("section 12: the subject is away for a while, and only requests with a defect are made meanwhile", func(h *story) {
			h.publish("A", group("one")).answered()
			for _, f := range TopicFlaws() {
				h.query("A", 0, Read{Log: g, Flaw: f}).code(Unavailable)
			}
			h.query("A", 0, all(g)).answered()
		}),
		innocent("section 12: a proxy answers in place of the subject", func(h *story) {
			page := Return{Code: Unknown, Garbled: "an HTTP response with status 502 and content type \"text/html\", which is not gRPC"}
			h.publish("A", group("one")).answers(page)
			h.publish("A", flawed(PayloadUnset)).answers(page)
			h.query("A", 0, all(g)).answers(page)
			h.newest("A", true, all(g)).answers(page)
			h.ask(MethodConfiguration).answers(page)
			h.ask(MethodHealth).answers(page)
			h.other(RetiredGet).answers(page)
		}),
		innocent("section 12: a rate limiter answers sound and unsound requests alike", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", group("two")).code(ResourceExhausted)
			h.publish("A", flawed(PayloadUnset)).code(ResourceExhausted)
			h.query("A", 0, Read{Log: g, Flaw: TopicShort}).code(ResourceExhausted)
		}),
		innocent("section 14: a subject that wants a credential says so to everybody", func(h *story) {
			h.headers = []string{"authorization", "x-app-version", "x-libxmtp-version"}
			h.publish("A", group("one")).code(Unauthenticated)
			h.query("A", 0, all(g)).code(Unauthenticated)
			h.headers = nil
			h.query("A", 0, all(g)).code(Unauthenticated)
			h.query("A", 0, Read{Log: g, Flaw: TopicShort}).code(Unauthenticated)
		}),
		innocent("API-152: a subject implements none of the calls", func(h *story) {
			h.publish("A", group("one")).code(Unimplemented)
			h.publish("A", flawed(PayloadUnset)).code(Unimplemented)
			h.query("A", 0, all(g)).code(Unimplemented)
			h.query("A", 0, after(g, 1<<63)).code(Unimplemented)
			h.newest("A", true, all(g)).code(Unimplemented)
			h.other(RetiredGet).code(Unimplemented)
			h.other("/no.such.Service/Method").answers(Return{})
		}),
		innocent("API-081: the results of a newest read come in any order", func(h *story) {
			h.publish("A", group("one"), welcome("two"), entryOf("three")).answered()
			h.newest("A", true, all(g), all(w), all(commitLog("c"))).answered(func(r *Return) { slices.Reverse(r.Newest.Rows) })
		}),
		innocent("API-012: rows of several topics come in any order across topics", func(h *story) {
			h.publish("A", group("a"), welcome("a"), group("b"), welcome("b"), group("c")).answered()
			h.query("A", 0, all(g), all(w)).answered(func(r *Return) {
				slices.SortStableFunc(r.Query.Rows, func(a, b Row) int { return int(b.Meta.Topic[0]) - int(a.Meta.Topic[0]) })
			})
		}),
		innocent("API-076: a page is cut so that one topic has few rows or none", func(h *story) {
			h.publish("A", group("a"), group("b"), welcome("a"), welcome("b"), welcome("c")).answered()
			rows := func(log Log, n int) []Row { return slices.Clone(h.server.rows[topicOf(log)][:n]) }
			for _, cut := range [][2]int{{2, 1}, {1, 2}, {0, 3}} {
				h.query("A", 3, all(g), all(w)).answered(func(r *Return) { r.Query.Rows = append(rows(w, cut[1]), rows(g, cut[0])...) })
			}
		}),
		innocent("sections 5 to 7: requests without entries may be answered in any way", func(h *story) {
			for _, c := range []Code{OK, InvalidArgument, Internal} {
				h.publish("A").answers(Return{Code: c, Publish: &Published{}})
				h.query("A", 0).answers(Return{Code: c, Query: &Page{}})
				h.newest("A", true).answers(Return{Code: c, Newest: &Heads{}})
			}
		}),
		innocent("API-162: health is NOT_SERVING while nothing else answers", func(h *story) {
			h.ask(MethodHealth).answers(Return{Serving: notServing})
			h.query("A", 0, all(g)).code(Unavailable)
		}),
		innocent("API-162: another service name is not known to health", func(h *story) {
			h.invoke("A", &Call{Method: MethodHealth, Service: "no.such.Service"}).code(NotFound)
		}),
		innocent("API-042: sound identity updates and key packages are not judged yet", func(h *story) {
			k := Log{Kind: KeyPackage, Name: "k"}
			h.publish("A", on(k, "one"), group("beside")).answered()
			h.publish("A", on(Log{Kind: Identity, Name: "i"}, "one")).code(Unimplemented)
			h.newest("A", false, all(k)).answered()
			h.newest("A", true, all(k)).answered()
			h.query("A", 0, all(g)).answered()
		}),
		innocent("API-015: a cursor at the end of the range is above every head", func(h *story) {
			h.query("A", 0, after(g, math.MaxInt64), after(w, math.MaxInt64-1)).answered()
		}),
		innocent("API-077: a repeated topic with a lower cursor behind a higher one", func(h *story) {
			h.publish("A", many(4, group)...).answered()
			h.query("A", 2, after(g, h.at(g, 2)), all(g), after(g, math.MaxInt64)).answered()
		}),
	}
}

func TestLookAlikesAreNotCalledBreaches(t *testing.T) {
	for _, r := range innocents() {
		t.Run(r.name, func(t *testing.T) {
			h := tell(r.with...)
			r.tell(h)
			h.innocent(t)
		})
	}
}

// A history that somebody else wrote may have no terms: then the
// specification's own values hold.
func TestAHistoryWithoutTermsIsHeldToTheSpecificationsValues(t *testing.T) {
	h := tell()
	h.terms = nil
	h.publish("A", many(101, group)...).answered()
	h.query("A", 0, all(groupLog("g"))).answered()
	h.query("A", 5000, all(groupLog("g"))).answered()
	j := h.innocent(t)
	for _, a := range []string{"limit-defaults-and-clamps", "has-more-says-whether-more-matched", "expiry-is-time-plus-retention"} {
		if !slices.ContainsFunc(Assertions(), func(x model.Assertion) bool { return x.Name == a && proves(j, x) }) {
			t.Errorf("%s is not proved without terms", a)
		}
	}
}

func TestDoubtIsRecordedWhereAnAnswerSaysNothing(t *testing.T) {
	h := tell()
	h.publish("A", group("one")).code(Unavailable)
	h.publish("A", flawed(PayloadUnset)).code(DeadlineExceeded)
	h.query("A", 0, all(groupLog("g"))).code(ResourceExhausted)
	h.newest("A", false, all(groupLog("g"))).code(Unauthenticated)
	h.ask(MethodHealth).code(Unavailable)
	j := h.innocent(t)
	doubts := 0
	for _, v := range j.Judgements {
		if v.Doubt != "" {
			doubts++
		}
	}
	if doubts != 5 {
		t.Errorf("%d doubts for five calls that say nothing, want 5: %+v", doubts, j.Judgements)
	}
}
