package craft_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	implchain "assay/impl/chain"
	"assay/impl/identity"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
	"assay/spec/gen/xmtp/identity/associations"
)

// The parties of the tests.
var (
	w1, w2, w3 = wallet("w1"), wallet("w2"), wallet("w3")
	i1, i2, i3 = installation("i1"), installation("i2"), installation("i3")
	pk         = backend.Party{Kind: backend.Passkey, Name: "k"}
)

func wallet(name string) backend.Party {
	return backend.Party{Kind: backend.Wallet, Name: name}
}

func installation(name string) backend.Party {
	return backend.Party{Kind: backend.Installation, Name: name}
}

func contractThat(b backend.Behaviour) backend.Party {
	return backend.Party{Kind: backend.Contract, Name: "s", Behaviour: b}
}

func create(p backend.Party) backend.Action {
	return backend.Action{Kind: backend.CreateInbox, Subject: p}
}

func by(p backend.Party) backend.Signing { return backend.Signing{Party: p} }

func add(p backend.Party, s backend.Signing) backend.Action {
	return backend.Action{Kind: backend.AddAssociation, Subject: p, By: s}
}

func revoke(p backend.Party, s backend.Signing) backend.Action {
	return backend.Action{Kind: backend.RevokeAssociation, Subject: p, By: s}
}

func recoverBy(p backend.Party, s backend.Signing) backend.Action {
	return backend.Action{Kind: backend.ChangeRecovery, Subject: p, By: s}
}

// reference judges updates as the reference does, and remembers accepted ones.
type reference struct {
	t         *testing.T
	craft     *craft.Crafter
	validator *identity.Validator
	history   map[backend.Bytes][]*associations.IdentityUpdate
}

func newReference(t *testing.T, c *craft.Crafter, wallets identity.WalletVerifier) *reference {
	return &reference{t: t, craft: c, history: make(map[backend.Bytes][]*associations.IdentityUpdate),
		validator: identity.NewValidator(identity.Config{Rules: identity.ReferenceRules(), Wallets: wallets, MaxWalletSignatures: 100})}
}

// noWallets answers for tests without a chain.
type noWallets struct{}

func (noWallets) VerifyWallet(context.Context, identity.WalletClaim) (bool, error) {
	return false, errors.New("these tests have no chain")
}

func (r *reference) make(u backend.IdentityUpdate) (*associations.IdentityUpdate, backend.Bytes) {
	r.t.Helper()
	wire, a, err := r.craft.Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u})
	if err != nil {
		r.t.Fatal(err)
	}
	var e backendv1.ClientEnvelope
	if err := proto.Unmarshal(wire, &e); err != nil {
		r.t.Fatal(err)
	}
	if n := proto.Size(&e); n != a.CanonicalLen || len(wire) != a.WireLen {
		r.t.Errorf("lengths %d and %d, artefact says %d and %d", len(wire), n, a.WireLen, a.CanonicalLen)
	}
	return e.GetIdentityUpdate(), a.Topic
}

// publish returns the class of the refusal, 0 when the update is accepted.
func (r *reference) publish(u backend.IdentityUpdate) (identity.Class, error) {
	r.t.Helper()
	update, topic := r.make(u)
	_, err := r.validator.Validate(r.t.Context(), r.history[topic], update)
	var e *identity.Error
	switch {
	case err == nil:
		r.history[topic] = append(r.history[topic], update)
		return 0, nil
	case errors.As(err, &e):
		return e.Class, err
	default:
		r.t.Fatal(err)
		return 0, err
	}
}

// Sets of legal reasons, the reference's first.
var (
	accepted  = []identity.Class{0}
	malformed = []identity.Class{identity.Malformed, identity.InvalidUpdate}
	unset     = []identity.Class{identity.Malformed, identity.InvalidUpdate, identity.InvalidSignature}
	signature = []identity.Class{identity.InvalidSignature}
	encoding  = []identity.Class{identity.InvalidSignature, identity.Malformed}
	update    = []identity.Class{identity.InvalidUpdate}
	stranger  = []identity.Class{identity.InvalidUpdate, identity.InvalidSignature}
	nothing   = []identity.Class{identity.Unavailable}
	noVerdict = []identity.Class{identity.Unavailable, identity.InvalidSignature}
)

