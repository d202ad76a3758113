//! The task that owns the server: looks at the screen when there is something to look for, obeys
//! the daemon, tells what happened, until the program or the daemon's need of it is gone.
//!
//! What a screen means is decided in [`super::turns`].

use std::time::Duration;

use gangline_core::TurnId;
use gangline_os::{
    clock::{self, SharedClock},
    proc,
    process::KillPolicy,
    run_id::RunId,
};
use serde_json::Value;
use tokio::{sync::watch, time};

use super::{
    NAME,
    history::History,
    hook_listener::HookListener,
    launch::Launch,
    screen::{Death, SILENT, before_death},
    server::Server,
    turns::{Action, Turns},
};
use crate::{
    Command, RuntimeEvent, StopReason, ToolServer,
    program::{self, worker::pause},
    session::SessionPort,
};

/// From the interrupt of a stop to the end of the turn.
const TURN_WITHIN: Duration = Duration::from_secs(3);
/// From the keys that end the program to its end.
const EXIT_WITHIN: Duration = Duration::from_secs(3);
/// Between two keys that belong together, such as those that end the program.
const BETWEEN_KEYS: Duration = Duration::from_millis(150);
/// A program that has not asked for its tools by then does without them for a while.
const TOOLS_WITHIN: Duration = Duration::from_secs(5);
/// How often, and between, it is asked how the program ended.
const HOW_LOOKS: u32 = 20;
/// As long as its screen is empty and tmux has not seen its end: what it wrote last may be under way,
/// on a loaded machine for seconds.
const HOW_LOOKS_SILENT: u32 = 100;
const HOW_AGAIN: Duration = Duration::from_millis(50);
/// Rows above the screen that are searched for the last words.
const ABOVE: usize = 50;

const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_secs(2) };

/// The state of the task; see the module.
pub(super) struct Worker {
    server: Server,
    turns: Turns,
    port: SessionPort,
    clock: SharedClock,
    /// When the next look is due, in the clock's time.
    look_at: Option<Duration>,
    run_id: Option<RunId>,
    notices: Vec<String>,
    history: Option<History>,
    turn: watch::Sender<Option<TurnId>>,
    listed: Option<watch::Receiver<bool>>,
    _tools: Option<ToolServer>,
    listener: Option<HookListener>,
}

enum Step {
    Command(Option<Command>),
    Gone,
    /// A hook of the program reports.
    Hook(Value),
    Look,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It was asked for, or its owner is gone.
    Stop(StopReason),
    /// The program, or its terminal, is gone.
    Gone,
    /// It cannot be driven.
    Useless,
}

impl Worker {
    /// Starts server and program. Not cancel-safe: they may be left until the sweep.
    /// `tools` serves the daemon's tools, a call belongs to the turn that is told beside it, and
    /// `listener` takes the program's hooks.
    pub(super) async fn start(
        launch: Launch,
        port: SessionPort,
        (tools, turn, listener): (
            Option<ToolServer>,
            watch::Sender<Option<TurnId>>,
            Option<HookListener>,
        ),
    ) -> Result<Self, String> {
        let Launch { pane, env, profile, session, run_id, folder, notices, history } = launch;
        let server = Server::start(&folder, env, pane, &profile).await?;
        port.begins_as(Some(session.clone()));
        port.child(Some(server.program));
        let clock = clock::system();
        let turns = Turns::new(profile, session, clock.monotonic());
        Ok(Self {
            server,
            turns,
            port,
            look_at: Some(clock.monotonic()),
            clock,
            run_id,
            notices,
            history,
            turn,
            listed: tools.as_ref().map(ToolServer::listed),
            _tools: tools,
            listener,
        })
    }

