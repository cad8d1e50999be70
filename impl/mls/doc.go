// Package mls reads the two MLS structures (RFC 9420) that a backend looks into: a group message, to learn where it
// belongs, and a key package, to decide whether it may be stored.
//
// Start with [ParseGroupMessage], and with [ParseKeyPackage] followed by [KeyPackage.Validate].
//
// What it promises: an input is refused unless every field of the structure decodes; a vector length is taken only in
// its shortest form; nothing is allocated by what a length header claims; no input makes it panic; and whatever a
// returned value points at lies in the caller's bytes, which must not change while the value is in use.
//
// Two kinds of refusal stay apart because the specification gives them different reasons. A [DecodeError] says that
// the bytes are not the structure (MALFORMED_PAYLOAD, API-040), an [InvalidError] that they are, and that the key
// package breaks a rule (INVALID_KEY_PACKAGE, API-042).
//
// What it does not check. Group messages: membership, signatures, tags, epochs (the backend has no group key, API-041),
// and the 16 bytes of a group id, which are a rule about topics (API-002). Key packages: whether anybody registered
// the installation, how long a lifetime lasts, what an inbox id looks like, and which of the known cipher suites with
// an Ed25519 key is used.
package mls