func TestEveryFlawOfAnUpdateIsRefusedForIt(t *testing.T) {
	inbox := backend.InboxRef{Creator: w1, Nonce: 3}
	sound := backend.IdentityUpdate{Inbox: inbox, Second: 5, Nanosecond: 9, Actions: []backend.Action{create(w1), add(i1, by(w1))}}
	for _, f := range backend.UpdateFlaws() {
		t.Run(string(f), func(t *testing.T) {
			u := sound
			want := stranger
			switch {
			case f == backend.TextUnsignedYear:
				u.Second = -5
			case f == backend.TextPasskeyLabel:
				u.Actions = append(slices.Clone(u.Actions), recoverBy(pk, by(w1)))
			case f.NoTopic():
				want = malformed
			case f.OtherTopic():
				want = []identity.Class{identity.InvalidUpdate, identity.Malformed}
			}
			r := newReference(t, craft.New(1, "n", string(f)), noWallets{})
			whole, soundTopic := r.make(u)
			u.Flaw = f
			flawed, topic := r.make(u)
			if f.NoTopic() != (topic == "") || f.OtherTopic() != (topic != "" && topic != soundTopic) {
				t.Errorf("topic %s, the sound one %s", topic, soundTopic)
			}
			got, err := r.publish(u)
			if !slices.Contains(want, got) {
				t.Errorf("got %v (%v), want one of %v", got, err, want)
			}
			onlySignaturesDiffer(t, f, flawed, whole)
			u.Flaw = backend.SoundUpdate
			if got, err := r.publish(u); got != 0 {
				t.Errorf("the sound update is refused: %v", err)
			}
		})
	}
}

// onlySignaturesDiffer holds an update with a wrong text to the sound one in
// everything but signatures; one with a wrong inbox id in everything but that too.
func onlySignaturesDiffer(t *testing.T, f backend.UpdateFlaw, flawed, sound *associations.IdentityUpdate) {
	t.Helper()
	bare := func(u *associations.IdentityUpdate) *associations.IdentityUpdate {
		u = proto.Clone(u).(*associations.IdentityUpdate)
		if !f.OtherText() {
			u.InboxId = ""
		}
		for _, a := range u.GetActions() {
			switch k := a.GetKind().(type) {
			case *associations.IdentityAction_CreateInbox:
				k.CreateInbox.InitialIdentifierSignature = nil
				if f == backend.CreateChecksummed {
					k.CreateInbox.InitialIdentifier = strings.ToLower(k.CreateInbox.InitialIdentifier)
				}
			case *associations.IdentityAction_Add:
				k.Add.ExistingMemberSignature, k.Add.NewMemberSignature = nil, nil
			case *associations.IdentityAction_ChangeRecoveryAddress:
				k.ChangeRecoveryAddress.ExistingRecoveryIdentifierSignature = nil
			}
		}
		return u
	}
	if !proto.Equal(bare(flawed), bare(sound)) {
		t.Errorf("more than signatures differs:\n%v\n%v", flawed, sound)
	}
	if proto.Equal(flawed, sound) {
		t.Error("nothing differs")
	}
}

func TestEveryFlawOfATextChangesItInThatWay(t *testing.T) {
	c := craft.New(1, "n", "s")
	id := craft.InboxID(c.Identifier(w1), 0)
	key := c.Identifier(i1)
	blocks := func(f backend.UpdateFlaw) string {
		return craft.SignedText(id, -5, 9, f, craft.Named(backend.CreateInbox, backend.Wallet, c.Identifier(w1)),
			craft.Named(backend.AddAssociation, backend.Installation, key), craft.Named(backend.ChangeRecovery, backend.Passkey, "04ab"))
	}
	right := blocks(backend.SoundUpdate)
	swap := func(from, to string) func() string {
		return func() string {
			if strings.Count(right, from) != 1 {
				t.Fatalf("%q stands in the text %d times", from, strings.Count(right, from))
			}
			return strings.Replace(right, from, to, 1)
		}
	}
	lines := strings.Split(right, "\n")
	for f, want := range map[backend.UpdateFlaw]func() string{
		backend.TextNewline:      func() string { return right + "\n" },
		backend.TextCRLF:         func() string { return strings.ReplaceAll(right, "\n", "\r\n") },
		backend.TextFraction:     swap(":55Z", ":55.000000009Z"),
		backend.TextOffset:       swap(":55Z", ":55+00:00"),
		backend.TextRoundedUp:    swap(":55Z", ":56Z"),
		backend.TextUnsignedYear: swap("1969-12-31T23:59:55Z", "2554-07-21T23:34:28Z"),
		backend.TextPrefixedID:   swap("(ID: ", "(ID: 0x"),
		backend.TextUpperID:      swap(key, strings.ToUpper(key)),
		backend.TextBlankLine: func() string {
			return strings.NewReplacer("\n- Grant", "\n\n- Grant", "\n- Change", "\n\n- Change").Replace(right)
		},
		backend.TextOtherOrder: func() string {
			return strings.Join(slices.Concat(lines[:5], lines[7:11], lines[5:7], lines[11:]), "\n")
		},
		backend.TextFooterSlash:  func() string { return right + "/" },
		backend.TextPasskeyLabel: swap("(Address: 04ab)", "(Passkey: 04ab)"),
		backend.TextOtherHeader:  swap("XMTP : ", "XMTP: "),
	} {
		got := blocks(f)
		if w := want(); got != w || got == right {
			t.Errorf("%s:\n%q\nwant\n%q", f, got, w)
		}
	}
	// 2^64 - 5 s + 9 ns, read as unsigned: 18446744068 s.
	if got := time.Unix(18446744068, 0).UTC().Format(time.RFC3339); got != "2554-07-21T23:34:28Z" {
		t.Errorf("the test expects a wrong time: %s", got)
	}
}

