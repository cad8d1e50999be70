package backend

import "slices"

// soundPackage is a package of i1, which next(2, add(i(1), w(1))) made a member.
func soundPackage(serial uint32) KeyPackageIntent {
	return KeyPackageIntent{Installation: i(1), Inbox: inbox1(), Serial: serial}
}

func packageRulings() []ruling {
	registered := func(h *story) {
		created(h)
		h.updates(next(2, add(i(1), w(1)), add(i(2), w(1))))
	}
	stored := func(h *story) {
		registered(h)
		h.puts("A", packaging(soundPackage(1))).answered()
		h.newest("A", true, all(i(1).Log())).answered()
	}
	flawed := soundPackage(9)
	flawed.Flaw = LeafFlipped
	other := soundPackage(1)
	other.Installation = i(2)
	both := func(h *story) {
		stored(h)
		h.puts("A", packaging(soundPackage(2))).answered()
	}
	return []ruling{
		holds(packageAccepted, "API-042: a sound key package is accepted", stored),
		breaks(packageAccepted, "API-042: a sound key package is refused", func(h *story) {
			stored(h)
			h.puts("A", packaging(other)).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		holds(packageRefused, "API-042: a flipped leaf signature is refused", func(h *story) {
			stored(h)
			h.puts("A", packaging(flawed)).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		breaks(packageRefused, "API-042: a flipped leaf signature is accepted", func(h *story) {
			stored(h)
			h.puts("A", packaging(flawed)).answered()
		}),
		holds(packageReason, "API-042: a flipped leaf signature makes an invalid key package", func(h *story) {
			stored(h)
			h.puts("A", packaging(flawed)).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		breaks(packageReason, "API-042: a flipped leaf signature is called a malformed payload", func(h *story) {
			stored(h)
			h.puts("A", packaging(flawed)).answers(invalid(0, mal))
		}),
		breaks(malformedReason, "API-040: a cut key package is called invalid", func(h *story) {
			stored(h)
			cut := soundPackage(9)
			cut.Flaw = PackageCutHalf
			h.puts("A", packaging(cut)).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		holds(packageKept, "API-060: a package that another followed is a duplicate", func(h *story) {
			both(h)
			h.puts("A", packaging(soundPackage(1))).answered()
		}),
		breaks(packageKept, "API-060: a package that another followed is stored again", func(h *story) {
			both(h)
			h.puts("A", packaging(soundPackage(1))).answered(meta(0, func(m *Meta) { m.Sequence = 900 }))
		}).and(duplicateMeta),
		breaks(packageKept, "API-060: a second package of an installation is refused", func(h *story) {
			stored(h)
			h.puts("A", packaging(soundPackage(2))).answers(invalid(0, ReasonInvalidKeyPackage))
		}),
		holds(packageNewest, "API-061: the newest package is the last", func(h *story) {
			both(h)
			h.newest("A", true, all(i(1).Log())).answered()
		}),
		breaks(packageNewest, "API-061: the newest package is the first", func(h *story) {
			stored(h)
			old := h.server.copied()
			h.puts("A", packaging(soundPackage(2))).answered()
			h.newest("A", true, all(i(1).Log())).answeredBy(old)
		}).and(newestHighest),
	}
}

func lookupRulings() []ruling {
	none := InboxRef{}
	second := InboxRef{Creator: w(1), Nonce: 1}
	two := func(h *story) { h.updates(made(), at(1, second, create(w(1)))) }
	w1 := Lookup{Party: w(1)}
	many := func(n int) []Lookup { return slices.Repeat([]Lookup{w1}, n) }
	inboxes := func(n int) []InboxRef { return slices.Repeat([]InboxRef{inbox1()}, n) }
	revoked := func(h *story) {
		two(h)
		h.updates(at(2, second, revoke(w(1), w(1))))
	}
	return []ruling{
		holds(severalInbox, "API-053: a wallet in two inboxes leads to the later", func(h *story) {
			two(h)
			h.lookup(w1).finds(second)
		}),
		breaks(severalInbox, "API-053: a wallet in two inboxes leads to the earlier", func(h *story) {
			two(h)
			h.lookup(w1).finds(inbox1())
		}).and(lookupLatest),
		holds(lookupCount, "API-120: a lookup of 251 identifiers is refused", func(h *story) {
			created(h)
			h.lookup(w1).finds(inbox1())
			h.lookup(many(251)...).code(InvalidArgument)
		}),
		breaks(lookupCount, "API-120: a lookup of 251 identifiers is answered", func(h *story) {
			created(h)
			h.lookup(many(251)...).finds(inboxes(251)...)
		}),
		holds(lookupCountOK, "API-120: a lookup of 250 identifiers is answered", func(h *story) {
			created(h)
			h.lookup(many(250)...).finds(inboxes(250)...)
		}),
		breaks(lookupCountOK, "API-120: a lookup of 250 identifiers is refused", func(h *story) {
			created(h)
			h.lookup(many(250)...).code(InvalidArgument)
		}),
		holds(lookupEcho, "API-121: repeated identifiers are answered each", func(h *story) {
			created(h)
			h.lookup(w1, w1).finds(inbox1(), inbox1())
		}),
		breaks(lookupEcho, "API-121: repeated identifiers are answered once", func(h *story) {
			created(h)
			h.lookup(w1, w1).finds(inbox1())
		}),
		breaks(lookupEcho, "API-121: the identifiers come back in another order", func(h *story) {
			created(h)
			u := h.lookup(w1, Lookup{Party: w(2)}).finds(inbox1(), none)
			r := u.story.events[len(h.events)-1].Value.(*Return).InboxIDs
			slices.Reverse(r.Entries)
		}),
		breaks(lookupEcho, "API-121: a lookup with nothing wrong is refused", func(h *story) {
			created(h)
			h.lookup(w1).code(InvalidArgument)
		}),
		holds(lookupAbsent, "API-121: a wallet of no inbox has none", func(h *story) {
			created(h)
			h.lookup(w1, Lookup{Party: w(2)}).finds(inbox1(), none)
		}),
		breaks(lookupAbsent, "API-121: a revoked wallet still has its inbox", func(h *story) {
			h.updates(made(), next(2, add(w(2), w(1))), next(3, revoke(w(2), w(1))))
			h.lookup(Lookup{Party: w(2)}).finds(inbox1())
		}),
		holds(lookupLatest, "API-122: a wallet leads to its inbox", func(h *story) {
			created(h)
			h.lookup(w1).finds(inbox1())
		}),
		breaks(lookupLatest, "API-122: a wallet leads nowhere", func(h *story) {
			created(h)
			h.lookup(w1).finds(none)
		}),
		breaks(lookupLatest, "API-122: a wallet leads to an inbox that it was never in, replica or not", func(h *story) {
			h.updates(made(), at(1, inboxOf(w(2)), create(w(2))))
			h.lookup(w1).finds(inboxOf(w(2)))
		}, withReplica),
		holds(lookupReveals, "API-122: a revocation reveals the inbox before", func(h *story) {
			revoked(h)
			h.lookup(w1).finds(inbox1())
		}),
		breaks(lookupReveals, "API-122: a revocation reveals nothing", func(h *story) {
			revoked(h)
			h.lookup(w1).finds(none)
		}),
		holds(lookupSpelling, "API-122: a checksummed address is found", func(h *story) {
			created(h)
			h.lookup(Lookup{w(1), ChecksummedSpelling}).finds(inbox1())
		}),
		breaks(lookupSpelling, "API-122: a checksummed address is not found", func(h *story) {
			created(h)
			h.lookup(Lookup{w(1), ChecksummedSpelling}).finds(none)
		}),
		holds(lookupKind, "API-122: an address under another kind is nobody's", func(h *story) {
			created(h)
			h.lookup(w1, Lookup{w(1), OtherKindSpelling}).finds(inbox1(), none)
		}),
		breaks(lookupKind, "API-122: an address under another kind is found", func(h *story) {
			created(h)
			h.lookup(Lookup{w(1), OtherKindSpelling}).finds(inbox1())
		}),
	}
}

func verifyRulings() []ruling {
	yes := Verification{By: Signing{Party: c(Plainly)}, Content: "1"}
	no := Verification{By: Signing{Party: c(Never)}, Content: "1"}
	other := Verification{By: Signing{Party: c(Plainly)}, Content: "1", Hash: OtherHash}
	routed := Node{Routed: true}
	open := func(h *story) {
		h.node(routed)
		h.verify(yes).says(true)
	}
	cut := func(h *story) {
		open(h)
		h.node(Node{Routed: true, Cut: true})
	}
	fresh := Verification{By: Signing{Party: c(Always)}, Content: "2"}
	return []ruling{
		holds(verifyEach, "API-123: a yes and two noes in order", func(h *story) {
			h.node(routed)
			h.verify(yes, no, other).says(true, false, false)
		}),
		breaks(verifyEach, "API-123: the results stand in another order", func(h *story) {
			h.node(routed)
			h.verify(yes, no).says(false, true)
		}),
		breaks(verifyEach, "API-123: a result is missing", func(h *story) {
			h.node(routed)
			h.verify(yes, yes).says(true)
		}),
		breaks(verifyEach, "API-123: a malformed hash is valid", func(h *story) {
			h.node(routed)
			v := yes
			v.Hash = Hash31
			h.verify(v).says(true)
		}),
		holds(verifyFailure, "API-123: a verification is unavailable while the chain is cut", func(h *story) {
			cut(h)
			h.verify(fresh).code(Unavailable)
		}),
		breaks(verifyFailure, "API-123: a verification says no while the chain is cut", func(h *story) {
			cut(h)
			h.verify(fresh).says(false)
		}),
		breaks(verifyFailure, "API-123: a verification is invalid while the chain is cut", func(h *story) {
			cut(h)
			h.verify(fresh).code(InvalidArgument)
		}),
		holds(verifyCount, "API-123: a verification of 101 signatures is refused", func(h *story) {
			open(h)
			h.verify(slices.Repeat([]Verification{yes}, 101)...).code(InvalidArgument)
		}),
		breaks(verifyCount, "API-123: a verification of 101 signatures is answered", func(h *story) {
			open(h)
			h.verify(slices.Repeat([]Verification{yes}, 101)...).says(slices.Repeat([]bool{true}, 101)...)
		}),
		holds(verifyCountOK, "API-123: a verification of 100 signatures is answered", func(h *story) {
			open(h)
			h.verify(slices.Repeat([]Verification{yes}, 100)...).says(slices.Repeat([]bool{true}, 100)...)
		}),
		breaks(verifyCountOK, "API-123: a verification of 100 signatures is refused", func(h *story) {
			open(h)
			h.verify(slices.Repeat([]Verification{yes}, 100)...).code(InvalidArgument)
		}),
	}
}
