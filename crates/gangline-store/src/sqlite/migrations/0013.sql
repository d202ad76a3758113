-- Schema 13: what is confirmed is on disk, folders that a person trusts, rules that no longer hold.

-- Orders about a turn or a session.

-- What a lost attempt has done already.
CREATE TABLE acts (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  turn_epoch      INTEGER NOT NULL,
  turn_number     INTEGER NOT NULL,
  request         TEXT NOT NULL,
  kind            TEXT NOT NULL,
  key             TEXT NOT NULL,
  number          INTEGER NOT NULL,
  message         INTEGER,
  in_reply_to     INTEGER,
  repeats         INTEGER,
  at              INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX acts_request ON acts (agent, request);
CREATE INDEX acts_turn ON acts (agent, turn_epoch, turn_number);
CREATE INDEX acts_repeats ON acts (repeats) WHERE repeats IS NOT NULL;

-- Folders that an owner trusts.

-- One row for each word about what an agent's folder brings along; the newest of an agent and folder holds.
-- A row that allows has the hash of exactly what was shown; one that revokes has the hash that it takes back.
CREATE TABLE folder_trust (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    installation_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    folder TEXT NOT NULL,
    hash TEXT NOT NULL,
    word TEXT NOT NULL,
    what TEXT NOT NULL,
    said_by TEXT NOT NULL,
    said_at INTEGER NOT NULL
) STRICT;
CREATE INDEX folder_trust_agent ON folder_trust (agent, folder, id);

-- Requests to a model that are under way.

CREATE TABLE relay_open (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  day             TEXT NOT NULL,
  -- Of its request; NULL = its head did not tell.
  bytes           INTEGER,
  began_at        INTEGER NOT NULL
) STRICT;

-- Rules that no longer hold.

-- Announcements and decisions.

ALTER TABLE approvals ADD COLUMN audience TEXT NOT NULL DEFAULT 'everybody'
    CHECK (audience IN ('everybody', 'owners'));

