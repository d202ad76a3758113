//! The owner's words to the agent by a person's client: pause, resume, abort, whisper; and what waits for
//! a human. Without a daemon they are done in the store.

use gangline_core::{
    pause::{pause_for, pause_until},
    whisper::WhisperKind,
};
use gangline_mcp::table::{Tool, User};
use gangline_os::{
    change_notice,
    clock::{self, UnixMicros},
};
use gangline_runtime::ToolCall;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{Site, needed, sentences, text_of};
use crate::{
    control::{self, Taken, Word},
    failure::Failure,
    owner, show,
};

/// How others know the owner whose client whispers.
const BY: &str = "owner";

/// Runs a call of the owner's.
pub(super) async fn call(
    (site, user): (Site<'_>, User),
    (tool, call): (Tool, &ToolCall),
) -> Result<String, String> {
    let input = &call.input;
    let done = match tool {
        Tool::Pause => tell(site, Word::Pause { until: ends(input)? }).await,
        Tool::Resume => tell(site, Word::Resume).await,
        Tool::Abort => tell(site, Word::Interrupt).await,
        Tool::Whisper => whisper(site, (kind(input)?, needed(input, "text")?)).await,
        _ => attention(site, user).await,
    };
    done.map_err(|failure| sentences(&failure))
}

async fn tell(site: Site<'_>, word: Word) -> Result<String, Failure> {
    let Site { store, paths, agent, .. } = site;
    let taken = control::tell_aside((store, paths), agent, word).await?;
    let held = control::held_after(store, agent, word).await?;
    let done = match taken {
        Ok(Taken::ByDaemon) => "",
        Ok(Taken::ByRow | Taken::Unheard(_)) => "; its daemon is not running",
        Err(refused) => return Err(held.into_iter().fold(refused, Failure::hint)),
    };
    if let (Word::Resume, Some(held)) = (word, &held) {
        return Ok(held.clone());
    }
    let outcome = match (word, done) {
        (Word::Pause { until }, _) => control::paused(until),
        (Word::Interrupt, "") => "ends its turn".to_owned(),
        (Word::Interrupt, _) => "is not escalated any more".to_owned(),
        (_, _) => "resumed".to_owned(),
    };
    let held = held.map_or_else(String::new, |held| format!(". {held}"));
    Ok(format!("{agent} {outcome}{done}{held}"))
}

fn ends(input: &Value) -> Result<Option<UnixMicros>, String> {
    let zones = |name: &str| TimeZone::get(name).ok();
    let now = owner::now();
    let until = match (text_of(input, "for")?, text_of(input, "until")?) {
        (Some(_), Some(_)) => return Err("give one of `for` and `until`".to_owned()),
        (Some(length), None) => pause_for(length, &now, &zones).map(Some),
        (None, Some(time)) => pause_until(time, &now, &zones).map(Some),
        (None, None) => Ok(None),
    };
    until.map(|at| at.map(|at| UnixMicros(at.0))).map_err(|error| error.to_string())
}

fn kind(input: &Value) -> Result<WhisperKind, String> {
    match text_of(input, "type")?.map(str::parse) {
        None => Ok(WhisperKind::Correction),
        Some(Ok(kind @ (WhisperKind::Correction | WhisperKind::ThinkDeeper))) => Ok(kind),
        Some(_) => Err("`type` must be CORRECTION or THINK_DEEPER".to_owned()),
    }
}

async fn whisper(site: Site<'_>, (kind, said): (WhisperKind, &str)) -> Result<String, Failure> {
    let new = owner::whisper(site.agent, (kind, said), BY)?;
    let stored = site.store.whisper(new).await;
    let id = stored.map_err(|error| owner::whisper_refused(site.agent, error))?;
    change_notice::notify(&site.paths.change_notice(site.agent.folded()));
    Ok(format!("whisper {id} for {} is stored", site.agent))
}

/// The owner sees what waits of all agents, a program with a token for one agent what waits of that one,
/// without the words of what was not said in a room.
async fn attention(site: Site<'_>, user: User) -> Result<String, Failure> {
    let mut items = site.store.attention(clock::system().now()).await?;
    items.retain(|item| user != User::Program || item.agent == *site.agent);
    let items = items.into_iter().map(|item| item.shown_to(site.reader));
    let items: Vec<_> = items.map(|item| show::attention::wire(&item)).collect();
    Ok(json!({"items": items}).to_string())
}
