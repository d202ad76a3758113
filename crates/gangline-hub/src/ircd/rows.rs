//! Rows of `irc.db`: writing and reading.

use std::{collections::HashMap, sync::Arc};

use gangline_core::{ChannelName, Nick, Principal, Tier};
use gangline_irc::server::{
    events::Place,
    store::{
        Account, Accounts, Appended, Bound, Conversation, Entry, FindLine, HistoryQuery, LineKind,
        NewLine, Party, Range, StoredLine, TargetRow, TargetsQuery, Topic,
    },
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    events,
    reading::{End, decode},
};

/// Which lines are numbered how.
pub(super) struct Numbering {
    /// The id of this opening.
    pub(super) opening: String,
    /// The place of the newest line.
    pub(super) last: i64,
    /// Lines kept of one conversation.
    pub(super) keep: i64,
}

/// Writes all lines of a batch. The caller begins and ends the transaction.
pub(super) fn append(
    db: &Connection,
    numbering: &mut Numbering,
    batch: &[Arc<NewLine>],
) -> rusqlite::Result<Vec<Appended>> {
    let mut kept = Vec::with_capacity(batch.len());
    let mut grown: HashMap<String, (i64, &NewLine)> = HashMap::new();
    for line in batch {
        let conversation = line.conversation.key();
        let seq = numbering.last + 1;
        let msgid = format!("{}.{seq}", numbering.opening);
        if insert(db, (seq, &msgid), (&conversation, line))? {
            numbering.last = seq;
            kept.push(Appended::Stored { seq, msgid });
            let row = grown.entry(conversation).or_insert((0, line));
            *row = (row.0 + 1, line);
        } else {
            let line = repeated(db, &conversation, line)?;
            kept.push(Appended::Duplicate(Box::new(line)));
        }
    }
    for (conversation, (lines, newest)) in grown {
        let lines = grow(db, &conversation, lines, newest)?;
        prune(db, &conversation, lines, numbering.keep)?;
    }
    Ok(kept)
}

/// Returns whether the line was new.
fn insert(
    db: &Connection,
    (seq, msgid): (i64, &str),
    (conversation, line): (&str, &NewLine),
) -> rusqlite::Result<bool> {
    let sql =
        "INSERT INTO lines (seq, msgid, conversation, sender, key, at_us, notice, source, account,
            principal, tier, bot, target, text, tags)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (sender, key, conversation) WHERE key IS NOT NULL DO NOTHING";
    let with = params![
        seq,
        msgid,
        conversation,
        line.sender.key(),
        line.key.as_deref(),
        line.at.0,
        line.kind == LineKind::Notice,
        &line.source,
        line.account.as_deref(),
        &line.principal.account,
        line.principal.tier.as_str(),
        line.bot,
        &line.target,
        &line.text,
        tags_text(&line.tags)?
    ];
    let done = db.prepare_cached(sql)?.execute(with)?;
    Ok(done == 1)
}

