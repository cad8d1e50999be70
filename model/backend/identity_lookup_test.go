package backend

import (
	"fmt"
	"testing"
)

// Lookups of the list of cases that the facts about identity updates end with:
// each is called right with its answer and wrong with every other one.
func TestWhereIdentifiersLead(t *testing.T) {
	none := InboxRef{}
	a, b := inbox1(), InboxRef{Creator: w(1), Nonce: 1}
	other := at(1, b, create(w(1)))
	added := next(2, add(w(2), w(1)))
	ofKey := inboxOf(k(1))
	for _, l := range []struct {
		number int
		name   string
		story  []IdentityUpdate
		lookup Lookup
		right  InboxRef
	}{
		{59, "an added wallet", logOf(made(), added), Lookup{Party: w(2)}, a},
		{70, "a wallet in two inboxes", logOf(made(), at(1, inboxOf(w(3)), create(w(3))), added, at(3, inboxOf(w(3)), add(w(2), w(3)))), Lookup{Party: w(2)}, inboxOf(w(3))},
		{76, "a wallet that a revoked installation had added", logOf(made(), next(2, add(i(1), w(1))), next(3, add(w(3), i(1))), next(4, revoke(i(1), w(1)))), Lookup{Party: w(3)}, a},
		{78, "a recovery identifier that is no member", logOf(made(), next(2, recoverBy(w(2), w(1)))), Lookup{Party: w(2)}, none},
		{87, "a revoked wallet whose add was sent again", logOf(made(), added, next(3, revoke(w(2), w(1))), added), Lookup{Party: w(2)}, none},
		{119, "a checksummed wallet", logOf(made()), Lookup{w(1), ChecksummedSpelling}, a},
		{119, "a wallet in upper case", logOf(made()), Lookup{w(1), UpperSpelling}, a},
		{119, "a wallet under kind 2", logOf(made()), Lookup{w(1), OtherKindSpelling}, none},
		{120, "an installation under kind 2", logOf(made(), next(2, add(i(1), w(1)))), Lookup{Party: i(1)}, none},
		{120, "an installation under kind 1", logOf(made(), next(2, add(i(1), w(1)))), Lookup{i(1), OtherKindSpelling}, none},
		{123, "a wallet in an older and a newer inbox", logOf(made(), other), Lookup{Party: w(1)}, b},
		{123, "and revoked in the newer", logOf(made(), other, at(2, b, revoke(w(1), w(1)))), Lookup{Party: w(1)}, a},
		{123, "and in the older as well", logOf(made(), other, at(2, b, revoke(w(1), w(1))), next(3, revoke(w(1), w(1)))), Lookup{Party: w(1)}, none},
		{123, "and added to the older again", logOf(made(), added, other, at(2, b, revoke(w(1), w(1))), next(3, revoke(w(1), w(1))), next(4, add(w(1), w(2)))), Lookup{Party: w(1)}, a},
		{123, "and added to the older again before the newer is left", logOf(made(), added, other, next(3, revoke(w(1), w(1))), next(4, add(w(1), w(2)))), Lookup{Party: w(1)}, a},
		{124, "a passkey in upper case", logOf(at(1, ofKey, create(k(1)))), Lookup{k(1), UpperSpelling}, ofKey},
		{124, "a passkey in its compressed form", logOf(at(1, ofKey, create(k(1)))), Lookup{k(1), CompressedSpelling}, none},
		{124, "a passkey under kind 1", logOf(at(1, ofKey, create(k(1)))), Lookup{k(1), OtherKindSpelling}, none},
	} {
		for _, answer := range []InboxRef{none, a, b, ofKey, inboxOf(w(3))} {
			t.Run(fmt.Sprintf("%d %s leads to %s", l.number, l.name, answer.Log().Name), func(t *testing.T) {
				h := tell()
				h.updates(l.story...)
				h.lookup(l.lookup).finds(answer)
				if breached := len(h.judged().Breaches()) > 0; breached == (answer == l.right) {
					t.Errorf("breached %v\n%s", breached, explain(h.judged()))
				}
			})
		}
	}
}
