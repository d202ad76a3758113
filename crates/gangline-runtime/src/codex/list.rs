//! The sessions that the program keeps: a short talk with a process of its own.

use std::{path::PathBuf, time::Duration};

use gangline_os::{clock::UnixMicros, lines::Line, process};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time;

use super::{
    NAME,
    decode::{self, Line as Said},
    encode, launch,
};
use crate::{
    SessionFilter, SessionHandle, SessionId, StartOptions,
    program::{SHORT_KILL_POLICY, pipes::Pipes},
};

/// From the start of the program to its answer.
const WITHIN: Duration = Duration::from_secs(30);
/// Sessions that people or programs began; not those of subagents.
const KINDS: [&str; 4] = ["cli", "vscode", "exec", "appServer"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    cwd: PathBuf,
    #[serde(default)]
    updated_at: i64,
}

/// Returns the newest sessions in the program's folder. Cancel-safe: dropping it kills the program.
///
/// # Errors
/// One line that says what went wrong.
pub(super) async fn sessions(
    options: &StartOptions,
    filter: &SessionFilter,
) -> Result<Vec<SessionHandle>, String> {
    let launch = launch::prepare(options).await?;
    let mut child = process::spawn(launch.spawn).map_err(|error| error.to_string())?;
    let mut pipes = Pipes::of(&mut child);
    let answer = time::timeout(WITHIN, ask(&mut pipes, filter)).await;
    pipes.close().await;
    child.end(&SHORT_KILL_POLICY).await;
    let answer =
        answer.map_err(|_| format!("it did not answer within {} s", WITHIN.as_secs()))??;
    let listed = answer.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
    let listed = listed.into_iter().filter_map(|it| serde_json::from_value::<Listed>(it).ok());
    Ok(listed.map(handle).take(filter.limit).collect())
}

fn handle(listed: Listed) -> SessionHandle {
    SessionHandle {
        runtime: NAME,
        session: Some(SessionId(listed.id)),
        workdir: listed.cwd,
        pid: None,
        pid_start: None,
        started_at: UnixMicros::from_seconds(listed.updated_at),
        ready_at: None,
    }
}

async fn ask(pipes: &mut Pipes, filter: &SessionFilter) -> Result<Value, String> {
    pipes.write(encode::request(1, "initialize", &encode::initialize()));
    answer(pipes, 1).await?;
    pipes.write(encode::initialized());
    let mut params = json!({
        "limit": filter.limit,
        "sortKey": "updated_at",
        "modelProviders": [],
        "sourceKinds": KINDS,
    });
    if let Some(workdir) = &filter.workdir {
        params["cwd"] = json!(workdir);
    }
    pipes.write(encode::request(2, "thread/list", &params));
    answer(pipes, 2).await
}

async fn answer(pipes: &mut Pipes, wanted: u64) -> Result<Value, String> {
    while let Some(output) = pipes.next().await {
        let Line::Text(text) = output else { continue };
        if let Ok(Said::Response { id, answer }) = decode::decode(&text)
            && id == wanted
        {
            return answer;
        }
    }
    Err("it ended without an answer".to_owned())
}
