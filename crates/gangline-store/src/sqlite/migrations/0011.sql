-- Schema 11: what is watched. Findings, whispers, alerts, pauses, budgets. Times are microseconds since
-- 1970.

-- Findings: what waits for a human, or what a watchdog saw. Their numbers are of the same
-- sequence as those of approvals and questions. An agent has at most one unresolved finding of a key.
CREATE TABLE findings (
  number          INTEGER PRIMARY KEY,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  key             TEXT NOT NULL,
  kind            TEXT NOT NULL,
  severity        TEXT NOT NULL,
  cause           TEXT NOT NULL,
  evidence        TEXT NOT NULL,
  choices         TEXT NOT NULL,
  recommended     TEXT,
  affects         TEXT NOT NULL,
  message         INTEGER,
  state           TEXT NOT NULL,
  seen_by         TEXT,
  resolved_by     TEXT,
  choice          TEXT,
  raised_at       INTEGER NOT NULL,
  changed_at      INTEGER NOT NULL,
  seen_at         INTEGER,
  resolved_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX findings_unresolved ON findings (agent, key) WHERE state <> 'resolved';

-- Whispers: what the agent alone is told. A row without a road was not delivered.
CREATE TABLE whispers (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id  TEXT NOT NULL,
  agent            TEXT NOT NULL,
  kind             TEXT NOT NULL,
  source           TEXT NOT NULL,
  text             TEXT NOT NULL,
  said_by          TEXT,
  finding          INTEGER,
  turn_epoch       INTEGER,
  turn_number      INTEGER,
  said_at          INTEGER NOT NULL,
  road             TEXT,
  delivered_at     INTEGER,
  delivered_epoch  INTEGER,
  delivered_number INTEGER
) STRICT;
CREATE INDEX whispers_waiting ON whispers (agent, id) WHERE road IS NULL;

-- Alerts: what a chat channel and programs outside are told. `about` is the number of what a person is
-- asked to answer. `more` counts the alerts of the same agent and group that came since it was told,
-- until `until`; `newest` is the last one's text. `due_at` is when it is looked at, NULL = never again.
CREATE TABLE alerts (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  event           TEXT NOT NULL,
  grouped         TEXT NOT NULL,
  about           INTEGER,
  text            TEXT NOT NULL,
  newest          TEXT,
  more            INTEGER NOT NULL DEFAULT 0,
  told            INTEGER NOT NULL DEFAULT 0,
  raised_at       INTEGER NOT NULL,
  until           INTEGER NOT NULL,
  due_at          INTEGER
) STRICT;
CREATE INDEX alerts_due ON alerts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alerts_grouped ON alerts (agent, grouped, id);

-- One telling of an alert to one target. `next_at` is when it is sent, or when a claim lapses.
CREATE TABLE alert_deliveries (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  alert           INTEGER NOT NULL,
  agent           TEXT NOT NULL,
  target          TEXT NOT NULL,
  text            TEXT NOT NULL,
  state           TEXT NOT NULL,
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_at         INTEGER,
  claimed_by      TEXT,
  trouble         TEXT,
  made_at         INTEGER NOT NULL,
  ended_at        INTEGER
) STRICT;
CREATE INDEX alert_deliveries_due ON alert_deliveries (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alert_deliveries_of ON alert_deliveries (alert);

-- Pauses and limits of providers' accounts.
CREATE TABLE pauses (
  agent           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  until           INTEGER,
  -- 0: it only tells; see the type `Holds`.
  holds           INTEGER NOT NULL,
  note            TEXT,
  at              INTEGER NOT NULL,
  PRIMARY KEY (agent, reason)
) WITHOUT ROWID, STRICT;
INSERT INTO pauses (agent, reason, installation_id, holds, at)
  SELECT agent, 'operator', installation_id, 1, updated_at FROM agents WHERE paused = 1;

-- Budgets and what was counted.

-- Who counted: the backend, or the relay.
ALTER TABLE usage ADD COLUMN source TEXT NOT NULL DEFAULT 'backend';

-- What a person added to a budget for one day, by the clock on the wall.
CREATE TABLE budget_raises (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  scope           TEXT NOT NULL,
  day             TEXT NOT NULL,
  tokens          INTEGER NOT NULL,
  cost_micros     INTEGER NOT NULL,
  raised_by       TEXT NOT NULL,
  at              INTEGER NOT NULL
) STRICT;
CREATE INDEX budget_raises_day ON budget_raises (day, scope);

-- Requests to models' APIs that went through a relay, by how they ended.
CREATE TABLE relay_calls (
  agent             TEXT NOT NULL,
  day               TEXT NOT NULL,
  outcome           TEXT NOT NULL,
  installation_id   TEXT NOT NULL,
  calls             INTEGER NOT NULL,
  first_byte_micros INTEGER NOT NULL,
  lasted_micros     INTEGER NOT NULL,
  PRIMARY KEY (agent, day, outcome)
) WITHOUT ROWID, STRICT;

-- Holds of the whole fleet; one at a time is open.
CREATE TABLE fleet_holds (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  why             TEXT NOT NULL,
  began_at        INTEGER NOT NULL,
  until           INTEGER,
  ended_at        INTEGER,
  ended_by        TEXT
) STRICT;
CREATE UNIQUE INDEX fleet_holds_open ON fleet_holds (installation_id) WHERE ended_at IS NULL;

-- The supervisor: who asked the model.
ALTER TABLE usage ADD COLUMN spender TEXT NOT NULL DEFAULT 'agent';

-- Restarts: the epoch of the daemon's start that a message tells of. Made from what the row has, so that it is
-- right in the rows of an older program too.
ALTER TABLE messages ADD COLUMN restart INTEGER GENERATED ALWAYS AS (
  iif(origin = 'system' AND intake_key LIKE 'restart/%', CAST(substr(intake_key, 9) AS INTEGER), NULL)
) VIRTUAL;
