-- Schema 10: questions with options, rules and votes; reminders that repeat; the operator's inbox;
-- tokens of programs outside.
--
-- `target` of a question is who is asked. Its answer becomes a message to the asker, which goes on
-- where the question was asked from (`reply_target`).
ALTER TABLE questions ADD COLUMN options TEXT NOT NULL DEFAULT '[]';
ALTER TABLE questions ADD COLUMN several INTEGER NOT NULL DEFAULT 0;
ALTER TABLE questions ADD COLUMN rule TEXT NOT NULL DEFAULT 'humans';
ALTER TABLE questions ADD COLUMN on_timeout TEXT NOT NULL DEFAULT 'none';
ALTER TABLE questions ADD COLUMN request TEXT;
-- The epoch of the daemon in which a call is held open until the answer: it gets it, not the inbox.
ALTER TABLE questions ADD COLUMN waits INTEGER;
ALTER TABLE questions ADD COLUMN reply_target TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX questions_request ON questions (agent, request) WHERE request IS NOT NULL;
CREATE INDEX questions_due ON questions (agent, expires_at)
  WHERE state = 'open' AND expires_at IS NOT NULL;
CREATE INDEX questions_waited ON questions (agent, waits) WHERE waits IS NOT NULL;
CREATE INDEX questions_all_open ON questions (id) WHERE state = 'open';

-- What agents answered that were asked together; the last one of each counts.
CREATE TABLE question_votes (
  question        INTEGER NOT NULL,
  agent           TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  answer          TEXT NOT NULL,
  at              INTEGER NOT NULL,
  PRIMARY KEY (question, agent)
) WITHOUT ROWID, STRICT;

-- Where a question was announced to people, and when.
CREATE TABLE question_places (
  question        INTEGER NOT NULL,
  place           TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  target          TEXT NOT NULL,
  idem_key        TEXT NOT NULL,
  whole           INTEGER NOT NULL DEFAULT 1,
  told_at         TEXT,
  heard_at        INTEGER,
  PRIMARY KEY (question, place)
) WITHOUT ROWID, STRICT;
CREATE INDEX question_places_key ON question_places (agent, idem_key);

-- The question that a message asks of an agent, or brings the answer to.
ALTER TABLE messages ADD COLUMN question INTEGER;

-- Wakes of a label within a minute.
CREATE INDEX messages_wakes ON messages (agent, principal, accepted_at) WHERE origin = 'wake';

ALTER TABLE reminders ADD COLUMN request TEXT;
ALTER TABLE reminders ADD COLUMN parent INTEGER;
ALTER TABLE reminders ADD COLUMN fired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminders ADD COLUMN fired_at INTEGER;
CREATE UNIQUE INDEX reminders_request ON reminders (agent, request) WHERE request IS NOT NULL;

-- When reminders fired, for the limit of an hour.
CREATE TABLE firings (
  agent           TEXT NOT NULL,
  at              INTEGER NOT NULL,
  reminder        INTEGER NOT NULL,
  installation_id TEXT NOT NULL,
  message         INTEGER NOT NULL,
  PRIMARY KEY (agent, at, reminder)
) WITHOUT ROWID, STRICT;

-- What agents send to the people in charge.
CREATE TABLE letters (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  idem_key        TEXT NOT NULL,
  turn_epoch      INTEGER,
  turn_number     INTEGER,
  in_reply_to     INTEGER,
  cause_root      INTEGER,
  hops            INTEGER NOT NULL,
  body            TEXT NOT NULL,
  state           TEXT NOT NULL,
  answer          INTEGER,
  settled_by      TEXT,
  sent_at         INTEGER NOT NULL,
  read_at         INTEGER,
  settled_at      INTEGER,
  UNIQUE (agent, idem_key)
) STRICT;
CREATE INDEX letters_open ON letters (id) WHERE state IN ('new', 'read');

-- Tokens of programs outside; only their hashes.
CREATE TABLE tokens (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  scope           TEXT NOT NULL,
  agent           TEXT NOT NULL,
  label           TEXT NOT NULL,
  hash            TEXT NOT NULL UNIQUE,
  made_by         TEXT NOT NULL,
  made_tier       TEXT NOT NULL,
  made_at         INTEGER NOT NULL,
  used_at         INTEGER,
  revoked_at      INTEGER
) STRICT;

-- What each agent's daemon was started with.
CREATE TABLE applied (
  agent           TEXT PRIMARY KEY,
  installation_id TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  mark            TEXT NOT NULL,
  at              INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Changes of the installation that managers ask for. Their numbers are of the same sequence as those
-- of approvals and questions.
CREATE TABLE changes (
  number          INTEGER PRIMARY KEY,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  turn_epoch      INTEGER NOT NULL,
  turn_number     INTEGER NOT NULL,
  request         TEXT NOT NULL,
  kind            TEXT NOT NULL,
  subject         TEXT NOT NULL,
  commit_id       TEXT,
  before_id       TEXT,
  epoch           INTEGER NOT NULL DEFAULT 0,
  entry           TEXT,
  summary         TEXT NOT NULL,
  detail          TEXT NOT NULL,
  reason          TEXT NOT NULL,
  message         INTEGER,
  reply_target    TEXT NOT NULL,
  places          TEXT NOT NULL,
  state           TEXT NOT NULL,
  decision        TEXT,
  decided_by      TEXT,
  decided_tier    TEXT,
  decided_as      TEXT,
  note            TEXT,
  outcome         TEXT,
  asked_at        INTEGER NOT NULL,
  decided_at      INTEGER,
  applying_at     INTEGER,
  ended_at        INTEGER,
  UNIQUE (agent, request)
) STRICT;
CREATE INDEX changes_under_way ON changes (number)
  WHERE state IN ('approved', 'applying', 'rolling_back');
