-- Schema 6: where each approval was announced, and when; what a person needs to decide it.
CREATE TABLE approval_places (
  number          INTEGER NOT NULL,
  place           TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  target          TEXT NOT NULL,
  idem_key        TEXT NOT NULL,
  whole           INTEGER NOT NULL,
  told_at         TEXT,
  heard_at        INTEGER,
  PRIMARY KEY (number, place)
) WITHOUT ROWID, STRICT;
CREATE INDEX approval_places_key ON approval_places (agent, idem_key);

ALTER TABLE approvals ADD COLUMN folder TEXT;
ALTER TABLE approvals ADD COLUMN said_before TEXT;
ALTER TABLE approvals ADD COLUMN decided_as TEXT;