    /// Runs until the program is gone or its end is asked for; its exit is told last.
    pub(super) async fn run(mut self) -> Why {
        for text in std::mem::take(&mut self.notices) {
            self.send(RuntimeEvent::Notice { text }).await;
        }
        let why = self.serve().await;
        let code = match why {
            Why::Stop(reason) => self.wind_up(reason).await,
            Why::Gone => self.ended().await,
            Why::Useless => -1,
        };
        self.server.end(&KILL_POLICY).await;
        program::sweep(NAME, self.run_id.as_ref()).await;
        self.port.tell(RuntimeEvent::Exited { code }).await;
        why
    }

    async fn serve(&mut self) -> Why {
        loop {
            let done = match self.step().await {
                Step::Command(None) => Err(Why::Stop(StopReason::Shutdown)),
                Step::Command(Some(command)) => self.obey(command).await,
                Step::Gone => Err(Why::Gone),
                Step::Hook(object) => self.hook_event(&object).await,
                Step::Look => self.look().await,
            };
            if let Err(why) = done {
                return why;
            }
        }
    }

    /// Cancel-safe, as each of its arms.
    async fn step(&mut self) -> Step {
        let wait = self.look_at.map(|at| at.saturating_sub(self.clock.monotonic()));
        tokio::select! {
            command = self.port.next() => Step::Command(command),
            () = self.server.gone() => Step::Gone,
            object = heard(self.listener.as_mut()) => Step::Hook(object),
            () = pause(wait) => Step::Look,
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), Why> {
        let now = self.clock.monotonic();
        let actions = match command {
            Command::Prompt(prompt) => {
                self.until_it_has_tools().await;
                self.turn.send_replace(Some(prompt.turn));
                if let Some(history) = &mut self.history {
                    history.typed(&prompt.text);
                }
                self.turns.prompt(prompt, self.clock.monotonic())
            }
            Command::Steer(prompt) => self.turns.steer(prompt, now),
            Command::Interrupt => self.turns.interrupt(now),
            Command::Stop(reason) => return Err(Why::Stop(reason)),
            // Nothing was asked, and the others are refused.
            Command::Decide(_)
            | Command::Adopt(_)
            | Command::SetModel(_)
            | Command::SetEffort(_)
            | Command::Compact
            | Command::Clear => return Ok(()),
        };
        self.action(actions).await
    }

    /// Some programs take their first prompt before they have asked for their tools. Waits once.
    async fn until_it_has_tools(&mut self) {
        let Some(mut listed) = self.listed.take() else { return };
        let _ = time::timeout(TOOLS_WITHIN, listed.wait_for(|listed| *listed)).await;
    }

    async fn hook_event(&mut self, object: &Value) -> Result<(), Why> {
        let actions = self.turns.hook_event(object, self.clock.monotonic());
        self.action(actions).await
    }

    async fn look(&mut self) -> Result<(), Why> {
        let screen = self.server.screen().await.map_err(|error| useless(&error))?;
        if screen.dead.is_some() {
            return Err(Why::Gone);
        }
        let actions = self.turns.see(screen, self.clock.monotonic());
        self.action(actions).await
    }

    async fn action(&mut self, actions: Vec<Action>) -> Result<(), Why> {
        let mut actions: std::collections::VecDeque<Action> = actions.into();
        while let Some(action) = actions.pop_front() {
            let done = match action {
                Action::Report(event) => {
                    let ended = matches!(event, RuntimeEvent::Finished { .. });
                    self.send(event).await;
                    let history = self.history.as_mut().filter(|_| ended);
                    if let Some(session) = history.and_then(History::session) {
                        self.send(RuntimeEvent::Session { session }).await;
                    }
                    Ok(())
                }
                Action::Keys(keys) => self.keys(&keys).await,
                Action::LeaveMode => self.server.leave_mode().await,
                Action::Paste(text) => self.server.paste(&text).await,
                Action::ForgetHistory => self.server.forget_history().await,
                Action::Read(from) => match self.server.lines(from).await {
                    Ok(lines) => {
                        actions.extend(self.turns.read(&lines, self.clock.monotonic()));
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
                Action::Free => {
                    self.port.free();
                    Ok(())
                }
                Action::GiveUp => return Err(Why::Useless),
            };
            done.map_err(|error| useless(&error))?;
        }
        self.look_at = self.turns.next_look().map(|wait| self.clock.monotonic() + wait);
        Ok(())
    }

    /// Presses one key after the other: some programs take keys that come at once for a paste.
    async fn keys(&self, keys: &[String]) -> Result<(), String> {
        for (at, key) in keys.iter().enumerate() {
            if at > 0 {
                time::sleep(BETWEEN_KEYS).await;
            }
            self.server.keys(std::slice::from_ref(key)).await?;
        }
        Ok(())
    }

    /// Ends the turn, then the program, as it was asked for. Returns the code to tell.
    async fn wind_up(&mut self, reason: StopReason) -> i32 {
        match reason {
            StopReason::Shutdown | StopReason::Restart => {
                self.finish_turn().await;
                let keys = self.turns.profile().exit.clone();
                let exit = async {
                    if self.keys(&keys).await.is_ok() {
                        self.server.gone().await;
                    }
                };
                let _ = time::timeout(EXIT_WITHIN, exit).await;
            }
            // It did not react to keys.
            StopReason::Stuck => {}
        }
        0
    }

    async fn finish_turn(&mut self) {
        if !self.turns.busy() {
            return;
        }
        let actions = self.turns.interrupt(self.clock.monotonic());
        let finish = async {
            if self.action(actions).await.is_err() {
                return;
            }
            while self.turns.busy() {
                let done = match self.step().await {
                    Step::Look => self.look().await,
                    Step::Hook(object) => self.hook_event(&object).await,
                    // It is being stopped already.
                    Step::Command(Some(_)) => Ok(()),
                    Step::Command(None) | Step::Gone => return,
                };
                if done.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(TURN_WITHIN, finish).await;
    }

    /// It has ended by itself. Returns the code to tell.
    async fn ended(&mut self) -> i32 {
        let (death, words) = self.death().await;
        let (code, how) = match death {
            Some(Death { code: Some(code), .. }) => (code, format!("with code {code}")),
            Some(Death { signal: Some(signal), .. }) => (-1, format!("by signal {signal}")),
            Some(Death { code: None, signal: None }) | None => (-1, "with its terminal".to_owned()),
        };
        if code != 0 {
            let text = format!("the program ended {how}; the last line of its screen: {words}");
            self.send(RuntimeEvent::Notice { text }).await;
        }
        code
    }

    /// Returns how the program has ended, once that is known, and its last words.
    async fn death(&self) -> (Option<Death>, String) {
        let (mut death, mut words) = (None, String::new());
        for look in 0..HOW_LOOKS_SILENT {
            if look >= HOW_LOOKS && words != SILENT {
                break;
            }
            // What tmux has not reaped the system still knows, and tmux may never reap it.
            let exit = proc::how_ended(self.server.program);
            death = exit.map(|exit| Death { code: exit.code, signal: exit.signal });
            let Ok(screen) = self.server.screen().await else { break };
            words = before_death(&screen.rows);
            // To write its own word about the end tmux scrolls by a row, which may be the only one.
            let above = screen.history.saturating_sub(ABOVE);
            if let Ok(captured) = self.server.lines(above).await {
                words = before_death(&captured.lines);
            }
            let told = screen.dead.filter(|told| told.code.is_some() || told.signal.is_some());
            death = told.or(death);
            // Until tmux sees an end, words may be under way.
            if screen.dead.is_some() && death.is_some() {
                break;
            }
            time::sleep(HOW_AGAIN).await;
        }
        (death, words)
    }

    async fn send(&self, event: RuntimeEvent) {
        if matches!(event, RuntimeEvent::Finished { .. }) {
            self.turn.send_replace(None);
        }
        self.port.tell(event).await;
    }
}

/// Cancel-safe: yes, as [`HookListener::next`].
async fn heard(listener: Option<&mut HookListener>) -> Value {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}

fn useless(error: &str) -> Why {
    tracing::error!(error, "the terminal cannot be driven any more");
    Why::Useless
}
