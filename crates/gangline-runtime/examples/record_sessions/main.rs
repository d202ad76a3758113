//! Records what the real programs tell in sessions whose model is a script: well-behaved ones and others. The
//! supervisor's rules are tested on the recordings. Each line is a JSON object: `session` begins one, then
//! come what happened and when, in seconds. The folder of a session is written as `/lab`.
//! Usage: `record_sessions BACKEND [NAME …] > FILE`; `hang` takes eleven minutes and is recorded only by name.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its output is what it was started for"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "it reads the clock itself: a recording tells when things happened"
)]

mod sessions;

use std::{
    error::Error,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use gangline_core::{Epoch, TurnId};
use gangline_os::{CancellationToken, clock, secret::Secret, task::TaskGroup};
use gangline_runtime::{
    Command, Permissions, Prompt, RuntimeEvent, Session, StartOptions, StopReason, TurnResult,
    adapters,
};
use gangline_standin::{Script, StandinOptions, serve};
use gangline_testkit::programs;
use serde_json::{Value, json};
use sessions::{Program, Scene};
use tokio::{net::TcpListener, time::timeout};

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: record_sessions claude|codex|opencode|native [NAME …]";
/// What stands for the folder of a session.
const FOLDER: &str = "/lab";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (backend, names) = arguments.split_first().ok_or(USAGE)?;
    let program = Program::of(backend).ok_or(USAGE)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for scene in sessions::scenes(program) {
        let named = names.contains(&scene.name.to_owned());
        if named || (names.is_empty() && scene.interrupted_after.is_none()) {
            eprintln!("{backend}: {}", scene.name);
            runtime.block_on(record(program, scene))?;
        }
    }
    Ok(())
}

/// Records one session, turn by turn.
async fn record(program: Program, scene: Scene) -> Outcome<()> {
    let folder = tempfile::Builder::new().prefix("gl-").tempdir()?;
    let path = folder.path().display().to_string();
    for name in ["home", "work"] {
        fs::create_dir(folder.path().join(name))?;
    }
    for (name, content) in sessions::FILES {
        fs::write(folder.path().join("work").join(name), content)?;
    }
    let tell = |line: Value| println!("{}", line.to_string().replace(&path, FOLDER));
    tell(json!({"session": scene.name}));
    let script = Script::parse(&scene.script.to_string().replace(FOLDER, &path))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let mut tasks = TaskGroup::new("session");
    let standin =
        StandinOptions { listener, script: Some(script), record: None, clock: clock::system() };
    tasks.spawn("standin", async move { drop(serve(standin, CancellationToken::new()).await) });
    let adapter = adapters::make(program.name())?;
    let options = options(program, folder.path(), &address)?;
    let mut session = adapter.start(options, &mut tasks).await?;
    let began = Instant::now();
    let mut prompts = scene.prompts.into_iter().zip(1..);
    let mut interrupted_after = scene.interrupted_after;
    loop {
        let left = interrupted_after.map(|after| after.saturating_sub(began.elapsed()));
        let event = match timeout(left.unwrap_or(Duration::MAX), session.next()).await {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(()),
            Err(_elapsed) => {
                session.commands.send(Command::Interrupt).await?;
                interrupted_after = None;
                continue;
            }
        };
        let at = (began.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        match event {
            RuntimeEvent::Message { message, .. } => tell(json!({"at": at, "message": message})),
            RuntimeEvent::ToolResult { id, name, is_error, content, .. } => {
                let result =
                    json!({"id": id, "name": name, "is_error": is_error, "content": content});
                tell(json!({"at": at, "result": result}));
            }
            RuntimeEvent::Usage { usage, .. } => tell(json!({"at": at, "usage": usage})),
            RuntimeEvent::Finished { result, .. } => {
                tell(json!({"at": at, "finished": ended(&result)}));
                next(&session, &mut prompts, at, tell).await?;
            }
            RuntimeEvent::Ready { .. } => next(&session, &mut prompts, at, tell).await?,
            RuntimeEvent::ApprovalAsked { ask, .. } => return Err(format!("asked: {ask:?}").into()),
            RuntimeEvent::Refused { why, .. } => return Err(format!("refused: {why:?}").into()),
            _ => {}
        }
    }
}

/// Gives the next prompt, or stops the session after the last one.
async fn next(
    session: &Session,
    prompts: &mut impl Iterator<Item = (String, i64)>,
    at: f64,
    tell: impl Fn(Value),
) -> Outcome<()> {
    let command = match prompts.next() {
        Some((text, number)) => {
            tell(json!({"at": at, "prompt": text}));
            let turn = TurnId { epoch: Epoch(1), number };
            Command::Prompt(Prompt { turn, text, uuid: uuid::Uuid::new_v4().to_string() })
        }
        None => Command::Stop(StopReason::Shutdown),
    };
    Ok(session.commands.send(command).await?)
}

fn ended(result: &TurnResult) -> String {
    match result {
        TurnResult::Completed => "completed".to_owned(),
        TurnResult::Interrupted => "interrupted".to_owned(),
        other => format!("{other:?}"),
    }
}

fn options(program: Program, folder: &Path, address: &str) -> Outcome<StartOptions> {
    let (command, base, model) = match program {
        Program::Claude => (Some(programs::claude()), "", None),
        Program::Codex => (Some(programs::codex()), "/v1", Some("gpt-5.5")),
        Program::OpenCode => (Some(programs::opencode()), "/v1", Some("lab/first")),
        Program::Native => (None, "", Some("standin")),
    };
    let nowhere = "http://127.0.0.1:9".to_owned();
    let env = [
        ("PATH", std::env::var("PATH")?),
        ("HOME", folder.join("home").display().to_string()),
        ("HTTPS_PROXY", nowhere.clone()),
        ("HTTP_PROXY", nowhere),
        ("NO_PROXY", "127.0.0.1".to_owned()),
    ];
    Ok(StartOptions {
        command: command.map(|path| vec![path.display().to_string()]),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        model: model.map(str::to_owned),
        system_prompt: "You are lab-ada.".to_owned(),
        permissions: Permissions::Bypass,
        base_url: Some(format!("http://{address}{base}")),
        api_key: Some(Secret::new("sk-standin-0123456789")),
        ..StartOptions::within(folder)
    })
}
