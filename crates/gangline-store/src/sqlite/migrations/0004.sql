-- Schema 4: what follows from one root cause, over all agents, and how many turns it may have.
CREATE TABLE causes (
  root            INTEGER PRIMARY KEY,
  installation_id TEXT NOT NULL,
  parent          INTEGER,
  turns           INTEGER NOT NULL DEFAULT 0,
  allowed         INTEGER NOT NULL DEFAULT 0,
  told            INTEGER NOT NULL DEFAULT 0,
  held_limit      INTEGER,
  held_at         INTEGER,
  ended_by        TEXT,
  ended_at        INTEGER
) STRICT;

-- The root's message, where it is not `cause_root` or the row itself: agents that one line names
-- share the cause of the first one's row, and rows of agents have the root of their root.
ALTER TABLE messages ADD COLUMN cause INTEGER;
-- The root of a turn that the backend began by itself.
ALTER TABLE turns ADD COLUMN cause INTEGER;

CREATE INDEX messages_cause ON messages (coalesce(cause, cause_root, id));
CREATE INDEX messages_line ON messages (network_id, msgid) WHERE msgid IS NOT NULL AND hops = 0;
CREATE INDEX messages_held ON messages (agent, id) WHERE state = 'held';
