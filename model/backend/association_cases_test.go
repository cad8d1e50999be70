package backend

import "slices"

func only(u IdentityUpdate) []IdentityUpdate { return []IdentityUpdate{u} }

func logOf(u ...IdentityUpdate) []IdentityUpdate { return u }

func made() IdentityUpdate { return at(1, inboxOf(w(1)), create(w(1))) }

func creationCases() []associationCase {
	a := inboxOf(w(1))
	first := func(u IdentityUpdate) IdentityUpdate { return u }
	number := func(n uint64) InboxRef { return InboxRef{Creator: w(1), Nonce: n} }
	return []associationCase{
		{1, "a wallet creates its inbox", nil, made(), accepted()},
		{2, "a create and an add share a signature", nil, at(1, a, create(w(1)), add(i(1), w(1))), accepted()},
		{3, "the largest nonce is a nonce", nil, at(1, number(1<<64-1), create(w(1))), accepted()},
		{4, "kind 0 is an address", nil, at(1, number(4), create(w(1)).odd(KindZero)), accepted()},
		{4, "an unknown kind is open", nil, at(1, number(5), create(w(1)).odd(KindUnknown)), open()},
		{5, "a create with another nonce than the inbox id's", nil, at(1, a, create(w(1)).with(OtherNonce)), refusedFor(iiu)},
		{6, "an inbox id hashed with a separator", nil, made().with(InboxSeparator), refusedFor(iiu)},
		{6, "an inbox id hashed with a padded nonce", nil, made().with(InboxPaddedNonce), refusedFor(iiu)},
		{7, "an inbox id of the checksummed address", nil, made().with(InboxFromChecksummed), refusedFor(iiu)},
		{8, "a create for a checksummed address", nil, made().with(CreateChecksummed), refusedFor(mal, iiu, sig)},
		{9, "an inbox id in upper case is open", nil, func() IdentityUpdate { u := made(); u.Variant = InboxUpper; return u }(), open()},
		{10, "an inbox id with a prefix", nil, first(made().with(InboxPrefixed)), refusedFor(mal, iiu)},
		{10, "an inbox id of 62 digits", nil, made().with(Inbox62), refusedFor(mal, iiu)},
		{10, "an inbox id of 66 digits", nil, made().with(Inbox66), refusedFor(mal, iiu)},
		{10, "an inbox id that is not hex", nil, made().with(InboxNotHex), refusedFor(mal, iiu)},
		{10, "an inbox id of no digits", nil, made().with(InboxEmpty), refusedFor(mal, iiu)},
		{11, "an add to an inbox that nobody created", nil, at(1, a, add(i(1), w(1))), refusedFor(iiu)},
		{11, "a revocation in an inbox that nobody created", nil, at(1, a, revoke(i(1), w(1))), refusedFor(iiu)},
		{12, "an add before its create", nil, at(1, a, add(i(1), w(1)), create(w(1))), refusedFor(iiu)},
		{13, "two creates in one update", nil, at(1, a, create(w(1)), create(w(1))), refusedFor(iiu)},
		{14, "a second create", only(made()), at(2, a, create(w(1))), refusedFor(iiu)},
		{15, "a create signed by another", nil, at(1, a, create(w(1)).by(party(w(2)))), refusedFor(iiu, sig)},
		{15, "a create for another inbox", nil, at(1, a, create(w(2))), refusedFor(iiu)},
		{16, "no action, no inbox", nil, at(1, a), refusedFor(iiu)},
		{17, "no action on an inbox is open", only(made()), at(2, a), open()},
		{18, "an action without a kind", only(made()), at(2, a, Action{Flaw: KindUnset}), refusedFor(mal, iiu)},
		{19, "a create without a signature", nil, at(1, a, create(w(1)).by(flawedBy(SignatureMissing))), refusedFor(mal, iiu, sig)},
		{19, "a create with a signature of no kind", nil, at(1, a, create(w(1)).by(flawedBy(SignatureUnset))), refusedFor(mal, iiu, sig)},
	}
}

