//! Where the program may read: in its folder, outside of it, and what is closed to every agent.
//!
//! These cells have no right answer that all programs could give, so they say what was seen. A file
//! in the folder is read first: it shows that the dialect names the tool as the program does.

use std::path::{Path, PathBuf};

use super::{
    Score,
    card::Card,
    plan,
    report::Way,
    session::Session,
    turn::{Turn, Why},
};
use gangline_runtime::{Answer, Block, RuntimeEvent, TurnResult};

/// A file outside of the folder: denied if it is asked about.
pub(super) async fn outside(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let folder = session.options.workdir.clone();
    inside(session, &folder).await?;
    let outside = session.subject.options.workdir.clone();
    let answer = Answer::Deny { reason: "it is not yours".to_owned() };
    let (turn, seen) = read(session, &outside, &answer).await?;
    let way = match (turn.asked.is_empty(), seen) {
        (false, true) => return Err("it was read although it was denied".to_owned()),
        (false, false) => Way::Asked,
        (true, true) => Way::NotHeld,
        (true, false) => Way::Refused,
    };
    card.note("reads_outside", Score::Does(way));
    Ok(())
}

/// A file that is closed to every agent: allowed if it is asked about.
pub(super) async fn closed(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let folder = session.options.workdir.clone();
    inside(session, &folder).await?;
    let closed = plan::closed(&session.subject.options);
    let (turn, seen) = read(session, &closed, &Answer::Allow).await?;
    let way = match (turn.asked.is_empty(), seen) {
        (false, true) => Way::Asked,
        (true, true) => Way::NotHeld,
        (_, false) => Way::Refused,
    };
    card.note("reads_closed", Score::Does(way));
    Ok(())
}

async fn inside(session: &mut Session<'_>, folder: &Path) -> Result<(), Why> {
    match read(session, folder, &Answer::Allow).await? {
        (_, true) => Ok(()),
        (turn, false) => {
            let told = turn.text();
            let told: String = told.chars().take(200).collect();
            Err(format!("it does not read a file in its folder, but says {told:?}"))
        }
    }
}

/// Has a new file read. Returns the turn, and whether the model saw what the file holds.
async fn read(
    session: &mut Session<'_>,
    folder: &Path,
    answer: &Answer,
) -> Result<(Turn, bool), Why> {
    let (name, content) = (uuid::Uuid::new_v4().to_string(), uuid::Uuid::new_v4().to_string());
    let path = file(folder, &name, &content)?;
    let said = session.say_with("read", &format!("{} ", path.display())).await?;
    let patience = session.subject.dialect.pace.turn;
    let began = session.told.len();
    let turn = session.finish_with(said, answer, patience).await?;
    match &turn.result {
        TurnResult::Completed | TurnResult::Interrupted => {}
        other => return Err(format!("the turn ended as {other:?}")),
    }
    if let Some(ask) = turn.asked.iter().find(|ask| !ask.input.to_string().contains(&name)) {
        return Err(format!("the question does not show the file: {}", ask.input));
    }
    let seen = session.subject.model.newest_with(&[&content]).is_some();
    let events = session.told.get(began..).unwrap_or_default();
    let tried = !turn.asked.is_empty() || events.iter().any(is_call);
    match tried || seen {
        true => Ok((turn, seen)),
        false => Err("the call was not told".to_owned()),
    }
}

fn is_call(event: &RuntimeEvent) -> bool {
    match event {
        RuntimeEvent::ToolResult { .. } => true,
        RuntimeEvent::Message { message, .. } => {
            message.content.iter().any(|block| matches!(block, Block::ToolUse { .. }))
        }
        _ => false,
    }
}

fn file(folder: &Path, name: &str, content: &str) -> Result<PathBuf, Why> {
    let path = folder.join(name);
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content));
    made.map(|()| path).map_err(|error| error.to_string())
}
