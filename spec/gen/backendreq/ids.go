// Code generated from spec/backend/requirements.yaml by genreq. DO NOT EDIT.
// Command: go generate ./spec/backend

// Package backendreq names the requirements of the backend suite, so that a
// scenario, an assertion or a mutant that names one which does not exist fails
// to compile. What a requirement says is in package spec/backend.
package backendreq

import "assay/spec"

// Section 2, Topics.
const (
	// API001: The server derives topics.
	API001 spec.ID = "API-001"
	// API002: The bytes of a topic.
	API002 spec.ID = "API-002"
	// API003: Reads refuse malformed topics.
	API003 spec.ID = "API-003"
	// API004: The range of a cursor.
	API004 spec.ID = "API-004"
)

// Section 3, Ordering and visibility.
const (
	// API010: Sequence ids are unique across topics.
	API010 spec.ID = "API-010"
	// API011: Reads return prefixes.
	API011 spec.ID = "API-011"
	// API012: No order across topics.
	API012 spec.ID = "API-012"
	// API013: Gaps mean nothing.
	API013 spec.ID = "API-013"
	// API014: Identity updates are serialized.
	API014 spec.ID = "API-014"
	// API015: A cursor beyond the end is no error.
	API015 spec.ID = "API-015"
	// API016: A returned publish is committed.
	API016 spec.ID = "API-016"
	// API017: Own writes may not be readable at once.
	API017 spec.ID = "API-017"
	// API018: Which calls may read a replica.
	API018 spec.ID = "API-018"
)

// Section 4, Envelope metadata.
const (
	// API020: The canonical encoding is stored and hashed.
	API020 spec.ID = "API-020"
	// API021: Retention is fixed at publish.
	API021 spec.ID = "API-021"
	// API022: Clients keep expiry but do not act on it.
	API022 spec.ID = "API-022"
	// API023: Payload bytes come back unchanged.
	API023 spec.ID = "API-023"
	// API024: Clients take the hash from the server.
	API024 spec.ID = "API-024"
	// API025: The hash is the server's own affair.
	API025 spec.ID = "API-025"
)

// Section 5.1, Atomicity and idempotency.
const (
	// API030: A publish is atomic.
	API030 spec.ID = "API-030"
	// API031: Bounds of a publish request.
	API031 spec.ID = "API-031"
	// API032: One metadata entry per envelope.
	API032 spec.ID = "API-032"
	// API033: A duplicate succeeds with the stored metadata.
	API033 spec.ID = "API-033"
	// API034: Equal envelopes in one request collapse.
	API034 spec.ID = "API-034"
	// API035: Duplicates are looked for twice.
	API035 spec.ID = "API-035"
	// API036: Indexes and outcomes survive collapsing.
	API036 spec.ID = "API-036"
	// API037: No answer is not a rollback.
	API037 spec.ID = "API-037"
)

// Section 5.2, Validation.
const (
	// API040: Every envelope is parsed.
	API040 spec.ID = "API-040"
	// API041: What is checked of a group message.
	API041 spec.ID = "API-041"
	// API042: Key packages are validated.
	API042 spec.ID = "API-042"
	// API043: Identity updates apply cleanly.
	API043 spec.ID = "API-043"
	// API044: Wallet signatures are asked of the chain.
	API044 spec.ID = "API-044"
	// API045: Welcomes are only parsed.
	API045 spec.ID = "API-045"
	// API046: What is checked of a commit-log entry.
	API046 spec.ID = "API-046"
	// API047: Publish refusals name the first failing envelope.
	API047 spec.ID = "API-047"
)

// Section 5.3, Identity updates.
const (
	// API050: One identity update per inbox and request.
	API050 spec.ID = "API-050"
	// API051: An identity update commits on what it was validated against.
	API051 spec.ID = "API-051"
	// API052: What a client does on ABORTED.
	API052 spec.ID = "API-052"
	// API053: Identifiers are not exclusive.
	API053 spec.ID = "API-053"
)

