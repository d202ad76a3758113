-- Schema 5: which line a private line answers, by the server's id: its conversation, whoever has the
-- nick by now.
ALTER TABLE outbox ADD COLUMN question TEXT;
