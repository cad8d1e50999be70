package store

import (
	"assay/impl/backend/stream"
	"assay/impl/postgres"
)

// channel is what servers of one database call each other on. Channels belong to
// a database.
const channel = "assay_envelope"

// streaming are the statements of subscriptions.
var streaming = struct {
	heads, page, snapshot, tail, listen, notify postgres.Statement
}{
	heads: postgres.NewStatement(string(stream.PointHead), `
SELECT coalesce(h.last_sequence_id, 0)
FROM unnest($1::bytea[]) WITH ORDINALITY AS w (topic, place)
LEFT JOIN topic_head AS h USING (topic)
ORDER BY w.place`),

	// The sizes are summed before any payload is fetched. The first row comes
	// whatever its size, or a turn could stand still. 256 bytes are what
	// metadata and framing add at most.
	page: postgres.NewStatement(string(stream.PointPage), `
WITH candidate AS MATERIALIZED (
	SELECT w.place, found.sequence_id, sum(found.size) OVER (ORDER BY w.place, found.sequence_id) AS total, found.size
	FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS w (topic, after, place)
	CROSS JOIN LATERAL (
		SELECT e.sequence_id, octet_length(e.payload) + 256 AS size FROM envelope AS e
		WHERE e.topic = w.topic AND e.sequence_id > w.after
		ORDER BY e.sequence_id LIMIT $3::bigint
	) AS found
)
SELECT c.place,
	coalesce((SELECT min(place) FROM candidate WHERE total > $4::bigint), cardinality($1::bytea[]) + 1),
	e.sequence_id, e.message_hash, e.server_ns, coalesce(e.expiry_ns, 0), e.is_commit_or_proposal, e.payload
FROM candidate AS c JOIN envelope AS e USING (sequence_id)
WHERE c.total <= $4::bigint OR c.total = c.size
ORDER BY c.place, c.sequence_id`),

	snapshot: postgres.NewStatement(string(stream.PointTail), `SELECT pg_current_snapshot()::text, pg_is_in_recovery()`),

	// There is a row also when nothing moved: the snapshot that says so. The
	// topics and the snapshot are of one statement, so they belong together.
	tail: postgres.NewStatement(string(stream.PointTail), `
SELECT pg_current_snapshot()::text, pg_is_in_recovery(), moved.topic, coalesce(moved.head, 0)
FROM (SELECT) AS one LEFT JOIN (
	SELECT topic, max(sequence_id) AS head FROM envelope
	WHERE stored_by >= $1::text::xid8 OR stored_by = ANY ($2::text[]::xid8[])
	GROUP BY topic LIMIT $3::bigint
) AS moved ON true`),

	listen: postgres.NewStatement(string(stream.PointListen), `LISTEN `+channel),

	// A notification may be lost with the machine, so it need not wait for the
	// disk.
	notify: postgres.NewStatement(string(stream.PointNotify), `
SELECT set_config('synchronous_commit', 'off', true), pg_notify('`+channel+`', '')`),
}
