package backend

// newestRulings are about newest-envelope reads (section 7).
func newestRulings() []ruling {
	two := func(h *story) { h.publish("A", group("one"), group("two"), welcome("three")).answered() }
	control := func(h *story) {
		two(h)
		h.newest("A", false, all(groupLog("g"))).answered()
	}
	same := func(n int) []Read {
		out := make([]Read, n)
		for i := range out {
			out[i] = all(groupLog("g"))
		}
		return out
	}
	distinct := func(n int) []Read {
		out := make([]Read, n)
		for i := range out {
			out[i] = all(welcomeLog(string(rune(i + 1000))))
		}
		out[0] = all(welcomeLog("w"))
		return out
	}
	return []ruling{
		holds(newestCount, "API-080: 101 topics in full mode are refused", func(h *story) {
			control(h)
			h.newest("A", true, distinct(101)...).answered()
		}),
		breaks(newestCount, "API-080: 101 topics in full mode are answered", func(h *story) {
			h.newest("A", true, distinct(101)...).answers(Return{Newest: &Heads{}})
		}),
		holds(newestCountOK, "API-080: 1000 topics in metadata mode are answered", func(h *story) {
			two(h)
			h.newest("A", false, distinct(1000)...).answered()
		}),
		breaks(newestCountOK, "API-080: 1000 topics in metadata mode are refused", func(h *story) {
			h.newest("A", false, distinct(1000)...).code(InvalidArgument)
		}),
		holds(newestPresent, "API-081: a topic without an envelope has no result", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g")), all(groupLog("never"))).answered()
		}),
		breaks(newestPresent, "API-081: a topic with an envelope has no result, and there is no replica", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).answers(Return{Newest: &Heads{}})
		}),
		breaks(newestPresent, "API-081: a topic without an envelope has a result of zeros", func(h *story) {
			h.newest("A", false, all(groupLog("never"))).answers(Return{Newest: &Heads{Rows: []Row{{HasMeta: true, Asked: topicOf(groupLog("never"))}}}})
		}),
		breaks(newestPresent, "API-081: a topic that nobody asked for has a result", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).answered(func(r *Return) {
				extra := r.Newest.Rows[0]
				extra.Asked = topicOf(welcomeLog("w"))
				r.Newest.Rows = append(r.Newest.Rows, extra)
			})
		}),
		breaks(newestPresent, "API-081: a sound read is refused", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).code(Internal)
		}),
		holds(newestMode, "API-082: a full read carries envelopes", func(h *story) {
			two(h)
			h.newest("A", true, all(groupLog("g"))).answered()
		}),
		breaks(newestMode, "API-082: a metadata read carries envelopes", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).answered(row(0, func(r *Row) { r.HasEnvelope = true }))
		}),
		breaks(newestMode, "API-082: a full read carries no envelope", func(h *story) {
			two(h)
			h.newest("A", true, all(groupLog("g"))).answered(row(0, func(r *Row) { r.HasEnvelope, r.Identity = false, Digest{} }))
		}),
		holds(newestHighest, "API-083: the newest of two is the higher", control),
		breaks(newestHighest, "API-083: the newest of two is the lower, and there is no replica", func(h *story) {
			h.publish("A", group("one")).answered()
			old := h.server.copied()
			h.publish("A", group("two")).answered()
			h.newest("A", true, all(groupLog("g"))).answeredBy(old)
		}),
		breaks(newestHighest, "API-083: the newest has an id that no publish returned", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.Sequence += 1000 }))
		}),
		holds(newestOnce, "API-084: a repeated topic has one result", func(h *story) {
			two(h)
			h.newest("A", false, same(3)...).answered()
		}),
		breaks(newestOnce, "API-084: a repeated topic has two results", func(h *story) {
			two(h)
			h.newest("A", false, same(2)...).answered(func(r *Return) { r.Newest.Rows = append(r.Newest.Rows, r.Newest.Rows[0]) })
		}),
		breaks(newestOnce, "API-084: a repeated topic is refused", func(h *story) {
			two(h)
			h.newest("A", false, same(2)...).code(InvalidArgument)
		}),
		holds(newestCounted, "API-084: a topic repeated too often is refused for the count", func(h *story) {
			control(h)
			h.newest("A", true, same(101)...).answered()
		}),
		breaks(newestCounted, "API-084: 101 entries of one topic are counted as one", func(h *story) {
			two(h)
			h.newest("A", true, same(101)...).answers(Return{Newest: &Heads{}})
		}).and(newestCount),
		holds(newestMetadata, "API-084: a result carries the published metadata", control),
		breaks(newestMetadata, "API-084: a result carries no hash", func(h *story) {
			two(h)
			h.newest("A", false, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.HasHash, r.Meta.Hash = false, "" }))
		}),
		breaks(newestMetadata, "API-084: a result carries no expiry", func(h *story) {
			two(h)
			h.newest("A", true, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.ExpiryNS = 0 }))
		}),
		breaks(newestMetadata, "API-084: a result does not carry the flag of a commit", func(h *story) {
			h.publish("A", formed(group("one"), PublicCommit)).answered()
			h.newest("A", false, all(groupLog("g"))).answered(row(0, func(r *Row) { r.Meta.CommitOrProposal = false }))
		}),
	}
}
