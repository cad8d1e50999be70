package identity_test

import (
	"context"
	"errors"
	"fmt"

	"assay/impl/identity"
	"assay/spec/gen/xmtp/identity/associations"
)

const owner = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"

func ExampleInboxID() {
	fmt.Println(identity.InboxID(identity.EthereumAddress(owner), 0))
	// Output:
	// 1b814a0b4a7d3871d695ac17439012c3809f3bdcb4d4ea8726a5b3a8df569893
}

func ExampleText() {
	fmt.Println(identity.Text(identity.Update{
		InboxID:     identity.InboxID(identity.EthereumAddress(owner), 0),
		TimestampNS: 1700000000123456789,
		Actions:     []identity.Action{{Verb: identity.Create, Subject: identity.EthereumAddress(owner)}},
	}))
	// Output:
	// XMTP : Authenticate to inbox
	//
	// Inbox ID: 1b814a0b4a7d3871d695ac17439012c3809f3bdcb4d4ea8726a5b3a8df569893
	// Current time: 2023-11-14T22:13:20Z
	//
	// - Create inbox
	//   (Owner: 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a)
	//
	// For more info: https://xmtp.org/signatures
}

func ExampleNormalizeLookup() {
	key, err := identity.NormalizeLookup(0, "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A")
	fmt.Println(key.Kind, key.Text, err)
	// Output:
	// ethereum address 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a <nil>
}

// A refusal says what class of answer it deserves and which rule decided.
func ExampleValidator_Validate() {
	validator := identity.NewValidator(identity.Config{Rules: identity.ReferenceRules(), MaxWalletSignatures: 100})
	_, err := validator.Validate(context.Background(), nil, &associations.IdentityUpdate{
		InboxId: identity.InboxID(identity.EthereumAddress(owner), 0),
		Actions: []*associations.IdentityAction{{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: &associations.CreateInbox{
			InitialIdentifier: owner,
			InitialIdentifierSignature: &associations.Signature{Signature: &associations.Signature_Erc_191{
				Erc_191: &associations.RecoverableEcdsaSignature{Bytes: []byte{1, 2, 3}},
			}},
		}}}},
	})
	var refusal *identity.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Class)
		fmt.Println(refusal.Rule)
		fmt.Println(err)
	}
	// Output:
	// invalid signature
	// an address signature recovers
	// identity update, action 0: an address signature has 65 bytes, this one has 3 (an address signature recovers)
}
