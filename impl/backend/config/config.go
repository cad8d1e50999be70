// Package config holds every value that an operator of the reference backend
// may choose. Each limit of the specification is one field here, has one name
// everywhere (file, environment, flag, the harness's JSON) and is a literal
// nowhere else (API-131).
//
// Start with [Default], overlay a file, the environment and flags with [Load],
// and check the whole with [Config.Validate].
//
// It checks values one by one and against each other; it does not open the
// files or connect to the addresses they name.
package config

import "time"

// Config is the whole configuration. Field names in files are the toml tags;
// "section.name" is the key that errors, flags and the environment use.
type Config struct {
	Server     Server            `toml:"server"`
	Database   Database          `toml:"database"`
	Publishing Publishing        `toml:"publishing"`
	Streams    Streams           `toml:"streams"`
	Retention  Retention         `toml:"retention"`
	Validation Validation        `toml:"validation"`
	Limits     Limits            `toml:"limits"`
	MLS        MLS               `toml:"mls"`
	Chains     map[string]string `toml:"chains" doc:"chain RPC URL by CAIP-2 name, such as eip155:1"`
}

// Server is where and as what the backend answers.
type Server struct {
	Listen              string `toml:"listen" doc:"address of the one listener, host:port; port 0 takes a free one"`
	Identifier          string `toml:"identifier" doc:"name of this deployment, published to clients"`
	Version             string `toml:"version" doc:"version of this server, published to clients"`
	MinLibxmtpVersion   string `toml:"min_libxmtp_version" doc:"oldest client version that is served; empty for any"`
	LogLevel            string `toml:"log_level" doc:"debug, info, warn or error"`
	LogFormat           string `toml:"log_format" doc:"text or json"`
	MaxDrainDurationMS  uint32 `toml:"max_drain_duration_ms" doc:"how long calls may finish after a stop is asked for"`
	MaxRequestHeaderLen uint32 `toml:"max_request_header_bytes" doc:"largest request header"`
}

// Database is the primary, and a replica to read from if there is one.
type Database struct {
	URL                   string `toml:"url" doc:"the primary; holds a password, so prefer env:NAME" secret:"true"`
	ReplicaURL            string `toml:"replica_url" doc:"a replica for reads that may lag; empty for none" secret:"true"`
	MaxConnections        uint32 `toml:"max_connections" doc:"connections to the primary"`
	MaxStatementTimeoutMS uint32 `toml:"max_statement_timeout_ms" doc:"longest one statement may take"`
}

// Publishing bounds the publish transaction.
type Publishing struct {
	MaxPublishDurationMS uint32 `toml:"max_publish_duration_ms" doc:"longest one publish transaction may take"`
	MaxBarrierWaitMS     uint32 `toml:"max_barrier_wait_ms" doc:"longest wait for writers to settle when an allocation boundary is read"`
}

// Streams are the clocks of subscriptions.
type Streams struct {
	PollIntervalMS      uint32 `toml:"poll_interval_ms" doc:"how often new envelopes are looked for"`
	MaxGapRanges        uint32 `toml:"max_gap_ranges" doc:"gaps that are remembered at once"`
	KeepaliveIntervalMS uint32 `toml:"keepalive_interval_ms" doc:"idle time after which a stream shows that it lives"`
	MaxPongWaitMS       uint32 `toml:"max_pong_wait_ms" doc:"longest wait for the answer to a ping"`
}

// Retention is the time from storing to earliest deletion, by kind (API-021).
type Retention struct {
	GroupMessageSeconds uint64 `toml:"group_message_seconds" doc:"group messages that are neither commit nor proposal"`
	WelcomeSeconds      uint64 `toml:"welcome_seconds" doc:"welcomes"`
	KeyPackageSeconds   uint64 `toml:"key_package_seconds" doc:"key packages"`
}

// Validation bounds what verification keeps.
type Validation struct {
	MaxSCWCacheEntries      uint32 `toml:"max_scw_cache_entries" doc:"contract verdicts that are remembered"`
	MaxIdentityCacheEntries uint32 `toml:"max_identity_cache_entries" doc:"verified identity updates that are remembered"`
	MaxChainCallMS          uint32 `toml:"max_chain_call_ms" doc:"longest wait for a chain's answer"`
}

