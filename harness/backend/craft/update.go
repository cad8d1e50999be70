package craft

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// Fields of the Signature message.
const (
	erc191Field       = 1
	erc6492Field      = 2
	installationField = 3
	delegatedField    = 4
	passkeyField      = 5
)

// Numbers of IdentifierKind; the third is none of them.
const (
	kindEthereum = 1
	kindPasskey  = 2
	kindNobody   = 99
)

// update makes the payload of an identity update and the topic that it leads
// to, "" when its inbox id leads to none.
func (c *Crafter) update(u *backend.IdentityUpdate) ([]field, backend.Bytes, error) {
	if err := checkUpdate(u); err != nil {
		return nil, "", err
	}
	claimed, signed, err := c.claimed(u)
	if err != nil {
		return nil, "", err
	}
	members := make([]*keys, len(u.Actions))
	blocks := make([]block, len(u.Actions))
	for i, a := range u.Actions {
		if a.Kind == 0 {
			continue
		}
		if members[i], err = c.keysOf(a.Subject); err != nil {
			return nil, "", fmt.Errorf("action %d: %w", i, err)
		}
		blocks[i] = block{a.Kind, a.Subject.Kind, members[i].name(a, u.Flaw)}
	}
	blocks = slices.DeleteFunc(blocks, func(b block) bool { return b.kind == 0 })
	right := signedText(signed, u.Second, u.Nanosecond, blocks, u.Flaw)
	// Made where it is needed: most updates have no signature over another text.
	other := func() string { return signedText(signed, u.Second+1, u.Nanosecond, blocks, u.Flaw) }

	fields := make([]field, 0, len(u.Actions)+2)
	for i, a := range u.Actions {
		f, err := c.action(u, a, members[i], func(num protowire.Number, s backend.Signing) ([]field, error) {
			return c.signature(num, right, other, s)
		})
		if err != nil {
			return nil, "", fmt.Errorf("action %d of an update of %s: %w", i, u.Inbox, err)
		}
		fields = append(fields, f)
	}
	fields = append(fields, number(2, timestamp(u.Second, u.Nanosecond)), text(3, claimed))
	topic := backend.Bytes("")
	if id, err := hex.DecodeString(claimed); err == nil && len(id) == 32 {
		topic = backend.Bytes(append([]byte{kindByte(backend.Identity)}, id...))
	}
	return []field{message(identityUpdateField, fields...)}, topic, nil
}

// checkUpdate refuses intents that have no bytes, or more than one thing wrong
// in one place.
func checkUpdate(u *backend.IdentityUpdate) error {
	if u.Flaw != backend.SoundUpdate && !slices.Contains(backend.UpdateFlaws(), u.Flaw) {
		return fmt.Errorf("update flaw %q is unknown: use one of %q", u.Flaw, backend.UpdateFlaws())
	}
	if !u.Flaw.Fits(*u) {
		return fmt.Errorf("an update of %s cannot have flaw %q: it has nothing that the flaw changes", u.Inbox, u.Flaw)
	}
	if u.Variant != backend.OrdinaryUpdate && (u.Variant != backend.InboxUpper || u.Flaw.NoTopic() || u.Flaw.OtherTopic()) {
		return fmt.Errorf("an update of %s with flaw %q cannot have variant %q", u.Inbox, u.Flaw, u.Variant)
	}
	if u.Nanosecond >= uint32(time.Second) {
		return fmt.Errorf("an update of %s with nanosecond %d: a second has fewer", u.Inbox, u.Nanosecond)
	}
	// The field has 64 bits, read as signed: the year 1677 to 2262.
	if back := time.Unix(0, int64(timestamp(u.Second, u.Nanosecond))); back.Unix() != u.Second {
		return fmt.Errorf("an update of %s at second %d: 64 bits of nanoseconds do not reach it", u.Inbox, u.Second)
	}
	for i, a := range u.Actions {
		if a.Kind == 0 && u.Flaw != backend.SoundUpdate {
			return fmt.Errorf("an update of %s with flaw %q and an action of no kind: give the action the kind it would have", u.Inbox, u.Flaw)
		}
		if err := checkAction(a); err != nil {
			return fmt.Errorf("action %d of an update of %s: %w", i, u.Inbox, err)
		}
	}
	return nil
}

