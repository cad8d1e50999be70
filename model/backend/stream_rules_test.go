package backend

// streamRulings are about what subscriptions answer (sections 8 and 9).
func streamRulings() []ruling {
	g, w := groupLog("g"), welcomeLog("w")
	stored := func(h *story, contents ...string) {
		for _, c := range contents {
			h.publish("A", group(c)).answered()
		}
	}
	control := func(h *story) { h.subscribe("C").update(1, nil).applied(1).update(2, nil).applied(2) }
	return []ruling{
		holds(startedFirst, "API-090: Started comes first", func(h *story) { h.following("S", g) }),
		breaks(startedFirst, "API-090: an acknowledgement comes before Started", func(h *story) {
			h.silent("S").update(1, nil).applied(1).started()
		}),
		breaks(startedFirst, "API-090: a row comes before any topic is registered", func(h *story) {
			stored(h, "one")
			h.subscribe("S").rows(g, 0, 1)
		}),
		breaks(startedFirst, "API-090: a sound subscription is refused", func(h *story) { h.silent("S").code(InvalidArgument) }),
		breaks(startedFirst, "API-090: a subscription ends with OK and nothing else", func(h *story) { h.silent("S").code(OK) }),

		holds(updateWhole, "API-091: an update adds and removes at once", func(h *story) {
			stored(h, "one")
			u := h.following("S", w)
			u.update(2, []Read{all(g)}, w).applied(2, h.head(g)).rows(g, 0, 1)
		}),
		breaks(updateWhole, "API-091: an update that adds and removes is refused", func(h *story) {
			control(h)
			h.following("S", w).update(2, []Read{all(g)}, w).code(InvalidArgument)
		}),
		holds(updateOrder, "API-091: updates that were sent together are acknowledged in order", func(h *story) {
			h.subscribe("S").update(1, nil).update(2, nil).applied(1).applied(2)
		}),
		breaks(updateOrder, "API-091: updates are acknowledged in another order", func(h *story) {
			h.subscribe("S").update(1, nil).update(2, nil).applied(2).applied(1)
		}),
		holds(updateDistinct, "API-091: an update that adds a topic twice is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, []Read{all(g), after(g, 3)}).code(InvalidArgument)
		}),
		holds(updateDistinct, "API-091: an update that adds and removes one topic is refused", func(h *story) {
			control(h)
			h.following("S", g).update(2, []Read{all(g)}, g).code(InvalidArgument)
		}),
		breaks(updateDistinct, "API-091: an update that adds a topic twice is acknowledged", func(h *story) {
			h.subscribe("S").update(1, []Read{all(g), all(g)}).applied(1, h.head(g))
		}),
		breaks(updateDistinct, "API-091: an update that removes a topic twice is refused with another code", func(h *story) {
			h.subscribe("S").update(1, nil, g, g).code(FailedPrecondition)
		}),
		holds(rowAsked, "API-091: rows are of topics that were added", func(h *story) {
			stored(h, "one")
			h.following("S", g).rows(g, 0, 1)
		}),
		breaks(rowAsked, "API-091: a row is of a topic that nobody added", func(h *story) {
			stored(h, "one")
			h.following("S", w).rows(g, 0, 1)
		}),

		holds(idsRise, "API-093: update id 0 is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(0, nil).code(InvalidArgument)
		}),
		holds(idsRise, "API-093: a repeated update id is refused", func(h *story) {
			h.subscribe("S").update(1, nil).applied(1).update(1, nil).code(InvalidArgument)
		}),
		breaks(idsRise, "API-093: a smaller update id is acknowledged", func(h *story) {
			h.subscribe("S").update(5, nil).applied(5).update(4, nil).applied(4)
		}),
		breaks(idsRise, "API-093: a repeated update id is acknowledged again", func(h *story) {
			h.subscribe("S").update(1, nil).applied(1).update(1, nil).applied(1)
		}),
		holds(idsFree, "API-093: update ids rise with gaps", func(h *story) {
			h.subscribe("S").update(7, nil).applied(7).update(900, nil).applied(900)
		}),
		breaks(idsFree, "API-093: an update id that leaves a gap is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(7, nil).code(InvalidArgument)
		}),

		holds(applied, "API-094: new topics are listed in add order", func(h *story) { h.following("S", w, g) }),
		breaks(applied, "API-094: an update is acknowledged twice", func(h *story) { h.following("S", g).applied(1, h.head(g)) }),
		breaks(applied, "API-094: an update that nobody sent is acknowledged", func(h *story) { h.subscribe("S").applied(1) }),
		breaks(applied, "API-094: targets come in another order", func(h *story) {
			h.subscribe("S").update(1, []Read{all(g), all(w)}).applied(1, h.head(w), h.head(g))
		}),
		breaks(applied, "API-094: an empty topic has no target", func(h *story) {
			h.subscribe("S").update(1, []Read{all(g)}).applied(1)
		}),
		breaks(applied, "API-094: an update is passed over", func(h *story) {
			h.subscribe("S").update(1, nil).update(2, nil).applied(2).code(Unavailable)
		}),
		breaks(applied, "API-094: a sound update is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, []Read{all(g)}).code(InvalidArgument)
		}),

		holds(rowsOrFailure, "API-096: rows come up to the target", func(h *story) {
			stored(h, "one", "two")
			h.following("S", g).rows(g, 0, 2).send(Request{Close: true}).code(OK)
		}),
		breaks(rowsOrFailure, "API-096: a subscription ends with OK below its target", func(h *story) {
			stored(h, "one", "two")
			h.following("S", g).rows(g, 0, 1).code(OK)
		}),

		holds(pongEchoes, "API-099: Ping is answered with its nonce", func(h *story) { h.subscribe("S").ping(7).ping(9).pong(9).pong(7) }),
		breaks(pongEchoes, "API-099: Ping is answered with another nonce", func(h *story) { h.subscribe("S").ping(7).pong(8) }),
		breaks(pongEchoes, "API-099: Ping is answered twice", func(h *story) { h.subscribe("S").ping(7).pong(7).pong(7) }),

		holds(noOpAdd, "API-100: adding an active topic has no target", func(h *story) {
			h.following("S", g).update(2, []Read{after(g, 5), all(w)}).applied(2, h.head(w))
		}),
		breaks(noOpAdd, "API-100: adding an active topic has a target", func(h *story) {
			h.following("S", g).update(2, []Read{all(g)}).applied(2, h.head(g))
		}).and(applied),
		holds(noOpRemove, "API-100: removing an absent topic is acknowledged", func(h *story) { h.subscribe("S").update(1, nil, g).applied(1) }),
		breaks(noOpRemove, "API-100: removing an absent topic is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, nil, g).code(InvalidArgument)
		}),
		holds(newGeneration, "API-100: a topic that was removed begins again when it is added", func(h *story) {
			stored(h, "one")
			u := h.following("S", g).rows(g, 0, 1).update(2, nil, g).applied(2)
			u.update(3, []Read{all(g)}).applied(3, h.head(g)).rows(g, 0, 1)
		}),
		breaks(newGeneration, "API-100: a topic that was removed cannot be added again", func(h *story) {
			h.following("S", g).update(2, nil, g).applied(2).update(3, []Read{all(g)}).code(InvalidArgument)
		}),

		holds(emptyFrame, "API-106: a frame without alternative is refused", func(h *story) {
			control(h)
			h.subscribe("S").send(Request{}).code(InvalidArgument)
		}),
		breaks(emptyFrame, "API-106: a subscription goes on behind a frame without alternative", func(h *story) {
			h.subscribe("S").send(Request{}).update(1, nil).applied(1)
		}),
		breaks(emptyFrame, "API-106: a frame without alternative is refused with another code", func(h *story) {
			h.subscribe("S").send(Request{}).code(NotFound)
		}),

		holds(halfClose, "API-108: a half-close ends the session", func(h *story) {
			h.following("S", g).send(Request{Close: true}).code(Canceled)
		}),
		breaks(halfClose, "API-108: a half-closed session does not end", func(h *story) {
			u := h.following("S", g).send(Request{Close: true})
			h.wait(leisure)
			u.got(Response{Ping: new(uint64)})
			h.wait(leisure)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 40_000, End: true})
		}),

		holds(staticDistinct, "API-110: a static subscription to a topic twice is refused", func(h *story) {
			h.static("C", all(g)).started(h.head(g))
			h.static("S", all(g), after(g, 4)).code(InvalidArgument)
		}),
		breaks(staticDistinct, "API-110: a static subscription to a topic twice is served", func(h *story) {
			h.static("S", all(g), all(g)).started(h.head(g), h.head(g))
		}),
		holds(staticBounds, "API-110: a static subscription to nothing is refused", func(h *story) {
			h.static("C", all(g)).started(h.head(g))
			h.static("S").code(InvalidArgument)
		}),
		breaks(staticBounds, "API-110: a static subscription to nothing is served", func(h *story) { h.static("S").started() }),
		holds(staticStarted, "API-111: a static subscription begins with its targets", func(h *story) {
			stored(h, "one")
			h.static("S", all(w), all(g)).started(h.head(w), h.head(g)).rows(g, 0, 1)
		}),
		breaks(staticStarted, "API-111: an empty topic has no target", func(h *story) {
			stored(h, "one")
			h.static("S", all(w), all(g)).started(h.head(g))
		}),
		breaks(staticStarted, "API-111: targets are not in request order", func(h *story) {
			h.static("S", all(w), all(g)).started(h.head(g), h.head(w))
		}),
		breaks(staticStarted, "API-111: a sound static subscription is refused", func(h *story) { h.static("S", all(g)).code(InvalidArgument) }),
		holds(staticStays, "API-112: a static subscription goes on past its targets", func(h *story) {
			stored(h, "one")
			u := h.static("S", all(g)).started(h.head(g)).rows(g, 0, 1)
			stored(h, "two")
			u.rows(g, 1, 2)
		}),
		breaks(staticStays, "API-112: a static subscription ends when it has caught up", func(h *story) {
			stored(h, "one")
			h.static("S", all(g)).started(h.head(g)).rows(g, 0, 1).code(OK)
		}),
		holds(staticRows, "API-112: a static subscription delivers what was asked", func(h *story) {
			stored(h, "one")
			h.static("S", all(g)).started(h.head(g)).rows(g, 0, 1)
		}),
		breaks(staticRows, "API-112: a static subscription delivers another topic", func(h *story) {
			stored(h, "one")
			h.static("S", all(w)).started(h.head(w)).rows(g, 0, 1)
		}),

		holds(bareFrames, "API-164: frames and rows are the messages of the package", func(h *story) {
			stored(h, "one")
			h.following("S", g).rows(g, 0, 1)
		}),
		breaks(bareFrames, "API-164: frames are wrapped", func(h *story) { h.subscribe("S").got(Response{Empty: true}) }),
		holds(headersAccepted, "API-161: a subscription with the client's headers is answered", func(h *story) {
			h.headers = []string{"authorization", "x-app-version", "x-libxmtp-version"}
			h.following("S", g)
		}),
		breaks(headersAccepted, "API-161: a subscription with the client's headers is refused", func(h *story) {
			stored(h, "one")
			h.headers = []string{"authorization", "x-app-version", "x-libxmtp-version"}
			h.silent("S").code(Unauthenticated)
		}),
		holds(badTopicRefused, "API-003: an add of a bad topic is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, []Read{{Log: g, Flaw: TopicFlaws()[0]}}).code(InvalidArgument)
		}),
		breaks(badTopicRefused, "API-003: an add of a bad topic is acknowledged", func(h *story) {
			h.subscribe("S").update(1, []Read{{Log: g, Flaw: TopicFlaws()[0]}}).applied(1, h.head(g))
		}),
		breaks(cursorRange, "API-004: an add with a cursor out of range is acknowledged", func(h *story) {
			h.subscribe("S").update(1, []Read{after(g, 1<<63)}).applied(1, h.head(g))
		}),
		holds(cursorRange, "API-004: a static subscription with a cursor out of range is refused", func(h *story) {
			h.static("C", all(g)).started(h.head(g))
			h.static("S", after(g, 1<<63)).code(InvalidArgument)
		}),
		breaks(payloadIntact, "API-023: a row has another payload", func(h *story) {
			stored(h, "one", "two")
			row := h.server.rows[topicOf(g)][0]
			row.Identity[0]++
			h.following("S", g).got(Response{Messages: &Messages{Rows: []Row{row}}})
		}),
		breaks(metaAgrees, "API-032: a row has another time", func(h *story) {
			stored(h, "one")
			row := h.server.rows[topicOf(g)][0]
			row.Meta.ServerNS++
			h.following("S", g).got(Response{Messages: &Messages{Rows: []Row{row}}})
		}),
		breaks(nothingOmitted, "API-134: a frame is above the response limit", func(h *story) {
			h.subscribe("S").got(Response{Messages: &Messages{}, WireLen: byteCeiling + 1})
		}),
	}
}