// Limits is the table of section 11.
type Limits struct {
	MaxEnvelopeBytes         uint64 `toml:"max_envelope_bytes" doc:"canonical bytes of one envelope"`
	MaxRequestBytes          uint64 `toml:"max_request_bytes" doc:"bytes of one request message"`
	MaxResponseBytes         uint64 `toml:"max_response_bytes" doc:"bytes of one response message"`
	MaxPublishTopics         uint32 `toml:"max_publish_topics" doc:"distinct topics of one publish"`
	MaxQueryTopics           uint32 `toml:"max_query_topics" doc:"entries of one query"`
	MaxQueryLimit            uint32 `toml:"max_query_limit" doc:"envelopes of one query; larger limits are clamped"`
	DefaultQueryLimit        uint32 `toml:"default_query_limit" doc:"envelopes of a query that names no limit"`
	MaxNewestMetadataTopics  uint32 `toml:"max_newest_metadata_topics" doc:"topics of one newest read without envelopes"`
	MaxNewestFullTopics      uint32 `toml:"max_newest_full_topics" doc:"topics of one newest read with envelopes"`
	MaxUpdateAdds            uint32 `toml:"max_update_adds" doc:"topics added by one update frame"`
	MaxUpdateRemoves         uint32 `toml:"max_update_removes" doc:"topics removed by one update frame"`
	MaxStreamTopics          uint32 `toml:"max_stream_topics" doc:"topics of one stream"`
	MaxStaticTopics          uint32 `toml:"max_static_topics" doc:"topics of one static stream"`
	MaxLookupIdentifiers     uint32 `toml:"max_lookup_identifiers" doc:"identifiers of one inbox lookup"`
	MaxSCWSignatures         uint32 `toml:"max_scw_signatures" doc:"contract signatures of one verification or identity update"`
	MaxIdentityEntries       uint32 `toml:"max_identity_entries" doc:"identity updates of one inbox"`
	MaxHTTP2Streams          uint32 `toml:"max_http2_streams" doc:"concurrent HTTP/2 streams of one connection (API-132)"`
	MaxUpdateFramesPerSecond uint32 `toml:"max_update_frames_per_second" doc:"rate of update frames on one stream"`
	MaxUpdateBurst           uint32 `toml:"max_update_burst" doc:"burst of update frames on one stream"`
	MaxPingFramesPerSecond   uint32 `toml:"max_ping_frames_per_second" doc:"rate of ping frames on one stream"`
	MaxPingBurst             uint32 `toml:"max_ping_burst" doc:"burst of ping frames on one stream"`
}

// MLS is advice to clients; the backend does not enforce it.
type MLS struct {
	MaxGroupMembers          uint32 `toml:"max_group_members" doc:"members a client should allow in a group"`
	MaxInstallationsPerInbox uint32 `toml:"max_installations_per_inbox" doc:"installations a client should allow in an inbox"`
	CommitLogEnabled         bool   `toml:"commit_log_enabled" doc:"whether clients should write commit logs"`
}

// Default returns the specification's own numbers (section 11, API-021). The
// database has no default: Validate asks for one. Its two timeouts are generous:
// a publish may hold a hundred thousand small envelopes (API-031), and a machine
// may be slow.
func Default() Config {
	const mebibyte = 1 << 20
	const ninetyDays = 90 * 24 * 60 * 60
	return Config{
		Server: Server{
			Listen: "127.0.0.1:5050", Identifier: "assay-reference", Version: "0.1.0",
			LogLevel: "info", LogFormat: "text", MaxDrainDurationMS: 10_000, MaxRequestHeaderLen: 64 << 10,
		},
		Database:   Database{MaxConnections: 20, MaxStatementTimeoutMS: 20_000},
		Publishing: Publishing{MaxPublishDurationMS: 30_000, MaxBarrierWaitMS: 1_000},
		Streams:    Streams{PollIntervalMS: 100, MaxGapRanges: 10_000, KeepaliveIntervalMS: 30_000, MaxPongWaitMS: 90_000},
		Retention:  Retention{GroupMessageSeconds: ninetyDays, WelcomeSeconds: ninetyDays, KeyPackageSeconds: ninetyDays},
		Validation: Validation{MaxSCWCacheEntries: 10_000, MaxIdentityCacheEntries: 10_000, MaxChainCallMS: 5_000},
		Limits: Limits{
			MaxEnvelopeBytes: mebibyte, MaxRequestBytes: maxMessageBytes, MaxResponseBytes: maxMessageBytes,
			MaxPublishTopics: 1000, MaxQueryTopics: 1000, MaxQueryLimit: 1000, DefaultQueryLimit: 100,
			MaxNewestMetadataTopics: 1000, MaxNewestFullTopics: 100,
			MaxUpdateAdds: 100_000, MaxUpdateRemoves: 100_000, MaxStreamTopics: 100_000, MaxStaticTopics: 10_000,
			MaxLookupIdentifiers: 250, MaxSCWSignatures: 100, MaxIdentityEntries: 256, MaxHTTP2Streams: maxHTTP2Streams,
			MaxUpdateFramesPerSecond: 10, MaxUpdateBurst: 100, MaxPingFramesPerSecond: 10, MaxPingBurst: 100,
		},
		MLS: MLS{MaxGroupMembers: 250, MaxInstallationsPerInbox: 10, CommitLogEnabled: true},
	}
}

// StatementTimeout is the longest one statement may take.
func (d Database) StatementTimeout() time.Duration { return millis(d.MaxStatementTimeoutMS) }

// Budget is the longest one publish transaction may take.
func (p Publishing) Budget() time.Duration { return millis(p.MaxPublishDurationMS) }

// DrainTimeout is how long calls may finish after a stop is asked for.
func (s Server) DrainTimeout() time.Duration { return millis(s.MaxDrainDurationMS) }

// ChainTimeout is the longest wait for a chain's answer.
func (v Validation) ChainTimeout() time.Duration { return millis(v.MaxChainCallMS) }

func millis(n uint32) time.Duration { return time.Duration(n) * time.Millisecond }
