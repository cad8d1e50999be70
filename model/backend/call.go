package backend

import (
	"fmt"
	"strconv"
)

// Method names one call of the protocol.
type Method string

// The calls a history can hold. Other stands for a method that the
// specification retired or never had.
const (
	MethodPublish       Method = "publish"
	MethodQuery         Method = "query"
	MethodNewest        Method = "newest"
	MethodConfiguration Method = "configuration"
	MethodHealth        Method = "health"
	MethodOther         Method = "other"
	// MethodSubscribe is the bidirectional subscription, MethodStatic the static
	// one. Such a call stays open while frames go back and forth.
	MethodSubscribe Method = "subscribe"
	MethodStatic    Method = "subscribe_static"
	// MethodSettings asks nothing: it connects and reads the HTTP/2 settings.
	MethodSettings Method = "settings"
)

// Call is one request as the harness meant and sent it. Exactly the field that
// its method names is set.
type Call struct {
	Method  Method       `json:"method"`
	Publish *PublishCall `json:"publish,omitempty"`
	Query   *QueryCall   `json:"query,omitempty"`
	Newest  *NewestCall  `json:"newest,omitempty"`
	Lookup  *LookupCall  `json:"lookup,omitempty"`
	Verify  *VerifyCall  `json:"verify,omitempty"`
	// Static is what a static subscription asks for. A bidirectional one asks in
	// frames and has no field.
	Static *StaticCall `json:"static,omitempty"`
	// Service is the name a health call asks for.
	Service string `json:"service,omitempty"`
	// Path is the gRPC path of MethodOther, "/package.Service/Method".
	Path string `json:"path,omitempty"`
	// WireLen is the encoded length of the request in bytes; CanonicalLen the
	// length of its canonical re-encoding.
	WireLen      int `json:"wire_len,omitempty"`
	CanonicalLen int `json:"canonical_len,omitempty"`
	// Headers are the names of the request headers the call carried besides
	// those of gRPC itself (API-161).
	Headers []string `json:"headers,omitempty"`
	// Web is the HTTP version under a call over gRPC-Web, "" for native gRPC
	// (API-160).
	Web Web `json:"web,omitempty"`
}

// Web is a form of gRPC-Web.
type Web string

// The forms of gRPC-Web; Native is none.
const (
	Native   Web = ""
	WebHTTP1 Web = "HTTP/1.1"
	WebHTTP2 Web = "HTTP/2"
)

// Digest is a SHA-256 by which the harness compares payloads with each other.
// It is the harness's own and has no relation to a subject's message hash.
type Digest [32]byte

// Artefact says what craft made of an envelope's intent.
type Artefact struct {
	// Topic is the topic the envelope belongs to, "" when none can be derived.
	Topic Bytes `json:"topic"`
	// Identity is equal for two envelopes exactly when their decoded values are.
	Identity Digest `json:"identity"`
	// WireLen and CanonicalLen are bytes as sent and bytes re-encoded.
	WireLen      int `json:"wire_len"`
	CanonicalLen int `json:"canonical_len"`
}

// Sent is one envelope of a publish: what was meant and what was made.
type Sent struct {
	Intent   Envelope `json:"intent"`
	Artefact Artefact `json:"artefact"`
}

// PublishCall asks to store envelopes atomically.
type PublishCall struct {
	Envelopes []Sent `json:"envelopes"`
}

// Asked is one entry of a read: what was meant, and the topic bytes sent.
type Asked struct {
	Read
	// Topic is the raw topic as sent; "" together with TopicAbsent is no topic at all.
	Topic Bytes `json:"topic"`
}

// QueryCall asks for the envelopes above cursors. Limit 0 leaves it out.
type QueryCall struct {
	Entries []Asked `json:"entries"`
	Limit   uint32  `json:"limit,omitempty"`
}

// NewestCall asks for the newest envelope of topics.
type NewestCall struct {
	Entries []Asked `json:"entries"`
	Full    bool    `json:"full,omitempty"`
}

// Code is a gRPC status code.
type Code uint32

// The status codes a rule speaks of.
const (
	OK                 Code = 0
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	Unauthenticated    Code = 16
)

var codeNames = map[Code]string{
	OK: "OK", Canceled: "CANCELLED", Unknown: "UNKNOWN", InvalidArgument: "INVALID_ARGUMENT",
	DeadlineExceeded: "DEADLINE_EXCEEDED", NotFound: "NOT_FOUND", 6: "ALREADY_EXISTS", PermissionDenied: "PERMISSION_DENIED",
	ResourceExhausted: "RESOURCE_EXHAUSTED", FailedPrecondition: "FAILED_PRECONDITION", Aborted: "ABORTED",
	OutOfRange: "OUT_OF_RANGE", Unimplemented: "UNIMPLEMENTED", Internal: "INTERNAL", Unavailable: "UNAVAILABLE",
	15: "DATA_LOSS", Unauthenticated: "UNAUTHENTICATED",
}

// String returns the code's name in capitals, or its number.
func (c Code) String() string {
	if n, ok := codeNames[c]; ok {
		return n
	}
	return "CODE(" + strconv.FormatUint(uint64(c), 10) + ")"
}

// ParseCode reads the name that String writes.
func ParseCode(s string) (Code, error) {
	for c, n := range codeNames {
		if n == s {
			return c, nil
		}
	}
	return 0, fmt.Errorf("status code %q is unknown: use a gRPC code in capitals, such as INVALID_ARGUMENT", s)
}

