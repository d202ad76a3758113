-- Schema 7: our own id of each session, under which its shells and hooks know it, beside the backend's.
CREATE TABLE session_ids (
  agent           TEXT NOT NULL,
  runtime         TEXT NOT NULL,
  session         TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  known_as        TEXT NOT NULL,
  begun_at        INTEGER NOT NULL,
  used_at         INTEGER NOT NULL,
  PRIMARY KEY (agent, runtime, session)
) WITHOUT ROWID, STRICT;
