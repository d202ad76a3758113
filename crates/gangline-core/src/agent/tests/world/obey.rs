//! What the world checks of each effect, and does for it.

use super::*;

impl World {
    #[allow(clippy::too_many_lines, reason = "a line or a few for each effect")]
    pub(super) fn obey(&mut self, effect: Effect, deadline: Option<Now>) {
        assert!(!self.drained, "{effect:?} after Drained");
        match effect {
            Effect::StartRuntime { generation, with } => {
                assert_eq!(with == StartWith::Cleared, self.between.clear, "promised and no other");
                let compact = self.between.compact && with == StartWith::Resume;
                self.between = Between { compact, ..Between::default() };
                assert!(self.alive.is_none() && generation.0 > self.lives, "two runtimes");
                assert!(!self.parked && !self.draining && !self.degraded);
                assert!(self.holding().is_empty(), "paused");
                self.begins_at_ground();
                self.lives = generation.0;
                self.alive = Some((generation, false));
                self.orders.1 = true;
            }
            Effect::KillRuntime { generation } => {
                assert_eq!(self.alive.map(|(alive, _)| alive), Some(generation));
                self.alive = None;
            }
            Effect::EndRuntime { generation } => {
                assert_eq!(self.alive, Some((generation, true)));
                assert!(self.open.is_none(), "in mid-turn");
                self.alive = None;
            }
            Effect::Take { turn, messages } => {
                assert!(self.open.is_none(), "two open turns");
                assert!(!self.between.is_owed(), "{:?} comes first", self.between);
                (self.between.over, self.between.compacting) = (false, false);
                self.between.again = false;
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                let feeds = !messages.is_empty();
                assert!(
                    !feeds || self.holding().is_empty() && !(self.degraded || self.draining),
                    "fed"
                );
                let messages = messages.into_iter().collect();
                self.interrupting = false;
                self.open = Some(Open { turn, messages, recorded: false, last_sign: self.now });
            }
            Effect::Join { turn, messages } | Effect::Steer { turn, messages } => {
                let Some(open) = &mut self.open else { panic!("no turn") };
                assert!(open.turn == turn && open.recorded);
                for id in &messages {
                    assert!(open.messages.insert(*id), "{id} is in the turn already");
                }
                for id in messages {
                    // It may wait no more, or the store cannot write.
                    match self.rows.get_mut(&id) {
                        Some((state @ MessageState::Accepted, _)) if !self.degraded => {
                            *state = MessageState::InTurn;
                        }
                        Some(_) | None => {
                            self.refused.insert((turn, id));
                        }
                    }
                }
            }
            Effect::SendSteer { turn, messages } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.is_recorded(turn) && !self.interrupting);
                let open = self.open.as_ref().map(|open| &open.messages);
                assert!(open.is_some_and(|open| messages.iter().all(|id| open.contains(id))));
            }
            Effect::AdoptTurn { turn, .. } => assert!(self.is_taking(turn)),
            Effect::SendPrompt { turn } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.is_recorded(turn), "T1 comes first");
                self.prompted_with(turn);
            }
            Effect::AskNotes { turn } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.is_recorded(turn), "T1 comes first");
            }
            Effect::PauseBegun { held } => {
                let until = held.until.map(|_| self.now.plus(Duration::from_secs(9)));
                self.paused.insert(held.reason, until);
            }
            Effect::PauseOver { held } => {
                let until = self.paused.remove(&held.reason);
                assert!(until.flatten().is_some_and(|until| until <= self.now), "{held:?}");
            }
            Effect::Notice(Notice::WatermarkPassed { turn, .. }) => {
                assert!(self.above && !self.noted, "asked twice for one passage ({turn})");
                (self.noted, self.notes) = (true, Some(turn));
            }
            Effect::Prime { turn } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.is_recorded(turn), "T1 comes first");
                assert!(self.open.as_ref().is_some_and(|open| open.messages.is_empty()));
            }
            Effect::PromptAgain { turn } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.is_recorded(turn) && !self.interrupting);
                assert!(std::mem::take(&mut self.between.compacting), "given again unasked");
            }
            Effect::Compact { generation } if self.open.is_some() => {
                assert_eq!(self.alive, Some((generation, true)));
                assert!(self.between.over && !self.between.again, "a prompt that fits");
                (self.between.compacting, self.between.again) = (true, true);
            }
            Effect::Compact { generation } if self.between.compact || self.between.failed => {
                assert_eq!(self.alive, Some((generation, true)));
                assert!(!self.draining);
                (self.between.compact, self.between.failed) = (false, false);
            }
            Effect::Clear { generation } => {
                assert_eq!(self.alive, Some((generation, true)));
                assert!(self.open.is_none() && !self.draining);
                assert!(std::mem::take(&mut self.between.clear), "nobody wanted that");
            }
            Effect::Notice(Notice::ModelChanges) => {
                assert!(self.open.is_none() && !self.draining);
                assert!(std::mem::take(&mut self.between.model), "nobody chose one");
            }
            Effect::Notice(Notice::EffortChanges) => {
                assert!(self.open.is_none() && !self.draining);
                assert!(std::mem::take(&mut self.between.effort), "nobody chose one");
            }
            Effect::SetModel { generation } => {
                assert_eq!(self.alive, Some((generation, true)));
            }
            Effect::Compact { .. } => {
                assert!(self.alive.is_some_and(|(_, ready)| ready), "no runtime");
                assert!(self.noted && self.open.is_none() && !self.draining);
                let (before, failed) = self.orders;
                assert!(before == 0 || (before == 1 && failed), "again after {:?}", self.orders);
                self.orders = (before + 1, false);
            }
            Effect::SetEffort { generation, effort } => self.effort_told(generation, effort),
            Effect::SendInterrupt { turn } => {
                assert!(self.is_recorded(turn));
                assert!(!self.interrupting, "interrupted twice");
                self.interrupting = true;
            }
            Effect::AskHuman { turn, request } => {
                assert!(self.open.as_ref().is_some_and(|open| open.turn == turn));
                assert!(self.asked.insert((turn, request)), "asked twice");
            }
            Effect::Decide { turn, request, decision } => {
                let waited = self.asked.remove(&(turn, request));
                assert!(waited || decision == Decision::Deny, "allowed what was not asked");
            }
            Effect::ApprovalTakenBack { turn, request } => {
                assert!(self.asked.remove(&(turn, request)), "nobody was asked");
            }
            Effect::WithdrawApprovals { turn, requests } => {
                assert!(!requests.is_empty());
                for request in requests {
                    assert!(self.asked.remove(&(turn, request)), "settled twice");
                }
            }
            Effect::EndTurn { turn, outcome, settle } => {
                self.proven.1 |= self.alive.is_some()
                    && settle.iter().any(|one| one.state != MessageState::Accepted);
                let failed = outcome == Outcome::Failed("context_overflow".to_owned());
                self.between.failed |= failed;
                self.end(turn, &outcome, &settle);
            }
            Effect::Rescan => self.rescan = true,
            Effect::MissedDeadline { deadline: which, turn } => {
                self.missed(which, turn, deadline);
            }
            Effect::Parked { suspects, .. } => {
                assert!(self.open.is_none() && self.alive.is_none());
                assert!(self.recent_deaths() >= 3, "parked after {:?}", self.deaths);
                self.parked = true;
                let [found, known] = &mut self.suspects;
                *found = if suspects.is_empty() { known.clone() } else { suspects };
            }
            Effect::Notice(_) => {}
            Effect::Drained => {
                assert!(self.draining && self.open.is_none(), "drained inside a turn");
                assert!(self.alive.is_none(), "drained beside a runtime");
                self.drained = true;
            }
        }
    }
}
