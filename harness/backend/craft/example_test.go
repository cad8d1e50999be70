package craft_test

import (
	"fmt"

	"assay/harness/backend/craft"
	"assay/model/backend"
)

// A wallet opens an inbox and lets its first installation in; the installation's
// key package names that inbox.
func ExampleCrafter_Envelope() {
	c := craft.New(7, "nonce", "example")
	alice := backend.Party{Kind: backend.Wallet, Name: "alice"}
	phone := backend.Party{Kind: backend.Installation, Name: "phone"}
	inbox := backend.InboxRef{Creator: alice}

	update := backend.IdentityUpdate{Inbox: inbox, Second: 1_700_000_000, Actions: []backend.Action{
		{Kind: backend.CreateInbox, Subject: alice},
		{Kind: backend.AddAssociation, Subject: phone, By: backend.Signing{Party: alice}},
	}}
	wire, artefact, err := c.Envelope(backend.Envelope{Log: inbox.Log(), Update: &update})
	fmt.Println(len(wire), artefact.Topic == c.Topic(inbox.Log()), err)

	// The same update with one thing wrong: a signature over the bare text.
	update.Actions[1].New.Flaw = backend.PlainEd25519
	_, _, err = c.Envelope(backend.Envelope{Log: inbox.Log(), Update: &update})
	fmt.Println(err)

	pack := backend.KeyPackageIntent{Installation: phone, Inbox: inbox}
	_, artefact, err = c.Envelope(backend.Envelope{Log: phone.Log(), Package: &pack})
	fmt.Println(artefact.Topic == c.Topic(phone.Log()), err)
	// Output:
	// 417 true <nil>
	// <nil>
	// true <nil>
}