func TestEveryFlawOfAnActionIsRefusedForIt(t *testing.T) {
	for _, f := range backend.ActionFlaws() {
		t.Run(string(f), func(t *testing.T) {
			want := malformed
			inbox := backend.InboxRef{Creator: w1}
			first := backend.IdentityUpdate{Inbox: inbox, Second: 1, Actions: []backend.Action{create(w1)}}
			u := backend.IdentityUpdate{Inbox: inbox, Second: 2, Actions: []backend.Action{add(w2, by(w1)), revoke(i1, by(w1))}}
			at := 1
			switch f {
			case backend.OtherNonce:
				u, first, at = first, backend.IdentityUpdate{}, 0
				want = update
			case backend.PasskeyPrefixed, backend.PasskeyOdd:
				u.Actions[1] = recoverBy(pk, by(w1))
			}
			r := newReference(t, craft.New(1, "n", string(f)), noWallets{})
			if first.Actions != nil {
				if got, err := r.publish(first); got != 0 {
					t.Fatal(err)
				}
			}
			flawed := u
			flawed.Actions = slices.Clone(u.Actions)
			flawed.Actions[at].Flaw = f
			if got, err := r.publish(flawed); !slices.Contains(want, got) {
				t.Errorf("got %v (%v), want one of %v", got, err, want)
			}
			if got, err := r.publish(u); got != 0 {
				t.Errorf("the sound update is refused: %v", err)
			}
		})
	}
}

// withChain is the reference and a crafter on a simulated chain of their own.
func withChain(t *testing.T, scope string) *reference {
	t.Helper()
	return onChain(t)(t, scope)
}

