package identity

import (
	"encoding/hex"
	"fmt"

	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/messagecontents"
)

// CountWalletSignatures counts the contract signatures of an update over all
// signature fields, equal ones as often as they occur (API-044). It looks at
// the wire form, so an update can be refused for it before anything is decoded.
func CountWalletSignatures(u *associations.IdentityUpdate) int {
	n := 0
	count := func(s *associations.Signature) {
		if s.GetErc_6492() != nil {
			n++
		}
	}
	for _, a := range u.GetActions() {
		count(a.GetCreateInbox().GetInitialIdentifierSignature())
		count(a.GetAdd().GetExistingMemberSignature())
		count(a.GetAdd().GetNewMemberSignature())
		count(a.GetRevoke().GetRecoveryIdentifierSignature())
		count(a.GetChangeRecoveryAddress().GetExistingRecoveryIdentifierSignature())
	}
	return n
}

// Decode gives an update its domain form. The error is an *[Error] of class
// Malformed; it names the action. What decodes may still be nonsense: a
// signature of the wrong length or an address that is none fails later, when
// it is verified or applied.
func Decode(u *associations.IdentityUpdate) (Update, error) {
	update, err := decode(u)
	if err != nil {
		return Update{}, err
	}
	return update, nil
}

func decode(u *associations.IdentityUpdate) (Update, *Error) {
	update := Update{
		InboxID:     u.GetInboxId(),
		TimestampNS: u.GetClientTimestampNs(),
		Actions:     make([]Action, 0, len(u.GetActions())),
	}
	for i, wire := range u.GetActions() {
		action, err := decodeAction(wire)
		if err != nil {
			return Update{}, refuse(Malformed, RuleDecodes, "%v", err).atAction(i)
		}
		update.Actions = append(update.Actions, action)
	}
	return update, nil
}

func decodeAction(wire *associations.IdentityAction) (a Action, err error) {
	switch kind := wire.GetKind().(type) {
	case *associations.IdentityAction_CreateInbox:
		a.Verb, a.Nonce = Create, kind.CreateInbox.GetNonce()
		a.Subject, err = decodeNamed(kind.CreateInbox.GetInitialIdentifier(), kind.CreateInbox.GetInitialIdentifierKind())
		if err == nil {
			a.By, err = decodeSignature(kind.CreateInbox.GetInitialIdentifierSignature())
		}
	case *associations.IdentityAction_Add:
		a.Verb = Add
		a.Subject, err = decodeMember(kind.Add.GetNewMemberIdentifier())
		if err == nil {
			a.By, err = decodeSignature(kind.Add.GetExistingMemberSignature())
		}
		if err == nil {
			a.Joining, err = decodeSignature(kind.Add.GetNewMemberSignature())
		}
	case *associations.IdentityAction_Revoke:
		a.Verb = Revoke
		a.Subject, err = decodeMember(kind.Revoke.GetMemberToRevoke())
		if err == nil {
			a.By, err = decodeSignature(kind.Revoke.GetRecoveryIdentifierSignature())
		}
	case *associations.IdentityAction_ChangeRecoveryAddress:
		a.Verb = ChangeRecovery
		a.Subject, err = decodeNamed(kind.ChangeRecoveryAddress.GetNewRecoveryIdentifier(), kind.ChangeRecoveryAddress.GetNewRecoveryIdentifierKind())
		if err == nil {
			a.By, err = decodeSignature(kind.ChangeRecoveryAddress.GetExistingRecoveryIdentifierSignature())
		}
	default:
		err = fmt.Errorf("the action has no kind")
	}
	if err != nil && a.Verb != 0 {
		err = fmt.Errorf("%v: %w", a.Verb, err)
	}
	return a, err
}

// decodeNamed reads an identifier that is carried as text beside its kind. A
// number that is no known kind reads as an address, as zero does. A relying
// party may stand beside it; it says nothing about who the party is.
func decodeNamed(text string, kind associations.IdentifierKind) (Identifier, error) {
	if kind != associations.IdentifierKind_IDENTIFIER_KIND_PASSKEY {
		return EthereumAddress(text), nil
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return Identifier{}, fmt.Errorf("the passkey %s is not hexadecimal", quote(text))
	}
	return PasskeyKey(key), nil
}

func decodeMember(wire *associations.MemberIdentifier) (Identifier, error) {
	switch kind := wire.GetKind().(type) {
	case *associations.MemberIdentifier_EthereumAddress:
		return EthereumAddress(kind.EthereumAddress), nil
	case *associations.MemberIdentifier_InstallationPublicKey:
		return InstallationKey(kind.InstallationPublicKey), nil
	case *associations.MemberIdentifier_Passkey:
		return PasskeyKey(kind.Passkey.GetKey()), nil
	default:
		return Identifier{}, fmt.Errorf("the member identifier is not set")
	}
}

func decodeSignature(wire *associations.Signature) (Signature, error) {
	switch kind := wire.GetSignature().(type) {
	case *associations.Signature_Erc_191:
		return AddressSignature{kind.Erc_191.GetBytes()}, nil
	case *associations.Signature_Erc_6492:
		account, err := ParseAccountID(kind.Erc_6492.GetAccountId())
		if err != nil {
			return nil, err
		}
		return ContractSignature{account, kind.Erc_6492.GetBlockNumber(), kind.Erc_6492.GetSignature()}, nil
	case *associations.Signature_InstallationKey:
		key, err := parseInstallationKey(kind.InstallationKey.GetPublicKey())
		if err != nil {
			return nil, err
		}
		return InstallationSignature{kind.InstallationKey.GetBytes(), key}, nil
	case *associations.Signature_DelegatedErc_191:
		return decodeDelegated(kind.DelegatedErc_191)
	case *associations.Signature_Passkey:
		return PasskeySignature{
			PublicKey:         kind.Passkey.GetPublicKey(),
			Signature:         kind.Passkey.GetSignature(),
			AuthenticatorData: kind.Passkey.GetAuthenticatorData(),
			ClientDataJSON:    kind.Passkey.GetClientDataJson(),
		}, nil
	default:
		return nil, fmt.Errorf("a signature is not set")
	}
}

func decodeDelegated(wire *associations.LegacyDelegatedSignature) (Signature, error) {
	if wire.GetDelegatedKey() == nil {
		return nil, fmt.Errorf("a delegated signature lacks its key")
	}
	if wire.GetSignature() == nil {
		return nil, fmt.Errorf("a delegated signature lacks the signature by its key")
	}
	return DelegatedSignature{
		Bytes:    wire.GetSignature().GetBytes(),
		KeyBytes: wire.GetDelegatedKey().GetKeyBytes(),
		Voucher:  decodeVoucher(wire.GetDelegatedKey().GetSignature()),
	}, nil
}

// decodeVoucher joins the wallet's signature from either arm. Nothing is
// refused here: a length that is wrong, or an arm that is missing, is a
// signature that does not verify. Recovery is cut to the byte it stands for.
func decodeVoucher(wire *messagecontents.Signature) []byte {
	join := func(compact []byte, recovery uint32) []byte {
		return append(append([]byte(nil), compact...), byte(recovery))
	}
	switch union := wire.GetUnion().(type) {
	case *messagecontents.Signature_EcdsaCompact:
		return join(union.EcdsaCompact.GetBytes(), union.EcdsaCompact.GetRecovery())
	case *messagecontents.Signature_WalletEcdsaCompact:
		return join(union.WalletEcdsaCompact.GetBytes(), union.WalletEcdsaCompact.GetRecovery())
	default:
		return nil
	}
}
