package backend

// metadataRulings are about what every metadata entry holds (sections 2 to 4).
func metadataRulings() []ruling {
	return []ruling{
		holds(topicFromPayload, "API-001: a publish is answered with the topic inside its payload", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered()
		}),
		breaks(topicFromPayload, "API-001: a publish is answered with the topic of another group", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Topic = topicOf(groupLog("other")) }))
		}),
		breaks(topicFromPayload, "API-001: a publish is answered without a topic", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Topic, m.HasTopic = "", false }))
		}),
		breaks(topicFromPayload, "API-001: a row comes back with another topic than the one it was published on", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.Topic = topicOf(groupLog("other")) }))
		}),
		holds(topicForm, "API-002: a topic is a kind byte and an identifier of its length", func(h *story) {
			h.publish("A", entryOf("one")).answered()
		}),
		breaks(topicForm, "API-002: a commit-log entry is answered with the topic of a group message", func(h *story) {
			h.publish("A", entryOf("one")).answered(meta(0, func(m *Meta) { m.Topic = "\x00" + m.Topic[1:] }))
		}),
		breaks(topicForm, "API-002: a topic has one identifier byte too many", func(h *story) {
			h.publish("A", welcome("one")).answered(meta(0, func(m *Meta) { m.Topic += "x" }))
		}),
		breaks(topicForm, "API-002: a commit-log entry is read on the topic of a group", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.query("A", 0, all(groupLog("c"))).answers(Return{Query: &Page{Rows: []Row{h.server.rows[topicOf(commitLog("c"))][0]}}}).
				story.moved(topicOf(groupLog("c")))
		}),
		holds(uniqueID, "API-010: two topics have ids of their own", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered()
		}),
		breaks(uniqueID, "API-010: a welcome gets the id that a group message has", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", welcome("two")).answered(meta(0, func(m *Meta) { m.Sequence = h.at(groupLog("g"), 0) }))
		}),
		breaks(uniqueID, "API-010: an id of 0 is given out", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Sequence = 0 }))
		}),
		breaks(uniqueID, "API-010: an id above INT64_MAX is given out", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Sequence = 1 << 63 }))
		}),
		breaks(uniqueID, "API-010: a row comes back without an id", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.HasCursor, r.Meta.Sequence = false, 0 }))
		}),
		breaks(uniqueID, "API-010: a newest read answers with the id of an envelope on another topic", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered()
			h.newest("A", false, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.Sequence = h.at(welcomeLog("w"), 0) }))
		}),
		holds(hashLength, "API-020: a hash has 32 bytes", func(h *story) { h.publish("A", group("one")).answered() }),
		breaks(hashLength, "API-020: a hash has 20 bytes", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Hash = m.Hash[:20] }))
		}),
		holds(hashOfValue, "API-020: two values have two hashes", func(h *story) { h.publish("A", group("one"), group("two")).answered() }),
		breaks(hashOfValue, "API-020: two envelopes of different topics share a hash", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered(func(r *Return) { r.Publish.Metas[1].Hash = r.Publish.Metas[0].Hash })
		}),
		breaks(hashOfValue, "API-020: a row comes back with another hash than it was published with", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.Hash = "x" + r.Meta.Hash[1:] }))
		}),
		holds(sameValue, "API-020: another protobuf encoding of a stored envelope is that envelope", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", encoded(group("one"), Reordered)).answered()
		}),
		breaks(sameValue, "API-020: another protobuf encoding is stored as a new envelope", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", encoded(group("one"), Reordered)).answered(meta(0, func(m *Meta) { m.Sequence++; m.Hash = "x" + m.Hash[1:] }))
		}),
		breaks(sameValue, "API-020: two encodings of one envelope in one request are two rows", func(h *story) {
			h.publish("A", group("one"), encoded(group("one"), Padded)).answered(meta(1, func(m *Meta) { m.Sequence++; m.Hash = "x" + m.Hash[1:] }))
		}),
		breaks(sameValue, "API-020: an envelope in an unusual encoding is refused", func(h *story) {
			h.publish("A", encoded(group("one"), Explicit)).answers(invalid(0, ReasonMalformedPayload))
		}),
		breaks(sameValue, "API-020: a read shows both encodings of an envelope", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", encoded(group("one"), Reordered)).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) {
				twice := r.Query.Rows[0]
				twice.Meta.Sequence++
				twice.Meta.Hash = "x" + twice.Meta.Hash[1:]
				r.Query.Rows = append(r.Query.Rows, twice)
			})
		}),
		breaks(hashOfValue, "API-020: two envelopes that differ are taken for one", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", group("two")).answered(func(r *Return) { r.Publish.Metas[0] = h.server.rows[topicOf(groupLog("g"))][0].Meta })
			h.query("A", 0, all(groupLog("g"))).answered(without(1))
		}),
		holds(expiry, "API-021: a welcome expires after the published retention", func(h *story) { h.publish("A", welcome("one")).answered() }),
		holds(expiry, "API-021: a group message expires after the retention that was configured", func(h *story) {
			h.publish("A", group("one")).answered()
		}, configured(retentionGroup, 5)),
		breaks(expiry, "API-021: a group message expires a day early", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.ExpiryNS -= 86_400_000_000_000 }))
		}),
		breaks(expiry, "API-021: a commit expires", func(h *story) {
			h.publish("A", formed(group("one"), PrivateCommit)).answered(meta(0, func(m *Meta) { m.ExpiryNS = m.ServerNS + 1 }))
		}),
		breaks(expiry, "API-021: a commit-log entry expires", func(h *story) {
			h.publish("A", entryOf("one")).answered(meta(0, func(m *Meta) { m.ExpiryNS = m.ServerNS + 7_776_000_000_000_000 }))
		}),
		breaks(expiry, "API-021: a welcome never expires", func(h *story) {
			h.publish("A", welcome("one")).answered(meta(0, func(m *Meta) { m.ExpiryNS = 0 }))
		}),
		breaks(expiry, "API-021: a row comes back with another expiry", func(h *story) {
			h.publish("A", welcome("one")).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered(row(0, func(r *Row) { r.Meta.ExpiryNS++ }))
		}),
		holds(groupFlag, "API-041: a public commit is flagged", func(h *story) {
			h.publish("A", formed(group("one"), PublicCommit)).answered()
		}),
		breaks(groupFlag, "API-041: a private proposal is not flagged", func(h *story) {
			h.publish("A", formed(group("one"), PrivateProposal)).answered(meta(0, func(m *Meta) { m.CommitOrProposal = false }))
		}),
		breaks(groupFlag, "API-041: a welcome is flagged", func(h *story) {
			h.publish("A", welcome("one")).answered(meta(0, func(m *Meta) { m.CommitOrProposal = true }))
		}),
		holds(logPosition, "API-065: a commit-log entry is read at the id its publish returned", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.query("A", 0, all(commitLog("c"))).answered()
		}),
		breaks(logPosition, "API-065: a publish returns the count of entries instead of the id", func(h *story) {
			h.publish("A", entryOf("one")).answered(meta(0, func(m *Meta) { m.Sequence = 1 }))
			h.query("A", 0, all(commitLog("c"))).answered()
		}),
	}
}

