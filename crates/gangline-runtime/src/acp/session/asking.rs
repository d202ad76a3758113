//! The session's mode: it is put into one in which the program asks before tools run (C5), or
//! people are told that it is not.

use serde_json::{Value, json};

use super::{
    Session,
    state::{Sent, Stage, When},
};
use crate::acp::{
    modes::{Modes, Standing},
    turn_result, update,
    wire::Refusal,
};

/// How often an open session is put back; a program that never stays is left, and people know.
const TRIES_MAX: u32 = 8;

/// What is known of the session's modes.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// As they were offered beside the choices.
    modes: Option<Modes>,
    /// No further try is made in this session, and people know why.
    given_up: bool,
    /// How often it was put back while it was open.
    tries: u32,
}

impl Session {
    /// Takes the modes of a session that was opened.
    pub(super) fn modes_are(&mut self, answer: &Value) {
        self.asking = Asking { modes: Modes::of(answer), ..Asking::default() };
    }

    /// Returns the modes as they are now.
    fn modes(&self) -> Option<Modes> {
        Modes::chosen(&self.choices).or_else(|| self.asking.modes.clone())
    }

    /// Returns how the session stands; `None` if that is of no interest.
    fn standing(&self) -> Option<(Modes, Standing)> {
        let asking = self.setup.recipe.asking;
        if asking.is_empty() || self.asking.given_up || !self.setup.gate.asks() {
            return None;
        }
        let modes = self.modes()?;
        let standing = modes.standing(asking);
        Some((modes, standing))
    }

    /// Puts a session that was just opened into its asking mode; then its model is chosen.
    pub(super) fn ask_first(&mut self) {
        match self.standing() {
            None | Some((_, Standing::Asks)) => self.choose_model(),
            Some((modes, Standing::Other(to))) => self.set_mode(modes.choice, to, When::AtTheStart),
            Some((modes, Standing::NoWay)) => {
                self.no_asking_mode(&modes);
                self.choose_model();
            }
        }
    }

    /// Puts an open session back that has left its asking mode, whoever did it.
    pub(super) fn ask_again(&mut self) {
        let under_way = self.sent.values().any(|sent| matches!(sent, Sent::Mode { .. }));
        if self.stage != Stage::Open || under_way {
            return;
        }
        match self.standing() {
            None | Some((_, Standing::Asks)) => {}
            Some((modes, Standing::NoWay)) => self.no_asking_mode(&modes),
            Some((_, Standing::Other(to))) if self.asking.tries == TRIES_MAX => {
                self.does_not_ask(&to, "it leaves it again and again");
            }
            Some((modes, Standing::Other(to))) => {
                self.asking.tries += 1;
                if self.asking.tries == 1 {
                    let (name, current) = (self.setup.recipe.name, &modes.current);
                    self.notice(format!(
                        "{name} went into its mode `{current}`, in which tools run unasked; it is \
                         put back into `{to}`"
                    ));
                }
                self.set_mode(modes.choice, to, When::Ordered);
            }
        }
    }

    fn set_mode(&mut self, choice: Option<String>, to: String, when: When) {
        let sent = Sent::Mode { to: to.clone(), by_choice: choice.is_some(), when };
        match choice {
            Some(choice) => {
                let params = json!({"sessionId": self.id, "configId": choice, "value": to});
                self.request(sent, "session/set_config_option", &params);
            }
            None => {
                let params = json!({"sessionId": self.id, "modeId": to});
                self.request(sent, "session/set_mode", &params);
            }
        }
    }

    /// The program has answered to another mode.
    pub(super) fn mode_set(
        &mut self,
        (to, by_choice, when): (String, bool, When),
        outcome: Result<Value, Refusal>,
    ) {
        match outcome {
            Ok(answer) => {
                let choices = update::choices(&answer);
                if choices.is_empty() {
                    self.mode_is(&to);
                } else {
                    self.choices = choices;
                }
                if let Some((_, Standing::Other(_) | Standing::NoWay)) = self.standing() {
                    self.does_not_ask(&to, "it did not change");
                }
            }
            // A program that offers its modes in both ways may take one of them only.
            Err(_) if by_choice && self.asking.modes.is_some() => {
                return self.set_mode(None, to, when);
            }
            Err(refusal) => self.does_not_ask(&to, &turn_result::one_line(&refusal.words())),
        }
        match when {
            When::AtTheStart => self.choose_model(),
            // A mode that was changed meanwhile is looked at once more.
            When::Ordered => self.ask_again(),
        }
    }

    /// The session is in another mode.
    pub(super) fn mode_is(&mut self, mode: &str) {
        if let Some(modes) = &mut self.asking.modes {
            mode.clone_into(&mut modes.current);
        }
        let choice = Modes::chosen(&self.choices).and_then(|modes| modes.choice);
        for known in self.choices.iter_mut().filter(|it| Some(&it.id) == choice.as_ref()) {
            known.current_value = mode.into();
        }
    }

    fn does_not_ask(&mut self, to: &str, why: &str) {
        self.asking.given_up = true;
        let (name, word) = (self.setup.recipe.name, self.setup.gate.mode());
        self.notice(format!(
            "`permissions: {word}` may not hold: {name} was not put into its mode `{to}`, in which \
             it asks ({why}); choose that mode in the program's own settings"
        ));
    }

    fn no_asking_mode(&mut self, modes: &Modes) {
        self.asking.given_up = true;
        let (name, word) = (self.setup.recipe.name, self.setup.gate.mode());
        let offered: Vec<&str> = modes.offered.iter().map(|mode| mode.id.as_str()).collect();
        let (current, offered) = (&modes.current, turn_result::one_line(&offered.join(", ")));
        self.notice(format!(
            "`permissions: {word}` may not hold: {name} is in its mode `{current}`, and none of its \
             modes ({offered}) is known to ask before tools run"
        ));
    }
}
