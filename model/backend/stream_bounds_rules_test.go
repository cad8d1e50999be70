package backend

import "fmt"

// streamBoundRulings are about the limits of subscriptions (section 11).
func streamBoundRulings() []ruling {
	g := groupLog("g")
	small := []func(*Terms){configured(limitAdds, 3), configured(limitRemoves, 2), configured(limitTopics, 4), configured(limitStatic, 3)}
	control := func(h *story) {
		h.subscribe("C").update(1, []Read{all(g)}).applied(1, h.head(g))
		h.static("D", all(g)).started(h.head(g))
	}
	add := func(h *story, u tube, id uint64, reads []Read) tube {
		return u.update(id, reads).applied(id, h.heads(reads)...)
	}
	removes := []Log{welcomeLog("n0"), welcomeLog("n1"), welcomeLog("n2")}
	return []ruling{
		holds(updateBounds, "API-092: an update above the limit of adds is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, numbered(4)).code(InvalidArgument)
		}, small...),
		holds(updateBounds, "API-092: an update above the limit of removes is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, nil, removes...).code(InvalidArgument)
		}, small...),
		breaks(updateBounds, "API-092: an update above the limit of adds is refused with another code", func(h *story) {
			control(h)
			h.subscribe("S").update(1, numbered(4)).code(OutOfRange)
		}, small...).and(boundCode),
		holds(boundCode, "API-130: an update above its limit is refused with INVALID_ARGUMENT", func(h *story) {
			control(h)
			h.subscribe("S").update(1, numbered(4)).code(InvalidArgument)
		}, small...),
		breaks(boundCode, "API-130: a static subscription above its limit is refused with another code", func(h *story) {
			control(h)
			h.static("S", numbered(4)...).code(ResourceExhausted)
		}, small...).and(staticBounds),
		breaks(limitEnforced, "API-131: an update above the configured limit is acknowledged", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(4))
		}, small...),
		breaks(updateBounds, "API-092: an update of 100,001 adds is acknowledged", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(100_001))
		}),
		holds(updateAtLimit, "API-092: an update at the limit of adds is acknowledged", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(3))
		}, small...),
		breaks(updateAtLimit, "API-092: an update at the limit of adds is refused", func(h *story) {
			control(h)
			h.subscribe("S").update(1, numbered(3)).code(InvalidArgument)
		}, small...),
		holds(streamTopics, "API-092: one topic more than a stream may have is refused", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(3))
			u.update(2, []Read{all(g), all(groupLog("h"))}).code(InvalidArgument)
		}, small...),
		breaks(streamTopics, "API-092: one topic more than a stream may have ends it with another code", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(3))
			u.update(2, []Read{all(g), all(groupLog("h"))}).code(FailedPrecondition)
		}, small...).and(boundCode),
		holds(updateAtLimit, "API-092: a stream comes to its limit when others are removed at once", func(h *story) {
			u := h.subscribe("S")
			add(h, u, 1, numbered(3))
			u.update(2, []Read{all(g), all(groupLog("h"))}, removes[0]).applied(2, h.head(g), h.head(groupLog("h")))
		}, small...),
		holds(staticBounds, "API-110: a static subscription above its limit is refused", func(h *story) {
			control(h)
			h.static("S", numbered(4)...).code(InvalidArgument)
		}, small...),
		holds(staticAtLimit, "API-110: a static subscription at its limit is served", func(h *story) {
			h.static("S", numbered(3)...).started(h.heads(numbered(3))...)
		}, small...),
		breaks(staticAtLimit, "API-110: a static subscription at its limit is refused", func(h *story) {
			control(h)
			h.static("S", numbered(3)...).code(InvalidArgument)
		}, small...),
		holds(noQuota, "API-101: many subscriptions are open at once", func(h *story) {
			for i := range crowd {
				h.subscribe(fmt.Sprint("S", i))
			}
		}),
		breaks(noQuota, "API-101: a subscription beside others is refused", func(h *story) {
			h.subscribe("S")
			h.silent("T").code(ResourceExhausted)
		}),
	}
}