func textCases() []associationCase {
	a := inboxOf(w(1))
	var out []associationCase
	for _, f := range UpdateFlaws() {
		base := at(1, a, create(w(1)), add(i(1), w(1)), add(k(1), w(1)))
		switch f {
		case TextRoundedUp:
			base.Nanosecond = 999_999_999
		case TextUnsignedYear:
			base.Second = -1
		case TextPasskeyLabel:
			base.Actions = append(base.Actions, recoverBy(k(1), w(1)))
		}
		if !f.OtherText() || !f.Fits(base) {
			continue
		}
		out = append(out, associationCase{21, "an installation and a wallet sign: " + string(f), nil, base.with(f), refusedFor(iiu, sig)})
	}
	// Where only an installation's or a passkey's text is wrong, its signature
	// verifies under no reading.
	member := logOf(made(), at(2, a, add(i(1), w(1)), add(k(1), w(1)), add(c(Plainly), w(1))))
	return append(out,
		associationCase{24, "the second is floored", nil, later(999_999_999, made()), accepted()},
		associationCase{25, "a time of the upper half", nil, at(-9_223_372_037, a, create(w(1))), accepted()},
		associationCase{27, "an installation signs its id with a prefix", member, at(3, a, add(w(9), i(1)).by(flawedBy(OverOtherText))), refusedFor(sig)},
		associationCase{27, "a passkey signs another text", member, at(3, a, add(i(9), k(1)).by(flawedBy(OverOtherText))), refusedFor(sig)},
		associationCase{32, "a passkey creates with the text of another inbox", nil, at(1, inboxOf(k(1)), create(k(1))).with(TextOtherInbox), refusedFor(sig)},
		associationCase{37, "a wallet signs no prefix", nil, at(1, a, create(w(1)).by(flawedBy(RawKeccak))), refusedFor(iiu, sig)},
		associationCase{38, "a wallet signs a padded prefix", nil, at(1, a, create(w(1)).by(flawedBy(PrefixPadded))), refusedFor(iiu, sig)},
		associationCase{38, "a wallet signs a wrong length", nil, at(1, a, create(w(1)).by(flawedBy(PrefixOffByOne))), refusedFor(iiu, sig)},
	)
}

