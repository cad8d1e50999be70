package craft_test

import (
	"slices"
	"testing"

	"assay/impl/identity"
	"assay/model/backend"
)

// step is one update of a story and the classes that may refuse it.
type step struct {
	actions []backend.Action
	want    []identity.Class
	// at is the second; without one it is one more than that of the step before.
	at *int64
	ns uint32
	// same says that it is the second of the step before.
	same bool
}

func yes(actions ...backend.Action) step { return step{actions: actions, want: accepted} }

func no(want []identity.Class, actions ...backend.Action) step {
	return step{actions: actions, want: want}
}

// again repeats the second of the step before, and so its signatures.
func (s step) again() step {
	s.same, s.ns = true, 7
	return s
}

func (s step) atSecond(at int64, ns uint32) step {
	s.at, s.ns = &at, ns
	return s
}

// TestStories tells the reference whole lives of inboxes. Each is one or more of
// the cases that a backend must decide.
func TestStories(t *testing.T) {
	plain := contractThat(backend.Plainly)
	other := backend.Party{Kind: backend.Contract, Name: "other"}
	toggled := contractThat(backend.Toggled)
	signed := func(s backend.Signing, f func(*backend.Signing)) backend.Signing { f(&s); return s }
	variant := func(a backend.Action, v backend.ActionVariant) backend.Action { a.Variant = v; return a }
	joined := func(a backend.Action, s backend.Signing) backend.Action { a.New = s; return a }
	createdBy := func(p backend.Party, s backend.Signing) backend.Action {
		a := create(p)
		a.By = s
		return a
	}
	many := func(n int, a backend.Action) []backend.Action { return slices.Repeat([]backend.Action{a}, n) }

	shared := onChain(t)
	for _, c := range []struct {
		name    string
		creator backend.Party
		nonce   uint64
		steps   []step
	}{
		{"a wallet creates", w1, 0, []step{yes(create(w1))}},
		{"a wallet creates and adds, one signature in both", w1, 0, []step{yes(create(w1), add(i1, by(w1)))}},
		{"the largest nonce", w1, 1<<64 - 1, []step{yes(create(w1))}},
		{"identifier kind 0", w1, 1, []step{yes(variant(create(w1), backend.KindZero))}},
		{"identifier kind unknown reads as an address", w1, 1, []step{yes(variant(create(w1), backend.KindUnknown))}},
		{"an add comes first", w1, 0, []step{no(update, add(i1, by(w1)))}},
		{"an add before its create", w1, 0, []step{no(update, add(i1, by(w1)), create(w1))}},
		{"two creates", w1, 0, []step{no(update, create(w1), create(w1))}},
		{"a second create", w1, 0, []step{yes(create(w1)), no(update, create(w1))}},
		{"created by a stranger's signature", w1, 0, []step{no(stranger, createdBy(w1, by(w2)))}},
		{"created for another", w1, 0, []step{no(update, create(w2))}},
		{"no actions on nothing", w1, 0, []step{no(update)}},
		{"no actions on an inbox", w1, 0, []step{yes(create(w1)), yes()}},

		{"the second is floored", w1, 0, []step{yes(create(w1)).atSecond(100, 999_999_999)}},
		{"a time of 2^63 ns", w1, 0, []step{yes(create(w1)).atSecond(-9223372037, 145224192)}},
		{"the largest time", w1, 0, []step{yes(create(w1)).atSecond(-1, 999_999_999)}},

		{"a passkey creates", pk, 0, []step{yes(create(pk))}},
		{"a passkey in upper case", pk, 0, []step{yes(variant(create(pk), backend.PasskeyUpper))}},
		{"a relying party is named", pk, 0, []step{yes(variant(create(pk), backend.NamesParty))}},
		{"everybody adds somebody", w1, 0, []step{
			yes(create(w1)), yes(add(w2, by(w1))), yes(add(i1, by(w1))), yes(add(w3, by(i1))), yes(add(pk, by(i1))), yes(add(i2, by(pk))), no(stranger, add(i3, by(i1))),
		}},
		{"a passkey added with a relying party signs for another", w1, 0, []step{
			yes(create(w1), variant(add(pk, by(w1)), backend.NamesParty)), yes(add(i1, backend.Signing{Party: pk, Variant: backend.OtherOrigin})),
		}},
		{"the new member's signature is another's", w1, 0, []step{yes(create(w1)), no(stranger, joined(add(w2, by(w1)), by(w3))), no(stranger, joined(add(i1, by(w1)), by(i2)))}},
		{"a stranger adds", w1, 0, []step{yes(create(w1)), no(stranger, add(i2, by(w3)))}},
		{"nobody adds itself", w1, 0, []step{yes(create(w1)), no(update, add(w1, by(w1)))}},
		{"a member is added again", w1, 0, []step{yes(create(w1)), yes(add(w2, by(w1))), yes(add(w2, by(w1)))}},
		{"an unknown adder and a bad signature", w1, 0, []step{yes(create(w1)),
			no([]identity.Class{identity.InvalidSignature, identity.InvalidUpdate}, joined(add(i1, by(w3)), backend.Signing{Party: i1, Flaw: backend.PlainEd25519}))}},

		{"a revoked member adds nobody", w1, 0, []step{yes(create(w1), add(i1, by(w1))), yes(revoke(i1, by(w1))), no(stranger, add(w2, by(i1)))}},
		{"a mere member revokes nobody", w1, 0, []step{yes(create(w1), add(w2, by(w1)), add(i1, by(w1))), no(stranger, revoke(i1, by(w2))), no(stranger, revoke(i1, by(i1)))}},
		{"a revocation takes the installations along", w1, 0, []step{
			yes(create(w1), add(w2, by(w1)), add(i1, by(w1)), add(i2, by(w2))), yes(revoke(w2, by(w1))), no(stranger, add(w3, by(i2))), yes(add(w3, by(i1))),
		}},
		{"and goes no deeper", w1, 0, []step{
			yes(create(w1), add(w2, by(w1)), add(i1, by(w1)), add(i2, by(w2))), yes(revoke(w1, by(w1))), yes(add(w3, by(i2))), no(stranger, add(pk, by(i1))),
		}},
		{"who revoked itself still recovers", w1, 0, []step{yes(create(w1), add(w2, by(w1))), yes(revoke(w1, by(w1))), yes(add(i3, by(w1))), yes(revoke(w2, by(w1)))}},
		{"recovery goes to a non-member", w1, 0, []step{
			yes(create(w1), add(i1, by(w1))), yes(recoverBy(w2, by(w1))), no(stranger, revoke(i1, by(w1))), yes(add(i2, by(w2))), yes(revoke(i1, by(w2))), yes(add(w3, by(w1))),
			yes(revoke(w2, by(w2))), no(stranger, add(pk, by(i2))),
		}},
		{"within one update the new one recovers", w1, 0, []step{
			yes(create(w1), add(i1, by(w1))), no(stranger, recoverBy(w2, by(w1)), revoke(i1, by(w1))), yes(recoverBy(w2, by(w1)), revoke(i1, by(w2))),
		}},
		{"a never-member is revoked", w1, 0, []step{yes(create(w1)), yes(revoke(w3, by(w1)))}},
		{"a passkey recovers", w1, 0, []step{yes(create(w1), add(i1, by(w1))), yes(recoverBy(pk, by(w1))), yes(revoke(i1, by(pk)))}},
		{"recovery by an address in mixed case recovers nothing", w1, 0, []step{
			yes(create(w1)), yes(variant(recoverBy(w2, by(w1)), backend.Checksummed)), no(stranger, revoke(i1, by(w2))),
		}},
		{"revoking an address in mixed case revokes nobody", w1, 0, []step{
			yes(create(w1), add(w2, by(w1))), yes(variant(revoke(w2, by(w1)), backend.Checksummed)), yes(add(i1, by(w2))),
		}},
		{"the last action spoils all", w1, 0, []step{yes(create(w1)), no(stranger, add(w2, by(w1)), add(i1, by(w2)), revoke(w1, by(w3))), no(stranger, add(i2, by(w2)))}},
		{"a compressed passkey is another", w1, 0, []step{yes(create(w1), add(pk, by(w1))), yes(variant(revoke(pk, by(w1)), backend.Compressed)), yes(add(i1, by(pk)))}},

		{"an add is repeated", w1, 0, []step{yes(create(w1)), yes(add(w2, by(w1))), no(stranger, add(w2, by(w1))).again()}},
		{"an add is repeated after a revocation", w1, 0, []step{
			yes(create(w1)), yes(add(w2, by(w1))).atSecond(50, 0), yes(revoke(w2, by(w1))).atSecond(51, 0), no(stranger, add(w2, by(w1))).atSecond(50, 1),
			yes(add(w2, by(w1))).atSecond(52, 0), no(stranger, revoke(w2, by(w1))).atSecond(51, 9),
		}},
		{"one old signature among new ones", w1, 0, []step{
			yes(create(w1), add(pk, by(w1))), yes(add(w2, by(pk))).atSecond(50, 0),
			no(stranger, add(w2, backend.Signing{Party: pk, Salt: 1})).atSecond(50, 1),
		}},
		{"a refused signature is not used up", w1, 0, []step{
			yes(create(w1)), no(signature, joined(add(i1, by(w1)), backend.Signing{Party: i1, Flaw: backend.PlainEd25519})).atSecond(50, 0), yes(add(i1, by(w1))).atSecond(50, 1),
		}},
		{"V is no disguise", w1, 0, []step{
			yes(create(w1)), yes(add(i1, by(w1))).atSecond(50, 0),
			no(stranger, add(i1, signed(by(w1), func(s *backend.Signing) { s.Variant = backend.ParityV }))).atSecond(50, 1),
		}},

		{"the retired form with nonce 0", w1, 0, []step{yes(createdBy(w1, backend.Signing{Party: w1, Variant: backend.Delegated})), no(update, add(i1, backend.Signing{Party: w1, Variant: backend.Delegated}))}},
		{"the retired form with nonce 1", w1, 1, []step{no(update, createdBy(w1, backend.Signing{Party: w1, Variant: backend.Delegated}))}},
		{"the retired form revokes nobody", w1, 0, []step{yes(create(w1)), no(update, revoke(i1, backend.Signing{Party: w1, Variant: backend.Delegated}))}},

		{"a contract creates", plain, 0, []step{yes(create(plain)), yes(add(i1, by(plain))), yes(revoke(i1, by(plain)))}},
		{"a contract that says no creates nothing", contractThat(backend.Never), 0, []step{no(signature, create(contractThat(backend.Never)))}},
		{"a contract that reverts gives no verdict", contractThat(backend.Reverts), 0, []step{no(noVerdict, create(contractThat(backend.Reverts)))}},
		{"nor does one of four bytes", contractThat(backend.Short), 0, []step{no(noVerdict, create(contractThat(backend.Short)))}},
		{"nor one with a dirty tail", contractThat(backend.Dirty), 0, []step{no(noVerdict, create(contractThat(backend.Dirty)))}},
		{"a contract signs for another", plain, 0, []step{no(stranger, createdBy(plain, by(other)))}},
		{"a contract that is not deployed creates", contractThat(backend.Counterfactual), 0, []step{yes(create(contractThat(backend.Counterfactual)))}},
		{"a switched contract said yes before", toggled, 0, []step{
			yes(create(toggled)), no(signature, add(i1, backend.Signing{Party: toggled, Block: backend.AfterSwitch})), yes(add(i2, by(toggled))),
		}},
		{"another route is another chain", plain, 0, []step{
			yes(create(plain)), no(stranger, add(i1, backend.Signing{Party: plain, Chain: backend.SecondRoute})),
			no(stranger, revoke(i1, backend.Signing{Party: plain, Chain: backend.SecondRoute})), no(stranger, recoverBy(w1, backend.Signing{Party: plain, Chain: backend.SecondRoute})),
		}},
		{"a wallet that began as a contract goes on as one", w1, 0, []step{
			yes(createdBy(w1, backend.Signing{Party: w1, Variant: backend.AsContract})), no(stranger, add(i1, by(w1))), yes(add(i1, backend.Signing{Party: w1, Variant: backend.AsContract})),
		}},
		{"another block does not make another signature", plain, 0, []step{
			yes(create(plain)), yes(add(i1, by(plain))).atSecond(50, 0), no(stranger, add(i1, backend.Signing{Party: plain, Block: backend.AfterDeployment})).atSecond(50, 0),
		}},
		{"a hundred contract signatures", plain, 0, []step{yes(append([]backend.Action{create(plain)}, many(99, revoke(w3, by(plain)))...)...)}},
		{"one more than a hundred", plain, 0, []step{no([]identity.Class{identity.TooLarge}, append([]backend.Action{create(plain)}, many(100, revoke(w3, by(plain)))...)...)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := shared(t, c.name)
			second := int64(0)
			for i, s := range c.steps {
				switch {
				case s.at != nil:
					second = *s.at
				case !s.same:
					second++
				}
				got, err := r.publish(backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: c.creator, Nonce: c.nonce}, Second: second, Nanosecond: s.ns, Actions: s.actions})
				if !slices.Contains(s.want, got) {
					t.Fatalf("step %d: got %v (%v), want one of %v", i, got, err, s.want)
				}
			}
		})
	}
}
