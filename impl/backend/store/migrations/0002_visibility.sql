-- Which transaction stored an envelope. Whoever follows what is new asks for the
-- transactions that became visible since it last looked. Ids cannot tell: of two
-- transactions the one with the lower ids may commit last.
ALTER TABLE envelope ADD COLUMN stored_by xid8 NOT NULL DEFAULT pg_current_xact_id();

CREATE INDEX envelope_by_transaction ON envelope (stored_by);
