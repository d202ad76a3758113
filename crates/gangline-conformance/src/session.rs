//! One session of the suite: a backend's queues, what it tells, and how it is spoken to.

use std::{sync::Arc, time::Duration};

use gangline_os::{kill::Signal, proc, run_id, task::TaskGroup};
use tokio::sync::mpsc;

use super::{
    Subject,
    card::{Card, Starting},
    ledger::{self, Ledger},
    plan::{self, Initial, Plan},
    probe::Probe,
    turn::{Said, Turn, Why},
};
use gangline_runtime::{
    Answer, ApprovalAsk, ApprovalReply, Command, Prompt, Refusal, Runtime, RuntimeEvent,
    SessionHandle, SessionId, StartOptions, StopReason, ToolCall,
};

/// Between two looks at a fact that nobody tells.
const LOOK: Duration = Duration::from_millis(25);
/// What is left of a program after its end has gone within this.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// A call that does not wait for the model returns within this.
pub(super) const AT_ONCE: Duration = Duration::from_secs(10);
/// An interrupted turn has ended, a stopped program is gone within this.
const END_WITHIN: Duration = Duration::from_secs(30);

/// An open session.
pub(super) struct Session<'a> {
    pub(super) subject: &'a Subject,
    pub(super) plan: Plan,
    pub(super) options: StartOptions,
    pub(super) runtime: Box<dyn Runtime>,
    /// As `start` returned it.
    pub(super) open: gangline_runtime::Session,
    pub(super) ready: Option<SessionId>,
    pub(super) calls: mpsc::Receiver<ToolCall>,
    /// The prompt that was given with the start.
    pub(super) initial: Option<Said>,
    /// The first prompt that it took.
    pub(super) first: Option<Said>,
    /// What it told so far.
    pub(super) told: Vec<RuntimeEvent>,
    ledger: Ledger,
    /// As long as it starts.
    starts: Option<Starting>,
    _tasks: TaskGroup,
}

impl<'a> Session<'a> {
    /// Starts a session, or goes on with `resume`; returns once the adapter has.
    pub(super) async fn begin(
        card: &Card<'a>,
        plan: &Plan,
        resume: Option<&SessionHandle>,
    ) -> Result<Self, Why> {
        let subject = card.subject;
        let starts = card.may_start().await;
        let (probe, calls) = Probe::new();
        let mut options = plan::options(subject, plan)?;
        options.tools = Arc::new(probe);
        let initial = (plan.initial == Initial::Given).then(|| Said::new(plan.tag));
        options.initial_prompt = initial.as_ref().map(|said| Prompt {
            turn: said.turn,
            text: format!("conformance say {}", said.word),
            uuid: uuid::Uuid::new_v4().to_string(),
        });
        let runtime = (subject.make)();
        let mut given = options.clone();
        if let Some(handle) = resume {
            given.resume.clone_from(&handle.session);
            given.workdir.clone_from(&handle.workdir);
        }
        let mut tasks = TaskGroup::new("suite");
        let start = runtime.start(given, &mut tasks);
        let open = tokio::time::timeout(subject.dialect.pace.ready, start)
            .await
            .map_err(|_| format!("start does not return within {:?}", subject.dialect.pace.ready))?
            .map_err(|error| error.to_string())?;
        let mut ledger = Ledger::default();
        if let Some(said) = &initial {
            ledger.prompted(said.turn);
        }
        Ok(Self {
            subject,
            plan: plan.clone(),
            options,
            runtime,
            open,
            ready: None,
            calls,
            first: initial.clone(),
            initial,
            told: Vec::new(),
            ledger,
            starts: Some(starts),
            _tasks: tasks,
        })
    }

    /// Returns the next event; an error says that there is none, and what came before.
    pub(super) async fn next(&mut self, patience: Duration) -> Result<RuntimeEvent, Why> {
        let Ok(next) = tokio::time::timeout(patience, self.open.next()).await else {
            return Err(format!("nothing more within {patience:?} after {}", self.tail()));
        };
        let Some(event) = next else {
            return Err(format!("its events ended after {}", self.tail()));
        };
        self.ledger.see(&event);
        if matches!(event, RuntimeEvent::Ready { .. } | RuntimeEvent::Exited { .. }) {
            self.starts = None;
        }
        if let RuntimeEvent::Ready { session } | RuntimeEvent::Session { session } = &event {
            self.ready = Some(session.clone());
        }
        self.told.push(event.clone());
        Ok(event)
    }

