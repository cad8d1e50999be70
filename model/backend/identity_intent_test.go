package backend

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartiesAndInboxesReadBackFromTheirNames(t *testing.T) {
	var parties []Party
	for k := Wallet; k <= Contract; k++ {
		parties = append(parties, Party{Kind: k, Name: "a-1_b.C"})
	}
	for _, b := range Behaviours() {
		parties = append(parties, Party{Kind: Contract, Name: "c", Behaviour: b})
	}
	for _, p := range parties {
		if got, err := ParseParty(p.String()); err != nil || got != p {
			t.Errorf("%q reads back as %v, %v", p, got, err)
		}
		for _, nonce := range []uint64{0, 10, math.MaxUint64} {
			r := InboxRef{p, nonce}
			if got, err := ParseInbox(r.Log().Name); err != nil || got != r {
				t.Errorf("%q reads back as %v, %v", r, got, err)
			}
		}
	}
}

func TestNamesThatNameNobodyAreRefused(t *testing.T) {
	for _, s := range []string{"", "wallet", "wallet ", "wallet a b", "wallet a/b", "wallet a that reverts", "contract a that sings",
		"contract  that reverts", "stranger a", "invalid a", "wallet ä"} {
		if p, err := ParseParty(s); err == nil {
			t.Errorf("%q reads as %v", s, p)
		}
	}
	for _, s := range []string{"", "wallet a", "wallet a/", "wallet a/00", "wallet a/+1", "wallet a/18446744073709551616", "wallet a/-1", "/0", "a/0"} {
		if r, err := ParseInbox(s); err == nil {
			t.Errorf("%q reads as %v", s, r)
		}
	}
}

func TestAnUpdateReadsBackFromJSON(t *testing.T) {
	w, i := Party{Kind: Wallet, Name: "w"}, Party{Kind: Installation, Name: "i"}
	inbox := InboxRef{Creator: w, Nonce: 3}
	for name, e := range map[string]Envelope{
		"an update of every field": {Log: inbox.Log(), Update: &IdentityUpdate{Inbox: inbox, Second: -5, Nanosecond: 9, Flaw: TextCRLF, Variant: InboxUpper, Actions: []Action{
			{Kind: CreateInbox, Subject: w, Variant: KindZero},
			{Kind: AddAssociation, Subject: i, By: Signing{Party: w, Variant: ParityV}, New: Signing{Party: i, Flaw: PlainEd25519}},
			{Kind: RevokeAssociation, Subject: i, By: Signing{Party: Party{Kind: Contract, Name: "c", Behaviour: Toggled}, Salt: 2, Chain: SecondRoute, Block: AfterSwitch}, Flaw: SubjectUnset},
			{Flaw: KindUnset},
		}}},
		"an empty update": {Log: inbox.Log(), Update: &IdentityUpdate{Inbox: inbox}},
		"a key package":   {Log: i.Log(), Package: &KeyPackageIntent{Installation: i, Inbox: inbox, Suite: 1, Serial: 2, Lifetime: Ended, Flaw: LeafCut, Variant: Version0}},
	} {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got Envelope
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, got); d != "" {
			t.Errorf("%s as %s differs (-meant +read):\n%s", name, b, d)
		}
	}
}

func TestWhoSignsWhenNobodyIsNamed(t *testing.T) {
	w, i := Party{Kind: Wallet, Name: "w"}, Party{Kind: Installation, Name: "i"}
	if s := (Action{Kind: CreateInbox, Subject: w, By: Signing{Variant: ParityV}}).Allowing(); s.Party != w || s.Variant != ParityV {
		t.Errorf("a create without a signer is signed by %v", s)
	}
	if s := (Action{Kind: RevokeAssociation, Subject: w}).Allowing(); s.Party != (Party{}) {
		t.Errorf("a revocation without a signer is signed by %v", s)
	}
	add := Action{Kind: AddAssociation, Subject: i, By: Signing{Party: w}}
	if got := add.Signings(); len(got) != 2 || got[0].Party != w || got[1].Party != i {
		t.Errorf("an add is signed by %v", got)
	}
}

// Words are what histories and scenario files keep: two of one type that are
// equal could not be told apart there.
func TestNoTwoFlawsShareTheirWords(t *testing.T) {
	seen := map[string]bool{}
	add := func(s string) {
		if s == "" || seen[s] {
			t.Errorf("%q names two flaws, or none", s)
		}
		seen[s] = true
	}
	each(UpdateFlaws(), add)
	each(ActionFlaws(), add)
	each(ActionVariants(), add)
	each(KeyPackageFlaws(), add)
	each(KeyPackageVariants(), add)
	each(Lifetimes()[1:], add)
	each(HashFlaws(), add)
	var flaws []SignatureFlaw
	for k := Wallet; k <= Contract; k++ {
		for _, f := range SignatureFlaws(k) {
			if !slices.Contains(flaws, f) {
				flaws = append(flaws, f)
			}
		}
		each(SignatureVariants(k), add)
	}
	each(flaws, add)
}

