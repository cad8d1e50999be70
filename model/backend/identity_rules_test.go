package backend

import "slices"

// identityRulings are the histories about identity updates and key packages.
func identityRulings() []ruling {
	return slices.Concat(updateRulings(), walletRulings(), raceRulings(), packageRulings(), lookupRulings(), verifyRulings(), capRulings())
}

// created opens a story with the inbox of w1, shown.
func created(h *story) { h.updates(made()) }

// inbox1 is the inbox that created makes.
func inbox1() InboxRef { return inboxOf(w(1)) }

// next is an update of inbox1 at a later second.
func next(second int64, actions ...Action) IdentityUpdate { return at(second, inbox1(), actions...) }

func updateRulings() []ruling {
	bad := next(2, add(i(1), w(1)).joining(flawedBy(PlainEd25519)))
	stranger := next(2, add(i(1), w(3)))
	partless := next(2, add(i(1), w(1)).with(SubjectMissing))
	added := next(2, add(w(2), w(1)))
	replay := func(h *story) *turn {
		created(h)
		h.updates(added, next(3, revoke(w(2), w(1))))
		return h.update("A", later(1, added))
	}
	second := next(2, create(w(1)))
	sequenced := func(n uint64) func(*Return) { return meta(0, func(m *Meta) { m.Sequence = n }) }
	return []ruling{
		holds(identityOrder, "API-014: an update of another inbox follows one that had returned", func(h *story) {
			h.update("A", made()).answered()
			h.update("A", at(1, inboxOf(w(2)), create(w(2)))).answered()
		}),
		breaks(identityOrder, "API-014: an update of another inbox has a lower id than one that had returned", func(h *story) {
			h.update("A", made()).answered()
			h.update("A", at(1, inboxOf(w(2)), create(w(2)))).answered(sequenced(50))
		}),
		holds(dependentPublish, "API-017: an update applies to what had just returned", func(h *story) {
			created(h)
			h.updates(added)
		}),
		holds(dependentPublish, "API-017: a key package follows the update that it depends on", func(h *story) {
			created(h)
			h.updates(next(2, add(i(1), w(1))))
			h.puts("A", packaging(soundPackage(1))).answered()
			h.newest("A", true, all(i(1).Log())).answered()
		}),
		breaks(dependentPublish, "API-017: an update is refused and taken when sent again", func(h *story) {
			created(h)
			h.update("A", added).answers(invalid(0, iiu))
			h.update("A", added).answered()
		}),
		holds(staleDuplicate, "API-035: a stored create is created again", func(h *story) {
			created(h)
			h.update("A", made()).answered()
		}),
		breaks(staleDuplicate, "API-035: a stored create is refused because it is stored", func(h *story) {
			created(h)
			h.update("A", made()).answers(invalid(0, iiu))
		}),
		holds(updateAccepted, "API-043: a create is accepted", created),
		breaks(updateAccepted, "API-043: a create is refused", func(h *story) { h.update("A", made()).answers(invalid(0, iiu)) }),
		holds(partsRefused, "API-043: an add of nobody is refused", func(h *story) {
			created(h)
			h.update("A", partless).answers(invalid(0, mal))
		}),
		breaks(partsRefused, "API-043: an add of nobody is accepted", func(h *story) {
			created(h)
			h.update("A", partless).answered()
		}),
		holds(signatureRefused, "API-043: a plain Ed25519 signature is refused", func(h *story) {
			created(h)
			h.update("A", bad).answers(invalid(0, sig))
		}),
		breaks(signatureRefused, "API-043: a plain Ed25519 signature is accepted", func(h *story) {
			created(h)
			h.update("A", bad).answered()
		}),
		holds(strangerRefused, "API-043: a stranger's add is refused", func(h *story) {
			created(h)
			h.update("A", stranger).answers(invalid(0, iiu))
		}),
		breaks(strangerRefused, "API-043: a stranger's add is accepted", func(h *story) {
			created(h)
			h.update("A", stranger).answered()
		}),
		holds(replayRefused, "API-043: a used signature is refused", func(h *story) { replay(h).answers(invalid(0, iiu)) }),
		breaks(replayRefused, "API-043: a used signature is accepted", func(h *story) { replay(h).answered() }),
		holds(stateRefused, "API-043: a second create is refused", func(h *story) {
			created(h)
			h.update("A", second).answers(invalid(0, iiu))
		}),
		breaks(stateRefused, "API-043: a second create is accepted", func(h *story) {
			created(h)
			h.update("A", second).answered()
		}),
		breaks(stateRefused, "API-043: a second create is refused with another code", func(h *story) {
			created(h)
			h.update("A", second).code(FailedPrecondition)
		}),
		holds(updateReason, "API-043: a bad signature is called one", func(h *story) {
			created(h)
			h.update("A", bad).answers(invalid(0, sig))
		}),
		breaks(updateReason, "API-043: a bad signature is called a malformed payload", func(h *story) {
			created(h)
			h.update("A", bad).answers(invalid(0, mal))
		}),
		breaks(updateReason, "API-043: a second create is called a bad signature", func(h *story) {
			created(h)
			h.update("A", second).answers(invalid(0, sig))
		}),
		holds(malformedRefused, "API-040: an inbox id that is not hex is refused", func(h *story) {
			created(h)
			h.update("A", made().with(InboxNotHex)).answers(invalid(0, mal))
		}),
		breaks(malformedRefused, "API-040: an inbox id that is not hex is accepted", func(h *story) {
			created(h)
			h.update("A", made().with(InboxNotHex)).answered()
		}),
		breaks(errorDetail, "API-047: the failing update is given another's index", func(h *story) {
			created(h)
			h.puts("A", group("1"), updating(second)).answers(invalid(0, iiu))
		}),
		holds(oneUpdate, "API-050: two updates of one inbox are refused", func(h *story) {
			created(h)
			h.puts("A", updating(added), updating(next(3, add(w(3), w(1))))).answers(invalid(1, ReasonTooLarge))
		}),
		holds(oneUpdate, "API-050: two updates of one inbox are refused without an index", func(h *story) {
			created(h)
			h.puts("A", updating(added), updating(next(3, add(w(3), w(1))))).answers(invalid(-1, iiu))
		}),
		breaks(oneUpdate, "API-050: two updates of one inbox are accepted", func(h *story) {
			created(h)
			h.puts("A", updating(added), updating(next(3, add(w(3), w(1))))).answered()
		}),
	}
}