    /// The last things that it told, in few words.
    pub(super) fn tail(&self) -> String {
        let tail = &self.told[self.told.len().saturating_sub(3)..];
        if tail.is_empty() {
            return "no event at all".to_owned();
        }
        tail.iter().map(ledger::short).collect::<Vec<_>>().join("; ")
    }

    /// Waits for an event that fits, `patience` at most for all of it; returns everything up to it.
    pub(super) async fn until(
        &mut self,
        patience: Duration,
        what: &str,
        fits: impl Fn(&RuntimeEvent) -> bool,
    ) -> Result<Vec<RuntimeEvent>, Why> {
        let mut seen = Vec::new();
        let looked = tokio::time::timeout(patience, async {
            loop {
                let event = self.next(patience).await?;
                if let RuntimeEvent::Refused { command, why } = &event {
                    return Err(format!("{} is refused: {why}", name(command)));
                }
                let last = fits(&event);
                seen.push(event);
                if last {
                    return Ok::<(), Why>(());
                }
            }
        })
        .await;
        match looked {
            Ok(Ok(())) => Ok(seen),
            Ok(Err(why)) => Err(format!("no {what}: {why}")),
            Err(_) => Err(format!("no {what} within {patience:?}, but {}", self.tail())),
        }
    }

    /// Waits until prompts are taken.
    pub(super) async fn until_ready(&mut self) -> Result<(), Why> {
        if self.told.iter().any(|event| matches!(event, RuntimeEvent::Ready { .. })) {
            return Ok(());
        }
        let patience = self.subject.dialect.pace.ready;
        let seen = self
            .until(patience, "Ready", |event| {
                matches!(event, RuntimeEvent::Ready { .. } | RuntimeEvent::Exited { .. })
            })
            .await?;
        match seen.last() {
            Some(RuntimeEvent::Ready { .. }) => Ok(()),
            Some(_) | None => Err(format!("it ended before it was ready: {}", self.tail())),
        }
    }

    /// Makes a prompt with a word of its own; `rest` follows the word.
    fn prompt_of(&self, verb: &str, before: &str) -> (Said, Prompt) {
        let said = Said::new(self.plan.tag);
        let text = format!("conformance {verb} {before}{}", said.word);
        let uuid = uuid::Uuid::new_v4().to_string();
        let prompt = Prompt { turn: said.turn, text, uuid };
        (said, prompt)
    }

    /// Gives a prompt; `before` stands before the word.
    pub(super) async fn say_with(&mut self, verb: &str, before: &str) -> Result<Said, Why> {
        let (said, prompt) = self.prompt_of(verb, before);
        self.ask(Command::Prompt(prompt)).await?;
        self.ledger.prompted(said.turn);
        self.first.get_or_insert_with(|| said.clone());
        Ok(said)
    }

    /// Gives a prompt.
    pub(super) async fn say(&mut self, verb: &str) -> Result<Said, Why> {
        self.say_with(verb, "").await
    }

    /// Gives a prompt while a turn is open, and returns why it is refused; `None` = it was taken.
    pub(super) async fn try_to_say(&mut self, verb: &str) -> Result<Option<Refusal>, Why> {
        let (said, prompt) = self.prompt_of(verb, "");
        let given = Command::Prompt(prompt);
        self.ask(given.clone()).await?;
        let refusal = async {
            loop {
                match self.next(AT_ONCE).await? {
                    RuntimeEvent::Refused { command, why } if command == given => {
                        return Ok::<Refusal, Why>(why);
                    }
                    _ => {}
                }
            }
        };
        match tokio::time::timeout(AT_ONCE, refusal).await {
            Ok(Ok(why)) => Ok(Some(why)),
            Ok(Err(_)) | Err(_) => {
                self.ledger.prompted(said.turn);
                Ok(None)
            }
        }
    }