// Reason is the reason of a publish error.
type Reason uint32

// The reasons of the wire schema.
const (
	ReasonUnspecified           Reason = 0
	ReasonMalformedPayload      Reason = 1
	ReasonInvalidKeyPackage     Reason = 2
	ReasonInvalidIdentityUpdate Reason = 3
	ReasonInvalidSignature      Reason = 4
	ReasonTooLarge              Reason = 5
)

var reasonNames = [...]string{"UNSPECIFIED", "MALFORMED_PAYLOAD", "INVALID_KEY_PACKAGE", "INVALID_IDENTITY_UPDATE", "INVALID_SIGNATURE", "TOO_LARGE"}

// String returns the reason's name in capitals, or its number.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "REASON(" + strconv.FormatUint(uint64(r), 10) + ")"
}

// ParseReason reads the name that String writes.
func ParseReason(s string) (Reason, error) {
	for i, n := range reasonNames {
		if n == s {
			return Reason(i), nil
		}
	}
	return 0, fmt.Errorf("publish-error reason %q is unknown: use one of %v", s, reasonNames)
}

// Detail is the publish error a status carried.
type Detail struct {
	// Index is nil when the detail has none.
	Index  *uint32 `json:"index,omitempty"`
	Reason Reason  `json:"reason"`
}

// Lost says why there is no answer. The call may have taken effect.
type Lost string

// The ways to lose an answer.
const (
	Answered    Lost = ""
	LostTimeout Lost = "no answer before the deadline"
	LostCut     Lost = "connection lost"
	LostRefused Lost = "connection refused"
)

// Return is one answer as the harness saw it.
type Return struct {
	// Lost is not empty when no answer came; then nothing else is set.
	Lost Lost `json:"lost,omitempty"`
	Code Code `json:"code"`
	// Text is the status text, escaped and bounded; the wording is never judged.
	Text string `json:"text,omitempty"`
	// Details are the publish errors found in the status details.
	Details []Detail `json:"details,omitempty"`
	// Garbled is not empty when an answer came that does not decode.
	Garbled string `json:"garbled,omitempty"`

	Publish       *Published     `json:"publish,omitempty"`
	Query         *Page          `json:"query,omitempty"`
	Newest        *Heads         `json:"newest,omitempty"`
	Configuration *Configuration `json:"configuration,omitempty"`
	// Settings is what a connection announced.
	Settings *Settings      `json:"settings,omitempty"`
	InboxIDs *InboxIDs      `json:"inbox_ids,omitempty"`
	Verified *WalletAnswers `json:"verified,omitempty"`
	// Serving is the health status a health call returned, by the standard's number.
	Serving uint32 `json:"serving,omitempty"`
	// WireLen is the encoded length of the response message in bytes.
	WireLen int `json:"wire_len,omitempty"`
}

// Meta is the metadata of one stored envelope as a subject returned it.
type Meta struct {
	// HasCursor, HasHash and HasTopic tell an absent message from one of zeros.
	HasCursor bool   `json:"has_cursor"`
	Sequence  uint64 `json:"sequence"`
	ServerNS  uint64 `json:"server_ns"`
	HasHash   bool   `json:"has_hash"`
	// Hash holds the raw bytes of the message hash.
	Hash     Bytes `json:"hash"`
	HasTopic bool  `json:"has_topic"`
	// Topic holds the raw bytes of the topic.
	Topic            Bytes  `json:"topic"`
	ExpiryNS         uint64 `json:"expiry_ns"`
	CommitOrProposal bool   `json:"commit_or_proposal"`
}

// Published is a publish response.
type Published struct {
	Metas []Meta `json:"metas"`
}

// Row is one envelope a read returned.
type Row struct {
	// HasMeta is false when the row carried no metadata at all.
	HasMeta bool `json:"has_meta"`
	Meta    Meta `json:"meta"`
	// HasEnvelope is false when the row carried no envelope.
	HasEnvelope bool `json:"has_envelope"`
	// Identity is the identity of the envelope's decoded value.
	Identity Digest `json:"identity"`
	// Asked is the topic named beside a newest result; for a query row it is empty.
	Asked Bytes `json:"asked,omitempty"`
}

// Page is a query response.
type Page struct {
	Rows []Row `json:"rows"`
	// HasContinuation is false when the continuation message was absent; HasMore
	// is then false as well.
	HasContinuation bool `json:"has_continuation"`
	HasMore         bool `json:"has_more"`
}

// Heads is a newest response.
type Heads struct {
	Rows []Row `json:"rows"`
}

// Settings are the HTTP/2 settings that the rules read.
type Settings struct {
	// Streams is the most concurrent streams of one connection; nil when the
	// peer announced no such setting, which means that it sets no bound.
	Streams *uint32 `json:"streams,omitempty"`
}

// Configuration is a configuration response: limits by their catalogue name.
type Configuration struct {
	Identifier string            `json:"identifier"`
	Version    string            `json:"version"`
	Limits     map[string]uint64 `json:"limits"`
	// Published tells which messages of the response were present at all:
	// "limits", "retention", "mls", "auth".
	Published []string `json:"published"`
	Chains    []string `json:"chains,omitempty"`
}