func signatureCases() []associationCase {
	a := inboxOf(w(1))
	create1 := func(f func(*Signing)) IdentityUpdate { return at(1, a, create(w(1)).by(f)) }
	join := func(f func(*Signing)) IdentityUpdate { return at(2, a, add(i(1), w(1)).joining(f)) }
	pass := func(f func(*Signing)) IdentityUpdate { return at(1, inboxOf(k(1)), create(k(1)).by(f)) }
	byKey := logOf(at(1, inboxOf(k(1)), create(k(1))))
	out := []associationCase{
		{33, "V as a parity", nil, create1(oddBy(ParityV)), accepted()},
		{34, "a signature of 64 bytes", nil, create1(flawedBy(EthereumCut)), refusedFor(sig, mal)},
		{34, "a signature of 66 bytes", nil, create1(flawedBy(EthereumLong)), refusedFor(sig, mal)},
		{35, "V of 5", nil, create1(flawedBy(EthereumV5)), refusedFor(sig)},
		{36, "a signature of zeros", nil, create1(flawedBy(EthereumZeros)), refusedFor(sig)},
		{36, "r above the order", nil, create1(flawedBy(EthereumLargeR)), refusedFor(sig)},
		{39, "high S is open", nil, create1(oddBy(HighS)), open()},
		{39, "high S with the same V is open", nil, create1(oddBy(HighSSameV)), open()},
		{40, "V with a chain is open", nil, create1(oddBy(ChainV)), open()},
		{41, "an installation joins", only(made()), join(oddBy(OrdinarySignature)), accepted()},
		{42, "plain Ed25519", only(made()), join(flawedBy(PlainEd25519)), refusedFor(sig)},
		{43, "another context", only(made()), join(flawedBy(OtherContext)), refusedFor(sig)},
		{43, "an empty context", only(made()), join(flawedBy(EmptyContext)), refusedFor(sig)},
		{44, "a text hashed twice", only(made()), join(flawedBy(HashedTwice)), refusedFor(sig)},
		{45, "63 bytes", only(made()), join(flawedBy(Ed25519Cut)), refusedFor(sig, mal)},
		{45, "a key of 31 bytes", only(made()), join(flawedBy(Ed25519Key31)), refusedFor(mal, iiu, sig)},
		{45, "a key that is no point", only(made()), join(flawedBy(Ed25519NoPoint)), refusedFor(mal, iiu, sig)},
		{46, "another installation signs for the new one", only(made()), join(party(i(2))), refusedFor(iiu, sig)},
		{47, "a bad signature and an unknown adder", only(made()), at(2, a, add(i(1), w(3)).joining(flawedBy(PlainEd25519))), refusedFor(sig, iiu)},
		{48, "a passkey creates its inbox", nil, pass(oddBy(OrdinarySignature)), accepted()},
		{49, "a passkey's hex in upper case", nil, at(1, inboxOf(k(1)), create(k(1)).odd(PasskeyUpper)), accepted()},
		{50, "a challenge with padding", nil, pass(flawedBy(ChallengePadded)), refusedFor(sig)},
		{50, "a challenge in hex", nil, pass(flawedBy(ChallengeHex)), refusedFor(sig)},
		{50, "a challenge of the hash", nil, pass(flawedBy(ChallengeHashed)), refusedFor(sig)},
		{51, "client data with more members", nil, pass(oddBy(ExtraMembers)), accepted()},
		{53, "raw r and s", nil, pass(flawedBy(RawRS)), refusedFor(sig, mal)},
		{54, "a member's key in its other form is open", byKey, at(2, inboxOf(k(1)), add(i(1), k(1)).by(oddBy(CompressedKey))), open()},
		{56, "client data changed", nil, pass(flawedBy(ClientDataChanged)), refusedFor(sig)},
		{56, "authenticator data changed", nil, pass(flawedBy(AuthDataChanged)), refusedFor(sig)},
		{57, "a passkey with a prefix", nil, at(1, inboxOf(k(1)), create(k(1)).with(PasskeyPrefixed)), refusedFor(mal, iiu)},
		{57, "a passkey of odd digits", nil, at(1, inboxOf(k(1)), create(k(1)).with(PasskeyOdd)), refusedFor(mal, iiu)},
		{58, "high S in DER", nil, pass(oddBy(UpperS)), accepted()},
		{58, "low S in DER", nil, pass(oddBy(LowerS)), accepted()},
		{95, "a delegated key is open", nil, create1(oddBy(Delegated)), open()},
		{98, "a delegated key that did not sign", nil, create1(func(s *Signing) { s.Variant, s.Flaw = Delegated, DelegateStranger }), refusedFor(mal, iiu, sig)},
	}
	for _, v := range []SignatureVariant{NoOrigin, OtherOrigin, CreateCeremony, NoAuthData} {
		out = append(out, associationCase{52, string(v) + " is open", nil, pass(oddBy(v)), open()})
	}
	return out
}

func membershipCases() []associationCase {
	a := inboxOf(w(1))
	full := logOf(made(), at(2, a, add(w(2), w(1))), at(3, a, add(i(1), w(1))), at(4, a, add(k(1), w(1))))
	next := func(acts ...Action) IdentityUpdate { return at(10, a, acts...) }
	return []associationCase{
		{59, "a wallet adds a wallet", only(made()), next(add(w(2), w(1))), accepted()},
		{60, "the new wallet's signature is another's", only(made()), next(add(w(2), w(1)).joining(party(w(3)))), refusedFor(iiu, sig)},
		{61, "an installation adds a wallet", full, next(add(w(3), i(1))), accepted()},
		{62, "an installation adds a passkey", full, next(add(k(2), i(1))), accepted()},
		{63, "an installation adds an installation", full, next(add(i(2), i(1))), refusedFor(iiu, sig)},
		{64, "a passkey adds an installation", full, next(add(i(2), k(1))), accepted()},
		{64, "a second wallet adds an installation", full, next(add(i(2), w(2))), accepted()},
		{65, "a stranger adds an installation", full, next(add(i(2), w(3))), refusedFor(iiu, sig)},
		{66, "a wallet adds itself", full, next(add(w(1), w(1))), refusedFor(iiu)},
		{67, "the new member is not named", full, next(add(i(2), w(1)).with(SubjectMissing)), refusedFor(mal, iiu)},
		{67, "the new member has no kind", full, next(add(i(2), w(1)).with(SubjectUnset)), refusedFor(mal, iiu)},
		{68, "the existing member does not sign", full, next(add(i(2), w(1)).by(flawedBy(SignatureMissing))), refusedFor(mal, iiu, sig)},
		{69, "a member added again is open", full, next(add(w(2), w(1))), open()},
		{86, "the last of three actions is wrong", full, next(add(i(5), w(1)), add(i(6), w(1)), add(i(7), w(3))), refusedFor(iiu, sig)},
		{86, "nothing of a refused update applies", full, next(add(w(7), i(5))), refusedFor(iiu, sig)},
	}
}

