package backend

import (
	"fmt"
	"strconv"

	rules "assay/model/backend"
)

// parseParty reads a member's short name: w1 is a wallet, i1 an installation,
// k1 a passkey.
func parseParty(s string) (rules.Party, error) {
	kinds := map[byte]rules.PartyKind{'w': rules.Wallet, 'i': rules.Installation, 'k': rules.Passkey}
	if len(s) > 1 {
		if k, ok := kinds[s[0]]; ok {
			return rules.Party{Kind: k, Name: s}, nil
		}
	}
	return rules.Party{}, fmt.Errorf("%q is no member: write w1 for a wallet, i1 for an installation, k1 for a passkey", s)
}

// parseInbox reads the name of an inbox: its creator, with nonce 0.
func parseInbox(s string) (rules.InboxRef, error) {
	p, err := parseParty(s)
	return rules.InboxRef{Creator: p}, err
}

// firstSecond is when updates begin to be signed, in seconds since 1970; an
// update "at N" is signed N seconds later.
const firstSecond = 1_700_000_000

// parseUpdate reads what follows "identity INBOX" in a publish: create | add
// MEMBER [by MEMBER] | revoke MEMBER [by MEMBER] | recovery MEMBER [by MEMBER],
// any of them once or more, and [at N]. Who signs is the inbox's creator when
// nobody is named. Signatures are deterministic and the signed text has whole
// seconds: equal actions at one second are a replay.
func parseUpdate(inbox rules.InboxRef, w []word) (rules.Envelope, error) {
	u := rules.IdentityUpdate{Inbox: inbox, Second: firstSecond}
	member := func() (rules.Party, error) {
		if len(w) == 0 {
			return rules.Party{}, fmt.Errorf("an identity update ends early: a member, such as w2, should follow")
		}
		p, err := parseParty(w[0].text)
		w = w[1:]
		return p, err
	}
	kinds := map[string]rules.ActionKind{"add": rules.AddAssociation, "revoke": rules.RevokeAssociation, "recovery": rules.ChangeRecovery}
	for len(w) > 0 {
		head := w[0].text
		w = w[1:]
		kind, acts := kinds[head]
		switch {
		case head == "create":
			u.Actions = append(u.Actions, rules.Action{Kind: rules.CreateInbox, Subject: inbox.Creator})
		case acts:
			p, err := member()
			if err != nil {
				return rules.Envelope{}, err
			}
			by := inbox.Creator
			if len(w) > 0 && w[0].text == "by" {
				w = w[1:]
				if by, err = member(); err != nil {
					return rules.Envelope{}, err
				}
			}
			u.Actions = append(u.Actions, rules.Action{Kind: kind, Subject: p, By: rules.Signing{Party: by}})
		case head == "at" && len(w) > 0:
			n, err := strconv.ParseInt(w[0].text, 10, 32)
			if err != nil || n < 0 {
				return rules.Envelope{}, fmt.Errorf("at %q: write the seconds after the first update", w[0].text)
			}
			u.Second = firstSecond + n
			w = w[1:]
		default:
			return rules.Envelope{}, fmt.Errorf("%q is no part of an identity update: write create, add MEMBER, revoke MEMBER or recovery MEMBER, each with by MEMBER where it is not the creator who signs, and at N", head)
		}
	}
	if len(u.Actions) == 0 {
		return rules.Envelope{}, fmt.Errorf("an identity update does nothing: write create, add MEMBER, revoke MEMBER or recovery MEMBER")
	}
	return rules.Envelope{Log: inbox.Log(), Update: &u}, nil
}

// parsePackage reads what follows "key-package INSTALLATION of" in a publish: INBOX
// [number N]. Packages of one installation with different numbers differ.
func parsePackage(installation string, w []word) (rules.Envelope, error) {
	p, err := parseParty(installation)
	if err != nil || p.Kind != rules.Installation {
		return rules.Envelope{}, fmt.Errorf("a key package is of an installation, such as i1, not of %q", installation)
	}
	if len(w) == 0 {
		return rules.Envelope{}, fmt.Errorf("key-package %s of: write the inbox, such as w1", installation)
	}
	inbox, err := parseInbox(w[0].text)
	if err != nil {
		return rules.Envelope{}, err
	}
	k := &rules.KeyPackageIntent{Installation: p, Inbox: inbox}
	switch {
	case len(w) == 1:
	case len(w) == 3 && w[1].text == "number":
		n, err := strconv.ParseUint(w[2].text, 10, 32)
		if err != nil {
			return rules.Envelope{}, fmt.Errorf("number %q: write a number", w[2].text)
		}
		k.Serial = uint32(n)
	default:
		return rules.Envelope{}, fmt.Errorf("%q is no part of a key package: write \"of INBOX\" and perhaps \"number N\"", w[1].text)
	}
	return rules.Envelope{Log: p.Log(), Package: k}, nil
}
