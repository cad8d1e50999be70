package backend

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of an envelope and of the topic it belongs to. The zero
// value is a payload that is not set.
type Kind uint8

// The five payload kinds (API-002), numbered as the first byte of their topic
// plus one so that the zero value stays "unset".
const (
	Unset Kind = iota
	Group
	Welcome
	Identity
	KeyPackage
	CommitLog
)

var kindNames = [...]string{"unset", "group", "welcome", "identity", "key-package", "commit-log"}

// String returns the word that scenario files use for the kind.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind reads the word that String writes.
func ParseKind(s string) (Kind, error) {
	for i, n := range kindNames {
		if n == s {
			return Kind(i), nil
		}
	}
	return 0, fmt.Errorf("payload kind %q is unknown: use group, welcome, identity, key-package, commit-log or unset", s)
}

// IdentifierLength is the number of identifier bytes in a topic of this kind
// (API-002), 0 for Unset.
func (k Kind) IdentifierLength() int {
	switch k {
	case Group, CommitLog:
		return 16
	case Welcome, Identity, KeyPackage:
		return 32
	default:
		return 0
	}
}

// Log names one topic symbolically. The bytes behind it come from the run's
// seed and nonce, so the same intent lands on fresh topics in every run.
type Log struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// String returns "group g".
func (l Log) String() string { return l.Kind.String() + " " + l.Name }

// Form picks among the shapes one kind of payload can take.
type Form uint8

// The forms. Plain means the ordinary one: for a group message a
// PrivateMessage with application content, for a welcome the v1 form.
const (
	Plain Form = iota
	// PrivateProposal and PrivateCommit are encrypted MLS handshake messages.
	PrivateProposal
	PrivateCommit
	// PublicProposal and PublicCommit are MLS handshake messages in the clear.
	PublicProposal
	PublicCommit
	// Pointer is a welcome pointer.
	Pointer
)

var formNames = [...]string{"plain", "private-proposal", "private-commit", "public-proposal", "public-commit", "pointer"}

// String returns the word that scenario files use for the form.
func (f Form) String() string {
	if int(f) >= len(formNames) {
		return fmt.Sprintf("form(%d)", uint8(f))
	}
	return formNames[f]
}

// ParseForm reads the word that String writes.
func ParseForm(s string) (Form, error) {
	for i, n := range formNames {
		if n == s {
			return Form(i), nil
		}
	}
	return 0, fmt.Errorf("payload form %q is unknown: use one of %v", s, formNames)
}

// Fits reports whether a payload of kind k can take the form.
func (f Form) Fits(k Kind) bool {
	switch f {
	case Plain:
		return true
	case Pointer:
		return k == Welcome
	default:
		return k == Group
	}
}

// Handshake reports whether the form is an MLS commit or proposal.
func (f Form) Handshake() bool {
	return f == PrivateProposal || f == PrivateCommit || f == PublicProposal || f == PublicCommit
}

// Flaw is the one way in which an artefact is wrong. It says what was done to
// the artefact and nothing about how a subject should answer.
type Flaw string

// Flaws of envelopes that need no key. The empty flaw is a sound artefact.
const (
	Sound Flaw = ""

	PayloadUnset         Flaw = "payload unset"
	GroupEmpty           Flaw = "group message of no bytes"
	GroupOneByte         Flaw = "group message of one byte"
	GroupHeaderOnly      Flaw = "group message of a header alone"
	GroupNoHeader        Flaw = "group message without the message header"
	GroupVersion         Flaw = "group message of an unknown version"
	GroupWireFormat      Flaw = "group message of an unknown wire format"
	GroupHoldsWelcome    Flaw = "group message that holds a welcome"
	GroupHoldsGroupInfo  Flaw = "group message that holds a group info"
	GroupHoldsKeyPackage Flaw = "group message that holds a key package"
	GroupContentType     Flaw = "group message of an unknown content type"
	GroupCutAfterType    Flaw = "group message cut after its content type"
	GroupCutLastByte     Flaw = "group message cut by its last byte"
	GroupLongLength      Flaw = "group message with a length not in its shortest form"
	GroupHugeLength      Flaw = "group message whose length runs past its end"
	GroupID0             Flaw = "group id of 0 bytes"
	GroupID15            Flaw = "group id of 15 bytes"
	GroupID17            Flaw = "group id of 17 bytes"
	GroupID32            Flaw = "group id of 32 bytes"

	WelcomeVersionUnset Flaw = "welcome version unset"
	WelcomeKey0         Flaw = "welcome installation key of 0 bytes"
	WelcomeKey31        Flaw = "welcome installation key of 31 bytes"
	WelcomeKey33        Flaw = "welcome installation key of 33 bytes"

	CommitLogGarbage Flaw = "commit-log entry that is no protobuf"
	CommitLogNoGroup Flaw = "commit-log entry without a group id"
	CommitLogID15    Flaw = "commit-log group id of 15 bytes"
	CommitLogID17    Flaw = "commit-log group id of 17 bytes"

	KeyPackageEmpty    Flaw = "key package of no bytes"
	KeyPackageGarbage  Flaw = "key package of random bytes"
	KeyPackageWrapped  Flaw = "key package inside a message header"
	IdentityInboxShort Flaw = "identity update with an inbox id of 31 bytes"
	IdentityInboxText  Flaw = "identity update with an inbox id that is not hex"
)

// Encoding is how the protobuf of a sound envelope is written. Every encoding
// of one envelope decodes to the same value (API-020).
type Encoding uint8

