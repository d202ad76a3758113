//! One sentence for people that says what an agent does, the same on every surface. Start at
//! [`Situation::describe`].

use gangline_core::id::{ApprovalNumber, QuestionNumber};
use jiff::tz::TimeZone;

use super::{RunningTool, ShownPause, State, Task, cut::cut, local::time};

/// The longest description, in characters.
pub const DESCRIPTION_MAX: usize = 200;
/// The longest command in a description, in characters.
const COMMAND_MAX: usize = 60;
/// The longest quotation of a message in a description, in characters.
const QUOTED_MAX: usize = 60;
/// The longest hint for a login in a description, in characters.
const HINT_MAX: usize = 80;
/// The longest word for an effort in a description, in characters.
const EFFORT_MAX: usize = 20;
/// The longest reason in a description, in characters.
const REASON_MAX: usize = 80;

/// The longest reason why a start takes long, in characters.
const START_MAX: usize = 140;

/// All that a description is made of.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Where the agent stands.
    pub state: State,
    /// What the open turn is about.
    pub task: Option<&'a Task>,
    /// The tool that runs, if that is known.
    pub tool: Option<&'a RunningTool>,
    /// The first approval that waits, and its tool.
    pub approval: Option<(ApprovalNumber, &'a str)>,
    /// The first question to people that waits.
    pub question: Option<QuestionNumber>,
    /// What somebody has to do so that the backend has a login.
    pub login: Option<&'a str>,
    /// Why it is parked, if that is known.
    pub parked: Option<&'a str>,
    /// How its backend ended the last time, or why it did not start, while it is started again.
    pub last_failure: Option<&'a str>,
    /// What its backend has said while it starts.
    pub start_notice: Option<&'a str>,
    /// How many messages wait.
    pub waiting: u64,
    /// Whether the model refuses requests for now.
    pub rate_limited: bool,
    /// The effort, while it is raised for a task.
    pub effort: Option<&'a str>,
    /// Whether new turns are stopped.
    pub paused: bool,
    /// Why they are, as far as that is known.
    pub pauses: &'a [ShownPause],
    /// Whether the store cannot write.
    pub degraded: bool,
    /// The zone of the times in the sentence.
    pub zone: &'a TimeZone,
}

impl Situation<'_> {
    /// Returns a sentence for people, on one line of at most [`DESCRIPTION_MAX`] characters: what
    /// the agent works on, for whom and since when, or what it waits for.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut rest = String::new();
        if self.degraded {
            rest.push_str(", the store cannot write");
        }
        if let Some(effort) = self.effort {
            rest.push_str(&format!(", effort {} (raised for this task)", cut(effort, EFFORT_MAX)));
        }
        if self.paused && self.state != State::Paused {
            rest.push_str(", paused");
        }
        match self.waiting {
            0 => {}
            1 => rest.push_str(", 1 message waits"),
            many => rest.push_str(&format!(", {many} messages wait")),
        }
        let head = self.head();
        let room = DESCRIPTION_MAX.saturating_sub(head.chars().count() + rest.chars().count());
        cut(&format!("{head}{}{rest}", self.quoted(room)), DESCRIPTION_MAX)
    }

    fn head(&self) -> String {
        match self.state {
            State::Down => "its daemon is not running".to_owned(),
            State::Parked => match self.parked {
                Some(why) => format!("parked until `resume`: {}", cut(why, REASON_MAX)),
                None => "parked until `resume`: its backend died too often".to_owned(),
            },
            State::Starting => match (self.start_notice, self.last_failure) {
                (Some(said), _) => format!("starting: {}", cut(said, START_MAX)),
                (None, Some(why)) => {
                    format!("starts again after a failure: {}", cut(why, START_MAX))
                }
                (None, None) => "starting".to_owned(),
            },
            State::Draining => "its daemon ends".to_owned(),
            State::Ending => "ends a turn".to_owned(),
            State::Unknown => "in a phase that this version does not know".to_owned(),
            State::Compacting => "shortens its context".to_owned(),
            State::Paused if self.pauses.is_empty() => "paused".to_owned(),
            State::Paused => {
                let whys: Vec<String> =
                    self.pauses.iter().map(|it| it.describe(self.zone)).collect();
                whys.join("; ")
            }
            State::Idle if self.rate_limited && self.waiting > 0 => {
                "waits because of the model's rate limit; it will try again".to_owned()
            }
            State::Idle => match self.question {
                Some(number) => format!("waits for an answer to question {number}"),
                None => "waits to be asked".to_owned(),
            },
            State::NeedsLogin => match self.login {
                Some(hint) => format!("waits for a login: {}", cut(hint, HINT_MAX)),
                None => "waits for a login".to_owned(),
            },
            State::Thinking | State::RunningTool => match (self.approval, self.tool) {
                (Some((number, tool)), _) => {
                    let tool = cut(tool, 20);
                    format!("waits for approval {number} ({tool}){}", self.about(","))
                }
                (None, Some(tool)) => format!("runs {}{}", self.ran(tool), self.about(",")),
                (None, None) => format!("works{}", self.about("")),
            },
        }
    }

    fn about(&self, comma: &str) -> String {
        let Some(task) = self.task else { return String::new() };
        let mut text = String::new();
        if let Some(message) = task.message {
            text.push_str(&format!("{comma} on {message}"));
        }
        if !task.sender.is_empty() {
            text.push_str(&format!(" for {}", cut(&task.sender, 20)));
        }
        if task.place.starts_with('#') {
            text.push_str(&format!(" in {}", cut(&task.place, 24)));
        }
        // The day is the reader's own; a turn seldom outlives one.
        text + &self.since(&task.since)
    }

    fn since(&self, at: &str) -> String {
        time(at, self.zone).map_or_else(String::new, |time| format!(" since {time}"))
    }

    /// Returns a tool with what it runs and since when.
    fn ran(&self, tool: &RunningTool) -> String {
        let mut text = cut(&tool.name, 20);
        if !tool.what.is_empty() {
            text.push_str(&format!(" `{}`", cut(&tool.what, COMMAND_MAX)));
        }
        text + &self.since(&tool.since)
    }

    /// Quotes what was asked, if there is room for more than a word of it.
    fn quoted(&self, room: usize) -> String {
        let works = matches!(self.state, State::Thinking | State::RunningTool);
        let Some(task) = self.task.filter(|task| works && !task.text.trim().is_empty()) else {
            return String::new();
        };
        match room.min(QUOTED_MAX).checked_sub(" (``)".len()) {
            Some(room) if room >= 12 => format!(" (`{}`)", cut(&task.text, room)),
            Some(_) | None => String::new(),
        }
    }
}
