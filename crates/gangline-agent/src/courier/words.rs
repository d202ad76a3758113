//! What an operator says in the chat: words that are not prompts.

use gangline_core::{
    Principal, Tier, agent::PhaseName, model::ModelName, trust::Action, words::OperatorWord,
};
use gangline_irc::client::Line;
use gangline_os::doorbell;
use tracing::{info, warn};

use super::{Courier, decide::Handled};
use crate::{
    bus::{Care, Incoming, Word},
    model,
    showing::Around,
    texts,
};

impl Courier {
    pub(super) async fn operator(
        &mut self,
        line: &Line,
        who: &Principal,
        word: OperatorWord,
    ) -> Handled {
        let action = match word {
            OperatorWord::Status | OperatorWord::Model => Action::Prompt,
            OperatorWord::Pause
            | OperatorWord::Resume
            | OperatorWord::Abort
            | OperatorWord::SetModel(_)
            | OperatorWord::NewSession
            | OperatorWord::Compact => Action::Operate,
            // Loops between agents are bounded by hops; rooms that stand down come later.
            OperatorWord::StandDown => return Handled::No,
        };
        // An agent gives no orders: "compact" may be its whole answer to a question.
        if action == Action::Operate && who.tier == Tier::Agent {
            return Handled::No;
        }
        if let Err(refusal) = self.office.policy.may(who, action, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        let (incoming, text) = match word {
            OperatorWord::Status | OperatorWord::StandDown => {
                let text = self.status().await;
                self.answer(line, &text).await;
                return Handled::Yes;
            }
            OperatorWord::Model => {
                let text = self.model();
                self.answer(line, &text).await;
                return Handled::Yes;
            }
            OperatorWord::SetModel(model) => return self.choose(line, model).await,
            OperatorWord::NewSession => return self.care(line, Care::Clear).await,
            OperatorWord::Compact => return self.care(line, Care::Compact).await,
            OperatorWord::Pause => (Word::Pause, "paused: I keep what comes and start nothing"),
            OperatorWord::Resume => (Word::Resume, "resumed"),
            OperatorWord::Abort if self.office.showing.borrow().view.turn.is_none() => {
                self.answer(line, "there is no turn to end").await;
                return Handled::Yes;
            }
            OperatorWord::Abort => (Word::Abort, "ending the turn"),
        };
        // A word from history was said to another state of things.
        if line.from_history {
            return Handled::Yes;
        }
        self.tell_brain(Incoming::Operator(incoming)).await;
        self.answer(line, text).await;
        Handled::Yes
    }

    /// Returns which model the agent uses.
    fn model(&self) -> String {
        let used = self.office.showing.borrow().note.model.clone();
        match used {
            Some(model) => format!("I use `{model}`; the owner changes it by `model NAME`"),
            None => "I use my backend's own model; the owner changes it by `model NAME`".to_owned(),
        }
    }

    /// Keeps the choice, then has the inbox look at it, as it does when another process chose.
    async fn choose(&self, line: &Line, model: Option<ModelName>) -> Handled {
        // A word from history was said to another state of things.
        if line.from_history {
            return Handled::Yes;
        }
        let office = &self.office;
        if model.is_some() && office.can.fixed_model {
            self.answer(line, texts::FIXED_MODEL).await;
            return Handled::Yes;
        }
        let text = match model::choose(
            &office.paths,
            &office.agent,
            &office.model_owner,
            model.as_ref(),
        ) {
            Ok(()) => {
                doorbell::ring(&office.paths.doorbell(office.agent.as_str()));
                info!(?model, "a model was chosen");
                match model {
                    Some(model) => format!("from the next turn on I use `{model}`"),
                    None => "from the next turn on I use the model of the configuration".to_owned(),
                }
            }
            Err(error) => {
                warn!(%error, "cannot keep the choice of a model");
                format!("the model stays as it is: {error}")
            }
        };
        self.answer(line, &text).await;
        Handled::Yes
    }

    /// Has the context shortened or emptied once no turn is open.
    async fn care(&self, line: &Line, care: Care) -> Handled {
        if line.from_history {
            return Handled::Yes;
        }
        let can = self.office.can;
        let (can, text, cannot) = match care {
            Care::Compact => (can.compact, "I shorten my context", "shorten my context"),
            Care::Clear => (can.clear, "the next turn begins a new session", "begin a new session"),
        };
        let phase = self.office.showing.borrow().view.phase;
        let text = match phase {
            PhaseName::Down | PhaseName::Starting | PhaseName::Parked => {
                "my backend is not running; try again".to_owned()
            }
            PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting
                if can =>
            {
                self.tell_brain(Incoming::Care(care)).await;
                text.to_owned()
            }
            PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => format!("my backend cannot {cannot}"),
        };
        self.answer(line, &text).await;
        Handled::Yes
    }

    /// Returns what the agent does, in the words of every other surface (C28).
    async fn status(&self) -> String {
        let showing = self.office.showing.borrow().clone();
        let around = Around::look(&self.office.broker, &self.office.agent, &showing).await;
        showing.describe(&around)
    }
}