// onChain starts a simulated chain and makes references and crafters on it.
func onChain(t *testing.T) func(t *testing.T, scope string) *reference {
	t.Helper()
	c, err := chain.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	v, err := implchain.New(implchain.Config{Timeout: 30 * time.Second, Routes: map[string]string{fmt.Sprintf("eip155:%d", c.ID()): c.URL(), "eip155:31337": c.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return func(t *testing.T, scope string) *reference {
		return newReference(t, craft.New(1, "n", scope).WithChain(c), v)
	}
}

func TestEveryFlawOfASignatureIsRefusedForIt(t *testing.T) {
	plain, ahead := contractThat(backend.Plainly), contractThat(backend.Counterfactual)
	r := withChain(t, "flaws of signatures")
	var table []string
	second := int64(0)
	for k := backend.Wallet; k <= backend.Contract; k++ {
		for _, f := range backend.SignatureFlaws(k) {
			for _, s := range []backend.Signing{by(w1), {Party: w1, Variant: backend.Delegated}, by(i1), by(pk), by(plain), by(ahead)} {
				s.Flaw = f
				if s.Party.Kind != k || !f.Fits(s) {
					continue
				}
				second += 10
				want := signature
				switch f {
				case backend.SignatureMissing, backend.SignatureUnset, backend.Ed25519Key31, backend.Ed25519NoPoint, backend.AccountColons, backend.AccountTwoParts:
					want = unset
				case backend.EthereumCut, backend.EthereumLong, backend.Ed25519Cut, backend.RawRS:
					want = encoding
				case backend.OverOtherText, backend.RawKeccak, backend.PrefixPadded, backend.PrefixOffByOne:
					if k == backend.Wallet && s.Variant != backend.Delegated {
						want = stranger
					}
				}
				t.Run(fmt.Sprintf("%s by %s %s", f, s.Party, s.Variant), func(t *testing.T) {
					r := *r
					r.t = t
					// Every signer is a member of an inbox of its own, which only its first
					// signature can have been used in.
					inbox := backend.InboxRef{Creator: w2, Nonce: uint64(second)}
					creation := backend.IdentityUpdate{Inbox: inbox, Second: second, Actions: []backend.Action{create(w2), add(s.Party, by(w2))}}
					if s.Variant == backend.Delegated {
						// The retired form is only good in the wallet's inbox of nonce 0.
						inbox = backend.InboxRef{Creator: w1}
						r.history = make(map[backend.Bytes][]*associations.IdentityUpdate)
						creation = backend.IdentityUpdate{Inbox: inbox, Second: second, Actions: []backend.Action{create(w1)}}
					}
					if got, err := r.publish(creation); got != 0 {
						t.Fatal(err)
					}
					u := backend.IdentityUpdate{Inbox: inbox, Second: second + 1, Actions: []backend.Action{add(i3, s)}}
					got, err := r.publish(u)
					if !slices.Contains(want, got) {
						t.Errorf("got %v (%v), want one of %v", got, err, want)
					}
					table = append(table, fmt.Sprintf("%-12s %-55s %v", s.Party.Kind, f, got))
					u.Actions[0].By.Flaw = backend.SoundSignature
					if s.Party.Kind == backend.Installation {
						// An installation may not add another, whatever it signs.
						u.Actions[0].Subject = w3
					}
					if got, err := r.publish(u); got != 0 {
						t.Errorf("the sound update is refused: %v", err)
					}
				})
			}
		}
	}
	t.Logf("what the reference says of each flaw:\n%s", strings.Join(table, "\n"))
}

func TestEveryVariantIsTakenAsTheReferenceTakesIt(t *testing.T) {
	plain := contractThat(backend.Plainly)
	r := withChain(t, "variants")
	nonce := uint64(0)
	for _, c := range []struct {
		name string
		s    backend.Signing
		want []identity.Class
	}{
		{"V of 0 or 1", backend.Signing{Party: w1, Variant: backend.ParityV}, accepted},
		{"V with a chain id", backend.Signing{Party: w1, Variant: backend.ChainV}, accepted},
		{"high S with the other V recovers another key here", backend.Signing{Party: w1, Variant: backend.HighS}, update},
		{"high S with the same V reads as low S here", backend.Signing{Party: w1, Variant: backend.HighSSameV}, accepted},
		{"a wallet's signature as a contract's", backend.Signing{Party: w1, Variant: backend.AsContract}, update}, // a member without a chain
		{"more members of client data", backend.Signing{Party: pk, Variant: backend.ExtraMembers}, accepted},
		{"another origin", backend.Signing{Party: pk, Variant: backend.OtherOrigin}, accepted},
		{"no origin", backend.Signing{Party: pk, Variant: backend.NoOrigin}, signature},
		{"client data of a registration", backend.Signing{Party: pk, Variant: backend.CreateCeremony}, accepted},
		{"no authenticator data", backend.Signing{Party: pk, Variant: backend.NoAuthData}, accepted},
		{"high S in DER", backend.Signing{Party: pk, Variant: backend.UpperS}, accepted},
		{"low S in DER", backend.Signing{Party: pk, Variant: backend.LowerS}, accepted},
		{"a compressed key is another identifier", backend.Signing{Party: pk, Variant: backend.CompressedKey}, update},
		{"an account in mixed case", backend.Signing{Party: plain, Variant: backend.AccountChecksummed}, accepted},
		{"an account on the second route is another chain's", backend.Signing{Party: plain, Chain: backend.SecondRoute}, update},
		{"an account on a chain without a route", backend.Signing{Party: plain, Chain: backend.NoRoute}, nothing},
		{"an account of another namespace", backend.Signing{Party: plain, Chain: backend.CosmosChain}, nothing},
		{"an account on a chain without a number", backend.Signing{Party: plain, Chain: backend.WordyChain}, nothing},
		{"an account on a chain with a padded number", backend.Signing{Party: plain, Chain: backend.PaddedChain}, nothing},
		{"one block later", backend.Signing{Party: plain, Block: backend.AfterDeployment}, accepted},
		{"above the head", backend.Signing{Party: plain, Block: backend.AboveHead}, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := *r
			r.t = t
			nonce++
			inbox := backend.InboxRef{Creator: w2, Nonce: nonce}
			if got, err := r.publish(backend.IdentityUpdate{Inbox: inbox, Second: 1, Actions: []backend.Action{create(w2), add(c.s.Party, by(w2))}}); got != 0 {
				t.Fatal(err)
			}
			got, err := r.publish(backend.IdentityUpdate{Inbox: inbox, Second: 2, Actions: []backend.Action{add(i3, c.s)}})
			if !slices.Contains(c.want, got) {
				t.Errorf("got %v (%v), want one of %v", got, err, c.want)
			}
		})
	}
}