func recoveryCases() []associationCase {
	a := inboxOf(w(1))
	full := logOf(made(), at(2, a, add(w(2), w(1))), at(3, a, add(i(1), w(1))), at(4, a, add(i(2), w(2))), at(5, a, add(w(3), i(1))))
	after := func(u ...IdentityUpdate) []IdentityUpdate { return slices.Concat(full, u) }
	next := func(acts ...Action) IdentityUpdate { return at(20, a, acts...) }
	handed := logOf(made(), at(2, a, add(i(1), w(1))), at(6, a, recoverBy(w(2), w(1))))
	afterwards := func(u ...IdentityUpdate) []IdentityUpdate { return slices.Concat(handed, u) }
	return []associationCase{
		{71, "the recovery identifier revokes", full, next(revoke(i(1), w(1))), accepted()},
		{71, "a revoked installation adds", after(at(6, a, revoke(i(1), w(1)))), next(add(w(9), i(1))), refusedFor(iiu, sig)},
		{72, "another member revokes", full, next(revoke(i(1), w(2))), refusedFor(iiu, sig)},
		{73, "an installation revokes itself", full, next(revoke(i(1), i(1))), refusedFor(iiu, sig)},
		{74, "an installation of a revoked wallet adds", after(at(6, a, revoke(w(2), w(1)))), next(add(w(9), i(2))), refusedFor(iiu, sig)},
		{74, "an installation of another wallet still adds", after(at(6, a, revoke(w(2), w(1)))), next(add(w(9), i(1))), accepted()},
		{75, "the installation of a wallet of a revoked wallet adds", after(at(6, a, revoke(w(1), w(1)))), next(add(w(9), i(2))), accepted()},
		{75, "the installation of a revoked wallet does not", after(at(6, a, revoke(w(1), w(1)))), next(add(w(9), i(1))), refusedFor(iiu, sig)},
		{76, "a wallet that a revoked installation added stays", after(at(6, a, revoke(i(1), w(1)))), next(add(i(9), w(3))), accepted()},
		{77, "a recovery identifier outside the inbox adds", after(at(6, a, revoke(w(1), w(1)))), next(add(i(3), w(1))), accepted()},
		{77, "a recovery identifier outside the inbox revokes", after(at(6, a, revoke(w(1), w(1)))), next(revoke(w(2), w(1))), accepted()},
		{78, "recovery goes to a stranger", full, next(recoverBy(w(9), w(1))), accepted()},
		{79, "who handed recovery on revokes", handed, next(revoke(i(1), w(1))), refusedFor(iiu, sig)},
		{79, "who got recovery revokes", handed, next(revoke(i(1), w(2))), accepted()},
		{79, "who got recovery adds", handed, next(add(i(2), w(2))), accepted()},
		{79, "who handed recovery on still adds", handed, next(add(i(2), w(1))), accepted()},
		{79, "who got recovery hands it on", handed, next(recoverBy(w(3), w(2))), accepted()},
		{80, "an installation of a revoked outsider adds", afterwards(at(7, a, add(i(2), w(2))), at(8, a, revoke(w(2), w(2)))), next(add(w(3), i(2))), refusedFor(iiu, sig)},
		{81, "recovery changes within the update", logOf(made(), at(2, a, add(i(1), w(1)))), next(recoverBy(w(2), w(1)), revoke(i(1), w(1))), refusedFor(iiu, sig)},
		{81, "the new recovery identifier signs at once", logOf(made(), at(2, a, add(i(1), w(1)))), next(recoverBy(w(2), w(1)), revoke(i(1), w(2))), accepted()},
		{82, "a stranger is revoked", full, next(revoke(w(9), w(1))), accepted()},
		{83, "recovery goes to a passkey", full, next(recoverBy(k(1), w(1))), accepted()},
		{83, "a passkey recovers", after(at(6, a, recoverBy(k(1), w(1)))), next(revoke(i(1), k(1))), accepted()},
		{84, "recovery goes to a checksummed address, which is open", full, next(recoverBy(w(2), w(1)).odd(Checksummed)), open()},
		{84, "whoever has that address then is open", after(at(6, a, recoverBy(w(2), w(1)).odd(Checksummed))), next(revoke(i(1), w(2))), open()},
		{84, "who handed it on revokes no more", after(at(6, a, recoverBy(w(2), w(1)).odd(Checksummed))), next(revoke(i(1), w(1))), refusedFor(iiu, sig)},
		{85, "a checksummed address is revoked, which is open", full, next(revoke(w(2), w(1)).odd(Checksummed)), open()},
		{85, "whoever has that address adds, which is open", after(at(6, a, revoke(w(2), w(1)).odd(Checksummed))), next(add(i(9), w(2))), legal{accept: true, refuse: true, reasons: []Reason{iiu, sig}}},
	}
}

