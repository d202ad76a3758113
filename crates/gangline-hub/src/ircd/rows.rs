//! Rows of `irc.db`: writing and reading.

use std::{collections::HashMap, sync::Arc};

use gangline_core::{ChannelName, Nick, Principal, Tier};
use gangline_irc::server::store::{
    Account, Accounts, Appended, Bound, Conversation, FindLine, HistoryQuery, LineKind, NewLine,
    Party, Range, StoredLine, TargetRow, TargetsQuery, Topic,
};
use gangline_os::clock::UnixMicros;
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

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
pub(super) async fn append(
    db: &mut SqliteConnection,
    numbering: &mut Numbering,
    batch: &[Arc<NewLine>],
) -> sqlx::Result<Vec<Appended>> {
    let mut kept = Vec::with_capacity(batch.len());
    let mut grown: HashMap<String, (i64, &NewLine)> = HashMap::new();
    for line in batch {
        let conversation = line.conversation.key();
        let seq = numbering.last + 1;
        let msgid = format!("{}.{seq}", numbering.opening);
        if insert(db, (seq, &msgid), (&conversation, line)).await? {
            numbering.last = seq;
            kept.push(Appended::Stored { seq, msgid });
            let row = grown.entry(conversation).or_insert((0, line));
            *row = (row.0 + 1, line);
        } else {
            let line = repeated(db, &conversation, line).await?;
            kept.push(Appended::Duplicate(Box::new(line)));
        }
    }
    for (conversation, (lines, newest)) in grown {
        grow(db, &conversation, lines, newest).await?;
        prune(db, &conversation, numbering.keep).await?;
    }
    Ok(kept)
}

/// Returns whether the line was new.
async fn insert(
    db: &mut SqliteConnection,
    (seq, msgid): (i64, &str),
    (conversation, line): (&str, &NewLine),
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO lines (seq, msgid, conversation, sender, key, at_us, notice, source, account,
            principal, tier, bot, target, text, tags)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (sender, key, conversation) WHERE key IS NOT NULL DO NOTHING",
    )
    .bind(seq)
    .bind(msgid)
    .bind(conversation)
    .bind(line.sender.key())
    .bind(line.key.as_deref())
    .bind(line.at.0)
    .bind(line.kind == LineKind::Notice)
    .bind(&line.source)
    .bind(line.account.as_deref())
    .bind(&line.principal.account)
    .bind(line.principal.tier.as_str())
    .bind(line.bot)
    .bind(&line.target)
    .bind(&line.text)
    .bind(tags_text(&line.tags)?)
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

fn tags_text(tags: &[(String, Option<String>)]) -> sqlx::Result<String> {
    if tags.is_empty() {
        return Ok(String::new());
    }
    serde_json::to_string(tags).map_err(|error| sqlx::Error::Encode(error.into()))
}

async fn repeated(
    db: &mut SqliteConnection,
    conversation: &str,
    line: &NewLine,
) -> sqlx::Result<StoredLine> {
    let row = sqlx::query("SELECT * FROM lines WHERE sender = ? AND key = ? AND conversation = ?")
        .bind(line.sender.key())
        .bind(line.key.as_deref())
        .bind(conversation)
        .fetch_one(db)
        .await?;
    stored(&row)
}

async fn grow(
    db: &mut SqliteConnection,
    conversation: &str,
    lines: i64,
    newest: &NewLine,
) -> sqlx::Result<()> {
    let (one, other) = match &newest.conversation {
        Conversation::Channel(_) => (String::new(), String::new()),
        Conversation::Direct(one, other) => (one.key(), other.key()),
    };
    sqlx::query(
        "INSERT INTO conversations (conversation, one, other, last_at_us, lines)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (conversation)
         DO UPDATE SET last_at_us = excluded.last_at_us, lines = lines + excluded.lines",
    )
    .bind(conversation)
    .bind(one)
    .bind(other)
    .bind(newest.at.0)
    .bind(lines)
    .execute(db)
    .await?;
    Ok(())
}

/// Removes the oldest lines once a tenth too many are there.
async fn prune(db: &mut SqliteConnection, conversation: &str, keep: i64) -> sqlx::Result<()> {
    let row = sqlx::query("SELECT lines FROM conversations WHERE conversation = ?")
        .bind(conversation)
        .fetch_one(&mut *db)
        .await?;
    let lines: i64 = row.try_get(0)?;
    if lines <= keep + keep / 10 {
        return Ok(());
    }
    sqlx::query(
        "DELETE FROM lines WHERE conversation = ?1 AND seq <= (
            SELECT seq FROM lines WHERE conversation = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
    )
    .bind(conversation)
    .bind(keep)
    .execute(&mut *db)
    .await?;
    sqlx::query("UPDATE conversations SET lines = ? WHERE conversation = ?")
        .bind(keep)
        .bind(conversation)
        .execute(db)
        .await?;
    Ok(())
}

