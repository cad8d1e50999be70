package backend

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