// Section 5.4, Key packages.
const (
	// API060: Every key package is kept.
	API060 spec.ID = "API-060"
	// API061: Which key package is the newest.
	API061 spec.ID = "API-061"
	// API062: Clients renew key packages in time.
	API062 spec.ID = "API-062"
	// API063: How a client reads newest key packages.
	API063 spec.ID = "API-063"
)

// Section 5.5, Commit log.
const (
	// API065: The position of a commit-log entry.
	API065 spec.ID = "API-065"
	// API066: A commit log loses nothing.
	API066 spec.ID = "API-066"
	// API067: Clients take the position from the metadata.
	API067 spec.ID = "API-067"
)

// Section 6, Query.
const (
	// API070: A query names at most 1000 pairs.
	API070 spec.ID = "API-070"
	// API071: The limit of a query.
	API071 spec.ID = "API-071"
	// API072: What a page holds.
	API072 spec.ID = "API-072"
	// API073: has_more is exact.
	API073 spec.ID = "API-073"
	// API074: How a client pages.
	API074 spec.ID = "API-074"
	// API075: Key-package topics cannot be queried.
	API075 spec.ID = "API-075"
	// API076: The limit is for the whole response.
	API076 spec.ID = "API-076"
	// API077: Repeated query topics coalesce.
	API077 spec.ID = "API-077"
)

// Section 7, Newest envelope.
const (
	// API080: A newest read names at most 1000 or 100 topics.
	API080 spec.ID = "API-080"
	// API081: Empty topics have no newest result.
	API081 spec.ID = "API-081"
	// API082: Metadata or complete envelopes.
	API082 spec.ID = "API-082"
	// API083: Which envelope is the newest.
	API083 spec.ID = "API-083"
	// API084: Repeated newest topics coalesce.
	API084 spec.ID = "API-084"
)

// Section 7.1, Registration visibility.
const (
	// API089: How a client confirms its registration.
	API089 spec.ID = "API-089"
)

// Section 8, Subscribe (bidirectional).
const (
	// API090: A stream begins with Started.
	API090 spec.ID = "API-090"
	// API091: Updates are atomic and in order.
	API091 spec.ID = "API-091"
	// API092: Bounds of an update and of a stream.
	API092 spec.ID = "API-092"
	// API093: Update ids rise.
	API093 spec.ID = "API-093"
	// API094: Every accepted update is acknowledged.
	API094 spec.ID = "API-094"
	// API095: Rising ids within a registration.
	API095 spec.ID = "API-095"
	// API096: A registration has no gap.
	API096 spec.ID = "API-096"
	// API097: Catch-up targets are fixed.
	API097 spec.ID = "API-097"
	// API098: When catch-up is complete.
	API098 spec.ID = "API-098"
	// API099: Ping and Pong.
	API099 spec.ID = "API-099"
	// API100: Adding and removing again.
	API100 spec.ID = "API-100"
	// API101: No quota on subscriptions.
	API101 spec.ID = "API-101"
	// API102: Reconnecting.
	API102 spec.ID = "API-102"
	// API103: Receipt is shared, history is local.
	API103 spec.ID = "API-103"
	// API104: A stream may have no topics.
	API104 spec.ID = "API-104"
	// API105: Consent is not the stream's business.
	API105 spec.ID = "API-105"
	// API106: An empty request frame is refused.
	API106 spec.ID = "API-106"
	// API107: Buckets for Update and Ping.
	API107 spec.ID = "API-107"
	// API108: Cancel and half-close end the session.
	API108 spec.ID = "API-108"
)

// Section 9, Subscribe (static).
const (
	// API110: Bounds of a static subscription.
	API110 spec.ID = "API-110"
	// API111: Static Started carries all targets.
	API111 spec.ID = "API-111"
	// API112: Static delivery.
	API112 spec.ID = "API-112"
	// API113: Static keepalive.
	API113 spec.ID = "API-113"
	// API114: Changing the topics of a static subscription.
	API114 spec.ID = "API-114"
)

// Section 10, Identity reads.
const (
	// API120: A lookup names at most 250 identifiers.
	API120 spec.ID = "API-120"
	// API121: One lookup answer per entry.
	API121 spec.ID = "API-121"
	// API122: The latest association that stands.
	API122 spec.ID = "API-122"
	// API123: Verifying wallet signatures.
	API123 spec.ID = "API-123"
)

