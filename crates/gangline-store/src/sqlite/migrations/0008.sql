-- Schema 8: what people have allowed for good, and what each approval would make a rule of.
CREATE TABLE rules (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,
  installation_id TEXT NOT NULL,
  agent           TEXT NOT NULL,
  tool            TEXT NOT NULL,
  directory       TEXT NOT NULL,
  -- `command` (a JSON list of words), `file` (a path) or `arguments` (JSON), and what it is.
  form            TEXT NOT NULL,
  body            TEXT NOT NULL,
  approval        INTEGER,
  made_by         TEXT NOT NULL,
  made_tier       TEXT NOT NULL,
  made_as         TEXT NOT NULL,
  made_at         INTEGER NOT NULL,
  UNIQUE (agent, tool, directory, form, body)
) STRICT;

CREATE TABLE rule_offers (
  approval  INTEGER PRIMARY KEY,
  tool      TEXT NOT NULL,
  directory TEXT NOT NULL,
  -- Why there can be no rule; otherwise its forms are in rule_forms.
  unclear   TEXT
) STRICT;

CREATE TABLE rule_forms (
  approval INTEGER NOT NULL,
  place    INTEGER NOT NULL,
  form     TEXT NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (approval, place)
) WITHOUT ROWID, STRICT;