fn tags_text(tags: &[(String, Option<String>)]) -> rusqlite::Result<String> {
    if tags.is_empty() {
        return Ok(String::new());
    }
    serde_json::to_string(tags)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn repeated(db: &Connection, conversation: &str, line: &NewLine) -> rusqlite::Result<StoredLine> {
    let sql = "SELECT * FROM lines WHERE sender = ? AND key = ? AND conversation = ?";
    let with = params![line.sender.key(), line.key.as_deref(), conversation];
    db.prepare_cached(sql)?.query_row(with, stored)
}

/// Notes new lines of a conversation; returns how many it has now.
fn grow(
    db: &Connection,
    conversation: &str,
    lines: i64,
    newest: &NewLine,
) -> rusqlite::Result<i64> {
    let (one, other) = match &newest.conversation {
        Conversation::Channel(_) => (String::new(), String::new()),
        Conversation::Direct(one, other) => (one.key(), other.key()),
    };
    let sql = "INSERT INTO conversations (conversation, one, other, last_at_us, lines)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (conversation)
         DO UPDATE SET last_at_us = excluded.last_at_us, lines = lines + excluded.lines
         RETURNING lines";
    let with = params![conversation, one, other, newest.at.0, lines];
    db.prepare_cached(sql)?.query_row(with, |row| row.get(0))
}

/// Removes the oldest lines once a tenth too many are there.
fn prune(db: &Connection, conversation: &str, lines: i64, keep: i64) -> rusqlite::Result<()> {
    if lines <= keep + keep / 10 {
        return Ok(());
    }
    let old = "DELETE FROM lines WHERE conversation = ?1 AND seq <= (
            SELECT seq FROM lines WHERE conversation = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
    db.prepare_cached(old)?.execute(params![conversation, keep])?;
    let left = "UPDATE conversations SET lines = ? WHERE conversation = ?";
    db.prepare_cached(left)?.execute(params![keep, conversation])?;
    Ok(())
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<StoredLine> {
    let conversation: String = row.get("conversation")?;
    let tags: String = row.get("tags")?;
    let tags = if tags.is_empty() { Ok(Vec::new()) } else { serde_json::from_str(&tags) };
    let tier: String = row.get("tier")?;
    let line = NewLine {
        conversation: conversation_of(&conversation)?,
        sender: Party::from_key(&row.get::<_, String>("sender")?),
        key: row.get("key")?,
        at: UnixMicros(row.get("at_us")?),
        kind: if row.get("notice")? { LineKind::Notice } else { LineKind::Privmsg },
        source: row.get("source")?,
        account: row.get("account")?,
        principal: Principal {
            account: row.get("principal")?,
            tier: tier.parse::<Tier>().map_err(decode)?,
        },
        bot: row.get("bot")?,
        target: row.get("target")?,
        text: row.get("text")?,
        tags: tags.map_err(decode)?,
    };
    Ok(StoredLine { seq: row.get("seq")?, msgid: row.get("msgid")?, line: Arc::new(line) })
}

/// Reads [`Conversation::key`] back.
fn conversation_of(key: &str) -> rusqlite::Result<Conversation> {
    match key.split_once(' ') {
        Some((one, other)) => {
            Ok(Conversation::Direct(Party::from_key(one), Party::from_key(other)))
        }
        None => key.parse::<ChannelName>().map(Conversation::Channel).map_err(decode),
    }
}

/// What a history has beside its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum With {
    /// Nothing.
    Nothing,
    /// What happened.
    Events,
}

/// Returns (place of the first entry at or after the bound, place of the first after it).
fn place(
    db: &Connection,
    conversation: &str,
    bound: &Bound,
    with: With,
) -> rusqlite::Result<(Place, Place)> {
    match bound {
        Bound::Msgid(msgid) => {
            let (opening, seq) = msgid.split_once('.').unwrap_or((msgid, ""));
            let known =
                db.prepare_cached("SELECT 1 FROM openings WHERE id = ?")?.exists([opening])?;
            Ok(match (known, seq.parse::<i64>()) {
                (true, Ok(seq)) => ((seq, 0), (seq, 1)),
                _ => ((0, 0), (0, 0)),
            })
        }
        Bound::Event { behind, msgid } => {
            let found = events::number(db, conversation, (*behind, msgid))?;
            let next = (behind.saturating_add(1), 0);
            Ok(found.map_or((next, next), |number| ((*behind, number), (*behind, number + 1))))
        }
        Bound::At(at) => {
            let from = at.0.div_euclid(1000).saturating_mul(1000);
            let first = first_since(db, conversation, from, with)?;
            Ok((first, first_since(db, conversation, from.saturating_add(1000), with)?))
        }
    }
}

fn first_since(
    db: &Connection,
    conversation: &str,
    at_us: i64,
    with: With,
) -> rusqlite::Result<Place> {
    let sql = "SELECT seq FROM lines WHERE conversation = ? AND at_us >= ? ORDER BY seq LIMIT 1";
    let first = db.prepare_cached(sql)?.query_row(params![conversation, at_us], |row| row.get(0));
    let line = (first.optional()?.unwrap_or(i64::MAX), 0);
    Ok(match with {
        With::Nothing => line,
        With::Events => {
            events::first_since(db, conversation, at_us)?.map_or(line, |event| event.min(line))
        }
    })
}

/// Answers [`HistoryQuery`] with lines alone.
pub(super) fn history(db: &Connection, query: &HistoryQuery) -> rusqlite::Result<Vec<StoredLine>> {
    let line = |entry| match entry {
        Entry::Line(stored) => Some(stored),
        Entry::Event(_) => None,
    };
    Ok(entries(db, query, With::Nothing)?.into_iter().filter_map(line).collect())
}

/// Answers [`HistoryQuery`].
pub(super) fn entries(
    db: &Connection,
    query: &HistoryQuery,
    with: With,
) -> rusqlite::Result<Vec<Entry>> {
    const BEGIN: Place = (0, 0);
    const END: Place = (i64::MAX, i64::MAX);
    let key = query.conversation.key();
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let place = |bound| place(db, &key, bound, with);
    let span = |places, end, limit| span(db, (&key, with), places, (end, limit));
    let (low, high, end) = match &query.range {
        Range::Latest => (BEGIN, END, End::Newest),
        Range::LatestAfter(bound) => (place(bound)?.1, END, End::Newest),
        Range::Before(bound) => (BEGIN, place(bound)?.0, End::Newest),
        Range::After(bound) => (place(bound)?.1, END, End::Oldest),
        Range::Around(bound) => {
            let middle = place(bound)?.0;
            let mut found = span((BEGIN, middle), End::Newest, limit / 2)?;
            let rest = limit - i64::try_from(found.len()).unwrap_or(0);
            found.extend(span((middle, END), End::Oldest, rest)?);
            return Ok(found);
        }
        Range::Between(one, other) => {
            let (one, other) = (place(one)?, place(other)?);
            if one.0 <= other.0 {
                (one.1, other.0, End::Oldest)
            } else {
                (other.1, one.0, End::Newest)
            }
        }
    };
    span((low, high), end, limit)
}

/// Returns the entries from `low` on and before `high`, the oldest or the newest of them.
fn span(
    db: &Connection,
    (conversation, with): (&str, With),
    places: (Place, Place),
    (end, limit): (End, i64),
) -> rusqlite::Result<Vec<Entry>> {
    let said = lines(db, conversation, places, (end, limit))?;
    let mut entries: Vec<(Place, Entry)> =
        said.into_iter().map(|stored| ((stored.seq, 0), Entry::Line(stored))).collect();
    if with == With::Events {
        entries.extend(events::span(db, conversation, places, (end, limit))?);
        entries.sort_by_key(|(place, _)| *place);
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let extra = entries.len().saturating_sub(limit);
    match end {
        End::Oldest => entries.truncate(limit),
        End::Newest => drop(entries.drain(..extra)),
    }
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Returns lines, the oldest first.
fn lines(
    db: &Connection,
    conversation: &str,
    (low, high): (Place, Place),
    (end, limit): (End, i64),
) -> rusqlite::Result<Vec<StoredLine>> {
    let sql = match end {
        End::Oldest => {
            "SELECT * FROM lines
             WHERE conversation = ? AND seq >= ? AND seq < ? AND text <> ''
             ORDER BY seq LIMIT ?"
        }
        End::Newest => {
            "SELECT * FROM lines
             WHERE conversation = ? AND seq >= ? AND seq < ? AND text <> ''
             ORDER BY seq DESC LIMIT ?"
        }
    };
    // A line comes before the events behind it.
    let line = |(seq, number): Place| if number > 0 { seq.saturating_add(1) } else { seq };
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![conversation, line(low), line(high), limit], stored)?;
    let mut lines = rows.collect::<rusqlite::Result<Vec<StoredLine>>>()?;
    if end == End::Newest {
        lines.reverse();
    }
    Ok(lines)
}

/// Answers [`TargetsQuery`].
pub(super) fn targets(db: &Connection, query: &TargetsQuery) -> rusqlite::Result<Vec<TargetRow>> {
    let after = query.after.0.div_euclid(1000).saturating_mul(1000).saturating_add(1000);
    let before = query.before.0.div_euclid(1000).saturating_mul(1000);
    let mut found = Vec::new();
    for channel in &query.channels {
        let sql = "SELECT last_at_us FROM conversations
             WHERE conversation = ? AND last_at_us >= ? AND last_at_us < ?";
        let with = params![channel.folded(), after, before];
        let at = db.prepare_cached(sql)?.query_row(with, |row| Ok(UnixMicros(row.get(0)?)));
        if let Some(at) = at.optional()? {
            found.push(TargetRow { name: channel.as_str().to_owned(), at });
        }
    }
    if let Some(party) = &query.party {
        let me = party.key();
        let sql = "SELECT one, other, last_at_us FROM conversations
             WHERE (one = ?1 OR other = ?1) AND last_at_us >= ?2 AND last_at_us < ?3
             ORDER BY last_at_us LIMIT ?4";
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let mut statement = db.prepare_cached(sql)?;
        let rows = statement.query_map(params![&me, after, before, limit], |row| {
            let (one, other): (String, String) = (row.get(0)?, row.get(1)?);
            let name = Party::from_key(if one == me { &other } else { &one });
            Ok(TargetRow { name: name.name().to_owned(), at: UnixMicros(row.get(2)?) })
        })?;
        for row in rows {
            found.push(row?);
        }
    }
    found.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
    found.truncate(query.limit);
    Ok(found)
}

/// Returns the line of that id. The id ends with the line's place.
pub(super) fn line(db: &Connection, msgid: &str) -> rusqlite::Result<Option<StoredLine>> {
    let Some(seq) = msgid.rsplit_once('.').and_then(|(_, seq)| seq.parse::<i64>().ok()) else {
        return Ok(None);
    };
    let sql = "SELECT * FROM lines WHERE seq = ? AND msgid = ?";
    db.prepare_cached(sql)?.query_row(params![seq, msgid], stored).optional()
}

/// Takes a line back. It keeps its place and its sender's key.
pub(super) fn redact(db: &Connection, seq: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE lines SET text = '', tags = '' WHERE seq = ?";
    db.prepare_cached(sql)?.execute([seq])?;
    Ok(())
}

/// Answers [`FindLine`].
pub(super) fn find(db: &Connection, query: &FindLine) -> rusqlite::Result<Option<StoredLine>> {
    let mut statement = db.prepare_cached("SELECT * FROM lines WHERE sender = ? AND key = ?")?;
    let rows = statement.query_map(params![query.sender.key(), &query.key], stored)?;
    let lines = rows.collect::<rusqlite::Result<Vec<StoredLine>>>()?;
    let named = |kept: &StoredLine| gangline_core::name::fold(&kept.line.target) == query.target;
    Ok(lines.into_iter().find(named))
}

/// Returns all accounts.
pub(super) fn accounts(db: &Connection) -> rusqlite::Result<Accounts> {
    let mut statement =
        db.prepare("SELECT shown, tier, credential_sha256, last_nick FROM accounts")?;
    let rows = statement.query_map([], |row| {
        let (name, tier): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Account {
            name: name.parse::<Nick>().map_err(decode)?,
            tier: tier.parse::<Tier>().map_err(decode)?,
            credential_sha256: row.get(2)?,
            last_nick: row.get(3)?,
        })
    })?;
    let mut accounts = Accounts::default();
    for account in rows {
        accounts.put(account?);
    }
    Ok(accounts)
}

/// Keeps an account.
pub(super) fn put_account(db: &Connection, account: &Account) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO accounts (name, shown, tier, credential_sha256, last_nick)
         VALUES (?, ?, ?, ?, ?)";
    let with = params![
        account.name.folded(),
        account.name.as_str(),
        account.tier.as_str(),
        &account.credential_sha256,
        account.last_nick.as_deref()
    ];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}

/// Returns all topics.
pub(super) fn topics(db: &Connection) -> rusqlite::Result<Vec<Topic>> {
    let mut statement = db.prepare("SELECT shown, text, set_by, at_us FROM topics")?;
    let rows = statement.query_map([], |row| {
        let channel: String = row.get(0)?;
        Ok(Topic {
            channel: channel.parse::<ChannelName>().map_err(decode)?,
            text: row.get(1)?,
            by: row.get(2)?,
            at: UnixMicros(row.get(3)?),
        })
    })?;
    rows.collect()
}

/// Keeps a topic.
pub(super) fn put_topic(db: &Connection, topic: &Topic) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO topics (channel, shown, text, set_by, at_us)
         VALUES (?, ?, ?, ?, ?)";
    let with =
        params![topic.channel.folded(), topic.channel.as_str(), &topic.text, &topic.by, topic.at.0];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}

/// Forgets a channel's topic.
pub(super) fn forget_topic(db: &Connection, channel: &ChannelName) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM topics WHERE channel = ?")?.execute([channel.folded()])?;
    Ok(())
}