func replayCases() []associationCase {
	a := inboxOf(w(1))
	added := at(2, a, add(w(2), w(1)))
	parity := func(u IdentityUpdate) IdentityUpdate {
		return at(u.Second, a, add(w(2), w(1)).by(oddBy(ParityV)).joining(oddBy(ParityV)))
	}
	return []associationCase{
		{87, "an add is sent again after its revocation", logOf(made(), added, at(3, a, revoke(w(2), w(1)))), later(1, added), refusedFor(iiu, sig)},
		{88, "an add is sent again", logOf(made(), added), at(2, a, add(w(2), w(1)), add(w(4), w(1))), open()},
		{89, "one of the signatures was used", logOf(made(), at(2, a, revoke(w(9), w(1)))), later(1, at(2, a, revoke(w(9), w(1)))), refusedFor(iiu, sig)},
		{90, "one signature in two actions", only(made()), at(2, a, add(w(2), w(1)), add(w(3), w(1))), accepted()},
		{91, "a refused update uses nothing", only(made()), added, accepted()},
		{92, "a revocation is sent again after a fresh add", logOf(made(), added, at(3, a, revoke(w(2), w(1))), at(4, a, add(w(2), w(1)))), later(1, at(3, a, revoke(w(2), w(1)))), refusedFor(iiu, sig)},
		{93, "every V in its other writing is open", logOf(made(), added, at(3, a, revoke(w(2), w(1)))), later(1, parity(added)), open()},
		{94, "a passkey's twin beside a used signature", logOf(made(), at(2, a, add(k(1), w(1))), at(3, a, add(i(1), k(1)).by(oddBy(LowerS))), at(4, a, revoke(i(1), w(1)))),
			later(1, at(3, a, add(i(1), k(1)).by(oddBy(UpperS)))), refusedFor(iiu, sig)},
		{94, "a revocation by a passkey's twin is open", logOf(at(1, inboxOf(k(1)), create(k(1))), at(3, inboxOf(k(1)), revoke(w(8), k(1)).by(oddBy(LowerS)))),
			later(1, at(3, inboxOf(k(1)), revoke(w(8), k(1)).by(oddBy(UpperS)))), open()},
		{94, "a contract's signature at another block", logOf(at(1, inboxOf(c(Plainly)), create(c(Plainly))), at(3, inboxOf(c(Plainly)), revoke(w(8), c(Plainly)))),
			later(1, at(3, inboxOf(c(Plainly)), revoke(w(8), c(Plainly)).by(onChain(RunChain, AfterDeployment)))), refusedFor(iiu, sig)},
		{94, "a contract's other signature", logOf(at(1, inboxOf(c(Plainly)), create(c(Plainly))), at(3, inboxOf(c(Plainly)), revoke(w(8), c(Plainly)))),
			later(1, at(3, inboxOf(c(Plainly)), revoke(w(8), c(Plainly)).by(func(s *Signing) { s.Salt = 1 }))), accepted()},
	}
}

