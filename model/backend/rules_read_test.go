package backend

import "math"

// pageRulings are about the rows of a page (sections 3 and 6).
func pageRulings() []ruling {
	three := func(h *story) { h.publish("A", group("one"), group("two"), group("three")).answered() }
	return []ruling{
		holds(prefixHole, "API-011: a read is a prefix of its topic", func(h *story) {
			three(h)
			h.query("B", 2, all(groupLog("g"))).answered()
		}),
		breaks(prefixHole, "API-011: a read leaves out a row below one that it returns", func(h *story) {
			three(h)
			h.query("B", 0, all(groupLog("g"))).answered(without(1))
		}).and(queryUnion),
		holds(prefixLate, "API-011: what is published after a read stands above it", func(h *story) {
			three(h)
			h.query("B", 0, all(groupLog("g"))).answered()
			h.publish("A", group("four")).answered()
		}),
		breaks(prefixLate, "API-011: a publish gets an id below one that was read before it began", func(h *story) {
			three(h)
			h.query("B", 0, all(groupLog("g"))).answered()
			h.publish("A", group("four")).answered(meta(0, func(m *Meta) { m.Sequence = h.at(groupLog("g"), 0) + 1 }))
		}),
		breaks(prefixLate, "API-011: a concurrent publish commits below a row that a read returned", func(h *story) {
			slow := h.publish("A", group("slow"))
			h.publish("B", group("fast")).answered()
			h.query("C", 0, all(groupLog("g"))).answered()
			slow.answered(meta(0, func(m *Meta) { m.Sequence = h.at(groupLog("g"), 0) - 1 }))
		}),
		breaks(prefixLate, "API-011: a second read shows a row below what the first one returned", func(h *story) {
			slow := h.publish("A", group("slow"))
			h.publish("B", group("fast")).answered()
			h.query("C", 0, all(groupLog("g"))).answered()
			h.server.commit(slow.call.Publish.Envelopes)
			rows := h.server.rows[topicOf(groupLog("g"))]
			rows[1].Meta.Sequence = rows[0].Meta.Sequence - 1
			rows[0], rows[1] = rows[1], rows[0]
			h.query("C", 0, all(groupLog("g"))).answered()
			slow.lost()
		}),
		breaks(prefixLate, "API-011: a publish gets an id below a head that was read before it began", func(h *story) {
			three(h)
			h.newest("B", false, all(groupLog("g"))).answered()
			h.publish("A", group("four")).answered(meta(0, func(m *Meta) { m.Sequence = h.at(groupLog("g"), 0) + 1 }))
		}),
		holds(aboveHeadEmpty, "API-015: a cursor above the head is an empty page", func(h *story) {
			three(h)
			h.query("B", 0, all(groupLog("g"))).answered()
			h.query("B", 0, after(groupLog("g"), h.server.sequence+50)).answered()
		}),
		breaks(aboveHeadEmpty, "API-015: a cursor above the head is refused", func(h *story) {
			three(h)
			h.query("B", 0, after(groupLog("g"), h.server.sequence+50)).code(InvalidArgument)
		}),
		holds(ownWrite, "API-016: a query shows what a publish had returned", func(h *story) {
			three(h)
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(ownWrite, "API-016: a query does not show what a publish had returned", func(h *story) {
			three(h)
			stale := h.server.copied()
			h.publish("A", group("four")).answered()
			h.query("A", 0, all(groupLog("g"))).answeredBy(stale)
		}).and(queryUnion),
		holds(noFilter, "API-021: a row past its expiry is read", func(h *story) {
			h.publish("A", group("brief")).answered()
			h.server.clock += 10_000_000_000
			h.publish("A", welcome("later")).answered()
			h.query("A", 0, all(groupLog("g"))).answered()
		}, configured(retentionGroup, 2)),
		breaks(noFilter, "API-021: a row past its expiry is not read", func(h *story) {
			h.publish("A", group("brief")).answered()
			h.server.clock += 10_000_000_000
			h.publish("A", welcome("later")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(without(0))
		}, configured(retentionGroup, 2)),
		breaks(noFilter, "API-021: a row past its expiry is left out before one that never expires", func(h *story) {
			h.publish("A", group("brief"), formed(group("commit"), PrivateCommit)).answered()
			h.server.clock += 10_000_000_000
			h.publish("A", welcome("later")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(without(0))
		}, configured(retentionGroup, 2)),
		holds(payloadIntact, "API-023: a payload comes back as it was published", func(h *story) {
			three(h)
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(payloadIntact, "API-023: a payload comes back changed", func(h *story) {
			three(h)
			h.query("A", 0, all(groupLog("g"))).answered(row(1, func(r *Row) { r.Identity[0]++ }))
		}),
		breaks(payloadIntact, "API-023: two rows of different publishes swap their payloads", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", group("two")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) {
				rows := r.Query.Rows
				rows[0].Identity, rows[1].Identity = rows[1].Identity, rows[0].Identity
			})
		}),
		breaks(payloadIntact, "API-023: a row comes back without its envelope", func(h *story) {
			three(h)
			h.query("A", 0, all(groupLog("g"))).answered(row(0, func(r *Row) { r.HasEnvelope, r.Identity = false, Digest{} }))
		}),
		breaks(payloadIntact, "API-023: a page shows a payload that nobody published", func(h *story) {
			h.query("A", 0, all(groupLog("g"))).answers(Return{Query: &Page{Rows: []Row{{HasMeta: true, HasEnvelope: true, Identity: Digest{7},
				Meta: Meta{HasCursor: true, Sequence: 5, HasTopic: true, Topic: topicOf(groupLog("g"))}}}}})
		}),
		holds(logEntryReturned, "API-046: an entry comes back as it was published", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.query("A", 0, all(commitLog("c"))).answered()
		}),
		breaks(logEntryReturned, "API-046: an entry comes back changed, as without its signature", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.query("A", 0, all(commitLog("c"))).answered(row(0, func(r *Row) { r.Identity[0]++ }))
		}).and(payloadIntact),
		holds(logComplete, "API-066: a commit log is read whole and in order", func(h *story) {
			h.publish("A", entryOf("one"), entryOf("two")).answered()
			h.query("A", 0, all(commitLog("c"))).answered()
		}),
		breaks(logComplete, "API-066: a commit log loses an entry in its middle", func(h *story) {
			h.publish("A", entryOf("one"), entryOf("two"), entryOf("three")).answered()
			h.query("A", 0, all(commitLog("c"))).answered(without(1))
		}).and(prefixHole, queryUnion),
		breaks(logComplete, "API-066: a commit log loses its last entry", func(h *story) {
			h.publish("A", entryOf("one"), entryOf("two")).answered()
			h.query("A", 0, all(commitLog("c"))).answered(without(1))
		}).and(ownWrite, queryUnion),
		breaks(logComplete, "API-066: a commit log comes in descending order", func(h *story) {
			h.publish("A", entryOf("one"), entryOf("two")).answered()
			h.query("A", 0, all(commitLog("c"))).answered(func(r *Return) {
				rows := r.Query.Rows
				rows[0], rows[1] = rows[1], rows[0]
			})
		}).and(queryOrder),
		breaks(logComplete, "API-066: an entry appears below what a reader of the log had seen", func(h *story) {
			slow := h.publish("A", entryOf("slow"))
			h.publish("B", entryOf("fast")).answered()
			h.query("C", 0, all(commitLog("c"))).answered()
			slow.answered(meta(0, func(m *Meta) { m.Sequence = h.at(commitLog("c"), 0) - 1 }))
		}).and(prefixLate),
	}
}

// queryRulings are about queries as requests (sections 2, 6 and 11).
func queryRulings() []ruling {
	ten := func(h *story) { h.publish("A", many(10, group)...).answered() }
	control := func(h *story) {
		ten(h)
		h.query("A", 0, all(groupLog("g"))).answered()
	}
	reads := func(n int) []Read {
		out := make([]Read, n)
		for i := range out {
			out[i] = all(groupLog(string(rune('a' + i))))
		}
		out[0] = all(groupLog("g"))
		return out
	}
	same := func(n int) []Read {
		out := make([]Read, n)
		for i := range out {
			out[i] = all(groupLog("g"))
		}
		return out
	}
	return []ruling{
		holds(badTopicRefused, "API-003: a topic of an unknown kind is refused", func(h *story) {
			control(h)
			h.query("A", 0, Read{Log: groupLog("g"), Flaw: TopicUnknownKind}).answered()
		}),
		breaks(badTopicRefused, "API-003: a topic of an unknown kind is an empty page", func(h *story) {
			h.query("A", 0, Read{Log: groupLog("g"), Flaw: TopicUnknownKind}).answers(Return{Query: &Page{}})
		}),
		breaks(badTopicRefused, "API-003: an absent topic is answered NOT_FOUND by a newest read", func(h *story) {
			h.newest("A", false, Read{Log: groupLog("g"), Flaw: TopicAbsent}).code(NotFound)
		}),
		holds(cursorRange, "API-004: a cursor of 2^63 is refused", func(h *story) {
			control(h)
			h.query("A", 0, after(groupLog("g"), 1<<63)).answered()
		}),
		breaks(cursorRange, "API-004: a cursor of 2^63 is an empty page", func(h *story) {
			h.query("A", 0, after(groupLog("g"), 1<<63)).answers(Return{Query: &Page{}})
		}),
		holds(cursorAccepted, "API-004: a cursor of INT64_MAX is accepted", func(h *story) {
			control(h)
			h.query("A", 0, after(groupLog("g"), math.MaxInt64)).answered()
		}),
		breaks(cursorAccepted, "API-004: a cursor of INT64_MAX is refused on a topic of which nothing is known", func(h *story) {
			h.query("A", 0, after(groupLog("g"), math.MaxInt64)).code(InvalidArgument)
		}),
		breaks(cursorAccepted, "API-004: a cursor of INT64_MAX is refused", func(h *story) {
			control(h)
			h.query("A", 0, after(groupLog("g"), math.MaxInt64)).code(InvalidArgument)
		}).and(aboveHeadEmpty),
		holds(cursorAbsent, "API-004: an absent cursor means the beginning", control),
		breaks(cursorAbsent, "API-004: an absent cursor is refused where a cursor of 0 is not", func(h *story) {
			ten(h)
			h.query("A", 0, after(groupLog("g"), 0)).answered()
			h.query("A", 0, all(groupLog("g"))).code(InvalidArgument)
		}),
		holds(queryCount, "API-070: a query of a topic too many is refused", func(h *story) {
			control(h)
			h.query("A", 0, reads(8)...).answered()
		}, limit(limitQueryTopics, 7)),
		breaks(queryCount, "API-070: a query of 1001 topics is answered", func(h *story) {
			many := make([]Read, 1001)
			for i := range many {
				many[i] = all(welcomeLog(string(rune(i + 1000))))
			}
			h.query("A", 0, many...).answers(Return{Query: &Page{}})
		}),
		holds(queryCountOK, "API-070: a query of as many topics as allowed is answered", func(h *story) {
			ten(h)
			h.query("A", 0, reads(7)...).answered()
		}, limit(limitQueryTopics, 7)),
		breaks(queryCountOK, "API-070: a query of as many topics as allowed is refused", func(h *story) {
			h.query("A", 0, reads(7)...).code(InvalidArgument)
		}, limit(limitQueryTopics, 7)),
		holds(limitRule, "API-071: a limit above the maximum is clamped to it", func(h *story) {
			ten(h)
			h.query("A", 5000, all(groupLog("g"))).answered()
		}, limit(limitQueryMost, 9), limit(limitQueryDefault, 4)),
		holds(limitRule, "API-071: a query without a limit gets the default", func(h *story) {
			ten(h)
			h.query("A", 0, all(groupLog("g"))).answered()
		}, limit(limitQueryDefault, 4)),
		breaks(limitRule, "API-071: a query without a limit gets everything", func(h *story) {
			h.publish("A", many(101, group)...).answered()
			h.server.limits.Limits[limitQueryDefault] = 1000
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(limitRule, "API-071: a query without a limit gets 50 rows", func(h *story) {
			h.publish("A", many(101, group)...).answered()
			h.server.limits.Limits[limitQueryDefault] = 50
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(limitRule, "API-071: a page has a row more than the limit", func(h *story) {
			ten(h)
			h.query("A", 4, all(groupLog("g"))).answered(func(r *Return) { r.Query.Rows = append(r.Query.Rows, h.server.rows[topicOf(groupLog("g"))][4]) })
		}),
		breaks(limitRule, "API-071: a limit above the maximum is refused", func(h *story) {
			ten(h)
			h.query("A", 5000, all(groupLog("g"))).code(InvalidArgument)
		}),
		holds(queryUnion, "API-072: a page has what is above its cursors", func(h *story) {
			control(h)
			h.query("A", 0, after(groupLog("g"), h.at(groupLog("g"), 3))).answered()
		}),
		breaks(queryUnion, "API-072: a page begins with the row at its cursor", func(h *story) {
			ten(h)
			h.query("A", 0, after(groupLog("g"), h.at(groupLog("g"), 3))).answered(func(r *Return) {
				r.Query.Rows = append(h.server.rows[topicOf(groupLog("g"))][3:4:4], r.Query.Rows...)
			})
		}),
		breaks(queryUnion, "API-072: a page has a row of a topic that nobody asked for", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) { r.Query.Rows = append(r.Query.Rows, h.server.rows[topicOf(welcomeLog("w"))]...) })
		}),
		breaks(queryUnion, "API-072: a page holds a row twice", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) { r.Query.Rows = append(r.Query.Rows, r.Query.Rows[0]) })
		}),
		breaks(queryUnion, "API-072: a page that is cut has fewer rows than its limit", func(h *story) {
			ten(h)
			h.query("A", 4, all(groupLog("g"))).answered(without(3))
		}),
		breaks(queryUnion, "API-072: a sound query is refused", func(h *story) {
			ten(h)
			h.query("A", 0, after(groupLog("g"), 1)).code(InvalidArgument)
		}),
		holds(queryOrder, "API-072: rows ascend within their topic", func(h *story) {
			h.publish("A", group("one"), welcome("two"), group("three"), welcome("four")).answered()
			h.query("A", 0, all(welcomeLog("w")), all(groupLog("g"))).answered()
		}),
		breaks(queryOrder, "API-072: rows descend within their topic", func(h *story) {
			h.publish("A", group("one"), group("two")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) {
				rows := r.Query.Rows
				rows[0], rows[1] = rows[1], rows[0]
			})
		}),
		holds(hasMore, "API-073: has_more tells a cut page from a whole one", func(h *story) {
			ten(h)
			h.query("A", 9, all(groupLog("g"))).answered()
			h.query("A", 10, all(groupLog("g"))).answered()
		}),
		breaks(hasMore, "API-073: has_more is false on a page that is cut", func(h *story) {
			ten(h)
			h.query("A", 9, all(groupLog("g"))).answered(more(false))
		}),
		breaks(hasMore, "API-073: has_more is true when exactly the limit matched", func(h *story) {
			ten(h)
			h.query("A", 10, all(groupLog("g"))).answered(more(true))
		}),
		breaks(hasMore, "API-073: has_more is true on a page below its limit, while somebody writes", func(h *story) {
			ten(h)
			open := h.publish("B", group("open"))
			h.query("A", 100, all(groupLog("g"))).answered(more(true))
			open.answered()
		}),
		holds(keyPackageRead, "API-075: a query of key packages is refused", func(h *story) {
			control(h)
			h.query("A", 0, all(Log{Kind: KeyPackage, Name: "k"})).answered()
		}),
		breaks(keyPackageRead, "API-075: a query of key packages is answered", func(h *story) {
			h.query("A", 0, all(Log{Kind: KeyPackage, Name: "k"})).answers(Return{Query: &Page{}})
		}),
		breaks(keyPackageRead, "API-075: a query of key packages is UNIMPLEMENTED where others are not", func(h *story) {
			control(h)
			h.query("A", 0, all(Log{Kind: KeyPackage, Name: "k"})).code(Unimplemented)
		}),
		holds(limitTotal, "API-076: the limit bounds the page and not each topic", func(h *story) {
			h.publish("A", group("a"), group("b"), group("c"), welcome("a"), welcome("b"), welcome("c")).answered()
			h.query("A", 4, all(groupLog("g")), all(welcomeLog("w"))).answered()
		}),
		breaks(limitTotal, "API-076: each topic has as many rows as the limit says", func(h *story) {
			h.publish("A", group("a"), group("b"), group("c"), welcome("a"), welcome("b"), welcome("c")).answered()
			h.query("A", 3, all(groupLog("g")), all(welcomeLog("w"))).answered(func(r *Return) {
				r.Query.Rows = append(r.Query.Rows, h.server.rows[topicOf(welcomeLog("w"))]...)
				r.Query.HasMore = false
			})
		}),
		holds(coalesced, "API-077: a repeated topic starts at its lowest cursor", func(h *story) {
			ten(h)
			h.query("A", 0, after(groupLog("g"), h.at(groupLog("g"), 5)), after(groupLog("g"), h.at(groupLog("g"), 2))).answered()
		}),
		breaks(coalesced, "API-077: a repeated topic starts at its highest cursor", func(h *story) {
			ten(h)
			low, high := h.at(groupLog("g"), 2), h.at(groupLog("g"), 5)
			h.query("A", 0, after(groupLog("g"), high), after(groupLog("g"), low)).answered(func(r *Return) { r.Query.Rows = r.Query.Rows[3:] })
		}),
		breaks(coalesced, "API-077: a repeated topic starts at its last cursor, which is the head", func(h *story) {
			ten(h)
			h.query("A", 0, all(groupLog("g")), after(groupLog("g"), h.at(groupLog("g"), 9))).answered(func(r *Return) { r.Query.Rows = nil })
		}),
		breaks(coalesced, "API-077: a repeated topic returns its rows twice", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, same(2)...).answered(func(r *Return) { r.Query.Rows = append(r.Query.Rows, r.Query.Rows[0]) })
		}),
		breaks(coalesced, "API-077: a repeated topic is refused", func(h *story) {
			ten(h)
			h.query("A", 0, same(2)...).code(InvalidArgument)
		}),
		holds(countedFirst, "API-077: a topic repeated too often is refused for the count", func(h *story) {
			control(h)
			h.query("A", 0, same(8)...).answered()
		}, limit(limitQueryTopics, 7)),
		breaks(countedFirst, "API-077: 1001 entries of one topic are counted as one", func(h *story) {
			ten(h)
			h.query("A", 0, same(1001)...).answers(Return{Query: &Page{}})
		}).and(queryCount),
		holds(checkedFirst, "API-077: a cursor out of range is refused behind a lower one", func(h *story) {
			control(h)
			h.query("A", 0, all(groupLog("g")), after(groupLog("g"), 1<<63)).answered()
		}),
		breaks(checkedFirst, "API-077: a cursor out of range disappears behind a lower one", func(h *story) {
			ten(h)
			h.query("A", 0, all(groupLog("g")), after(groupLog("g"), 1<<63)).answers(Return{Query: &Page{}})
		}).and(cursorRange),
		holds(nothingOmitted, "API-134: a page above the response limit is refused whole", func(h *story) {
			h.publish("A", many(5, func(c string) Envelope { return sized(group(c), 30_000) })...).answered()
			h.query("A", 1, all(groupLog("g"))).answered()
			h.query("A", 0, all(groupLog("g"))).code(OutOfRange)
		}, limit(limitResponseBytes, 100_000)),
		breaks(nothingOmitted, "API-134: a page leaves out rows to fit the response limit", func(h *story) {
			h.publish("A", many(5, func(c string) Envelope { return sized(group(c), 30_000) })...).answered()
			h.server.limits.Limits[limitResponseBytes] = byteCeiling
			h.query("A", 0, all(groupLog("g"))).answered(without(4), without(3), more(true))
		}, limit(limitResponseBytes, 100_000)),
		breaks(nothingOmitted, "API-134: a page above the response limit is sent", func(h *story) {
			h.publish("A", many(5, func(c string) Envelope { return sized(group(c), 30_000) })...).answered()
			h.server.limits.Limits[limitResponseBytes] = byteCeiling
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) { r.WireLen = 150_000 })
		}, limit(limitResponseBytes, 100_000)),
		breaks(nothingOmitted, "API-134: a publish response above the response limit is sent", func(h *story) {
			h.publish("A", group("one")).answered(func(r *Return) { r.WireLen = 26_214_401 })
		}),
		breaks(nothingOmitted, "API-134: a response far above the response limit is sent, longer than the client reads", func(h *story) {
			h.query("A", 0, all(groupLog("g"))).answers(Return{Code: Unknown, Garbled: "a message of 99999999 bytes", WireLen: 99_999_999})
		}),
	}
}
