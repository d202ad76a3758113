//! The end of the process: asked for, by itself, or because it is of no use any more.

use std::{sync::atomic::Ordering, time::Duration};

use gangline_os::{
    lines::Line,
    process::{Exit, Ladder},
};
use tokio::time;

use super::{Step, Why, Worker, now};
use crate::{
    RuntimeEvent, StopReason,
    claude::{decode, turns::Act, verdict},
    program::{LADDER, SHORT_LADDER},
};

/// From the interrupt of a stop to the end of the turn.
const RESULT_WITHIN: Duration = Duration::from_secs(3);
/// After its end, for what it wrote before.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);
/// For a program that has done its one thing: it writes its session, then ends by itself.
pub(super) const CLOSING: Ladder =
    Ladder { term_after: Duration::from_secs(5), kill_after: Duration::from_secs(2) };
impl Worker {
    /// Both outputs are closed: it is about to exit, or of no use any more.
    pub(super) async fn outputs_closed(&mut self) -> Why {
        match time::timeout(LAST_WORDS_WITHIN, self.child.wait()).await {
            Ok(exit) => Why::Exited(exit.unwrap_or_default()),
            Err(_) => Why::Useless,
        }
    }

    /// Ends the turn, then the program, as it was asked for. Returns the code to tell.
    pub(super) async fn wind_up(&mut self, reason: StopReason) -> i32 {
        let ladder = match reason {
            StopReason::Shutdown | StopReason::Restart => {
                self.finish_turn().await;
                LADDER
            }
            StopReason::Stuck => SHORT_LADDER,
        };
        self.end(&ladder).await;
        0
    }

    async fn finish_turn(&mut self) {
        if !self.turns.busy() {
            return;
        }
        let acts = self.turns.interrupt();
        let finish = async {
            if self.act(acts).await.is_err() {
                return;
            }
            while self.turns.busy() {
                let done = match self.step().await {
                    Step::Output(Some(output)) => self.output(output).await,
                    Step::Called((request, outcome)) => self.answer(&request, &outcome),
                    Step::CallEnded(end) => self.call_ended(&end),
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
    pub(super) async fn end(&mut self, ladder: &Ladder) -> Exit {
        self.pipes.close_input().await;
        let exit = {
            let Self { child, pipes, turns, events, clock, .. } = self;
            let ending = child.end(ladder);
            tokio::pin!(ending);
            loop {
                let output = tokio::select! {
                    exit = &mut ending => break exit,
                    Some(output) = pipes.next() => output,
                };
                // Only events are of use now: nothing is written any more.
                if let Line::Text(text) = output
                    && let Ok(line) = decode::decode(&text)
                {
                    let now = now(clock);
                    for act in turns.line(line, now) {
                        if let Act::Tell(event) = act {
                            let _ = events.send(event).await;
                        }
                    }
                }
            }
        };
        self.flags.busy.store(false, Ordering::SeqCst);
        exit
    }

    /// It has ended by itself: takes in its last words and ends what is left of its group.
    /// Returns the code to tell.
    pub(super) async fn ended(&mut self, exit: Exit) -> i32 {
        let words = async {
            while let Some(output) = self.pipes.next().await {
                if self.output(output).await.is_err() {
                    return;
                }
            }
        };
        let _ = time::timeout(LAST_WORDS_WITHIN, words).await;
        self.end(&SHORT_LADDER).await;
        if !exit.success() {
            let how = match (exit.code, exit.signal) {
                (Some(code), _) => format!("code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no code".to_owned(),
            };
            let said = verdict::one_line(&self.pipes.errors());
            let said = if said.is_empty() { "nothing".to_owned() } else { said };
            let text = format!("claude ended with {how}; it said: {said}");
            self.send(RuntimeEvent::Notice { text }).await;
        }
        exit.code.unwrap_or(-1)
    }
}