func walletCases() []associationCase {
	mine := func(b Behaviour, f func(*Signing)) IdentityUpdate {
		return at(1, inboxOf(c(b)), create(c(b)).by(f))
	}
	none := func(*Signing) {}
	s := inboxOf(c(Plainly))
	joined := logOf(at(1, s, create(c(Plainly))), at(2, s, add(w(1), c(Plainly))), at(3, s, add(i(1), c(Plainly))))
	signedBy := func(n int) IdentityUpdate {
		var acts []Action
		for j := range n {
			acts = append(acts, add(w(j+10), c(Plainly)).by(func(g *Signing) { g.Salt = uint32(j) }))
		}
		return at(4, s, acts...)
	}
	out := []associationCase{
		{100, "a contract creates its inbox", nil, mine(Plainly, none), accepted()},
		{100, "a contract that says yes creates its inbox", nil, mine(Always, none), accepted()},
		{101, "a contract says no", nil, mine(Never, none), refusedFor(sig)},
		{102, "a contract's owner signs no prefix", nil, mine(Plainly, flawedBy(RawKeccak)), refusedFor(sig)},
		{103, "a checksummed account", nil, mine(Plainly, oddBy(AccountChecksummed)), accepted()},
		{104, "another contract signs", nil, mine(Plainly, party(c(Always))), refusedFor(iiu, sig)},
		{105, "a chain without a route", nil, mine(Plainly, onChain(NoRoute, AtDeployment)), legal{refuse: true, all: true, unavailable: true}},
		{106, "a contract before its switch", nil, mine(Toggled, none), accepted()},
		{106, "a contract after its switch", nil, mine(Toggled, onChain(RunChain, AfterSwitch)), refusedFor(sig)},
		{107, "a contract that is not deployed", nil, mine(Counterfactual, none), accepted()},
		{107, "and without what deploys it", nil, mine(Counterfactual, flawedBy(WrapperMissing)), refusedFor(sig)},
		{108, "a member signs on another route", joined, at(4, s, add(i(2), c(Plainly)).by(onChain(SecondRoute, AtDeployment))), refusedFor(iiu, sig)},
		{108, "the recovery contract revokes on another route", joined, at(4, s, revoke(i(1), c(Plainly)).by(onChain(SecondRoute, AtDeployment))), refusedFor(iiu, sig)},
		{109, "a wallet creates as a contract", nil, at(1, inboxOf(w(1)), create(w(1)).by(oddBy(AsContract))), accepted()},
		{109, "a wallet created as a contract signs as itself", only(at(1, inboxOf(w(1)), create(w(1)).by(oddBy(AsContract)))), at(2, inboxOf(w(1)), add(i(1), w(1))), refusedFor(iiu, sig)},
		{109, "a wallet signs as a contract later", only(made()), at(2, inboxOf(w(1)), add(i(1), w(1)).by(oddBy(AsContract))), refusedFor(iiu, sig)},
		{110, "a hundred contract signatures", joined, signedBy(100), accepted()},
		{110, "a hundred and one", joined, signedBy(101), legal{refuse: true, all: true}},
		{111, "an account with a wrong separator", nil, mine(Plainly, flawedBy(AccountColons)), refusedFor(mal, iiu, sig)},
		{111, "an account of two parts", nil, mine(Plainly, flawedBy(AccountTwoParts)), refusedFor(mal, iiu, sig)},
		{112, "a chain of another namespace", nil, mine(Plainly, onChain(CosmosChain, AtDeployment)), legal{refuse: true, all: true, unavailable: true}},
		{113, "a block above the head is open", nil, mine(Plainly, onChain(RunChain, AboveHead)), open().orUnavailable()},
	}
	for _, b := range []Behaviour{Reverts, Short, Dirty} {
		out = append(out, associationCase{114, "a contract that " + string(b), nil, mine(b, none), refusedFor(sig).orUnavailable()})
	}
	return out
}
