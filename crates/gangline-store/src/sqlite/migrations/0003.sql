-- Schema 3: whose each kept session is, one for each backend that an agent has had. A session of an
-- agent without `runtime` is one that was kept before: its next start gives it a name.
CREATE TABLE sessions (
  agent           TEXT NOT NULL,
  runtime         TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  session         TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  PRIMARY KEY (agent, runtime)
) WITHOUT ROWID, STRICT;

-- The backend of the present epoch, and one that an operator put in the configured one's place.
ALTER TABLE agents ADD COLUMN runtime TEXT;
ALTER TABLE orders ADD COLUMN runtime TEXT;
