-- Schema 13: what is confirmed is on disk, folders that a person trusts, rules that no longer hold.

-- Orders about a turn or a session.
--
-- What a person was told is done: the row is on disk before the word that confirms it, and names the
-- turn or the session that was meant. `outcome` is empty until the order took effect (`done`) or
-- until there was nothing left for it to do (`void`).
CREATE TABLE turn_orders (
  id              INTEGER PRIMARY KEY,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  kind            TEXT NOT NULL,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  by              TEXT NOT NULL,
  at              INTEGER NOT NULL,
  outcome         TEXT,
  settled_at      INTEGER
) STRICT;
CREATE INDEX turn_orders_open ON turn_orders (agent, kind) WHERE outcome IS NULL;

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
CREATE UNIQUE INDEX acts_request ON acts (agent, request, key);
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
-- Why it allows nothing any more, and whether an alert has said so.
ALTER TABLE rules ADD COLUMN void TEXT;
ALTER TABLE rules ADD COLUMN void_told INTEGER NOT NULL DEFAULT 0;
-- These words are the operators of a pipeline now.
UPDATE rules SET void = 'one of its words looks like an operator of the shell'
  WHERE form = 'command' AND (
    body LIKE '%"|"%' OR body LIKE '%"2>&1"%' OR body LIKE '%"1>&2"%' OR body LIKE '%">&2"%'
    OR body LIKE '%"2>/dev/null"%' OR body LIKE '%">/dev/null"%' OR body LIKE '%"1>/dev/null"%'
    OR body LIKE '%"&>/dev/null"%');
-- What an older program offered of a request that nobody has decided yet is not stored any more.
UPDATE rule_offers SET unclear = 'it was asked by an older program'
  WHERE unclear IS NULL AND approval IN (SELECT number FROM approvals WHERE decision IS NULL);

-- Announcements and decisions.

ALTER TABLE approvals ADD COLUMN audience TEXT NOT NULL DEFAULT 'everybody'
    CHECK (audience IN ('everybody', 'owners'));

