package craft

import (
	"fmt"

	"assay/model/backend"
)

// Field numbers of ClientEnvelope's payload.
const (
	groupMessageField   = 1
	welcomeMessageField = 2
	keyPackageField     = 3
	identityUpdateField = 4
	commitLogEntryField = 5
)

// amounts says how long the parts of a payload are that may have any length.
type amounts struct {
	// pad is the length of the padded part, extra what is added to a second one:
	// it reaches totals that pad alone steps over where a length header grows.
	pad, extra int
	// bare leaves out what a payload can do without.
	bare bool
}

// extraMost is the largest extra worth trying. One step of pad moves the total
// by at most 1 + 2 + 2 + 2 + 2, when four nested length headers grow at once.
const extraMost = 9

// payload builds the envelope's fields. It is total over the intents that check
// accepts.
func payload(e backend.Envelope, d draw, a amounts) []field {
	if e.Flaw == backend.PayloadUnset {
		return nil
	}
	switch e.Log.Kind {
	case backend.Group:
		return groupEnvelope(e, d, a)
	case backend.Welcome:
		return welcomeEnvelope(e, d, a)
	case backend.CommitLog:
		return commitLogEnvelope(e, d, a)
	case backend.KeyPackage:
		return keyPackageEnvelope(e, d, a)
	default:
		return identityUpdate(e, d)
	}
}

func groupEnvelope(e backend.Envelope, d draw, a amounts) []field {
	data := groupMessage(e, d, a)
	shape := d.shape
	hmac, push := d.bytes("sender hmac"+e.Outer, 32+a.extra), shape[8]&1 == 1
	if a.bare {
		hmac, push = d.bytes("sender hmac"+e.Outer, a.extra), false
	}
	return []field{message(groupMessageField, bytesOf(1, data), bytesOf(2, hmac), flag(3, push))}
}

func welcomeEnvelope(e backend.Envelope, d draw, a amounts) []field {
	key := d.identifier
	switch e.Flaw {
	case backend.WelcomeVersionUnset:
		return []field{message(welcomeMessageField)}
	case backend.WelcomeKey0:
		key = nil
	case backend.WelcomeKey31:
		key = key[:31]
	case backend.WelcomeKey33:
		key = append(key[:32:32], 0x5a)
	}
	shape := d.shape
	hpke, metadata := 32+a.extra, pick(shape[9], 0, 24)
	// A pointer's algorithm has one name beside "unspecified", a welcome's three.
	algorithm := pick[uint64](shape[10], 0, 1, 2, 3)
	if e.Form == backend.Pointer {
		algorithm = pick[uint64](shape[10], 0, 2)
	}
	if a.bare {
		hpke, metadata, algorithm = a.extra, 0, 0
	}
	fields := []field{
		bytesOf(1, key),
		bytesOf(2, d.bytes("welcome", a.pad)),
		bytesOf(3, d.bytes("hpke key"+e.Outer, hpke)),
		number(4, algorithm),
	}
	if e.Form == backend.Pointer {
		return []field{message(welcomeMessageField, message(2, fields...))}
	}
	fields = append(fields, bytesOf(5, d.bytes("welcome metadata", metadata)))
	return []field{message(welcomeMessageField, message(1, fields...))}
}

func commitLogEnvelope(e backend.Envelope, d draw, a amounts) []field {
	id := d.identifier
	switch e.Flaw {
	case backend.CommitLogNoGroup:
		id = nil
	case backend.CommitLogID15:
		id = d.bytes("group id", 15)
	case backend.CommitLogID17:
		id = d.bytes("group id", 17)
	}
	shape := d.shape
	// PlaintextCommitLogEntry: group id, commit's sequence id, the last epoch's
	// authenticator, result, the applied epoch and its authenticator.
	plain := []field{
		bytesOf(1, id),
		number(2, uint64(shape[11])),
		bytesOf(3, d.bytes("last authenticator", a.pad)),
		number(4, pick[uint64](shape[12], 1, 2, 3, 4)),
		number(5, uint64(shape[13])),
		bytesOf(6, d.bytes("applied authenticator", 32)),
	}
	signature, signer := d.bytes("signature"+e.Outer, signatureLength+a.extra), d.bytes("signer", pick(shape[14], 0, keyLength))
	if a.bare {
		plain = []field{plain[0], plain[2]}
		signature, signer = d.bytes("signature"+e.Outer, a.extra), nil
	}
	entry := writer{}.append(nil, plain)
	if e.Flaw == backend.CommitLogGarbage {
		// The three low bits of a tag are its wire type, and there is no type 7.
		entry = append([]byte{0xff}, d.bytes("garbage", a.pad)...)
	}
	return []field{message(commitLogEntryField, bytesOf(1, entry), message(2, bytesOf(1, signature), bytesOf(2, signer)))}
}

func keyPackageEnvelope(e backend.Envelope, d draw, a amounts) []field {
	var data []byte
	switch e.Flaw {
	case backend.KeyPackageGarbage:
		// Behind version and suite stands a vector's length; one that starts with
		// two ones never decodes, so the bytes are no key package by any chance.
		data = append([]byte(nil), d.bytes("garbage", 5+a.pad)...)
		data[4] |= 0xc0
	case backend.KeyPackageWrapped:
		data = keyPackage(tls(nil).u16(mls10).u16(keyPackageFormat), d)
	}
	return []field{message(keyPackageField, bytesOf(1, data))}
}