func checkAction(a backend.Action) error {
	if a.Kind == 0 && a.Flaw == backend.KindUnset {
		return nil
	}
	if a.Kind < backend.CreateInbox || a.Kind > backend.ChangeRecovery {
		return fmt.Errorf("an action without a kind has flaw %q", backend.KindUnset)
	}
	if (a.Kind == backend.CreateInbox || a.Kind == backend.ChangeRecovery) && a.Subject.Kind == backend.Installation {
		return fmt.Errorf("%s of %s: the wire has no kind for an installation there", a.Kind, a.Subject)
	}
	if !a.Flaw.Fits(a) || !a.Variant.Fits(a) {
		return fmt.Errorf("%s of %s cannot have flaw %q and variant %q", a.Kind, a.Subject, a.Flaw, a.Variant)
	}
	if a.Kind != backend.AddAssociation && a.New != (backend.Signing{}) {
		return fmt.Errorf("%s of %s has a new member's signature: only an add has one", a.Kind, a.Subject)
	}
	for _, s := range a.Signings() {
		switch {
		case s.Party == (backend.Party{}):
			return fmt.Errorf("%s of %s says of nobody that they sign", a.Kind, a.Subject)
		case !s.Flaw.Fits(s) || !s.Variant.Fits(s.Party):
			return fmt.Errorf("a signature of %s cannot have flaw %q and variant %q", s.Party, s.Flaw, s.Variant)
		case s.Salt != 0 && s.Party.Kind != backend.Passkey && s.Party.Kind != backend.Contract:
			return fmt.Errorf("a signature of %s has one form: it cannot be salted", s.Party)
		case !s.OnChain() && (s.Chain != backend.RunChain || s.Block != backend.AtDeployment):
			return fmt.Errorf("a signature of %s names no chain and no block", s.Party)
		}
	}
	return nil
}

// claimed is the inbox id that the update carries, and the one in its text.
func (c *Crafter) claimed(u *backend.IdentityUpdate) (carried, signed string, err error) {
	k, err := c.keysOf(u.Inbox.Creator)
	if err != nil {
		return "", "", fmt.Errorf("inbox %s: %w", u.Inbox, err)
	}
	identifier, nonce := k.identifier(), u.Inbox.Nonce
	id := inboxID(identifier, nonce)
	switch u.Flaw {
	case backend.InboxSeparator:
		id = inboxHash(fmt.Sprintf("%s-%d", identifier, nonce))
	case backend.InboxPaddedNonce:
		id = inboxHash(fmt.Sprintf("%s0%d", identifier, nonce))
	case backend.InboxFromChecksummed, backend.CreateChecksummed:
		id = inboxID(k.checksummed(), nonce)
	case backend.InboxPrefixed:
		id = "0x" + id
	case backend.Inbox62:
		id = id[:62]
	case backend.Inbox66:
		id += "00"
	case backend.InboxNotHex:
		id = notHex(id)
	case backend.InboxEmpty:
		id = ""
	case backend.TextOtherInbox:
		return id, inboxID(identifier, nonce+1), nil
	}
	if u.Variant == backend.InboxUpper {
		id = strings.ToUpper(id)
	}
	return id, id, nil
}

// name is a party's identifier as the signed text of an action has it.
func (k *keys) name(a backend.Action, flaw backend.UpdateFlaw) string {
	switch {
	case a.Variant == backend.Checksummed, a.Kind == backend.CreateInbox && flaw == backend.CreateChecksummed:
		return k.checksummed()
	case a.Variant == backend.Compressed:
		return hex.EncodeToString(k.compressed)
	default:
		return k.identifier()
	}
}

// signer makes a signature field, none when the signature is missing.
type signer func(num protowire.Number, s backend.Signing) ([]field, error)

