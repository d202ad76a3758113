-- Schema 13: what is confirmed is on disk, folders that a person trusts, rules that no longer hold.

-- Orders about a turn or a session.

-- What a lost attempt has done already.

-- Folders that an owner trusts.

-- Requests to a model that are under way.

-- Rules that no longer hold.

-- Announcements and decisions.

