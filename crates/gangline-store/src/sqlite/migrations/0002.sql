-- Schema 2: what an operator wants of each agent's daemon. Without a row it shall run.
CREATE TABLE orders (
  agent           TEXT PRIMARY KEY,
  installation_id TEXT NOT NULL,
  desired         TEXT NOT NULL,
  desired_by      TEXT NOT NULL,
  desired_at      INTEGER NOT NULL,
  restart_number  INTEGER,
  restart_when    TEXT,
  restart_ends    INTEGER,
  restart_by      TEXT,
  restart_at      INTEGER
) WITHOUT ROWID, STRICT;
