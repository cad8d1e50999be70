package store

import (
	"assay/impl/backend"
	"assay/impl/postgres"
)

// statements are all the SQL that serves a call. They are made once and never
// change.
var statements = struct {
	lookup, history, query, newest, newestFull, inboxes           postgres.Statement
	lockIdentity, lock, recheck, heads, allocate, insert, project postgres.Statement
}{
	lookup:  at(backend.PointLookup, findStored),
	recheck: at(backend.PointRecheck, findStored),

	history: at(backend.PointHistory, `
SELECT sequence_id, payload FROM envelope WHERE topic = $1 ORDER BY sequence_id`),

	// The pair (0, 1) is one lock for all identity updates (API-014). Pairs and
	// single keys are different spaces, so no topic can collide with it.
	lockIdentity: at(backend.PointLockIdentity, `SELECT pg_advisory_xact_lock(0, 1)`),

	// Locks are taken one by one in the order of the array. The pair (0, 2),
	// shared, is the allocation barrier: whoever holds it alone knows that no
	// allocated id is undecided.
	lock: at(backend.PointLock, `
SELECT pg_advisory_xact_lock(key)
FROM (SELECT key FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS sorted
UNION ALL
SELECT pg_advisory_xact_lock_shared(0, 2)`),

	heads: at(backend.PointHeads, `
SELECT coalesce(h.last_sequence_id, 0)
FROM unnest($1::bytea[]) WITH ORDINALITY AS w (topic, place)
LEFT JOIN topic_head AS h USING (topic)
ORDER BY w.place`),

	allocate: at(backend.PointAllocate, `
SELECT nextval('envelope_sequence') FROM generate_series(1, $1::bigint)`),

	// The heads move by what the insert returned: statements inside one command
	// do not see each other's changes to a table. current_timestamp is the start
	// of the transaction, one value for all rows. A head that would not go up
	// means that a lock was not held; the last column tells.
	insert: at(backend.PointInsert, `
WITH inserted AS (
	INSERT INTO envelope (sequence_id, topic, message_hash, server_ns, expiry_ns, is_commit_or_proposal, payload)
	SELECT i.sequence_id, i.topic, i.message_hash, now.ns, now.ns + nullif(i.retention_ns, 0), i.is_commit_or_proposal, i.payload
	FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[], $5::boolean[], $6::bytea[])
		AS i (sequence_id, topic, message_hash, retention_ns, is_commit_or_proposal, payload)
	CROSS JOIN (SELECT (extract(epoch FROM current_timestamp) * 1000000)::bigint * 1000 AS ns) AS now
	RETURNING sequence_id, topic, server_ns, expiry_ns, is_commit_or_proposal
), moved AS (
	INSERT INTO topic_head AS h (topic, last_sequence_id)
	SELECT topic, max(sequence_id) FROM inserted GROUP BY topic
	ON CONFLICT (topic) DO UPDATE SET last_sequence_id = excluded.last_sequence_id
	WHERE h.last_sequence_id < excluded.last_sequence_id
	RETURNING topic
)
SELECT sequence_id, server_ns, coalesce(expiry_ns, 0), is_commit_or_proposal,
	(SELECT count(*) FROM moved) = (SELECT count(DISTINCT topic) FROM inserted)
FROM inserted ORDER BY sequence_id`),

	// An association clears a revocation only when it is newer than both; a
	// revocation counts only when it is newer than what it revokes.
	project: at(backend.PointProject, `
WITH change AS (
	SELECT * FROM unnest($1::text[], $2::smallint[], $3::bytea[], $4::bigint[], $5::boolean[])
		AS c (identifier, identifier_kind, inbox_id, sequence_id, revoked)
), revocation AS (
	UPDATE identifier_association AS a SET revocation_sequence_id = c.sequence_id
	FROM change AS c
	WHERE c.revoked AND a.identifier = c.identifier AND a.identifier_kind = c.identifier_kind AND a.inbox_id = c.inbox_id
		AND c.sequence_id > a.association_sequence_id AND c.sequence_id > coalesce(a.revocation_sequence_id, 0)
)
INSERT INTO identifier_association AS a (identifier, identifier_kind, inbox_id, association_sequence_id)
SELECT identifier, identifier_kind, inbox_id, sequence_id FROM change WHERE NOT revoked
ON CONFLICT (identifier, identifier_kind, inbox_id) DO UPDATE
SET association_sequence_id = excluded.association_sequence_id, revocation_sequence_id = NULL
WHERE excluded.association_sequence_id > greatest(a.association_sequence_id, a.revocation_sequence_id)`),

	// One candidate beyond the limit says whether there is more, from the same
	// snapshot as the page (API-073). Payloads are only fetched when all of them
	// fit.
	query: at(backend.PointQuery, `
WITH candidate AS MATERIALIZED (
	SELECT found.sequence_id
	FROM unnest($1::bytea[], $2::bigint[]) AS w (topic, after)
	CROSS JOIN LATERAL (
		SELECT e.sequence_id FROM envelope AS e
		WHERE e.topic = w.topic AND e.sequence_id > w.after
		ORDER BY e.sequence_id LIMIT $3::bigint + 1
	) AS found
	ORDER BY found.sequence_id LIMIT $3::bigint + 1
)
SELECT `+entryColumns+`,
	CASE WHEN sum(octet_length(e.payload)) OVER () <= $4::bigint THEN e.payload END,
	(SELECT count(*) FROM candidate) > $3::bigint
FROM (SELECT sequence_id FROM candidate ORDER BY sequence_id LIMIT $3::bigint) AS page
JOIN envelope AS e USING (sequence_id)
ORDER BY e.sequence_id`),

	inboxes: at(backend.PointLookupInboxes, `
SELECT w.place, found.inbox_id
FROM unnest($1::text[], $2::smallint[]) WITH ORDINALITY AS w (identifier, identifier_kind, place)
CROSS JOIN LATERAL (
	SELECT a.inbox_id FROM identifier_association AS a
	WHERE a.identifier = w.identifier AND a.identifier_kind = w.identifier_kind AND a.revocation_sequence_id IS NULL
	ORDER BY a.association_sequence_id DESC LIMIT 1
) AS found`),

	// Head and row in one statement: between two there could be another head.
	newest: at(backend.PointNewest, `
SELECT `+entryColumns+`
FROM unnest($1::bytea[]) AS w (topic)
JOIN topic_head AS h USING (topic)
JOIN envelope AS e ON e.sequence_id = h.last_sequence_id`),
	newestFull: at(backend.PointNewest, `
SELECT `+entryColumns+`,
	CASE WHEN sum(octet_length(e.payload)) OVER () <= $2::bigint THEN e.payload END, false
FROM unnest($1::bytea[]) AS w (topic)
JOIN topic_head AS h USING (topic)
JOIN envelope AS e ON e.sequence_id = h.last_sequence_id`),
}

const entryColumns = `e.sequence_id, e.topic, e.message_hash, e.server_ns, coalesce(e.expiry_ns, 0), e.is_commit_or_proposal`

// findStored looks for copies by what makes two envelopes the same (API-033).
const findStored = `
SELECT k.place, e.sequence_id, e.server_ns, coalesce(e.expiry_ns, 0), e.is_commit_or_proposal
FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS k (topic, message_hash, place)
JOIN envelope AS e ON e.topic = k.topic AND e.message_hash = k.message_hash`

func at(point backend.Point, sql string) postgres.Statement {
	return postgres.NewStatement(string(point), sql)
}
