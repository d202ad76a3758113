//! What the session does between turns by itself: another model, and a prompt that is given again.

use gangline_runtime::{FailureKind, Prompt, RuntimeEvent, StopReason, TurnResult};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{Again, Open, Session};
use crate::{bus::Incoming, texts};

impl Session {
    /// A turn whose prompt no longer fits is not over: the context is shortened, and the prompt
    /// given once more (R2-08). Returns the event that is to be passed on, if there is one.
    pub(super) async fn try_again(
        &mut self,
        event: RuntimeEvent,
        open: &mut Option<Open>,
    ) -> Option<RuntimeEvent> {
        let Some(running) = open else { return Some(event) };
        match (&event, std::mem::replace(&mut running.again, Again::No)) {
            (RuntimeEvent::Compacted { failed }, Again::Shortening(end)) => {
                let given = match (failed, &end, running.prompt.clone()) {
                    (None, RuntimeEvent::Finished { result, .. }, Some(prompt))
                        if is_overflow(result) =>
                    {
                        // A backend may remember the ids of prompts that it had.
                        let uuid = Uuid::new_v4().to_string();
                        let mut text = prompt.text.clone();
                        if running.acted {
                            text.push_str(texts::GIVEN_AGAIN);
                        }
                        running.runtime.prompt(Prompt { uuid, text, ..prompt }).await
                    }
                    // What cannot be shortened is not tried again.
                    _ => {
                        // Nor is the shortening itself.
                        let of_size = matches!(&end, RuntimeEvent::Finished { result, .. } if is_overflow(result));
                        running.too_long |= failed.is_some() && of_size;
                        let generation = running.generation;
                        self.tell(generation, event).await;
                        return Some(end);
                    }
                };
                let generation = running.generation;
                running.again = Again::Done;
                self.tell(generation, event).await;
                match given {
                    Ok(()) => None,
                    Err(error) => {
                        warn!(%error, "the prompt cannot be given again");
                        Some(end)
                    }
                }
            }
            (RuntimeEvent::Finished { turn, result }, Again::No)
                if self.shortens
                    && is_overflow(result)
                    && running.turn == Some(*turn)
                    && running.prompt.as_ref().is_some_and(|prompt| prompt.turn == *turn)
                    && running.runtime.capabilities().compact =>
            {
                match running.runtime.compact().await {
                    Ok(()) => {
                        debug!(%turn, "the prompt does not fit: the context is shortened");
                        running.again = Again::Shortening(event);
                        None
                    }
                    Err(error) => {
                        debug!(%error, "the context cannot be shortened");
                        Some(event)
                    }
                }
            }
            (_, again) => {
                running.again = again;
                Some(event)
            }
        }
    }

    /// Tells the backend its new model; one that cannot be told is started anew (R2-04).
    pub(super) async fn change_model(&mut self, open: &mut Option<Open>) {
        let Some(running) = open else { return };
        let model = self.options.model.as_deref().or(running.runtime.default_model());
        let told = match model {
            Some(model) if running.runtime.capabilities().set_model => {
                running.runtime.set_model(model).await.is_ok()
            }
            Some(_) | None => false,
        };
        let text = texts::model(self.options.model.as_deref());
        let generation = running.generation;
        self.tell(generation, RuntimeEvent::Notice { text }).await;
        self.tell_model().await;
        if told {
            // What else waits for the turn's end.
            return Box::pin(self.care(open)).await;
        }
        self.end(open, StopReason::Restart).await;
    }

    /// Says which model the backend is started with.
    pub(super) async fn tell_model(&self) {
        let _ = self.agent_loop.send(Incoming::Model(self.options.model.clone())).await;
    }
}

fn is_overflow(result: &TurnResult) -> bool {
    matches!(result, TurnResult::Failed { kind: FailureKind::ContextOverflow, .. })
}