func walletRulings() []ruling {
	mine := func(b Behaviour) IdentityUpdate { return at(1, inboxOf(c(b)), create(c(b))) }
	many := func(n int) IdentityUpdate {
		var acts []Action
		for j := range n {
			acts = append(acts, add(w(j+10), c(Plainly)).by(func(s *Signing) { s.Salt = uint32(j) }))
		}
		return at(2, inboxOf(c(Plainly)), acts...)
	}
	open := func(h *story) {
		h.node(Node{Routed: true})
		h.updates(mine(Plainly))
	}
	return []ruling{
		holds(walletAccepted, "API-044: a contract that says yes is believed", open),
		breaks(walletAccepted, "API-044: a contract that says yes is called a bad signature", func(h *story) {
			h.node(Node{Routed: true})
			h.update("A", mine(Plainly)).answers(invalid(0, sig))
		}),
		holds(walletRefused, "API-044: a contract that says no is believed", func(h *story) {
			open(h)
			h.update("A", mine(Never)).answers(invalid(0, sig))
		}),
		breaks(walletRefused, "API-044: a contract that says no is taken for yes", func(h *story) {
			open(h)
			h.update("A", mine(Never)).answered()
		}),
		breaks(walletRefused, "API-044: a contract without an answer is taken for yes", func(h *story) {
			open(h)
			h.update("A", mine(Reverts)).answered()
		}),
		breaks(updateReason, "API-044: a contract that says no is called no answer", func(h *story) {
			open(h)
			h.update("A", mine(Never)).answers(invalid(0, mal))
		}),
		holds(chainFailure, "API-044: an update is unavailable while the chain is cut", func(h *story) {
			open(h)
			h.node(Node{Routed: true, Cut: true})
			h.update("A", mine(Always)).code(Unavailable)
		}),
		breaks(chainFailure, "API-044: an update is invalid because the chain is cut", func(h *story) {
			open(h)
			h.node(Node{Routed: true, Cut: true})
			h.update("A", mine(Always)).answers(invalid(0, sig))
		}),
		breaks(chainFailure, "API-044: an update is accepted although nobody could be asked", func(h *story) {
			open(h)
			h.node(Node{Routed: true, Cut: true})
			h.update("A", mine(Always)).answered()
		}),
		holds(walletCount, "API-044: a hundred and one contract signatures are refused", func(h *story) {
			open(h)
			h.update("A", many(101)).answers(invalid(0, ReasonTooLarge))
		}),
		breaks(walletCount, "API-044: a hundred and one contract signatures are accepted", func(h *story) {
			open(h)
			h.update("A", many(101)).answered()
		}),
		holds(walletCountOK, "API-044: a hundred contract signatures are accepted", func(h *story) {
			open(h)
			h.updates(many(100))
		}),
		breaks(walletCountOK, "API-044: a hundred contract signatures are too many", func(h *story) {
			open(h)
			h.update("A", many(100)).answers(invalid(0, ReasonTooLarge))
		}),
	}
}