// Section 11, Limits.
const (
	// API130: Codes for exceeded limits.
	API130 spec.ID = "API-130"
	// API131: Every limit is configuration.
	API131 spec.ID = "API-131"
	// API135: Limits are published.
	API135 spec.ID = "API-135"
	// API132: At most 100 HTTP/2 streams.
	API132 spec.ID = "API-132"
	// API133: No rate limit per caller.
	API133 spec.ID = "API-133"
	// API134: Oversized responses fail.
	API134 spec.ID = "API-134"
)

// Section 11.1, Client chunking requirements.
const (
	// API140: Chunk full newest reads.
	API140 spec.ID = "API-140"
	// API141: Chunk lookups.
	API141 spec.ID = "API-141"
	// API142: Chunk publishes by size.
	API142 spec.ID = "API-142"
	// API143: Chunk queries and metadata reads.
	API143 spec.ID = "API-143"
	// API144: Split static subscriptions.
	API144 spec.ID = "API-144"
	// API145: Limits are tested at the boundary.
	API145 spec.ID = "API-145"
	// API146: Chunking is new client work.
	API146 spec.ID = "API-146"
	// API148: An identity log has at most 256 entries.
	API148 spec.ID = "API-148"
	// API147: Clients get a commit-log topic kind.
	API147 spec.ID = "API-147"
	// API149: Three positions in the client.
	API149 spec.ID = "API-149"
)

// Section 12, Error contract.
const (
	// API150: Status texts are plain and unaltered.
	API150 spec.ID = "API-150"
	// API151: INVALID_ARGUMENT is final.
	API151 spec.ID = "API-151"
	// API152: Deprecated endpoints are UNIMPLEMENTED.
	API152 spec.ID = "API-152"
	// API153: Clients classify before they retry.
	API153 spec.ID = "API-153"
)

// Section 13, Transport.
const (
	// API160: Both gRPC and gRPC-Web behind a single port.
	API160 spec.ID = "API-160"
	// API161: Accepted headers.
	API161 spec.ID = "API-161"
	// API162: Health and configuration without credentials.
	API162 spec.ID = "API-162"
	// API163: Envelopes are unsigned.
	API163 spec.ID = "API-163"
	// API164: No version wrapper.
	API164 spec.ID = "API-164"
	// API165: The public endpoint.
	API165 spec.ID = "API-165"
)

// All returns every id of the suite, in id order.
func All() []spec.ID {
	return []spec.ID{
		API001,
		API002,
		API003,
		API004,
		API010,
		API011,
		API012,
		API013,
		API014,
		API015,
		API016,
		API017,
		API018,
		API020,
		API021,
		API022,
		API023,
		API024,
		API025,
		API030,
		API031,
		API032,
		API033,
		API034,
		API035,
		API036,
		API037,
		API040,
		API041,
		API042,
		API043,
		API044,
		API045,
		API046,
		API047,
		API050,
		API051,
		API052,
		API053,
		API060,
		API061,
		API062,
		API063,
		API065,
		API066,
		API067,
		API070,
		API071,
		API072,
		API073,
		API074,
		API075,
		API076,
		API077,
		API080,
		API081,
		API082,
		API083,
		API084,
		API089,
		API090,
		API091,
		API092,
		API093,
		API094,
		API095,
		API096,
		API097,
		API098,
		API099,
		API100,
		API101,
		API102,
		API103,
		API104,
		API105,
		API106,
		API107,
		API108,
		API110,
		API111,
		API112,
		API113,
		API114,
		API120,
		API121,
		API122,
		API123,
		API130,
		API131,
		API132,
		API133,
		API134,
		API135,
		API140,
		API141,
		API142,
		API143,
		API144,
		API145,
		API146,
		API147,
		API148,
		API149,
		API150,
		API151,
		API152,
		API153,
		API160,
		API161,
		API162,
		API163,
		API164,
		API165,
	}
}
