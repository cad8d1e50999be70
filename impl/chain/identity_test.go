package chain

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/impl/identity"
	"assay/spec/gen/xmtp/identity/associations"
)

// A whole identity update against a real chain: the wallet must be asked about
// the EIP-191 hash of the signed text, at the block the update names.
func TestInboxesOfContractWallets(t *testing.T) {
	c := newTestChain(t)
	gone, _ := counted(t, http.NotFoundHandler())
	head := c.head(t)
	personal := func(text string) [32]byte { return [32]byte(accounts.TextHash([]byte(text))) }
	plain := func(text string) [32]byte { return [32]byte(crypto.Keccak256([]byte(text))) }
	byOwner := func(hash func(string) [32]byte) func(string) []byte {
		return func(text string) []byte { return signWith(t, c.owner, hash(text)) }
	}

	for _, tc := range []struct {
		name   string
		wallet common.Address
		chain  string
		url    string
		sign   func(text string) []byte
		class  identity.Class // 0: accepted
	}{
		{name: "a wallet whose owner signed the text is accepted", wallet: ownedWallet, sign: byOwner(personal)},
		{name: "a wallet whose owner signed without the EIP-191 prefix is refused", wallet: ownedWallet, sign: byOwner(plain), class: identity.InvalidSignature},
		{name: "a wallet to be deployed is accepted", wallet: c.child, sign: func(text string) []byte { return wrap(t, factory, nil, byOwner(personal)(text)) }},
		{name: "an address key that signs as a contract is accepted", wallet: crypto.PubkeyToAddress(c.owner.PublicKey), sign: byOwner(personal)},
		{name: "a wallet that reverts makes the update unavailable", wallet: deafWallet, sign: byOwner(personal), class: identity.Unavailable},
		{name: "a chain without a route makes the update unavailable", wallet: ownedWallet, chain: "eip155:999999", sign: byOwner(personal), class: identity.Unavailable},
		{name: "a node that is gone makes the update unavailable", wallet: ownedWallet, url: gone, sign: byOwner(personal), class: identity.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.chain == "" {
				tc.chain = "eip155:1"
			}
			if tc.url == "" {
				tc.url = c.url
			}
			validator := identity.NewValidator(identity.Config{
				Rules: identity.ReferenceRules(), Wallets: newVerifier(t, tc.url, 10), MaxWalletSignatures: 100,
			})
			owner := identity.EthereumAddress(strings.ToLower(tc.wallet.Hex()))
			inbox := identity.InboxID(owner, 0)
			text := identity.Text(identity.Update{InboxID: inbox, Actions: []identity.Action{{Verb: identity.Create, Subject: owner}}})
			_, err := validator.Validate(t.Context(), nil, &associations.IdentityUpdate{
				InboxId: inbox,
				Actions: []*associations.IdentityAction{{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: &associations.CreateInbox{
					InitialIdentifier: owner.Value,
					InitialIdentifierSignature: &associations.Signature{Signature: &associations.Signature_Erc_6492{Erc_6492: &associations.SmartContractWalletSignature{
						AccountId: tc.chain + ":" + tc.wallet.Hex(), BlockNumber: head, Signature: tc.sign(text),
					}}},
				}}}},
			})
			var refusal *identity.Error
			switch {
			case tc.class == 0 && err != nil:
				t.Fatal(err)
			case tc.class != 0 && (!errors.As(err, &refusal) || refusal.Class != tc.class):
				t.Fatalf("got %v, want %v", err, tc.class)
			}
		})
	}
}
