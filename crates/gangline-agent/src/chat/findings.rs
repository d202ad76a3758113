//! Answers to findings, said in the chat: `12 resume`; and what `status` says of them.

use gangline_core::{
    ApprovalNumber, FindingNumber, Principal, QuestionNumber, Target, Tier,
    attention::{parse_answer, say_to},
    finding::{ChoiceWord, FindingKind, FindingState},
    name::{ChannelName, fold},
    pause::Continue,
    question::{
        QuestionState,
        line::{AnswerLine, without_word},
    },
    shown::cut,
    trust::Action,
};
use gangline_irc::client::Line;
use gangline_store::{FindingError, FindingFilter, FindingRow, QuestionRow};
use tracing::{info, warn};

use super::{
    Chat,
    decide::{Handled, known_as},
};
use crate::{
    attention::{self, Left, NotChosen, Site},
    bus::{Incoming, Word},
    texts::{pauses, whole},
};

/// The reply to `abort` between turns.
pub(super) const NO_TURN: &str = "there is no turn to end";
/// How many findings `status` names.
const NAMED: u32 = 5;
/// How much of a cause it quotes, in characters.
const CAUSE_MAX: usize = 100;

/// What stands for the cause of a finding that comes from a private conversation.
const ELSEWHERE: &str = "about a private conversation: `gangline attention` shows why";

