//! The end of the process: asked for, by itself, or because it is of no use any more.

use std::time::Duration;

use gangline_os::{exit::Exit, lines::Line, process::KillPolicy};
use tokio::time;

use super::{Action, Fault, KILL_POLICY, Protocol, SHORT_KILL_POLICY, Step, Why, Worker, now};
use crate::{RuntimeEvent, StopReason};

/// From the interrupt of a stop to the end of the turn.
const RESULT_WITHIN: Duration = Duration::from_secs(3);
/// From the end of its outputs to its own: both come with its death, and a busy machine may let a
/// dying process wait for a while.
const GONE_WITHIN: Duration = Duration::from_secs(3);
/// After its end, for what it wrote before.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);
/// For a program that has done its one thing: it writes its session, then ends by itself.
const CLOSING: KillPolicy =
    KillPolicy { term_after: Duration::from_secs(5), kill_after: Duration::from_secs(2) };

impl<P: Protocol> Worker<P> {
    /// Ends what is left of the program. Returns the code to tell. Not cancel-safe.
    pub(super) async fn finish(&mut self, why: Why) -> i32 {
        match why {
            Why::Stop(reason) => self.wind_up(reason).await,
            Why::Exited(exit) => self.ended(exit).await,
            Why::Done => {
                self.end(&CLOSING).await;
                0
            }
            Why::Useless(_) => {
                let exit = self.end(&SHORT_KILL_POLICY).await;
                // Some end well when their input closes; 0 would say that a stop was asked for.
                match self.ended(exit).await {
                    0 => -1,
                    code => code,
                }
            }
        }
    }

    /// Both outputs are closed: it is about to exit, or of no use any more.
    pub(super) async fn outputs_closed(&mut self) -> Why {
        match time::timeout(GONE_WITHIN, self.child.wait()).await {
            Ok(exit) => Why::Exited(exit.unwrap_or_default()),
            Err(_) => Why::Useless(Fault::ClosedOutputs),
        }
    }

    /// Ends the turn, then the program, as it was asked for. Returns the code to tell.
    async fn wind_up(&mut self, reason: StopReason) -> i32 {
        let policy = match reason {
            StopReason::Shutdown | StopReason::Restart => {
                self.finish_turn().await;
                KILL_POLICY
            }
            StopReason::Stuck => SHORT_KILL_POLICY,
        };
        self.end(&policy).await;
        0
    }

    async fn finish_turn(&mut self) {
        if !self.protocol.busy() {
            return;
        }
        let actions = self.protocol.interrupt();
        let finish = async {
            if self.action(actions).await.is_err() {
                return;
            }
            while self.protocol.busy() {
                let done = match self.step().await {
                    Step::Output(Some(output)) => self.output(output).await,
                    Step::Called(caller, outcome, aside) => self.called((&caller, &outcome), aside),
                    Step::Due => self.due().await,
                    // It is being stopped already.
                    Step::Command(Some(_)) => Ok(()),
                    Step::Command(None) | Step::Output(None) | Step::Exited(_) => return,
                };
                if done.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(RESULT_WITHIN, finish).await;
    }

    /// Ends the process and its group, and takes in what it still says.
    async fn end(&mut self, policy: &KillPolicy) -> Exit {
        self.pipes.close_input().await;
        let exit = {
            let Self { child, pipes, protocol, port, clock, .. } = self;
            let ending = child.end(policy);
            tokio::pin!(ending);
            loop {
                let output = tokio::select! {
                    exit = &mut ending => break exit,
                    Some(output) = pipes.next() => output,
                };
                // Only events are of use now: nothing is written any more.
                if let Line::Text(text) = output
                    && let Ok(actions) = protocol.read(&text, now(clock))
                {
                    for action in actions {
                        if let Action::Report(event) = action {
                            port.tell(event).await;
                        }
                    }
                }
            }
        };
        self.turn.send_replace(None);
        exit
    }

    /// It has ended by itself: takes in its last words and ends what is left of its group.
    /// Returns the code to tell.
    async fn ended(&mut self, exit: Exit) -> i32 {
        let words = async {
            while let Some(output) = self.pipes.next().await {
                if self.output(output).await.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(LAST_WORDS_WITHIN, words).await;
        self.end(&SHORT_KILL_POLICY).await;
        if !exit.success() {
            let how = match (exit.code, exit.signal) {
                (Some(code), _) => format!("code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no code".to_owned(),
            };
            let said = self.last_words();
            let said = if said.is_empty() { "nothing" } else { &said };
            let text = format!("{} ended with {how}; it said: {said}", self.name);
            self.port.tell(RuntimeEvent::Notice { text }).await;
        } else if !self.protocol.is_ready() {
            // One does so, without a word, when it does not know the session to go on with.
            let said = self.last_words();
            let said = if said.is_empty() { said } else { format!("; it said: {said}") };
            let text = format!("{} ended before it took prompts{said}", self.name);
            self.port.tell(RuntimeEvent::Notice { text }).await;
        }
        exit.code.unwrap_or(-1)
    }
}