// action is one IdentityAction.
func (c *Crafter) action(u *backend.IdentityUpdate, a backend.Action, k *keys, sign signer) (field, error) {
	if a.Flaw == backend.KindUnset {
		return message(1), nil
	}
	byField := protowire.Number(2)
	if a.Kind == backend.CreateInbox {
		byField = 3
	}
	by, err := sign(byField, a.Allowing())
	if err != nil {
		return field{}, err
	}
	var joining []field
	if s, ok := a.Joining(); ok {
		if joining, err = sign(3, s); err != nil {
			return field{}, err
		}
	}
	var num protowire.Number
	var fields []field
	switch a.Kind {
	case backend.CreateInbox:
		nonce := u.Inbox.Nonce
		if a.Flaw == backend.OtherNonce {
			nonce++
		}
		name, kind := k.carried(a, u.Flaw)
		num, fields = 1, slices.Concat([]field{text(1, name), number(2, nonce)}, by, []field{number(4, kind)}, party(a, 5))
	case backend.AddAssociation:
		num, fields = 2, slices.Concat(k.member(a), by, joining, party(a, 4))
	case backend.RevokeAssociation:
		num, fields = 3, slices.Concat(k.member(a), by)
	default:
		name, kind := k.carried(a, u.Flaw)
		num, fields = 4, slices.Concat([]field{text(1, name)}, by, []field{number(3, kind)}, party(a, 4))
	}
	return message(1, message(num, fields...)), nil
}

// party is the relying party of an action that names one.
func party(a backend.Action, num protowire.Number) []field {
	if a.Variant != backend.NamesParty {
		return nil
	}
	return []field{text(num, relyingParty)}
}

// carried is an identifier that stands as text beside the number of its kind.
func (k *keys) carried(a backend.Action, flaw backend.UpdateFlaw) (string, uint64) {
	s, kind := k.name(a, flaw), uint64(kindEthereum)
	if k.kind == backend.Passkey {
		kind = kindPasskey
	}
	switch a.Flaw {
	case backend.PasskeyPrefixed:
		s = "0x" + s
	case backend.PasskeyOdd:
		s = s[:len(s)-1]
	}
	switch a.Variant {
	case backend.KindZero:
		kind = 0
	case backend.KindUnknown:
		kind = kindNobody
	case backend.PasskeyUpper:
		s = strings.ToUpper(s)
	}
	return s, kind
}

// member is a MemberIdentifier.
func (k *keys) member(a backend.Action) []field {
	switch a.Flaw {
	case backend.SubjectMissing:
		return nil
	case backend.SubjectUnset:
		return []field{message(1)}
	}
	switch k.kind {
	case backend.Installation:
		return []field{message(1, bytesOf(2, k.public))}
	case backend.Passkey:
		point := k.point
		if a.Variant == backend.Compressed {
			point = k.compressed
		}
		return []field{message(1, message(3, append([]field{bytesOf(1, point)}, party(a, 2)...)...))}
	default:
		return []field{message(1, text(1, k.name(a, backend.SoundUpdate)))}
	}
}

// signature is one signature field of an action, none when it is missing.
func (c *Crafter) signature(num protowire.Number, right string, other func() string, s backend.Signing) ([]field, error) {
	switch s.Flaw {
	case backend.SignatureMissing:
		return nil, nil
	case backend.SignatureUnset:
		return []field{message(num)}, nil
	}
	k, err := c.keysOf(s.Party)
	if err != nil {
		return nil, err
	}
	over := right
	if s.Flaw == backend.OverOtherText {
		over = other()
	}
	var inner field
	switch {
	case s.OnChain():
		inner, err = c.walletSignature(k, over, s)
	case k.kind == backend.Wallet:
		inner, err = k.ethereumSignature(over, s)
	case k.kind == backend.Installation:
		inner, err = k.installationSignature(over, s)
	default:
		inner, err = k.passkeySignature(over, s)
	}
	if err != nil {
		return nil, fmt.Errorf("signature of %s: %w", s.Party, err)
	}
	return []field{message(num, inner)}, nil
}