func raceRulings() []ruling {
	one, two := next(2, add(i(1), w(1))), next(3, add(i(2), w(1)))
	create2 := at(2, inbox1(), create(w(1)))
	elsewhere := at(1, inboxOf(w(5)), create(w(5)))
	return []ruling{
		holds(oneWinner, "API-051: of two creates at once one is aborted", func(h *story) {
			h.updates(elsewhere)
			a, b := h.update("A", made()), h.update("B", create2)
			a.answered()
			b.code(Aborted)
		}),
		holds(oneWinner, "API-051: of two creates at once one is invalid", func(h *story) {
			h.updates(elsewhere)
			a, b := h.update("A", made()), h.update("B", create2)
			b.answers(invalid(0, iiu))
			a.answered()
		}),
		breaks(oneWinner, "API-051: two creates at once succeed", func(h *story) {
			a, b := h.update("A", made()), h.update("B", create2)
			a.answered()
			b.answered()
		}),
		holds(abortedRaces, "API-051: an update is aborted beside a commit", func(h *story) {
			created(h)
			a, b := h.update("A", one), h.update("B", two)
			a.answered()
			b.code(Aborted)
		}),
		breaks(abortedRaces, "API-051: an update is aborted beside nothing", func(h *story) {
			created(h)
			h.update("A", one).answered()
			h.update("B", two).code(Aborted)
		}),
		breaks(abortedRaces, "API-051: an update is aborted beside a commit on another inbox", func(h *story) {
			created(h)
			a, b := h.update("A", at(1, inboxOf(w(2)), create(w(2)))), h.update("B", two)
			a.answered()
			b.code(Aborted)
		}),
		breaks(updateAccepted, "API-043: an update that applies whoever wins is refused", func(h *story) {
			created(h)
			a, b := h.update("A", one), h.update("B", two)
			a.answered()
			b.answers(invalid(0, iiu))
		}),
		holds(resendWorks, "API-051: an aborted update applies when it is sent again", func(h *story) {
			created(h)
			a, b := h.update("A", one), h.update("B", two)
			a.answered()
			b.code(Aborted)
			h.updates(two)
		}),
		breaks(resendWorks, "API-051: an aborted update is refused when it is sent again", func(h *story) {
			created(h)
			a, b := h.update("A", one), h.update("B", two)
			a.answered()
			b.code(Aborted)
			h.update("B", two).answers(invalid(0, iiu))
		}),
	}
}

func capRulings() []ruling {
	grown := func(h *story, n int) {
		h.update("A", made()).answered()
		for j := range n - 1 {
			h.update("A", next(int64(j+2), recoverBy(w(1), w(1)))).answered()
		}
		h.query("A", 1000, all(inbox1().Log())).answered()
	}
	last := next(1000, recoverBy(w(1), w(1)))
	return []ruling{
		holds(logFull, "API-148: the 257th entry is refused", func(h *story) {
			grown(h, 256)
			h.update("A", last).answers(invalid(0, iiu))
		}),
		breaks(logFull, "API-148: the 257th entry is accepted", func(h *story) {
			grown(h, 256)
			h.update("A", last).answered()
		}),
		breaks(logFull, "API-148: the 257th entry is called too large", func(h *story) {
			grown(h, 256)
			h.update("A", last).answers(invalid(0, ReasonTooLarge))
		}),
		holds(logFullOK, "API-148: the 256th entry is accepted", func(h *story) {
			grown(h, 255)
			h.update("A", last).answered()
		}),
		breaks(logFullOK, "API-148: the 256th entry is refused", func(h *story) {
			grown(h, 255)
			h.update("A", last).answers(invalid(0, iiu))
		}),
		holds(fullRetry, "API-148: an entry of a full log is a duplicate", func(h *story) {
			grown(h, 256)
			h.update("A", made()).answered()
		}),
		breaks(fullRetry, "API-148: an entry of a full log is refused when sent again", func(h *story) {
			grown(h, 256)
			h.update("A", made()).answers(invalid(0, iiu))
		}),
	}
}
