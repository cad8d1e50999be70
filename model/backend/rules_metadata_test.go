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
