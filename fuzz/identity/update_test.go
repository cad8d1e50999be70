package identity_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/proto"

	"assay/impl/identity"
	"assay/spec/gen/xmtp/identity/associations"
)

const (
	addressSignature = "f21a76954677b38fbeaa620706feae0ea4f465467889b888b098d3eb112f8bf508e2ab720da79520b2580689c4a9905dbbe6273e15748dedb39a0783977fda9f1b"
	installation     = "17cb79fb2b4120f2b1ec65e4198d6e08b28e813feb01e4a400839b85e18080ce"
	inbox            = "1b814a0b4a7d3871d695ac17439012c3809f3bdcb4d4ea8726a5b3a8df569893"
)

// created is an update that opens an inbox for an address and adds an
// installation to it, with real signatures.
func created() *associations.IdentityUpdate {
	address := &associations.Signature{Signature: &associations.Signature_Erc_191{
		Erc_191: &associations.RecoverableEcdsaSignature{Bytes: unhex(addressSignature)},
	}}
	return &associations.IdentityUpdate{InboxId: inbox, ClientTimestampNs: 1700000000123456789, Actions: []*associations.IdentityAction{
		{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: &associations.CreateInbox{
			InitialIdentifier: "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a", InitialIdentifierKind: 1, InitialIdentifierSignature: address,
		}}},
		{Kind: &associations.IdentityAction_Add{Add: &associations.AddAssociation{
			NewMemberIdentifier:     &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_InstallationPublicKey{InstallationPublicKey: unhex(installation)}},
			ExistingMemberSignature: address,
			NewMemberSignature: &associations.Signature{Signature: &associations.Signature_InstallationKey{InstallationKey: &associations.RecoverableEd25519Signature{
				Bytes:     unhex("d5a15c2b89d3f429f3958068c13e6de4b359381ff0a342424d4ac4a41ae1fdbe85189bc87745e6cf2f4501e5db4f60b961dec7daf949ba3a77001ba14c1dd709"),
				PublicKey: unhex(installation),
			}}},
		}}},
	}}
}

// byContract is an update that every chain which says yes makes good.
func byContract(verb identity.Verb) *associations.IdentityUpdate {
	const wallet = "0x00000000000000000000000000000000000000aa"
	sign := func(account string, tail byte) *associations.Signature {
		return &associations.Signature{Signature: &associations.Signature_Erc_6492{Erc_6492: &associations.SmartContractWalletSignature{
			AccountId: account, BlockNumber: 3, Signature: append(bytes.Repeat([]byte{byte(verb)}, 64), tail),
		}}}
	}
	mine := sign("eip155:1:"+wallet, 1)
	u := &associations.IdentityUpdate{InboxId: identity.InboxID(identity.EthereumAddress(wallet), 0), ClientTimestampNs: uint64(verb) << 30}
	passkey := strings.Repeat("04", 33)
	switch verb {
	case identity.Create:
		u.Actions = append(u.Actions, &associations.IdentityAction{Kind: &associations.IdentityAction_CreateInbox{CreateInbox: &associations.CreateInbox{
			InitialIdentifier: wallet, InitialIdentifierSignature: mine,
		}}})
	case identity.Add:
		const other = "0x00000000000000000000000000000000000000bb"
		u.Actions = append(u.Actions, &associations.IdentityAction{Kind: &associations.IdentityAction_Add{Add: &associations.AddAssociation{
			NewMemberIdentifier:     &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_EthereumAddress{EthereumAddress: other}},
			ExistingMemberSignature: mine, NewMemberSignature: sign("eip155:2:"+other, 3),
		}}})
	case identity.Revoke:
		u.Actions = append(u.Actions, &associations.IdentityAction{Kind: &associations.IdentityAction_Revoke{Revoke: &associations.RevokeAssociation{
			MemberToRevoke:              &associations.MemberIdentifier{Kind: &associations.MemberIdentifier_Passkey{Passkey: &associations.Passkey{Key: unhex(passkey)}}},
			RecoveryIdentifierSignature: mine,
		}}})
	default:
		u.Actions = append(u.Actions, &associations.IdentityAction{Kind: &associations.IdentityAction_ChangeRecoveryAddress{ChangeRecoveryAddress: &associations.ChangeRecoveryAddress{
			NewRecoveryIdentifier: passkey, NewRecoveryIdentifierKind: 2, ExistingRecoveryIdentifierSignature: mine,
		}}})
	}
	return u
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// chance is a chain that says yes, no, or nothing by the last byte of a signature.
type chance struct{}

func (chance) VerifyWallet(_ context.Context, c identity.WalletClaim) (bool, error) {
	if len(c.Signature) == 0 {
		return false, nil
	}
	last := c.Signature[len(c.Signature)-1]
	if last%5 == 4 {
		return false, errors.New("no verdict \x1b[2J")
	}
	return last%2 == 1, nil
}

// FuzzUpdate validates any bytes as the next update of three inboxes: one
// that does not exist, one of an address and one of a contract.
func FuzzUpdate(f *testing.F) {
	histories := [][]*associations.IdentityUpdate{nil, {created()}, {byContract(identity.Create), byContract(identity.Add)}}
	add := func(u *associations.IdentityUpdate) {
		encoded, err := proto.Marshal(u)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	add(&associations.IdentityUpdate{})
	add(created())
	for _, verb := range []identity.Verb{identity.Create, identity.Add, identity.Revoke, identity.ChangeRecovery} {
		add(byContract(verb))
	}
	config := identity.Config{Rules: identity.ReferenceRules(), Wallets: chance{}, MaxWalletSignatures: 100}
	forgetting := identity.NewValidator(config)
	config.Remember = 16
	remembering := identity.NewValidator(config)

	f.Fuzz(func(t *testing.T, data []byte) {
		var u associations.IdentityUpdate
		if proto.Unmarshal(data, &u) != nil {
			return
		}
		for i, history := range histories {
			change, err := forgetting.Validate(t.Context(), history, &u)
			again, errAgain := remembering.Validate(t.Context(), history, &u)
			if !reflect.DeepEqual(change, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
				t.Fatalf("history %d: remembering changed %v, %v to %v, %v", i, change, err, again, errAgain)
			}
			if err != nil {
				saneRefusal(t, err)
				continue
			}
			for _, key := range append(change.Added, change.Removed...) {
				if looked, err := identity.NormalizeLookup(int32(key.Kind), key.Text); err != nil || looked != key {
					t.Fatalf("the projected key %v is looked up as %v, %v", key, looked, err)
				}
			}
			if len(u.GetActions()) == 0 {
				continue
			}
			replay := proto.CloneOf(&u)
			replay.ClientTimestampNs ^= 1
			if _, err := forgetting.Validate(t.Context(), append(history[:len(history):len(history)], &u), replay); err == nil {
				t.Fatalf("history %d: the accepted update was accepted again", i)
			}
		}
	})
}

func saneRefusal(t *testing.T, err error) {
	t.Helper()
	var refusal *identity.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("refused with %T", err)
	}
	if refusal.Class < identity.Malformed || refusal.Class > identity.InvalidUpdate || refusal.Rule == "" {
		t.Fatalf("refused with class %v and rule %q", refusal.Class, refusal.Rule)
	}
	text := err.Error()
	if len(text) > 1000 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r > unicode.MaxASCII }) {
		t.Fatalf("the text of the refusal is %q", text)
	}
}
