package backend

import "time"

// streamTimeRulings are about buckets, keepalives and waits.
func streamTimeRulings() []ruling {
	g, w := groupLog("g"), welcomeLog("w")
	control := func(h *story) { h.subscribe("C").update(1, nil).applied(1) }
	pings := func(u tube, from, n int) tube {
		for i := range n {
			u.ping(uint64(from + i))
		}
		return u
	}
	pongs := func(u tube, from, n int) tube {
		for i := range n {
			u.pong(uint64(from + i))
		}
		return u
	}
	updates := func(u tube, from, n int) tube {
		for i := range n {
			u.update(uint64(from+i), nil)
		}
		return u
	}
	acks := func(u tube, from, n int) tube {
		for i := range n {
			u.applied(uint64(from + i))
		}
		return u
	}
	return []ruling{
		holds(bucketHolds, "API-107: a flood of Pings ends the stream", func(h *story) {
			control(h)
			u := pongs(pings(h.subscribe("S"), 1, 150), 1, 100)
			h.wait(time.Second)
			u.code(ResourceExhausted)
		}),
		holds(bucketCode, "API-130: a flood of updates ends the stream with RESOURCE_EXHAUSTED", func(h *story) {
			control(h)
			acks(updates(h.subscribe("S"), 1, 150), 1, 100).code(ResourceExhausted)
		}),
		breaks(bucketHolds, "API-107: more Pings than burst and rate allow are answered", func(h *story) {
			u := pings(h.subscribe("S"), 1, 150)
			h.wait(time.Second)
			pongs(u, 1, 113)
		}),
		breaks(bucketHolds, "API-107: a second burst is taken at once", func(h *story) {
			u := acks(updates(h.subscribe("S"), 1, 90), 1, 90)
			h.wait(time.Second)
			acks(updates(u, 91, 90), 91, 90)
		}),
		breaks(bucketCode, "API-130: a flood of Pings ends the stream with another code", func(h *story) {
			control(h)
			pongs(pings(h.subscribe("S"), 1, 150), 1, 100).code(InvalidArgument)
		}).and(bucketHolds),
		holds(bucketServes, "API-107: the bucket fills again", func(h *story) {
			u := pongs(pings(h.subscribe("S"), 1, 100), 1, 100)
			h.wait(3 * time.Second)
			pongs(pings(u, 101, 30), 101, 30)
		}),
		holds(bucketServes, "API-107: updates and Pings have buckets of their own", func(h *story) {
			u := pongs(pings(h.subscribe("S"), 1, 80), 1, 80)
			acks(updates(u, 1, 80), 1, 80)
		}),
		breaks(bucketServes, "API-107: frames that fit the bucket end the stream", func(h *story) {
			control(h)
			pongs(pings(h.subscribe("S"), 1, 80), 1, 40).code(ResourceExhausted)
		}),
		holds(pongIsFree, "API-107: Pongs nobody asked for take no token", func(h *story) {
			u := h.subscribe("S")
			for i := range uint64(150) {
				u.send(Request{Pong: &i})
			}
			u.ping(1).pong(1)
		}),
		breaks(pongIsFree, "API-107: Pongs end the stream", func(h *story) {
			control(h)
			u := h.subscribe("S")
			for i := range uint64(150) {
				u.send(Request{Pong: &i})
			}
			u.code(ResourceExhausted)
		}),

		breaks(pongEchoes, "API-099: a Ping is not answered by a stream that is alive", func(h *story) {
			u := h.subscribe("S").ping(7)
			h.wait(20 * time.Second)
			u.got(Response{Ping: new(uint64)})
			h.wait(10 * time.Second)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 30_000, Pong: new(uint64(7))})
		}),

		holds(emptyStays, "API-104: a subscription without topics is open after two intervals", func(h *story) {
			control(h)
			u := h.subscribe("S")
			h.wait(2500 * time.Millisecond)
			u.ping(1).pong(1)
		}),
		breaks(emptyStays, "API-104: a subscription without topics is ended", func(h *story) {
			u := h.subscribe("S")
			h.wait(2500 * time.Millisecond)
			u.code(OK)
		}),
		breaks(emptyStays, "API-104: a subscription ends when its last topic is removed", func(h *story) {
			h.following("S", g).update(2, nil, g).applied(2).code(OK)
		}),

		holds(keepalive, "API-113: an idle static subscription shows a keepalive", func(h *story) {
			u := h.static("S", all(g)).started(h.head(g))
			h.wait(time.Second)
			u.got(Response{Keepalive: true})
		}),
		breaks(keepalive, "API-113: an idle static subscription is silent for long", func(h *story) {
			u := h.static("S", all(g)).started(h.head(g))
			h.wait(14 * time.Second)
			u.got(Response{Keepalive: true})
		}),
		breaks(keepalive, "API-113: a static subscription shows no keepalive at all", func(h *story) {
			u := h.static("S", all(g)).started(h.head(g))
			h.wait(14 * time.Second)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 14_000, Frame: true})
		}),

		breaks(rowsOrFailure, "API-096: a row of the only database does not come on a stream that is alive", func(h *story) {
			u := h.following("S", g, w)
			h.publish("A", group("one")).answered()
			h.wait(8 * time.Second)
			u.ping(1).pong(1)
			h.wait(3 * time.Second)
			head := h.head(g)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 11_000, Row: &head})
		}),
		breaks(staticRows, "API-112: a row of the only database does not come on a static stream that is alive", func(h *story) {
			h.publish("A", group("one")).answered()
			u := h.static("S", all(g)).started(h.head(g))
			for range 11 {
				h.wait(time.Second)
				u.got(Response{Keepalive: true})
			}
			head := h.head(g)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 11_000, Row: &head})
		}),
		breaks(applied, "API-094: an update is not acknowledged by a stream that is alive", func(h *story) {
			u := h.subscribe("S").update(1, nil).ping(1)
			h.wait(9 * time.Second)
			u.pong(1)
			h.wait(3 * time.Second)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 12_000, Applied: new(uint64(1))})
		}),
		breaks(startedFirst, "API-090: nothing comes although a frame was sent", func(h *story) {
			u := h.silent("S").update(1, nil)
			h.wait(12 * time.Second)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 12_000, Started: true})
		}),
		breaks(emptyFrame, "API-106: nothing comes of a frame without alternative", func(h *story) {
			u := h.subscribe("S").send(Request{})
			h.wait(12 * time.Second)
			h.awaited(Awaited{Stream: u.number, WaitedMS: 12_000, End: true})
		}),
	}
}