impl Chat {
    /// Takes the line as the answer to a finding, if it is one. `text` is without the mention.
    pub(super) async fn finding_answered(
        &self,
        line: &Line,
        who: &Principal,
        text: &str,
    ) -> Handled {
        // An agent gives no orders.
        let Some((number, choice)) = parse_answer(text).filter(|_| who.tier != Tier::Agent) else {
            return Handled::No;
        };
        let row = match attention::chosen(&self.deps.store, number, choice.as_str()).await {
            Ok((row, _)) => row,
            // Of no finding: it may be another word, or a prompt.
            Err(NotChosen::Finding(FindingError::Unknown(_))) => return Handled::No,
            Err(NotChosen::Finding(FindingError::Store(error))) => {
                warn!(%error, "cannot read a finding");
                return Handled::NotNow;
            }
            Err(error) => {
                // The same line taken in twice finds its own answer.
                if !line.from_history {
                    let said = self.no_choice(&error, choice).await;
                    self.answer(line, &said).await;
                }
                return Handled::Yes;
            }
        };
        if let Err(refusal) = self.deps.policy.may(who, Action::Operate, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        // A word from history was said to another state of things.
        if line.from_history {
            return Handled::Yes;
        }
        self.choose_for(line, who, (&row, choice)).await
    }

    /// Replies to `99 resume` if no finding has the number 99: such a line is not a prompt. Called after
    /// [`Self::finding_answered`] has not taken the line.
    pub(super) async fn nothing_waits(&self, line: &Line, who: &Principal, text: &str) -> Handled {
        // In private `1 3` may be an answer without a number.
        let in_room = matches!(line.target, Target::Channel(_));
        if let Some(answer) = without_word(text).filter(|_| in_room) {
            return self.without_word(line, who, &answer).await;
        }
        // `release 2` may be a task.
        let begins = text.trim_start().starts_with(|c: char| c == '#' || c.is_ascii_digit());
        let Some((number, _)) = parse_answer(text).filter(|_| begins) else { return Handled::No };
        let asks = self.deps.policy.may(who, Action::Prompt, 0).is_ok();
        if who.tier == Tier::Agent || !asks {
            return Handled::No;
        }
        let number = number.0;
        let question = self.deps.store.question(QuestionNumber(number)).await;
        let approval = self.deps.store.approval(ApprovalNumber(number)).await;
        let (question, approval) = match (question, approval) {
            (Ok(question), Ok(approval)) => (question, approval),
            (Err(error), _) | (_, Err(error)) => {
                warn!(%error, "cannot look up the item of a number");
                return Handled::NotNow;
            }
        };
        let said = if question.is_some() {
            format!("{number} is a question: say `answer {number} TEXT`")
        } else if approval.is_some() {
            format!("{number} is an approval: say `yes {number}` or `no {number}`")
        } else {
            format!("nothing waits under {number}; `status` lists my open items with their numbers")
        };
        self.told(line, &said).await
    }

    /// Replies to `12 2` if 12 is an open question of the agent: such a line is not a prompt.
    async fn without_word(&self, line: &Line, who: &Principal, answer: &AnswerLine<'_>) -> Handled {
        let asks = self.deps.policy.may(who, Action::Prompt, 0).is_ok();
        if who.tier == Tier::Agent || !asks {
            return Handled::No;
        }
        let (number, said) = (answer.number, answer.said);
        let row = match self.deps.store.question(number).await {
            Ok(row) => row,
            Err(error) => {
                warn!(%error, "cannot look up the item of a number");
                return Handled::NotNow;
            }
        };
        let waits =
            |row: &QuestionRow| row.agent == self.deps.agent && row.state == QuestionState::Open;
        match row.filter(waits) {
            Some(_) => {
                self.told(line, &format!("{number} is a question: say `answer {number} {said}`"))
                    .await
            }
            None => Handled::No,
        }
    }

    async fn choose_for(
        &self,
        line: &Line,
        who: &Principal,
        (row, choice): (&FindingRow, ChoiceWord),
    ) -> Handled {
        let (number, agent) = (row.number, &row.agent);
        let by = known_as(line, who);
        let deps = &self.deps;
        let (store, paths, released) = (&deps.store, &deps.paths, deps.turns_released);
        let site = Site { store, paths, by: &by, released };
        if attention::guides(row, choice) && *agent == deps.agent {
            return self.guide(line, site, (row, choice)).await;
        }
        let done = match attention::carry_out(site, row, choice).await {
            Ok(Left::Done(done)) => done,
            Ok(Left::Resume | Left::Abort) if *agent != deps.agent => {
                return self.told(line, &say_to(agent, number, choice)).await;
            }
            Ok(Left::Resume) => match store.resume(agent).await {
                Ok(()) => {
                    self.notify_loop(Incoming::Operator(Word::Resume)).await;
                    self.still_held(Continue::Resume).unwrap_or_else(|| "I continue".to_owned())
                }
                Err(error) => return self.still_waits(line, number, &error).await,
            },
            Ok(Left::Abort) => {
                let done = self.aborts();
                match self.orders(&by).abort(&deps.showing).await {
                    Ok(turn) => self.notify_loop(Incoming::Operator(Word::Abort { turn })).await,
                    Err(error) => return self.still_waits(line, number, &error).await,
                }
                done
            }
            Err(error) => return self.still_waits(line, number, &error).await,
        };
        info!(%number, %choice, by = who.account, "a finding is answered");
        if let Err(error) = attention::settle(site, number, choice).await {
            warn!(%error, "cannot resolve a finding");
        }
        self.told(line, &format!("finding {number}: {choice}: {done}")).await
    }

    /// Carries out a decision on an escalation of this agent.
    async fn guide(
        &self,
        line: &Line,
        site: Site<'_>,
        (row, choice): (&FindingRow, ChoiceWord),
    ) -> Handled {
        let number = row.number;
        let done = match choice {
            ChoiceWord::Resume => {
                self.still_held(Continue::Resume).unwrap_or_else(|| "I continue".to_owned())
            }
            _ => self.aborts(),
        };
        let turn = match attention::guide(site, row, choice).await {
            Ok(turn) => turn,
            // Somebody else was quicker: the same line again finds that.
            Err(FindingError::Resolved { .. } | FindingError::Unknown(_)) => {
                return Handled::NotNow;
            }
            Err(error) => return self.still_waits(line, number, &error).await,
        };
        let word = match choice {
            ChoiceWord::Resume => Word::Resume,
            _ => Word::Abort { turn },
        };
        info!(%number, %choice, by = site.by, "a finding is answered");
        self.notify_loop(Incoming::Operator(word)).await;
        self.told(line, &format!("finding {number}: {choice}: {done}")).await
    }

    /// Tells that an answer could not be stored.
    async fn still_waits(
        &self,
        line: &Line,
        number: FindingNumber,
        error: &(dyn std::error::Error + Sync),
    ) -> Handled {
        warn!(error = whole(error), "cannot carry out a choice");
        let said = format!("finding {number} still waits, since the store cannot write: try again");
        self.told(line, &said).await
    }

    /// Returns what still holds the agent after the word.
    pub(super) fn still_held(&self, word: Continue) -> Option<String> {
        let showing = self.deps.showing.borrow();
        pauses::still_held(word, &showing.view.pauses, &showing.note.pauses)
    }

    /// Returns what `abort` does now, and what it leaves.
    pub(super) fn aborts(&self) -> String {
        let (turn, escalated) = {
            let showing = self.deps.showing.borrow();
            (showing.view.turn.is_some(), showing.note.escalated.is_some())
        };
        let done = match (turn, escalated) {
            (true, _) => "ending the turn",
            (false, true) => "the escalation is over",
            (false, false) => NO_TURN,
        };
        match self.still_held(Continue::Abort) {
            Some(held) => format!("{done}. {held}"),
            None if !turn && escalated => format!("{done}; I continue"),
            None => done.to_owned(),
        }
    }

    /// Returns why a word is not a choice for a finding; if something else holds the agent, also what helps.
    async fn no_choice(&self, error: &NotChosen, choice: ChoiceWord) -> String {
        let held = match (error, attention::continues(choice)) {
            (NotChosen::NoSuchWord { agent, .. }, Some(word)) if *agent == self.deps.agent => {
                self.still_held(word)
            }
            (NotChosen::NoSuchWord { agent, .. }, Some(word)) => {
                let (store, now) = (&self.deps.store, self.deps.clock.now());
                attention::still_held(store, now, agent, word).await.unwrap_or_else(|error| {
                    warn!(%error, "cannot read what holds another agent");
                    None
                })
            }
            (NotChosen::NoSuchWord { .. } | NotChosen::Finding(_), _) => None,
        };
        held.map_or_else(|| error.to_string(), |held| format!("{error}. {held}"))
    }

    /// Returns what of this agent waits for a person, for the end of its status at this place; empty for
    /// nothing.
    pub(super) async fn waits_for_people(&self, place: &str) -> String {
        let agent = Some(self.deps.agent.clone());
        let filter = FindingFilter { agent, resolved: false };
        let rows = self.deps.store.findings(filter, NAMED).await.unwrap_or_else(|error| {
            warn!(%error, "cannot read findings");
            Vec::new()
        });
        let waiting = rows
            .iter()
            .filter(|row| row.state != FindingState::Resolved && !row.choices.is_empty());
        let mut all: Vec<String> = Vec::new();
        for row in waiting {
            let cause = match self.is_told_at(row, place).await {
                true => cut(row.cause.as_str(), CAUSE_MAX),
                false => format!("{}, {ELSEWHERE}", row.kind),
            };
            let (number, words) = (row.number, attention::words(row).replace(", ", "|"));
            all.push(format!("{number} {cause} (say `{number} {words}`)"));
        }
        if all.is_empty() {
            return String::new();
        }
        format!("; waits for a person: {}", all.join("; "))
    }

    /// Returns whether the cause of a finding may be told at a place: it may quote what was asked in a
    /// private conversation.
    async fn is_told_at(&self, row: &FindingRow, place: &str) -> bool {
        let quotes = row.kind.known() == Some(FindingKind::Escalation);
        let Some(message) = row.message else { return !quotes };
        match self.deps.store.message(message).await {
            Ok(Some(asked)) => {
                let target = &asked.target;
                target.parse::<ChannelName>().is_ok() || fold(target) == fold(place)
            }
            // A message that is not there any more tells nothing.
            Ok(None) => !quotes,
            Err(error) => {
                warn!(%error, "cannot read where a finding comes from");
                false
            }
        }
    }
}