const (
	// Canonical writes fields in ascending order and leaves defaults out.
	Canonical Encoding = iota
	// Reordered writes the payload's fields in descending order.
	Reordered
	// Padded writes varints of the payload's framing longer than needed.
	Padded
	// Explicit writes default scalars that a canonical encoder leaves out.
	Explicit
)

var encodingNames = [...]string{"canonical", "reordered", "padded", "explicit"}

// String returns the word that scenario files use for the encoding.
func (e Encoding) String() string {
	if int(e) >= len(encodingNames) {
		return fmt.Sprintf("encoding(%d)", uint8(e))
	}
	return encodingNames[e]
}

// ParseEncoding reads the word that String writes.
func ParseEncoding(s string) (Encoding, error) {
	for i, n := range encodingNames {
		if n == s {
			return Encoding(i), nil
		}
	}
	return 0, fmt.Errorf("encoding %q is unknown: use one of %v", s, encodingNames)
}

// Envelope is the intent behind one published envelope. Two envelopes of equal
// intent, whatever their Encoding, have equal identity.
type Envelope struct {
	Log Log `json:"log"`
	// Content names the payload: equal names on one log give equal bytes.
	Content string `json:"content,omitempty"`
	// Outer names the fields around the payload: sender HMAC, HPKE key, signature.
	// Envelopes that differ in it alone carry the same payload and are not equal.
	Outer string `json:"outer,omitempty"`
	Form  Form   `json:"form,omitempty"`
	// Flaw is what is wrong with it; Sound when nothing is.
	Flaw     Flaw     `json:"flaw,omitempty"`
	Encoding Encoding `json:"encoding,omitempty"`
	// Trailing is the number of bytes that follow the MLS message (API-041).
	Trailing int `json:"trailing,omitempty"`
	// Size is the wanted canonical length of the envelope in bytes; 0 for its
	// natural length. A kind that cannot reach it exactly is a crafting error.
	Size int `json:"size,omitempty"`
	// Update is what an identity update says; Log is then Update.Inbox.Log().
	Update *IdentityUpdate `json:"update,omitempty"`
	// Package is what a key package is; Log is then Package.Installation.Log().
	Package *KeyPackageIntent `json:"package,omitempty"`
}

// TopicFlaw is the one way in which a topic in a read request is wrong.
type TopicFlaw string

// The topic flaws. The empty flaw is a sound topic (API-003).
const (
	SoundTopic       TopicFlaw = ""
	TopicAbsent      TopicFlaw = "topic message absent"
	TopicEmpty       TopicFlaw = "topic of no bytes"
	TopicKindOnly    TopicFlaw = "topic of a kind byte alone"
	TopicUnknownKind TopicFlaw = "topic of an unknown kind"
	TopicKind255     TopicFlaw = "topic of kind 255"
	TopicShort       TopicFlaw = "topic one byte short"
	TopicLong        TopicFlaw = "topic one byte long"
	TopicOtherLength TopicFlaw = "topic with the length of another kind"
)

// Read is the intent behind one entry of a read request.
type Read struct {
	Log  Log       `json:"log"`
	Flaw TopicFlaw `json:"flaw,omitempty"`
	// Cursor is the exclusive lower bound; nil leaves the field out (API-004).
	Cursor *uint64 `json:"cursor,omitempty"`
}

// flaws lists every flaw of envelopes.
func flaws() []Flaw {
	return []Flaw{PayloadUnset, GroupEmpty, GroupOneByte, GroupHeaderOnly, GroupNoHeader, GroupVersion, GroupWireFormat, GroupHoldsWelcome,
		GroupHoldsGroupInfo, GroupHoldsKeyPackage, GroupContentType, GroupCutAfterType, GroupCutLastByte, GroupLongLength, GroupHugeLength,
		GroupID0, GroupID15, GroupID17, GroupID32, WelcomeVersionUnset, WelcomeKey0, WelcomeKey31, WelcomeKey33, CommitLogGarbage,
		CommitLogNoGroup, CommitLogID15, CommitLogID17, KeyPackageEmpty, KeyPackageGarbage, KeyPackageWrapped, IdentityInboxShort, IdentityInboxText}
}

// Flaws lists the flaws that an envelope of kind k can have.
func Flaws(k Kind) []Flaw {
	prefix := map[Kind]string{Unset: "payload", Group: "group", Welcome: "welcome", Identity: "identity", KeyPackage: "key package", CommitLog: "commit-log"}[k]
	var out []Flaw
	for _, f := range flaws() {
		if strings.HasPrefix(string(f), prefix) {
			out = append(out, f)
		}
	}
	return out
}

// ParseFlaw reads the words of a flaw.
func ParseFlaw(s string) (Flaw, error) {
	if slices.Contains(flaws(), Flaw(s)) {
		return Flaw(s), nil
	}
	return "", fmt.Errorf("flaw %q is unknown: use one of %q", s, flaws())
}

// TopicFlaws lists every flaw of topics in read requests.
func TopicFlaws() []TopicFlaw {
	return []TopicFlaw{TopicAbsent, TopicEmpty, TopicKindOnly, TopicUnknownKind, TopicKind255, TopicShort, TopicLong, TopicOtherLength}
}

// ParseTopicFlaw reads the words of a topic flaw.
func ParseTopicFlaw(s string) (TopicFlaw, error) {
	if slices.Contains(TopicFlaws(), TopicFlaw(s)) {
		return TopicFlaw(s), nil
	}
	return "", fmt.Errorf("topic flaw %q is unknown: use one of %q", s, TopicFlaws())
}
