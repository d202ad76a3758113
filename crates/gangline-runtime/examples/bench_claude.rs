//! How fast lines of a child become events of the Claude Code adapter, beside a bare pipe whose
//! lines are parsed, and how much memory one enormous line takes. `cargo xtask bench P8` runs it
//! and judges; each mode prints one JSON object. This program plays the child as well.
//! Usage: `bench_claude adapter ROUNDS FOLDER`, `bench_claude bare ROUNDS`,
//! `bench_claude long BYTES FOLDER`; children are `bench_claude play lines|long NUMBER`.
#![allow(clippy::print_stdout, reason = "its output is what it was started for")]
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement: it reads the clock itself, and its anchor starts a child as bare \
              programs do"
)]

use std::{
    collections::BTreeMap,
    error::Error,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use gangline_runtime::{
    EVENT_QUEUE, Mode, PermissionMode, Prompt, RuntimeEvent, StartOptions, StopReason, ToolCall,
    ToolHost, ToolSpec, TurnResult, registry,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: bench_claude adapter ROUNDS FOLDER | bare ROUNDS | long BYTES FOLDER";
const UUID: &str = "00000000-0000-4000-8000-000000000001";
/// How long the adapter may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);
/// The lengths of the texts in a round's lines, in KB: many short ones, one long one.
const KILOBYTES: [usize; 20] =
    [1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 200];
/// What texts are made of: words, and what has to be escaped or takes more than one byte.
const WORDS: &str =
    "the test `a::b` \"fails\" at line 12:\n\tassert_eq!(grün, 3); // → ✓ naïve C:\\tmp ";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["play", kind, number, rest @ ..] => play(kind, number.parse()?, rest),
        ["bare", rounds] => bare(rounds.parse()?),
        ["adapter", rounds, folder] => adapter(rounds.parse()?, Path::new(folder)),
        ["long", bytes, folder] => long(bytes.parse()?, Path::new(folder)),
        _ => Err(USAGE.into()),
    }
}

/// Plays the program: tells its version, or serves one prompt with lines as fast as they are read.
fn play(kind: &str, number: usize, rest: &[&str]) -> Outcome<()> {
    if rest.contains(&"--version") {
        println!("2.1.330 (Claude Code)");
        return Ok(());
    }
    // Made before it is asked for, so that nothing but writing is measured.
    let payload = match kind {
        "lines" => round(),
        "long" => text_line(&"x".repeat(number)).into_bytes(),
        _ => return Err(USAGE.into()),
    };
    let times = if kind == "lines" { number } else { 1 };
    let mut stdin = BufReader::new(std::io::stdin());
    let mut stdout = std::io::stdout();
    let mut ask = || -> Outcome<Value> {
        let mut line = String::new();
        stdin.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    let id = ask()?["request_id"].take();
    let ready = json!({"type": "control_response",
        "response": {"subtype": "success", "request_id": id, "response": {}}});
    writeln!(stdout, "{ready}")?;
    let uuid = ask()?["uuid"].take();
    let begun = json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started"});
    writeln!(stdout, "{begun}")?;
    for _ in 0..times {
        stdout.write_all(&payload)?;
    }
    let ended = json!({"type": "result", "subtype": "success", "is_error": false, "result": "x",
        "user_message_uuids": [uuid]});
    writeln!(stdout, "{ended}")?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The lines of one round: what the model said, which tools it called, and what they returned.
fn round() -> Vec<u8> {
    let mut lines = String::new();
    for (number, kilobytes) in KILOBYTES.iter().enumerate() {
        let text: String = WORDS.chars().cycle().take(kilobytes * 1000).collect();
        let line = match number % 3 {
            0 => text_line(&text),
            1 => assistant(&json!({"type": "tool_use", "id": format!("toolu_{number}"),
                "name": "Write", "input": {"file_path": "/src/a.rs", "content": text}})),
            _ => format!(
                "{}\n",
                json!({"type": "user", "message": {"role": "user", "content": [
                    {"tool_use_id": format!("toolu_{}", number - 1), "type": "tool_result",
                     "content": text}]}, "parent_tool_use_id": null, "session_id": "s"})
            ),
        };
        lines.push_str(&line);
    }
    lines.into_bytes()
}

fn text_line(text: &str) -> String {
    assistant(&json!({"type": "text", "text": text}))
}

fn assistant(block: &Value) -> String {
    format!(
        "{}\n",
        json!({"type": "assistant", "message": {"model": "m", "id": "msg_1", "role": "assistant",
            "content": [block], "usage": {"input_tokens": 5, "output_tokens": 7}},
            "parent_tool_use_id": null, "session_id": "s", "uuid": UUID})
    )
}

/// The anchor: a bare pipe, each line parsed.
fn bare(rounds: usize) -> Outcome<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["play", "lines", &rounds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut to = child.stdin.take().ok_or("no pipe")?;
    let mut from = BufReader::with_capacity(64 * 1024, child.stdout.take().ok_or("no pipe")?);
    writeln!(to, "{}", json!({"request_id": "gangline-1"}))?;
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    let start = Instant::now();
    writeln!(to, "{}", json!({"uuid": UUID}))?;
    let (mut bytes, mut lines) = (0, 0);
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Err("the child ended".into());
        }
        let value: Value = serde_json::from_slice(&line)?;
        match value["type"].as_str() {
            Some("result") => break,
            Some("assistant" | "user") => lines += 1,
            _ => continue,
        }
        bytes += line.len();
    }
    let took = start.elapsed();
    drop(to);
    child.wait()?;
    tell(rounds, lines, bytes, took)
}

