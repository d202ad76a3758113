//! How fast lines of a child become events of an adapter, beside a bare pipe whose lines are parsed,
//! and how much memory one enormous line takes. `cargo xtask bench P8` runs it and judges; each mode
//! prints one JSON object. This program plays the children as well, those of the other goals too.
//! Usage: `bench_adapters adapter BACKEND ROUNDS FOLDER`, `bench_adapters bare BACKEND ROUNDS`,
//! `bench_adapters long BACKEND BYTES FOLDER`; children are
//! `bench_adapters play BACKEND lines|long|word NUMBER`.
#![allow(clippy::print_stdout, reason = "its output is what it was started for")]
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement: it reads the clock itself, and its anchor starts a child as bare \
              programs do"
)]

mod play;
mod wire;

use std::{
    error::Error,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use gangline_core::{Epoch, TurnId};
use gangline_os::task::TaskGroup;
use gangline_runtime::{
    Block, Command as Asked, Prompt, RuntimeEvent, StartOptions, StopReason, TurnResult, adapters,
};
use play::{KILOBYTES, Payload, Show, WORD, play};
use serde_json::json;
use wire::{Line, UUID, Wire};

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: bench_adapters adapter BACKEND ROUNDS FOLDER | bare BACKEND ROUNDS | \
                     long BACKEND BYTES FOLDER | play BACKEND lines|long|word NUMBER";
/// How long the adapter may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let wire = words.get(1).and_then(|name| Wire::of(name)).ok_or(USAGE)?;
    match words.as_slice() {
        ["play", _, _, _, rest @ ..] if rest.contains(&"--version") => {
            println!("{}", wire.version());
            Ok(())
        }
        ["play", _, kind, number, ..] => play(wire, &Show::of(kind, number)?),
        ["bare", _, rounds] => bare(wire, rounds),
        ["adapter", name, rounds, folder] => adapter((name, wire), rounds, Path::new(folder)),
        ["long", name, bytes, folder] => long(name, bytes, Path::new(folder)),
        _ => Err(USAGE.into()),
    }
}

/// The anchor: a bare pipe, each line parsed.
fn bare(wire: Wire, rounds: &str) -> Outcome<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("play")
        .args([wire.name(), "lines", rounds])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut to = child.stdin.take().ok_or("no pipe")?;
    let mut from = BufReader::with_capacity(64 * 1024, child.stdout.take().ok_or("no pipe")?);
    let mut line = Vec::new();
    let mut requests = wire.requests();
    let prompt = requests.pop().ok_or("no prompt")?;
    for request in requests {
        writeln!(to, "{request}")?;
        from.read_until(b'\n', &mut line)?;
    }
    let start = Instant::now();
    writeln!(to, "{prompt}")?;
    let (mut bytes, mut lines) = (0, 0);
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Err("the child ended".into());
        }
        match wire.read(&serde_json::from_slice(&line)?) {
            Line::End => break,
            Line::Piece => lines += 1,
            Line::Other => continue,
        }
        bytes += line.len();
    }
    let took = start.elapsed();
    drop(to);
    child.wait()?;
    tell(rounds.parse()?, lines, bytes, took)
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

fn adapter((name, wire): (&str, Wire), rounds: &str, folder: &Path) -> Outcome<()> {
    let mut events = 0;
    let mut took = Duration::ZERO;
    session(folder, [name, "lines", rounds], |event, since| {
        match event {
            RuntimeEvent::Message { .. } | RuntimeEvent::ToolResult { .. } => events += 1,
            _ => {}
        }
        took = since;
    })?;
    let rounds = rounds.parse()?;
    tell(rounds, events, rounds * Payload::round(wire).bytes.len(), took)
}

fn long(name: &str, bytes: &str, folder: &Path) -> Outcome<()> {
    let (mut texts, mut notices) = (0, Vec::new());
    session(folder, [name, "long", bytes], |event, _| match event {
        RuntimeEvent::Message { message, .. } => {
            texts += message.content.iter().filter(|it| is_long(it)).count()
        }
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

/// Says whether it is the enormous one, not the word after it.
fn is_long(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text != WORD)
}

/// Runs one turn of a session with ourselves in the program's place; `see` gets each event and how
/// long after the prompt it came.
fn session(
    folder: &Path,
    play: [&str; 3],
    mut see: impl FnMut(&RuntimeEvent, Duration),
) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let adapter = adapters::make(play[0])?;
        let mut tasks = TaskGroup::new("session");
        let mut session = adapter.start(options(folder, play)?, &mut tasks).await?;
        let mut start = Instant::now();
        loop {
            let event = tokio::time::timeout(PATIENCE, session.next()).await?;
            match event.ok_or("the session ended")? {
                RuntimeEvent::Ready { .. } => {
                    start = Instant::now();
                    session.commands.send(Asked::Prompt(prompt())).await?;
                }
                RuntimeEvent::Exited { code } => return Err(format!("exited: {code}").into()),
                RuntimeEvent::Finished { result: TurnResult::Completed, .. } => break,
                RuntimeEvent::Finished { result, .. } => return Err(format!("{result:?}").into()),
                event => see(&event, start.elapsed()),
            }
        }
        // Before the child is ended: ending is not measured.
        session.commands.send(Asked::Stop(StopReason::Stuck)).await?;
        while session.next().await.is_some() {}
        Ok(())
    })
}

fn prompt() -> Prompt {
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    Prompt { turn, text: "go".to_owned(), uuid: UUID.to_owned() }
}

fn options(folder: &Path, play: [&str; 3]) -> Outcome<StartOptions> {
    let ourselves = std::env::current_exe()?.display().to_string();
    let command = [&[ourselves.as_str(), "play"], &play[..]].concat();
    let command = command.into_iter().map(str::to_owned).collect();
    let env = [("PATH", std::env::var("PATH")?), ("HOME", folder.display().to_string())];
    Ok(StartOptions {
        workdir: folder.to_owned(),
        command: Some(command),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        ..StartOptions::within(folder)
    })
}