fn stored(row: &SqliteRow) -> sqlx::Result<StoredLine> {
    let conversation: String = row.try_get("conversation")?;
    let tags: String = row.try_get("tags")?;
    let tags = if tags.is_empty() { Ok(Vec::new()) } else { serde_json::from_str(&tags) };
    let tier: String = row.try_get("tier")?;
    let line = NewLine {
        conversation: conversation_of(&conversation)?,
        sender: Party::from_key(&row.try_get::<String, _>("sender")?),
        key: row.try_get("key")?,
        at: UnixMicros(row.try_get("at_us")?),
        kind: if row.try_get("notice")? { LineKind::Notice } else { LineKind::Privmsg },
        source: row.try_get("source")?,
        account: row.try_get("account")?,
        principal: Principal {
            account: row.try_get("principal")?,
            tier: tier.parse::<Tier>().map_err(decode)?,
        },
        bot: row.try_get("bot")?,
        target: row.try_get("target")?,
        text: row.try_get("text")?,
        tags: tags.map_err(decode)?,
    };
    Ok(StoredLine { seq: row.try_get("seq")?, msgid: row.try_get("msgid")?, line: Arc::new(line) })
}

fn decode(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}

/// Reads [`Conversation::key`] back.
fn conversation_of(key: &str) -> sqlx::Result<Conversation> {
    match key.split_once(' ') {
        Some((one, other)) => {
            Ok(Conversation::Direct(Party::from_key(one), Party::from_key(other)))
        }
        None => key.parse::<ChannelName>().map(Conversation::Channel).map_err(decode),
    }
}

/// Returns (place of the first line at or after the bound, place of the first after it).
async fn place(
    db: &mut SqliteConnection,
    conversation: &str,
    bound: &Bound,
) -> sqlx::Result<(i64, i64)> {
    match bound {
        Bound::Msgid(msgid) => {
            let (opening, seq) = msgid.split_once('.').unwrap_or((msgid, ""));
            let known = sqlx::query("SELECT 1 FROM openings WHERE id = ?")
                .bind(opening)
                .fetch_optional(db)
                .await?;
            Ok(match (known, seq.parse::<i64>()) {
                (Some(_), Ok(seq)) => (seq, seq.saturating_add(1)),
                _ => (0, 0),
            })
        }
        Bound::At(at) => {
            let from = at.0.div_euclid(1000).saturating_mul(1000);
            let first = first_since(db, conversation, from).await?;
            Ok((first, first_since(db, conversation, from.saturating_add(1000)).await?))
        }
    }
}

async fn first_since(
    db: &mut SqliteConnection,
    conversation: &str,
    at_us: i64,
) -> sqlx::Result<i64> {
    let row = sqlx::query(
        "SELECT seq FROM lines WHERE conversation = ? AND at_us >= ? ORDER BY seq LIMIT 1",
    )
    .bind(conversation)
    .bind(at_us)
    .fetch_optional(db)
    .await?;
    row.map_or(Ok(i64::MAX), |row| row.try_get(0))
}

/// From which end of a span lines are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Oldest,
    Newest,
}

/// Answers [`HistoryQuery`].
pub(super) async fn history(
    db: &mut SqliteConnection,
    query: &HistoryQuery,
) -> sqlx::Result<Vec<StoredLine>> {
    let key = query.conversation.key();
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let (low, high, end) = match &query.range {
        Range::Latest => (0, i64::MAX, End::Newest),
        Range::LatestAfter(bound) => (place(db, &key, bound).await?.1, i64::MAX, End::Newest),
        Range::Before(bound) => (0, place(db, &key, bound).await?.0, End::Newest),
        Range::After(bound) => (place(db, &key, bound).await?.1, i64::MAX, End::Oldest),
        Range::Around(bound) => {
            let middle = place(db, &key, bound).await?.0;
            let mut found = span(db, &key, (0, middle), (End::Newest, limit / 2)).await?;
            let rest = limit - i64::try_from(found.len()).unwrap_or(0);
            found.extend(span(db, &key, (middle, i64::MAX), (End::Oldest, rest)).await?);
            return Ok(found);
        }
        Range::Between(one, other) => {
            let (one, other) = (place(db, &key, one).await?, place(db, &key, other).await?);
            if one.0 <= other.0 {
                (one.1, other.0, End::Oldest)
            } else {
                (other.1, one.0, End::Newest)
            }
        }
    };
    span(db, &key, (low, high), (end, limit)).await
}

async fn span(
    db: &mut SqliteConnection,
    conversation: &str,
    (low, high): (i64, i64),
    (end, limit): (End, i64),
) -> sqlx::Result<Vec<StoredLine>> {
    let sql = match end {
        End::Oldest => {
            "SELECT * FROM lines WHERE conversation = ? AND seq >= ? AND seq < ?
             ORDER BY seq LIMIT ?"
        }
        End::Newest => {
            "SELECT * FROM lines WHERE conversation = ? AND seq >= ? AND seq < ?
             ORDER BY seq DESC LIMIT ?"
        }
    };
    let rows =
        sqlx::query(sql).bind(conversation).bind(low).bind(high).bind(limit).fetch_all(db).await?;
    let mut lines = rows.iter().map(stored).collect::<sqlx::Result<Vec<StoredLine>>>()?;
    if end == End::Newest {
        lines.reverse();
    }
    Ok(lines)
}