    /// Asks something of the session, and waits until it has taken that: it waits for no model.
    pub(super) async fn ask(&mut self, command: Command) -> Result<(), Why> {
        let what = name(&command);
        let commands = &self.open.commands;
        commands.send(command).await.map_err(|_| format!("{what}: the session has ended"))?;
        let taken = || (commands.capacity() == commands.max_capacity()).then_some(());
        let taken = eventually(AT_ONCE, taken).await;
        taken.ok_or_else(|| format!("{what} is not taken within {AT_ONCE:?}"))
    }

    /// Adds a text to the open turn.
    pub(super) async fn add(&mut self, to: &Said) -> Result<(Said, String), Why> {
        let (said, mut prompt) = self.prompt_of("add", "");
        prompt.turn = to.turn;
        let uuid = prompt.uuid.clone();
        self.ask(Command::Steer(prompt)).await?;
        Ok((said, uuid))
    }

    /// Waits for the end of a turn; what it asks is allowed.
    pub(super) async fn finish(&mut self, said: Said) -> Result<Turn, Why> {
        self.finish_with(said, &Answer::Allow, self.subject.dialect.pace.turn).await
    }

    /// Waits for the end of a turn whose model refuses, the program's own tries included.
    /// Cancel-safe: what was told till then stands in `told`.
    pub(super) async fn finish_after_retries(&mut self, said: Said) -> Result<Turn, Why> {
        let patience = self.subject.dialect.pace.retries;
        let finished = self.finish_with(said, &Answer::Allow, patience);
        let late = |_| format!("no end of turn within {patience:?}");
        tokio::time::timeout(patience, finished).await.map_err(late)?
    }

    /// Waits for the end of a turn; what it asks is answered so.
    pub(super) async fn finish_with(
        &mut self,
        said: Said,
        answer: &Answer,
        patience: Duration,
    ) -> Result<Turn, Why> {
        let (mut events, mut asked) = (Vec::new(), Vec::new());
        loop {
            let event =
                self.next(patience).await.map_err(|why| format!("no end of turn: {why}"))?;
            match &event {
                RuntimeEvent::ApprovalAsked { ask, .. } => {
                    asked.push(ask.clone());
                    self.decide(ask, answer.clone()).await?;
                }
                RuntimeEvent::Finished { turn, result } if *turn == said.turn => {
                    let result = result.clone();
                    events.push(event);
                    return Ok(Turn { said, events, asked, result });
                }
                RuntimeEvent::Exited { code } => {
                    return Err(format!("it exited with {code} in mid-turn"));
                }
                RuntimeEvent::Refused { command, why } => {
                    return Err(format!("{} is refused: {why}", name(command)));
                }
                _ => {}
            }
            events.push(event);
        }
    }

    /// Gives a prompt and waits for its turn's end.
    pub(super) async fn turn(&mut self, verb: &str) -> Result<Turn, Why> {
        let said = self.say(verb).await?;
        self.finish(said).await
    }

    /// Gives a prompt that is answered in words, and checks the answer.
    pub(super) async fn works(&mut self) -> Result<Turn, Why> {
        let turn = self.turn("say").await?;
        turn.completed()?;
        turn.said_text(&format!("answer {}", turn.said.word))?;
        Ok(turn)
    }

    pub(super) async fn decide(&mut self, ask: &ApprovalAsk, answer: Answer) -> Result<(), Why> {
        self.ask(Command::Decide(ApprovalReply { request: ask.request.clone(), answer })).await
    }

    pub(super) async fn interrupt(&mut self) -> Result<(), Why> {
        self.ask(Command::Interrupt).await
    }

    /// Returns the session as it is known now.
    pub(super) fn handle(&self) -> SessionHandle {
        self.open.handle.borrow().clone()
    }

    /// Waits until the model was sent a request that has this in it; returns the newest such.
    pub(super) async fn request_with(&mut self, words: &str) -> Result<String, Why> {
        let patience = self.subject.dialect.pace.turn;
        eventually(patience, || self.subject.model.newest_with(&[words]))
            .await
            .ok_or_else(|| format!("the model was not sent {words:?} within {patience:?}"))
    }

