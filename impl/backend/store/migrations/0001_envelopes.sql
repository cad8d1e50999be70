-- One sequence numbers the envelopes of all topics (API-010). A cache above 1
-- would hand whole blocks to sessions, and a later publish could get a lower id.
CREATE SEQUENCE envelope_sequence AS bigint START 1 INCREMENT 1 CACHE 1 NO CYCLE;

CREATE TABLE envelope (
	sequence_id           bigint   NOT NULL PRIMARY KEY CHECK (sequence_id > 0),
	topic                 bytea    NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 128),
	message_hash          bytea    NOT NULL CHECK (octet_length(message_hash) = 32),
	server_ns             bigint   NOT NULL CHECK (server_ns >= 0),
	-- NULL never expires (API-021).
	expiry_ns             bigint   CHECK (expiry_ns >= server_ns),
	is_commit_or_proposal boolean  NOT NULL,
	payload               bytea    NOT NULL,
	-- What makes two envelopes the same one (API-033). Publishers look before
	-- they insert; this only turns a mistake of theirs into an error.
	CONSTRAINT envelope_identity UNIQUE (topic, message_hash)
);

-- Reads of a topic from a cursor.
CREATE UNIQUE INDEX envelope_by_topic ON envelope (topic, sequence_id);

-- Payloads are encrypted, so compressing them is work for nothing.
ALTER TABLE envelope ALTER COLUMN payload SET STORAGE EXTERNAL;

-- The head of each topic, moved by the transaction that inserts.
CREATE TABLE topic_head (
	topic            bytea  NOT NULL PRIMARY KEY,
	last_sequence_id bigint NOT NULL CHECK (last_sequence_id > 0)
) WITH (fillfactor = 70);

-- Which inbox an identifier belongs to, and since which identity update
-- (API-053, API-122).
CREATE TABLE identifier_association (
	identifier              text     NOT NULL,
	identifier_kind         smallint NOT NULL,
	inbox_id                bytea    NOT NULL CHECK (octet_length(inbox_id) = 32),
	association_sequence_id bigint   NOT NULL CHECK (association_sequence_id > 0),
	revocation_sequence_id  bigint   CHECK (revocation_sequence_id > association_sequence_id),
	PRIMARY KEY (identifier, identifier_kind, inbox_id)
);

CREATE INDEX identifier_association_active
	ON identifier_association (identifier, identifier_kind, association_sequence_id DESC)
	WHERE revocation_sequence_id IS NULL;

-- Every id up to here is settled, committed or gone. One row.
CREATE TABLE allocation_boundary (
	singleton          boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	closed_sequence_id bigint  NOT NULL DEFAULT 0 CHECK (closed_sequence_id >= 0)
);

INSERT INTO allocation_boundary DEFAULT VALUES;
