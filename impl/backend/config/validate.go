package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

const (
	// maxMessageBytes is a ceiling that no operator can raise (API-135).
	maxMessageBytes = 25 << 20
	// maxHTTP2Streams is the most a server may advertise (API-132).
	maxHTTP2Streams = 100
	// metadataReserve is what metadata and framing add to one envelope in a
	// response, at most: 5 bytes of frame, four fields of at most 11 bytes
	// each around and in the envelope, and 207 bytes of metadata.
	metadataReserve = 256
	// framePayload is what one frame of a stream carries.
	framePayload = 2 << 20
	// maxRetentionSeconds keeps server time plus retention inside 63 bits until the
	// year 2200.
	maxRetentionSeconds = 60 * 365 * 24 * 60 * 60
)

// Validate reports the first value that cannot be served with, by its key.
func (c *Config) Validate() error {
	if c.Database.URL == "" {
		return errors.New("database.url is empty: name the primary database, as postgres://user:password@host:port/database")
	}
	if c.Server.Listen == "" {
		return errors.New("server.listen is empty: name host:port")
	}
	if err := c.validateNames(); err != nil {
		return err
	}
	if err := c.validatePositive(); err != nil {
		return err
	}
	return c.validateRelations()
}

var (
	semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	caip2  = regexp.MustCompile(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$`)
)

func (c *Config) validateNames() error {
	id := c.Server.Identifier
	if id == "" || len(id) > 256 || strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errors.New("server.identifier must be 1 to 256 bytes without white space or control characters")
	}
	if v := c.Server.MinLibxmtpVersion; v != "" && !semver.MatchString(v) {
		return fmt.Errorf("server.min_libxmtp_version: %s is not a semantic version", quote(v))
	}
	switch c.Server.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		return fmt.Errorf("server.log_level: %s is none of debug, info, warn, error", quote(c.Server.LogLevel))
	}
	if c.Server.LogFormat != "text" && c.Server.LogFormat != "json" {
		return fmt.Errorf("server.log_format: %s is neither text nor json", quote(c.Server.LogFormat))
	}
	for name := range c.Chains {
		if !caip2.MatchString(name) {
			return fmt.Errorf("chains: %s is not a CAIP-2 chain name, such as eip155:1", quote(name))
		}
	}
	return nil
}

// validatePositive refuses zeros: clients read a 0 as "not known".
func (c *Config) validatePositive() error {
	for _, s := range settings(c) {
		if s.value.CanUint() && s.value.Uint() == 0 && s.key != "streams.keepalive_interval_ms" {
			return fmt.Errorf("%s must not be 0", s.key)
		}
	}
	return nil
}

func (c *Config) validateRelations() error {
	l := &c.Limits
	for _, r := range []struct {
		broken bool
		key    string
		why    string
	}{
		{l.MaxRequestBytes > maxMessageBytes, "limits.max_request_bytes", "cannot be raised above 26214400 (API-135)"},
		{l.MaxResponseBytes > maxMessageBytes, "limits.max_response_bytes", "cannot be raised above 26214400 (API-135)"},
		{l.MaxHTTP2Streams > maxHTTP2Streams, "limits.max_http2_streams", "cannot be raised above 100 (API-132)"},
		{l.DefaultQueryLimit > l.MaxQueryLimit, "limits.default_query_limit", "must not exceed limits.max_query_limit"},
		{l.MaxUpdateAdds > l.MaxStreamTopics, "limits.max_update_adds", "must not exceed limits.max_stream_topics"},
		{l.MaxEnvelopeBytes+metadataReserve > l.MaxResponseBytes, "limits.max_envelope_bytes", "plus 256 bytes of metadata must fit limits.max_response_bytes"},
		{l.MaxEnvelopeBytes+metadataReserve > framePayload, "limits.max_envelope_bytes", "plus 256 bytes of metadata must fit a stream frame of 2097152 bytes"},
		{l.MaxEnvelopeBytes+lengthPrefix(l.MaxEnvelopeBytes) > l.MaxRequestBytes, "limits.max_envelope_bytes", "with its length prefix must fit limits.max_request_bytes"},
		{c.Publishing.MaxPublishDurationMS <= c.Database.MaxStatementTimeoutMS, "publishing.max_publish_duration_ms", "must exceed database.max_statement_timeout_ms"},
		{c.Streams.MaxPongWaitMS <= c.Streams.KeepaliveIntervalMS, "streams.max_pong_wait_ms", "must exceed streams.keepalive_interval_ms"},
		{c.Retention.GroupMessageSeconds > maxRetentionSeconds, "retention.group_message_seconds", "must not exceed 60 years"},
		{c.Retention.WelcomeSeconds > maxRetentionSeconds, "retention.welcome_seconds", "must not exceed 60 years"},
		{c.Retention.KeyPackageSeconds > maxRetentionSeconds, "retention.key_package_seconds", "must not exceed 60 years"},
	} {
		if r.broken {
			return fmt.Errorf("%s %s", r.key, r.why)
		}
	}
	return nil
}

// lengthPrefix is how many bytes the field tag and length of an envelope take
// in a publish request.
func lengthPrefix(n uint64) uint64 {
	size := uint64(2)
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