    /// Waits until a file of its working folder is there.
    pub(super) async fn file(&mut self, name: &str) -> Result<String, Why> {
        let path = self.options.workdir.join(name);
        let patience = self.subject.dialect.pace.turn;
        eventually(patience, || std::fs::read_to_string(&path).ok())
            .await
            .ok_or_else(|| format!("the command did not make {name} in the working folder"))
    }

    /// Says whether a file of its working folder is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.workdir.join(name).exists()
    }

    /// Puts the session back to where a prompt can be given. `false` = it cannot be.
    pub(super) async fn settle(&mut self) -> bool {
        if self.ledger.exited() || self.until_ready().await.is_err() {
            return false;
        }
        if !self.ledger.busy() {
            return true;
        }
        if self.interrupt().await.is_err() {
            return false;
        }
        while self.ledger.busy() {
            if self.next(Duration::from_secs(10)).await.is_err() {
                return false;
            }
        }
        !self.ledger.exited()
    }

    /// Stops it and returns the code of its exit.
    pub(super) async fn stop(&mut self) -> Result<i32, Why> {
        // A session that has ended already takes nothing.
        let _ = self.open.commands.send(Command::Stop(StopReason::Shutdown)).await;
        let drained = async {
            let mut seen = Vec::new();
            while let Some(event) = self.open.next().await {
                seen.push(event);
            }
            seen
        };
        let seen = tokio::time::timeout(END_WITHIN, drained)
            .await
            .map_err(|_| format!("stop does not end within {END_WITHIN:?}"))?;
        for event in &seen {
            self.ledger.see(event);
        }
        self.told.extend(seen);
        match self.told.last() {
            Some(RuntimeEvent::Exited { code }) => Ok(*code),
            Some(_) | None => Err(format!("its last word is no exit: {}", self.tail())),
        }
    }

    /// Returns the code of its exit, if it has told one.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.told.iter().find_map(|event| match event {
            RuntimeEvent::Exited { code } => Some(*code),
            _ => None,
        })
    }

    /// Waits for its exit and returns the code.
    pub(super) async fn until_exited(&mut self) -> Result<i32, Why> {
        let exited = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Exited { .. });
        match self.until(END_WITHIN, "exit", exited).await?.last() {
            Some(RuntimeEvent::Exited { code }) => Ok(*code),
            Some(_) | None => Err("no exit".to_owned()),
        }
    }

    /// Kills the program behind it, as a crash would.
    pub(super) fn kill(&self, pid: u32, start: Option<u64>) -> Result<(), Why> {
        let start = start.ok_or("its handle does not say when its process began")?;
        match proc::signal_exact(pid, start, Signal::Kill) {
            Ok(true) => Ok(()),
            Ok(false) => Err("the process of its handle does not run".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Waits until no process is left that carries its run id.
    pub(super) async fn nothing_left(&mut self) -> Result<(), Why> {
        let look = || {
            let left = self.processes();
            left.is_empty().then_some(())
        };
        match eventually(GONE_WITHIN, look).await {
            Some(()) => Ok(()),
            None => Err(format!("processes are left: {:?}", self.processes())),
        }
    }

    fn processes(&self) -> Vec<u32> {
        let installation = plan::installation(&self.options);
        let found = run_id::run_processes(&installation);
        found.into_iter().filter(|it| it.run_id.agent == self.plan.tag).map(|it| it.pid).collect()
    }

    /// Returns what was wrong with the order of its events so far.
    pub(super) fn faults(&mut self) -> Vec<String> {
        self.ledger.take_faults()
    }
}

/// What a command is called in a report.
fn name(command: &Command) -> &'static str {
    match command {
        Command::Prompt(_) => "a prompt",
        Command::Adopt(_) => "adopt",
        Command::Steer(_) => "steer",
        Command::Interrupt => "interrupt",
        Command::Decide(_) => "a decision",
        Command::SetModel(_) => "set_model",
        Command::SetEffort(_) => "set_effort",
        Command::Compact => "compact",
        Command::Clear => "clear",
        Command::Stop(_) => "stop",
    }
}

/// Looks again and again for something that nobody tells. Cancel-safe: it only looks.
pub(super) async fn eventually<T>(
    patience: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(patience, looking).await.ok()
}