/// Answers [`TargetsQuery`].
pub(super) async fn targets(
    db: &mut SqliteConnection,
    query: &TargetsQuery,
) -> sqlx::Result<Vec<TargetRow>> {
    let after = query.after.0.div_euclid(1000).saturating_mul(1000).saturating_add(1000);
    let before = query.before.0.div_euclid(1000).saturating_mul(1000);
    let mut found = Vec::new();
    for channel in &query.channels {
        let row = sqlx::query(
            "SELECT last_at_us FROM conversations
             WHERE conversation = ? AND last_at_us >= ? AND last_at_us < ?",
        )
        .bind(channel.folded())
        .bind(after)
        .bind(before)
        .fetch_optional(&mut *db)
        .await?;
        if let Some(row) = row {
            let at = UnixMicros(row.try_get(0)?);
            found.push(TargetRow { name: channel.as_str().to_owned(), at });
        }
    }
    if let Some(party) = &query.party {
        let me = party.key();
        let rows = sqlx::query(
            "SELECT one, other, last_at_us FROM conversations
             WHERE (one = ?1 OR other = ?1) AND last_at_us >= ?2 AND last_at_us < ?3
             ORDER BY last_at_us LIMIT ?4",
        )
        .bind(&me)
        .bind(after)
        .bind(before)
        .bind(i64::try_from(query.limit).unwrap_or(i64::MAX))
        .fetch_all(db)
        .await?;
        for row in rows {
            let (one, other): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let name = Party::from_key(if one == me { &other } else { &one });
            let at = UnixMicros(row.try_get(2)?);
            found.push(TargetRow { name: name.name().to_owned(), at });
        }
    }
    found.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
    found.truncate(query.limit);
    Ok(found)
}

/// Answers [`FindLine`].
pub(super) async fn find(
    db: &mut SqliteConnection,
    query: &FindLine,
) -> sqlx::Result<Option<StoredLine>> {
    let rows = sqlx::query("SELECT * FROM lines WHERE sender = ? AND key = ?")
        .bind(query.sender.key())
        .bind(&query.key)
        .fetch_all(db)
        .await?;
    let lines = rows.iter().map(stored).collect::<sqlx::Result<Vec<StoredLine>>>()?;
    let named = |kept: &StoredLine| gangline_core::name::fold(&kept.line.target) == query.target;
    Ok(lines.into_iter().find(named))
}

/// Returns all accounts.
pub(super) async fn accounts(db: &mut SqliteConnection) -> sqlx::Result<Accounts> {
    let rows = sqlx::query("SELECT shown, tier, credential_sha256, last_nick FROM accounts")
        .fetch_all(db)
        .await?;
    let mut accounts = Accounts::default();
    for row in rows {
        let (name, tier): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        accounts.put(Account {
            name: name.parse::<Nick>().map_err(decode)?,
            tier: tier.parse::<Tier>().map_err(decode)?,
            credential_sha256: row.try_get(2)?,
            last_nick: row.try_get(3)?,
        });
    }
    Ok(accounts)
}

/// Keeps an account.
pub(super) async fn put_account(db: &mut SqliteConnection, account: &Account) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT OR REPLACE INTO accounts (name, shown, tier, credential_sha256, last_nick)
         VALUES (?, ?, ?, ?, ?)",
    )
    .bind(account.name.folded())
    .bind(account.name.as_str())
    .bind(account.tier.as_str())
    .bind(&account.credential_sha256)
    .bind(account.last_nick.as_deref())
    .execute(db)
    .await?;
    Ok(())
}

/// Returns all topics.
pub(super) async fn topics(db: &mut SqliteConnection) -> sqlx::Result<Vec<Topic>> {
    let rows = sqlx::query("SELECT shown, text, set_by, at_us FROM topics").fetch_all(db).await?;
    let topic = |row: &SqliteRow| {
        let channel: String = row.try_get(0)?;
        Ok(Topic {
            channel: channel.parse::<ChannelName>().map_err(decode)?,
            text: row.try_get(1)?,
            by: row.try_get(2)?,
            at: UnixMicros(row.try_get(3)?),
        })
    };
    rows.iter().map(topic).collect()
}

/// Keeps a topic.
pub(super) async fn put_topic(db: &mut SqliteConnection, topic: &Topic) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT OR REPLACE INTO topics (channel, shown, text, set_by, at_us)
         VALUES (?, ?, ?, ?, ?)",
    )
    .bind(topic.channel.folded())
    .bind(topic.channel.as_str())
    .bind(&topic.text)
    .bind(&topic.by)
    .bind(topic.at.0)
    .execute(db)
    .await?;
    Ok(())
}
