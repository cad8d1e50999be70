package craft

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// LookUp writes down one entry of a lookup. It fails for a spelling that the
// party's identifier has not.
func (c *Crafter) LookUp(l backend.Lookup) (backend.LookedUp, error) {
	if !slices.Contains(backend.Spellings(l.Party.Kind), l.Spelling) {
		return backend.LookedUp{}, fmt.Errorf("a lookup of %s cannot be spelt %q: use one of %q", l.Party, l.Spelling, backend.Spellings(l.Party.Kind))
	}
	k, err := c.keysOf(l.Party)
	if err != nil {
		return backend.LookedUp{}, err
	}
	out := backend.LookedUp{Lookup: l, Identifier: k.identifier(), Kind: kindEthereum}
	address := k.kind == backend.Wallet || k.kind == backend.Contract
	if !address {
		out.Kind = kindPasskey
	}
	switch l.Spelling {
	case backend.ChecksummedSpelling:
		out.Identifier = k.checksummed()
	case backend.UpperSpelling:
		if address {
			out.Identifier = "0x" + strings.ToUpper(out.Identifier[2:])
		} else {
			out.Identifier = strings.ToUpper(out.Identifier)
		}
	case backend.OtherKindSpelling:
		out.Kind = kindEthereum + kindPasskey - out.Kind
	case backend.KindZeroSpelling:
		out.Kind = 0
	case backend.KindUnknownSpelling:
		out.Kind = kindNobody
	case backend.CompressedSpelling:
		out.Identifier = hex.EncodeToString(k.compressed)
	case backend.PrefixedSpelling:
		out.Identifier = "0x" + out.Identifier
	case backend.NonsenseSpelling:
		out.Identifier = "nobody"
	case backend.EmptySpelling:
		out.Identifier = ""
	}
	return out, nil
}

// LookupRequest makes the GetInboxIdsRequest of lookups, and says what it holds.
func (c *Crafter) LookupRequest(ls []backend.Lookup) (request []byte, call backend.LookupCall, err error) {
	call.Entries = make([]backend.LookedUp, len(ls))
	fields := make([]field, len(ls))
	for i, l := range ls {
		if call.Entries[i], err = c.LookUp(l); err != nil {
			return nil, backend.LookupCall{}, fmt.Errorf("entry %d of a lookup: %w", i, err)
		}
		e := call.Entries[i]
		fields[i] = message(1, text(1, e.Identifier), number(2, uint64(e.Kind)))
	}
	return writer{}.append(nil, fields), call, nil
}

// verification flaws: a hash has no text and no prefix to get wrong.
func verifiable(s backend.Signing) bool {
	switch s.Flaw {
	case backend.SoundSignature, backend.OverOtherText, backend.AccountColons, backend.AccountTwoParts:
		return true
	case backend.WrapperMissing:
		return s.Party.Behaviour == backend.Counterfactual
	default:
		return false
	}
}

// VerifyRequest makes the VerifySmartContractWalletSignaturesRequest of
// verifications, and says what it holds. A wallet may stand where a contract
// would, with or without variant AsContract.
func (c *Crafter) VerifyRequest(vs []backend.Verification) (request []byte, call backend.VerifyCall, err error) {
	call.Entries = make([]backend.Verifying, len(vs))
	for i, v := range vs {
		var entry []byte
		if entry, call.Entries[i], err = c.verification(v); err != nil {
			return nil, backend.VerifyCall{}, fmt.Errorf("entry %d of a verification: %w", i, err)
		}
		request = protowire.AppendTag(request, 1, protowire.BytesType)
		request = protowire.AppendBytes(request, entry)
	}
	return request, call, nil
}

func (c *Crafter) verification(v backend.Verification) ([]byte, backend.Verifying, error) {
	out := backend.Verifying{Verification: v}
	s := v.By
	if s.Party.Kind != backend.Contract && s.Party.Kind != backend.Wallet {
		return nil, out, fmt.Errorf("%s has no address: only contracts and wallets are verified on a chain", s.Party)
	}
	if !verifiable(s) || s.Variant != backend.OrdinarySignature && s.Variant != backend.AsContract && s.Variant != backend.AccountChecksummed {
		return nil, out, fmt.Errorf("a verification by %s cannot have flaw %q and variant %q", s.Party, s.Flaw, s.Variant)
	}
	k, err := c.keysOf(s.Party)
	if err != nil {
		return nil, out, err
	}
	if out.Account, err = c.account(k, s); err != nil {
		return nil, out, err
	}
	var number []byte
	if s.Block != backend.Newest {
		n, err := c.blockOf(k, s)
		if err != nil {
			return nil, out, err
		}
		out.Number = &n
		number = protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), n)
	}
	hash := c.root("hash", v.Content)
	signed := hash
	if s.Flaw == backend.OverOtherText {
		signed = c.root("another hash", v.Content)
	}
	signature, err := k.walletBytes(signed[:], s)
	if err != nil {
		return nil, out, err
	}
	sent := hash[:]
	switch v.Hash {
	case backend.SoundHash:
	case backend.OtherHash:
		other := c.root("another hash", v.Content)
		sent = other[:]
	case backend.Hash31:
		sent = sent[:31]
	case backend.Hash33:
		sent = append(sent[:32:32], 0)
	case backend.HashEmpty:
		sent = nil
	default:
		return nil, out, errors.New("the flaw of the hash is unknown: " + string(v.Hash))
	}
	// Field by field, for an optional number is on the wire also when it is 0.
	entry := writer{}.append(nil, []field{text(1, out.Account)})
	entry = append(entry, number...)
	return writer{}.append(entry, []field{bytesOf(3, sent), bytesOf(4, signature)}), out, nil
}