// publishRulings are about what a publish stores and answers (sections 3 and 5.1).
func publishRulings() []ruling {
	return []ruling{
		holds(metaPerEntry, "API-032: three envelopes have three metadata entries", func(h *story) {
			h.publish("A", group("one"), welcome("two"), entryOf("three")).answered()
		}),
		breaks(metaPerEntry, "API-032: a metadata entry is missing", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered(func(r *Return) { r.Publish.Metas = r.Publish.Metas[:1] })
		}),
		breaks(metaPerEntry, "API-032: metadata of two topics stands in reverse order", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered(func(r *Return) {
				m := r.Publish.Metas
				m[0], m[1] = m[1], m[0]
			})
		}),
		breaks(metaPerEntry, "API-032: metadata of one topic stands in reverse order, as a read shows", func(h *story) {
			h.publish("A", group("one"), group("two")).answered(func(r *Return) {
				m := r.Publish.Metas
				m[0], m[1] = m[1], m[0]
			})
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(metaPerEntry, "API-032: metadata has no server time", func(h *story) {
			h.publish("A", entryOf("one")).answered(meta(0, func(m *Meta) { m.ServerNS = 0 }))
		}),
		breaks(metaPerEntry, "API-032: a success does not decode", func(h *story) {
			h.publish("A", group("one")).answers(Return{Code: OK, Garbled: "status OK without a response message"})
		}),
		holds(metaAgrees, "API-032: a read repeats the published metadata", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(metaAgrees, "API-032: a read shows another server time", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.ServerNS++ }))
		}),
		breaks(metaAgrees, "API-032: a publish answers with an id that its row does not have", func(h *story) {
			h.publish("A", group("one")).answered(meta(0, func(m *Meta) { m.Sequence += 1000 }))
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		holds(atomicRefusal, "API-030: nothing of a refused publish is read", func(h *story) {
			h.publish("A", group("before")).answered()
			h.publish("A", group("lost"), flawed(PayloadUnset)).answered()
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(atomicRefusal, "API-030: the sound half of a refused publish is stored", func(h *story) {
			u := h.publish("A", group("half"), flawed(PayloadUnset)).answered()
			h.server.commit(u.call.Publish.Envelopes[:1])
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(atomicRefusal, "API-030: the sound half of a flawed publish is stored although its answer is lost", func(h *story) {
			u := h.publish("A", group("half"), flawed(PayloadUnset)).lost()
			h.server.commit(u.call.Publish.Envelopes[:1])
			h.newest("A", true, all(groupLog("g"))).answered()
		}),
		holds(landsWhole, "API-030: a publish whose answer was lost is read whole", func(h *story) {
			h.publish("A", group("one"), welcome("two")).lands().lost()
			h.query("A", 0, all(groupLog("g"))).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		breaks(landsWhole, "API-030: half of a publish whose answer was lost is stored", func(h *story) {
			u := h.publish("A", group("one"), welcome("two")).lost()
			h.server.commit(u.call.Publish.Envelopes[:1])
			h.query("A", 0, all(groupLog("g"))).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		holds(oneServerTime, "API-030: the new rows of one publish have one server time", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answered()
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(oneServerTime, "API-030: each row of a publish has a time of its own", func(h *story) {
			h.publish("A", entryOf("one"), entryOf("two")).answered(meta(1, func(m *Meta) { m.ServerNS++ }))
		}),
		holds(duplicateMeta, "API-033: a duplicate is answered with the stored metadata", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("B", group("one")).answered()
		}),
		breaks(duplicateMeta, "API-033: a duplicate is answered with the time of the second publish", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("B", group("one")).answered(meta(0, func(m *Meta) { m.ServerNS++ }))
		}),
		breaks(duplicateMeta, "API-033: a duplicate gets an id of its own", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.publish("B", entryOf("one")).answered(meta(0, func(m *Meta) { m.Sequence++ }))
		}),
		breaks(duplicateMeta, "API-033: a duplicate in another encoding has the hash of the stored envelope and an id of its own", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("A", encoded(group("one"), Reordered)).answered(meta(0, func(m *Meta) { m.Sequence++ }))
		}),
		breaks(duplicateMeta, "API-033: a duplicate is refused as existing already", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("B", group("one")).code(6)
		}),
		holds(storedOnce, "API-033: what was published twice is read once", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("B", group("one")).answered()
			h.query("B", 0, all(groupLog("g"))).answered()
		}),
		breaks(storedOnce, "API-033: what was published twice is read twice", func(h *story) {
			h.publish("A", group("one")).answered()
			h.publish("B", group("one")).answered()
			h.query("B", 0, all(groupLog("g"))).answered(func(r *Return) {
				twice := r.Query.Rows[0]
				twice.Meta.Sequence++
				r.Query.Rows = append(r.Query.Rows, twice)
			})
		}),
		holds(collapsed, "API-034: equal envelopes of one request share their metadata", func(h *story) {
			h.publish("A", group("one"), group("two"), group("one")).answered()
		}),
		breaks(collapsed, "API-034: equal envelopes of one request get two ids", func(h *story) {
			h.publish("A", group("one"), group("one")).answered(meta(1, func(m *Meta) { m.Sequence++ }))
		}),
		breaks(collapsed, "API-034: equal envelopes of one request have one metadata entry", func(h *story) {
			h.publish("A", group("one"), group("one")).answered(func(r *Return) { r.Publish.Metas = r.Publish.Metas[:1] })
		}).and(metaPerEntry),
		breaks(collapsed, "API-034: equal envelopes of one request are read as two rows", func(h *story) {
			h.publish("A", group("one"), group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered(func(r *Return) {
				twice := r.Query.Rows[0]
				twice.Meta.Sequence++
				r.Query.Rows = append(r.Query.Rows, twice)
			})
		}),
		breaks(collapsed, "API-034: a request with equal envelopes is refused", func(h *story) {
			h.publish("A", group("one"), group("one")).code(Internal)
		}),
		holds(copySucceeds, "API-036: two concurrent copies both succeed with one metadata", func(h *story) {
			a, b := h.publish("A", group("one")), h.publish("B", group("one"))
			a.answered()
			b.answered()
		}),
		breaks(copySucceeds, "API-036: of two concurrent copies one fails", func(h *story) {
			a, b := h.publish("A", group("one")), h.publish("B", group("one"))
			a.answered()
			b.code(Internal)
		}),
		holds(retryWorks, "API-037: a retry after a lost answer succeeds and is read once", func(h *story) {
			h.publish("A", welcome("one")).lands().lost()
			h.publish("A", welcome("one")).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		holds(retryWorks, "API-037: a retry of a publish that never landed succeeds and is read once", func(h *story) {
			h.publish("A", welcome("one")).lost()
			h.publish("A", welcome("one")).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		breaks(retryWorks, "API-037: a retry after a lost answer is refused", func(h *story) {
			h.publish("A", welcome("one")).lands().lost()
			h.publish("A", welcome("one")).code(6)
		}),
		breaks(retryWorks, "API-037: a retry after a lost answer stores the row again", func(h *story) {
			h.publish("A", welcome("one")).lands().lost()
			h.publish("A", welcome("one")).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered(func(r *Return) {
				twice := r.Query.Rows[0]
				twice.Meta.Sequence++
				r.Query.Rows = append(r.Query.Rows, twice)
			})
		}).and(storedOnce),
		holds(groupAccepted, "API-041: a group message is stored", func(h *story) {
			h.publish("A", group("one")).answered()
			h.query("A", 0, all(groupLog("g"))).answered()
		}),
		breaks(groupAccepted, "API-041: a sound group message is refused", func(h *story) {
			h.publish("A", group("one")).answers(invalid(0, ReasonMalformedPayload))
		}),
		holds(welcomeAccepted, "API-045: a welcome for a stranger is stored", func(h *story) {
			h.publish("A", formed(welcome("one"), Pointer)).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		breaks(welcomeAccepted, "API-045: a welcome for a stranger is refused", func(h *story) {
			h.publish("A", group("one"), welcome("two")).answers(invalid(1, ReasonInvalidKeyPackage))
		}),
		holds(logEntryAccepted, "API-046: a commit-log entry is stored", func(h *story) {
			h.publish("A", entryOf("one")).answered()
			h.query("A", 0, all(commitLog("c"))).answered()
		}),
		breaks(logEntryAccepted, "API-046: a commit-log entry is refused for its signature", func(h *story) {
			h.publish("A", entryOf("one")).answers(invalid(0, ReasonInvalidSignature))
		}),
	}
}

// refusalRulings are about requests with something wrong (sections 5.2 and 11).
func refusalRulings() []ruling {
	// A refusal counts beside a publish that worked.
	control := func(h *story) { h.publish("A", welcome("control")).answered() }
	refused := func(f Flaw) func(h *story) {
		return func(h *story) {
			control(h)
			h.publish("A", flawed(f)).answered()
		}
	}
	accepted := func(f Flaw) func(h *story) {
		return func(h *story) {
			h.publish("A", flawed(f)).answers(Return{Publish: &Published{Metas: make([]Meta, 1)}})
		}
	}
	fourTopics := func(content string) []Envelope {
		return []Envelope{on(welcomeLog("a"), content), on(welcomeLog("b"), content), on(welcomeLog("c"), content), on(welcomeLog("d"), content)}
	}
	large := func(n int) []Envelope {
		return many(n, func(c string) Envelope { return sized(welcome(c), 1_000_000) })
	}
	return []ruling{
		holds(idLengthRefused, "API-002: a group id of 17 bytes is refused", refused(GroupID17)),
		breaks(idLengthRefused, "API-002: a group id of 15 bytes is stored", accepted(GroupID15)),
		holds(malformedRefused, "API-040: an unset payload is refused", refused(PayloadUnset)),
		breaks(malformedRefused, "API-040: an unset payload is stored", accepted(PayloadUnset)),
		breaks(groupRefused, "API-041: a group message cut short is stored and read", func(h *story) {
			u := h.publish("A", flawed(GroupCutLastByte))
			bad := u.call.Publish.Envelopes[0]
			bad.Artefact.Topic = topicOf(groupLog("x"))
			u.answers(Return{Publish: &Published{Metas: h.server.commit([]Sent{bad})}})
			h.query("A", 0, all(groupLog("x"))).answered()
		}),
		breaks(atomicRefusal, "API-030: a malformed envelope is refused and read all the same", func(h *story) {
			u := h.publish("A", flawed(GroupCutLastByte)).answered()
			bad := u.call.Publish.Envelopes[0]
			bad.Artefact.Topic = topicOf(groupLog("x"))
			h.server.commit([]Sent{bad})
			h.query("A", 0, all(groupLog("x"))).answered()
		}),
		breaks(malformedRefused, "API-040: unset payloads are answered UNAVAILABLE time and again, among requests that work", func(h *story) {
			control(h)
			h.publish("A", flawed(PayloadUnset)).code(Unavailable)
			control(h)
			h.publish("A", flawed(PayloadUnset)).code(Unavailable)
		}),
		breaks(malformedRefused, "API-040: an unset payload is answered INTERNAL", func(h *story) { h.publish("A", flawed(PayloadUnset)).code(Internal) }),
		breaks(malformedRefused, "API-040: an unset payload is answered RESOURCE_EXHAUSTED, which nothing else is", func(h *story) {
			control(h)
			h.publish("A", flawed(PayloadUnset)).code(ResourceExhausted)
		}),
		breaks(malformedRefused, "API-040: an unset payload is answered UNIMPLEMENTED by a subject that publishes", func(h *story) {
			control(h)
			h.publish("A", flawed(WelcomeVersionUnset)).code(Unimplemented)
		}),
		holds(malformedReason, "API-040: what does not parse is MALFORMED_PAYLOAD", refused(PayloadUnset)),
		breaks(malformedReason, "API-040: what does not parse has the reason of a key package", func(h *story) {
			h.publish("A", flawed(PayloadUnset)).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		breaks(malformedReason, "API-040: what does not parse has no reason", func(h *story) {
			h.publish("A", flawed(PayloadUnset)).answers(invalid(0, ReasonUnspecified))
		}).and(errorDetail),
		holds(groupRefused, "API-041: a group message that is no MLS message is refused", refused(GroupCutLastByte)),
		breaks(groupRefused, "API-041: a group message cut short is stored", accepted(GroupCutLastByte)),
		holds(logEntryRefused, "API-046: a commit-log entry that is no protobuf is refused", refused(CommitLogGarbage)),
		breaks(logEntryRefused, "API-046: a commit-log entry without a group is stored", accepted(CommitLogNoGroup)),
		holds(errorDetail, "API-047: a refusal names the first failing envelope", func(h *story) {
			control(h)
			h.publish("A", welcome("a"), flawed(PayloadUnset), flawed(WelcomeVersionUnset)).answered()
		}),
		breaks(errorDetail, "API-047: a refusal names the last failing envelope", func(h *story) {
			h.publish("A", welcome("a"), flawed(PayloadUnset), flawed(WelcomeVersionUnset)).answers(invalid(2, ReasonMalformedPayload))
		}),
		breaks(errorDetail, "API-047: a refusal carries no detail", func(h *story) {
			h.publish("A", flawed(PayloadUnset)).code(InvalidArgument)
		}),
		breaks(errorDetail, "API-047: a refusal of one envelope carries no index", func(h *story) {
			h.publish("A", flawed(PayloadUnset)).answers(invalid(-1, ReasonMalformedPayload))
		}),
		breaks(errorDetail, "API-047: a refusal of the whole request carries an index", func(h *story) {
			h.publish("A", fourTopics("x")...).answers(invalid(3, ReasonTooLarge))
		}, limit(limitPublishTopics, 3)),
		breaks(errorDetail, "API-047: an identifier of a wrong length is refused without a reason", func(h *story) {
			h.publish("A", flawed(GroupID15)).answers(invalid(0, ReasonUnspecified))
		}),
		holds(originalIndex, "API-036: an index counts the equal envelopes before it", func(h *story) {
			control(h)
			h.publish("A", welcome("x"), welcome("x"), welcome("x"), flawed(PayloadUnset)).answered()
		}),
		breaks(originalIndex, "API-036: an index leaves out the equal envelopes before it", func(h *story) {
			h.publish("A", welcome("x"), welcome("x"), welcome("x"), flawed(PayloadUnset)).answers(invalid(1, ReasonMalformedPayload))
		}),
		holds(publishLimit, "API-031: an envelope of a byte too many is refused", func(h *story) {
			control(h)
			h.publish("A", sized(welcome("long"), 1<<20+1)).answered()
		}),
		breaks(publishLimit, "API-031: an envelope of a byte too many is stored", func(h *story) {
			h.publish("A", sized(welcome("long"), 1<<20+1)).answers(Return{Publish: &Published{}})
		}),
		breaks(publishLimit, "API-031: 1001 topics are accepted", func(h *story) {
			h.publish("A", many(1001, func(c string) Envelope { return on(welcomeLog(c), "x") })...).answers(Return{Publish: &Published{}})
		}),
		holds(publishInLimit, "API-031: an envelope at the limit is stored", func(h *story) {
			h.publish("A", sized(welcome("long"), 1<<20)).answered()
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}),
		breaks(publishInLimit, "API-031: an envelope at the limit is refused", func(h *story) {
			h.publish("A", sized(welcome("long"), 1<<20)).answers(invalid(0, ReasonTooLarge))
		}),
		breaks(publishInLimit, "API-031: a request of ten megabytes is refused for its size", func(h *story) {
			h.publish("A", large(10)...).code(OutOfRange)
		}),
		breaks(publishInLimit, "API-031: long requests and no others are answered RESOURCE_EXHAUSTED", func(h *story) {
			control(h)
			h.publish("A", large(10)...).code(ResourceExhausted)
		}),
		holds(sizeCode, "API-130: a request above 25 MiB is answered OUT_OF_RANGE", func(h *story) {
			control(h)
			h.publish("A", large(27)...).answered()
		}),
		breaks(sizeCode, "API-130: a request above 25 MiB is answered RESOURCE_EXHAUSTED", func(h *story) {
			control(h)
			h.publish("A", large(27)...).code(ResourceExhausted)
		}),
		breaks(sizeCode, "API-130: a page above 25 MiB is answered INTERNAL", func(h *story) {
			h.publish("A", large(20)...).answered()
			h.publish("A", many(20, func(c string) Envelope { return sized(welcome("more "+c), 1_000_000) })...).answered()
			h.query("A", 0, all(welcomeLog("w"))).code(Internal)
		}),
		holds(limitEnforced, "API-131: a configured limit is enforced", func(h *story) {
			control(h)
			h.publish("A", fourTopics("x")...).answered()
		}, configured(limitPublishTopics, 3)),
		breaks(limitEnforced, "API-131: a configured limit on topics is passed", func(h *story) {
			h.publish("A", fourTopics("x")...).answers(Return{Publish: &Published{}})
		}, configured(limitPublishTopics, 3)),
		breaks(limitEnforced, "API-131: a configured page size is passed", func(h *story) {
			h.publish("A", many(12, welcome)...).answered()
			h.server.limits.Limits[limitQueryMost] = 1000
			h.query("A", 1000, all(welcomeLog("w"))).answered()
		}, configured(limitQueryMost, 9), configured(limitQueryDefault, 5)),
		breaks(limitEnforced, "API-131: a configured default page size is not used", func(h *story) {
			h.publish("A", many(12, welcome)...).answered()
			h.server.limits.Limits[limitQueryDefault] = 3
			h.query("A", 0, all(welcomeLog("w"))).answered()
		}, configured(limitQueryDefault, 5)),
		holds(plainText, "API-150: a refusal has a text", refused(PayloadUnset)),
		breaks(plainText, "API-150: a refusal has no text", func(h *story) {
			h.publish("A", flawed(PayloadUnset)).answered(func(r *Return) { r.Text = " " })
		}),
	}
}