func each[T ~string](all []T, f func(string)) {
	for _, s := range all {
		f(string(s))
	}
}

func TestAFlawFitsWhatItChanges(t *testing.T) {
	w, i, k := Party{Kind: Wallet, Name: "w"}, Party{Kind: Installation, Name: "i"}, Party{Kind: Passkey, Name: "k"}
	one := IdentityUpdate{Inbox: InboxRef{Creator: w}, Actions: []Action{{Kind: CreateInbox, Subject: w}}}
	two := one
	two.Actions = append(slices.Clone(one.Actions), Action{Kind: AddAssociation, Subject: i})
	for _, c := range []struct {
		fits bool
		what string
	}{
		{TextNewline.Fits(one), "a newline fits any text"},
		{!TextBlankLine.Fits(one), "no blank line between one action"},
		{TextBlankLine.Fits(two), "a blank line between two actions"},
		{!TextUpperID.Fits(one), "no installation, no upper case"},
		{TextUpperID.Fits(two), "an installation's id in upper case"},
		{!TextRoundedUp.Fits(one), "a whole second is not rounded"},
		{!TextUnsignedYear.Fits(one), "a time after 1970 has no second reading"},
		{CreateChecksummed.Fits(one), "a wallet's create can be checksummed"},
		{!InboxFromChecksummed.Fits(IdentityUpdate{Inbox: InboxRef{Creator: k}}), "a passkey has no checksum"},
		{OtherNonce.Fits(one.Actions[0]), "a create has a nonce"},
		{!OtherNonce.Fits(two.Actions[1]), "an add has none"},
		{PlainEd25519.Fits(Signing{Party: i}), "an installation can sign plainly"},
		{!PlainEd25519.Fits(Signing{Party: w}), "a wallet cannot"},
		{!DelegateStranger.Fits(Signing{Party: w}), "no delegated key, no stranger"},
		{DelegateStranger.Fits(Signing{Party: w, Variant: Delegated}), "a delegated key has one"},
		{RawKeccak.Fits(Signing{Party: Party{Kind: Contract, Name: "c"}}), "an owner signs a prefix"},
		{!RawKeccak.Fits(Signing{Party: Party{Kind: Contract, Name: "c", Behaviour: Always}}), "who says yes to everything reads no prefix"},
		{WrapperMissing.Fits(Signing{Party: Party{Kind: Contract, Name: "c", Behaviour: Counterfactual}}), "a wrapper can be missing"},
		{!EthereumV5.Fits(Signing{Party: w, Variant: AsContract}), "a contract's signature is not an ECDSA one"},
	} {
		if !c.fits {
			t.Error(c.what)
		}
	}
}

func TestCallsAboutIdentitiesReadBackFromJSON(t *testing.T) {
	w := Party{Kind: Wallet, Name: "w"}
	block, inbox, wrong := uint64(0), "", "no"
	for name, v := range map[string]any{
		"a lookup": &Call{Method: MethodLookup, Lookup: &LookupCall{Entries: []LookedUp{{Lookup: Lookup{Party: w, Spelling: UpperSpelling}, Identifier: "0xAB", Kind: 1}}}},
		"a verification": &Call{Method: MethodVerify, Verify: &VerifyCall{Entries: []Verifying{
			{Verification: Verification{By: Signing{Party: w, Variant: AsContract, Block: Newest}, Content: "c", Hash: Hash31}, Account: "eip155:1337:0xab"},
			{Verification: Verification{By: Signing{Party: w}}, Number: &block},
		}}},
		"inbox ids":      &Return{InboxIDs: &InboxIDs{Entries: []InboxID{{Identifier: "0xAB", Kind: 1, Inbox: &inbox}, {}}}},
		"wallet answers": &Return{Verified: &WalletAnswers{Entries: []WalletAnswer{{Valid: true, Number: &block, Error: &wrong}, {}}}},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got any = new(Call)
		if _, ok := v.(*Return); ok {
			got = new(Return)
		}
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, got); d != "" {
			t.Errorf("%s as %s differs (-meant +read):\n%s", name, b, d)
		}
	}
}
