-- Schema 1. Times are microseconds since 1970; order is a number, never a time.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE accounts (
  account         TEXT PRIMARY KEY,
  tier            TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  created_at      INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE agents (
  agent           TEXT PRIMARY KEY,
  installation_id TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  pid             INTEGER NOT NULL,
  note            TEXT NOT NULL,
  phase           TEXT,
  session         TEXT,
  paused          INTEGER NOT NULL DEFAULT 0,
  status_json     TEXT,
  started_at      INTEGER NOT NULL,
  ready_at        INTEGER,
  updated_at      INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE stand_downs (
  agent  TEXT NOT NULL,
  target TEXT NOT NULL,
  by     TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (agent, target)
) WITHOUT ROWID, STRICT;

CREATE TABLE cursors (
  agent      TEXT NOT NULL,
  network_id TEXT NOT NULL,
  target     TEXT NOT NULL,
  cursor     TEXT NOT NULL,
  moved_at   INTEGER NOT NULL,
  PRIMARY KEY (agent, network_id, target)
) WITHOUT ROWID, STRICT;

CREATE TABLE messages (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  network_id      TEXT NOT NULL,
  intake_key      TEXT,
  origin          TEXT NOT NULL,
  principal       TEXT NOT NULL,
  tier            TEXT NOT NULL,
  sender          TEXT NOT NULL,
  target          TEXT NOT NULL,
  body            TEXT NOT NULL,
  in_reply_to     INTEGER,
  cause_root      INTEGER,
  hops            INTEGER NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT,
  answer          TEXT,
  attempt         INTEGER NOT NULL DEFAULT 0,
  takes           INTEGER NOT NULL DEFAULT 0,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  not_before      INTEGER,
  expires_at      INTEGER,
  msgid           TEXT,
  accepted_at     INTEGER NOT NULL,
  taken_at        INTEGER,
  settled_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX messages_intake ON messages (agent, network_id, intake_key)
  WHERE intake_key IS NOT NULL;
CREATE INDEX messages_waiting ON messages (agent, id) WHERE state = 'accepted';
CREATE INDEX messages_due ON messages (agent, not_before)
  WHERE state = 'accepted' AND not_before IS NOT NULL;
CREATE INDEX messages_agent ON messages (agent, id);
CREATE INDEX messages_turn ON messages (agent, turn_epoch, turn_number) WHERE state = 'in_turn';

CREATE TABLE turns (
  agent           TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  installation_id TEXT NOT NULL,
  prompt_uuid     TEXT NOT NULL,
  started_at      INTEGER NOT NULL,
  ended_at        INTEGER,
  outcome         TEXT,
  PRIMARY KEY (agent, epoch, number)
) WITHOUT ROWID, STRICT;
CREATE INDEX turns_open ON turns (agent, epoch, number) WHERE ended_at IS NULL;

CREATE TABLE turn_messages (
  agent   TEXT NOT NULL,
  epoch   INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  message INTEGER NOT NULL,
  how     TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (agent, epoch, number, message)
) WITHOUT ROWID, STRICT;
CREATE INDEX turn_messages_message ON turn_messages (message);

CREATE TABLE outbox (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  network_id      TEXT,
  agent           TEXT NOT NULL,
  idem_key        TEXT NOT NULL,
  part            INTEGER NOT NULL,
  parts           INTEGER NOT NULL,
  target          TEXT NOT NULL,
  body            TEXT NOT NULL,
  kind            TEXT NOT NULL,
  state           TEXT NOT NULL,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  in_reply_to     INTEGER,
  tell            TEXT,
  cause_root      INTEGER,
  hops            INTEGER NOT NULL,
  attempts        INTEGER NOT NULL DEFAULT 0,
  why             TEXT,
  msgid           TEXT,
  may_be_doubled  INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  sent_at         INTEGER,
  settled_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX outbox_idem ON outbox (agent, idem_key, part);
CREATE INDEX outbox_pending ON outbox (agent, id) WHERE state IN ('queued', 'sent');
CREATE INDEX outbox_reply ON outbox (in_reply_to) WHERE in_reply_to IS NOT NULL;
CREATE INDEX outbox_turn ON outbox (agent, turn_epoch, turn_number);

CREATE TABLE events (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  v               INTEGER NOT NULL,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  epoch           INTEGER,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  kind            TEXT NOT NULL,
  at              INTEGER NOT NULL,
  payload         TEXT NOT NULL
) STRICT;
CREATE INDEX events_agent ON events (agent, seq);
CREATE INDEX events_turn ON events (agent, turn_epoch, turn_number, seq);

CREATE TABLE approvals (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  turn_number     INTEGER NOT NULL,
  message         INTEGER,
  takes           INTEGER NOT NULL DEFAULT 0,
  request         TEXT NOT NULL,
  tool            TEXT NOT NULL,
  args_hash       TEXT NOT NULL,
  summary         TEXT NOT NULL,
  detail          TEXT NOT NULL,
  state           TEXT NOT NULL,
  decision        TEXT,
  decided_by      TEXT,
  decided_tier    TEXT,
  note            TEXT,
  delivered       INTEGER NOT NULL DEFAULT 0,
  announced_at    TEXT,
  announced_msgid TEXT,
  opened_at       INTEGER NOT NULL,
  closed_at       INTEGER,
  expires_at      INTEGER
) STRICT;
CREATE INDEX approvals_request ON approvals (agent, epoch, turn_number, request);
CREATE INDEX approvals_again ON approvals (agent, message, tool, args_hash);
CREATE INDEX approvals_open ON approvals (number) WHERE state = 'open';
CREATE INDEX approvals_open_of ON approvals (agent, number) WHERE state = 'open';
CREATE INDEX approvals_agent ON approvals (agent, number);
CREATE INDEX approvals_decided ON approvals (agent, epoch)
  WHERE delivered = 0 AND state IN ('allowed', 'denied');
CREATE INDEX approvals_message ON approvals (message) WHERE message IS NOT NULL;

CREATE TABLE questions (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  network_id      TEXT,
  agent           TEXT NOT NULL,
  epoch           INTEGER,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  in_reply_to     INTEGER,
  cause_root      INTEGER,
  hops            INTEGER NOT NULL DEFAULT 0,
  target          TEXT NOT NULL,
  body            TEXT NOT NULL,
  state           TEXT NOT NULL,
  answer          TEXT,
  answered_by     TEXT,
  answered_tier   TEXT,
  asked_at        INTEGER NOT NULL,
  expires_at      INTEGER,
  answered_at     INTEGER
) STRICT;
CREATE INDEX questions_open ON questions (agent, id) WHERE state = 'open';

CREATE TABLE reminders (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  network_id      TEXT,
  agent           TEXT NOT NULL,
  epoch           INTEGER,
  principal       TEXT NOT NULL,
  tier            TEXT NOT NULL,
  target          TEXT NOT NULL,
  body            TEXT NOT NULL,
  cause_root      INTEGER,
  hops            INTEGER NOT NULL DEFAULT 0,
  rule            TEXT,
  due_at          INTEGER NOT NULL,
  state           TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  settled_at      INTEGER
) STRICT;
CREATE INDEX reminders_due ON reminders (agent, due_at) WHERE state = 'waiting';

CREATE TABLE usage (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  epoch           INTEGER,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  model           TEXT NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cost_micros     INTEGER,
  at              INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_agent ON usage (agent, at);
CREATE INDEX usage_at ON usage (at);