fn tell(rounds: usize, lines: usize, bytes: usize, took: Duration) -> Outcome<()> {
    if lines != rounds * KILOBYTES.len() {
        return Err(format!("{lines} of {} lines came", rounds * KILOBYTES.len()).into());
    }
    #[allow(clippy::cast_precision_loss, reason = "a speed")]
    let speed = bytes as f64 / 1e6 / took.as_secs_f64();
    println!("{}", json!({"megabytes_a_second": speed, "lines": lines, "bytes": bytes}));
    Ok(())
}

fn adapter(rounds: usize, folder: &Path) -> Outcome<()> {
    let mut events = 0;
    let mut took = Duration::ZERO;
    session(folder, ["lines", &rounds.to_string()], |event, since| {
        match event {
            RuntimeEvent::Message { .. } | RuntimeEvent::ToolResult { .. } => events += 1,
            _ => {}
        }
        took = since;
    })?;
    tell(rounds, events, rounds * round().len(), took)
}

fn long(bytes: usize, folder: &Path) -> Outcome<()> {
    let (mut texts, mut notices) = (0, Vec::new());
    session(folder, ["long", &bytes.to_string()], |event, _| match event {
        RuntimeEvent::Message { .. } => texts += 1,
        RuntimeEvent::Notice { text } => notices.push(text.clone()),
        _ => {}
    })?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix("kB")).ok_or("no VmHWM")?;
    let peak: u64 = peak.trim().parse()?;
    println!("{}", json!({"peak_kib": peak, "messages": texts, "notices": notices}));
    Ok(())
}

/// Runs one turn of a session with ourselves in the program's place; `see` gets each event and how
/// long after the prompt it came.
fn session(
    folder: &Path,
    play: [&str; 2],
    mut see: impl FnMut(&RuntimeEvent, Duration),
) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut claude = registry::make("claude")?;
        let (sender, mut events) = mpsc::channel(EVENT_QUEUE);
        claude.start(options(folder, play)?, sender).await?;
        let mut start = Instant::now();
        loop {
            let event = tokio::time::timeout(PATIENCE, events.recv()).await?;
            match event.ok_or("the session ended")? {
                RuntimeEvent::Ready { .. } => {
                    start = Instant::now();
                    claude.prompt(prompt()).await?;
                }
                RuntimeEvent::Exited { code } => return Err(format!("exited: {code}").into()),
                RuntimeEvent::Finished { result: TurnResult::Completed, .. } => break,
                event => see(&event, start.elapsed()),
            }
        }
        // Before the child is ended: ending is not measured.
        claude.stop(StopReason::Stuck).await;
        Ok(())
    })
}

fn prompt() -> Prompt {
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    Prompt { turn, text: "go".to_owned(), uuid: UUID.to_owned() }
}

fn options(folder: &Path, play: [&str; 2]) -> Outcome<StartOptions> {
    let ourselves = std::env::current_exe()?.display().to_string();
    let command = [ourselves.as_str(), "play", play[0], play[1]].map(str::to_owned).to_vec();
    let within = |name: &str| -> PathBuf { folder.join(name) };
    let env = [("PATH", std::env::var("PATH")?), ("HOME", folder.display().to_string())];
    Ok(StartOptions {
        workdir: folder.to_owned(),
        session_dir: within("sessions"),
        tmp_dir: within("tmp"),
        command: Some(command),
        account_dir: None,
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        mode: Mode::Resident,
        model: None,
        thinking: None,
        system_prompt: String::new(),
        mcp_servers: Vec::new(),
        permissions: PermissionMode::Ask,
        allowed_tools: Vec::new(),
        resume: None,
        initial_prompt: None,
        tool_bridge: Vec::new(),
        base_url: None,
        api_key: None,
        extra: BTreeMap::new(),
        tools: Arc::new(NoTools),
    })
}

/// A daemon without tools of its own.
struct NoTools;

#[async_trait]
impl ToolHost for NoTools {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn call(&self, _call: ToolCall) -> Result<String, String> {
        Err("there are none".to_owned())
    }
}
