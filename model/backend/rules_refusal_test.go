package backend

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
