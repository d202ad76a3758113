//! The sessions that a program keeps: it is started for the question and ended after the answer.

use std::{sync::Arc, time::Duration};

use gangline_os::{
    clock::{self, UnixMicros},
    lines::Line,
    process::{self, Child},
};
use serde_json::{Value, json};
use tokio::{sync::watch, time};

use super::{launch, recipe::Recipe, wire};
use crate::{
    NoTools, SessionFilter, SessionHandle, SessionId, StartOptions,
    program::{SHORT_KILL_POLICY, pipes::Pipes},
};

/// Start and both answers.
const WITHIN: Duration = Duration::from_secs(60);
/// Pages of one list; a program that never comes to its end is not followed.
const PAGES_MAX: usize = 20;

/// Returns the kept sessions, the newest first. Cancel-safe: the program is ended with the future.
///
/// # Errors
/// One line that says what went wrong.
pub(super) async fn list(
    recipe: &'static Recipe,
    options: &StartOptions,
    filter: &SessionFilter,
) -> Result<Vec<SessionHandle>, String> {
    // A session may be open beside this: files with its tool servers stay as they are.
    let mut options = options.clone();
    options.tools = Arc::new(NoTools);
    options.mcp_servers.clear();
    let (_turn, turn) = watch::channel(None);
    let launch = launch::prepare(recipe, &options, turn)?;
    let mut child = process::spawn(launch.spawn).map_err(|error| error.to_string())?;
    let mut pipes = Pipes::of(&mut child);
    let asked = time::timeout(WITHIN, ask(&mut pipes, filter)).await;
    pipes.close_input().await;
    end(&mut child, &mut pipes).await;
    pipes.close().await;
    let all = match asked {
        Ok(Ok(all)) => all,
        Ok(Err(why)) => return Err(why),
        Err(_) => return Err(format!("it did not answer within {} s", WITHIN.as_secs())),
    };
    let mut sessions: Vec<SessionHandle> =
        all.iter().filter_map(|session| handle(recipe.name, session)).collect();
    sessions.retain(|it| filter.workdir.as_ref().is_none_or(|folder| it.workdir == *folder));
    sessions.sort_by_key(|session| std::cmp::Reverse(session.started_at));
    sessions.truncate(filter.limit);
    Ok(sessions)
}

async fn end(child: &mut Child, pipes: &mut Pipes) {
    let ending = child.end(&SHORT_KILL_POLICY);
    tokio::pin!(ending);
    loop {
        tokio::select! {
            _ = &mut ending => return,
            // What it still says is of no use, but must not hold it up.
            Some(_) = pipes.next() => {}
        }
    }
}

async fn ask(pipes: &mut Pipes, filter: &SessionFilter) -> Result<Vec<Value>, String> {
    let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}});
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    pipes.write(wire::request(1, "initialize", &hello));
    let can = answer(pipes, 1).await?;
    if !can["agentCapabilities"]["sessionCapabilities"]["list"].is_object() {
        return Err("it does not list its sessions".to_owned());
    }
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    for page in 2_u64..2 + PAGES_MAX as u64 {
        let mut params = json!({});
        if let Some(folder) = &filter.workdir {
            params["cwd"] = folder.display().to_string().into();
        }
        if !cursor.is_null() {
            params["cursor"] = cursor;
        }
        pipes.write(wire::request(page, "session/list", &params));
        let answer = answer(pipes, page).await?;
        all.extend(answer["sessions"].as_array().cloned().unwrap_or_default());
        cursor = answer["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    Ok(all)
}

async fn answer(pipes: &mut Pipes, number: u64) -> Result<Value, String> {
    while let Some(output) = pipes.next().await {
        let Line::Text(text) = output else { continue };
        match wire::decode(&text) {
            Ok(wire::Line::Answer { id, outcome }) if id == number => {
                return outcome.map_err(|refusal| refusal.words());
            }
            Ok(wire::Line::Request { id, method, .. }) => {
                pipes.write(wire::not_served(&id, &method));
            }
            _ => {}
        }
    }
    Err("it ended before it answered".to_owned())
}

fn handle(runtime: &'static str, session: &Value) -> Option<SessionHandle> {
    let text = |name: &str| session[name].as_str();
    Some(SessionHandle {
        runtime,
        session: Some(SessionId(text("sessionId")?.to_owned())),
        workdir: text("cwd")?.into(),
        pid: None,
        pid_start: None,
        started_at: text("updatedAt").and_then(clock::parse_rfc3339).unwrap_or(UnixMicros(0)),
        ready_at: None,
    })
}

#[cfg(test)]
mod tests;