// natural is the length of the padded part when no size is asked for.
func natural(e backend.Envelope, shape [32]byte) int {
	switch e.Log.Kind {
	case backend.Group:
		if e.Form == backend.PublicProposal || e.Form == backend.PublicCommit {
			return pick(shape[15], 0, 16, 70)
		}
		return 48 + int(shape[15])
	case backend.Welcome:
		return 120 + int(shape[15])
	case backend.CommitLog:
		return 32
	case backend.KeyPackage:
		return 200 + int(shape[15])
	default:
		return 0
	}
}

// check refuses intents that cannot be made, or that would be wrong in more ways
// than the one they name.
func check(e backend.Envelope) error {
	kind, known := flawKind(e.Flaw)
	switch {
	case !known:
		return fmt.Errorf("flaw %q of an envelope on %s: craft cannot make it", e.Flaw, e.Log)
	case e.Encoding > backend.Explicit:
		return fmt.Errorf("encoding %s of an envelope on %s: craft cannot write it", e.Encoding, e.Log)
	case e.Trailing < 0 || e.Size < 0:
		return fmt.Errorf("envelope on %s with %d trailing bytes and size %d: neither may be negative", e.Log, e.Trailing, e.Size)
	case e.Update != nil || e.Package != nil:
		return checkSigned(e)
	case e.Flaw == backend.PayloadUnset:
		if e.Form != backend.Plain || e.Trailing != 0 || e.Size != 0 {
			return fmt.Errorf("envelope on %s without a payload: it has no form, trailing bytes or size", e.Log)
		}
		return nil
	case e.Log.Kind.IdentifierLength() == 0:
		return fmt.Errorf("envelope on %s: only flaw %q has no payload kind", e.Log, backend.PayloadUnset)
	case !e.Form.Fits(e.Log.Kind) || e.Form > backend.Pointer:
		return fmt.Errorf("envelope on %s cannot have form %s", e.Log, e.Form)
	case e.Flaw != backend.Sound && kind != e.Log.Kind:
		return fmt.Errorf("envelope on %s cannot have flaw %q, which is one of %s", e.Log, e.Flaw, kind)
	case e.Trailing > 0 && (e.Log.Kind != backend.Group || e.Flaw != backend.Sound):
		return fmt.Errorf("envelope on %s with flaw %q cannot have trailing bytes: only a sound group message can", e.Log, e.Flaw)
	case e.Flaw == backend.Sound && (e.Log.Kind == backend.Identity || e.Log.Kind == backend.KeyPackage):
		return fmt.Errorf("sound envelope on %s: say with Update or Package what it is", e.Log)
	}
	return nil
}

// checkSigned refuses an update or key package that contradicts its envelope.
func checkSigned(e backend.Envelope) error {
	log := backend.Log{}
	switch {
	case e.Update != nil && e.Package != nil:
		return fmt.Errorf("envelope on %s is both an update and a key package", e.Log)
	case e.Update != nil:
		log = e.Update.Inbox.Log()
	default:
		log = e.Package.Installation.Log()
	}
	if e.Log != log {
		return fmt.Errorf("envelope on %s holds what belongs on %s: name that log", e.Log, log)
	}
	if e.Flaw != backend.Sound || e.Form != backend.Plain || e.Trailing != 0 {
		return fmt.Errorf("envelope on %s with flaw %q, form %s and %d trailing bytes: say inside Update or Package what is wrong with it", e.Log, e.Flaw, e.Form, e.Trailing)
	}
	return nil
}

// flawKind is the payload kind that a flaw can spoil; Unset for those of all kinds.
func flawKind(f backend.Flaw) (kind backend.Kind, known bool) {
	switch f {
	case backend.Sound, backend.PayloadUnset:
		return backend.Unset, true
	case backend.GroupEmpty, backend.GroupOneByte, backend.GroupHeaderOnly, backend.GroupNoHeader, backend.GroupVersion,
		backend.GroupWireFormat, backend.GroupHoldsWelcome, backend.GroupHoldsGroupInfo, backend.GroupHoldsKeyPackage,
		backend.GroupContentType, backend.GroupCutAfterType, backend.GroupCutLastByte, backend.GroupLongLength,
		backend.GroupHugeLength, backend.GroupID0, backend.GroupID15, backend.GroupID17, backend.GroupID32:
		return backend.Group, true
	case backend.WelcomeVersionUnset, backend.WelcomeKey0, backend.WelcomeKey31, backend.WelcomeKey33:
		return backend.Welcome, true
	case backend.CommitLogGarbage, backend.CommitLogNoGroup, backend.CommitLogID15, backend.CommitLogID17:
		return backend.CommitLog, true
	case backend.KeyPackageEmpty, backend.KeyPackageGarbage, backend.KeyPackageWrapped:
		return backend.KeyPackage, true
	case backend.IdentityInboxShort, backend.IdentityInboxText:
		return backend.Identity, true
	default:
		return backend.Unset, false
	}
}
