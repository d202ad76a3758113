//! Room words: what people say to an agent on a line that is no prompt, and what they may have
//! meant when they mistyped one. The mention is stripped before ([`crate::mention`]).
//!
//! A line is a room word only if its whole text is the word and its argument. Start at [`read`].

use std::fmt;

use crate::{
    approval,
    id::{ApprovalNumber, MessageId},
    model::ModelName,
    near, shown,
};

/// A line that begins like a decision is a near miss for so long after an approval was closed.
pub const LATELY: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// So much of a line that was not understood is quoted, in characters.
const QUOTED_MAX: usize = 40;

/// What an operator says to an agent on a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OperatorWord {
    /// `help`: which words there are. Anybody who may prompt may ask.
    Help,
    /// `status`: what it does now. Anybody who may prompt may ask.
    Status,
    /// `queue`: what waits for it. Anybody who may prompt may ask.
    Queue,
    /// `cancel m42`: take back a message that waits. Its author and owners may.
    Cancel(MessageId),
    /// `show 5`: all of an approval. Anybody who may prompt may ask.
    Show(ApprovalNumber),
    /// `more`: the next page of what was shown.
    More,
    /// `pause`: feed nothing new.
    Pause,
    /// `resume`: feed again.
    Resume,
    /// `abort`, `stop`: end the open turn.
    Abort,
    /// `stand down`: start nothing in this room until a person mentions the agent there again.
    StandDown,
    /// `model`: which model it uses. Anybody who may prompt may ask.
    Model,
    /// `model NAME`, `/model NAME`: use that one from the next turn on; `default` is the
    /// configuration's (R2-04).
    SetModel(Option<ModelName>),
    /// `new session`, `/new-session`, `/clear`: begin an empty context (R2-06).
    NewSession,
    /// `compact`, `/compact`: shorten the context (R2-11).
    Compact,
}

impl OperatorWord {
    /// Returns the text as an operator's word, if it is nothing else; case does not matter, and
    /// neither does a full stop, a question mark or an exclamation mark at the end.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let said: Vec<&str> = bare(text).split_whitespace().collect();
        let words: Vec<String> = said.iter().map(|word| word.to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["help"] => Some(Self::Help),
            ["status"] => Some(Self::Status),
            ["queue"] => Some(Self::Queue),
            ["cancel", id] => message(id).map(Self::Cancel),
            ["show", number] => approval::number(number).map(Self::Show),
            ["more"] => Some(Self::More),
            ["pause"] => Some(Self::Pause),
            ["resume"] => Some(Self::Resume),
            ["abort" | "stop"] => Some(Self::Abort),
            ["stand", "down"] => Some(Self::StandDown),
            ["model" | "/model"] => Some(Self::Model),
            ["model" | "/model", "default" | "--default"] => Some(Self::SetModel(None)),
            // Names of models are told by case.
            ["model" | "/model", _] => Some(Self::SetModel(Some(said.last()?.parse().ok()?))),
            ["new", "session"] | ["/new-session" | "/clear"] => Some(Self::NewSession),
            ["compact" | "/compact"] => Some(Self::Compact),
            _ => None,
        }
    }
}

/// Whether an approval of the agent is open or was closed a short while ago ([`LATELY`]): then a
/// line that begins like a decision is not given to the agent as a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// One is open, or was.
    Lately,
    /// None.
    Not,
}

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reading {
    /// A word.
    Word(OperatorWord),
    /// A decision about an approval, in the words of [`approval::parse`].
    Decision(String),
    /// No word, but somebody may have meant one: it is answered, and is no prompt.
    Miss(Miss),
    /// A prompt.
    Prompt,
}

/// What somebody may have meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Miss {
    /// This word, mistyped or without its argument.
    Word(&'static str),
    /// A decision about an approval, with something that does not belong to it.
    Decision,
}

/// Words of one form, with how each is shown to people.
const PLAIN: &[(&str, &str)] = &[
    ("help", "help"),
    ("status", "status"),
    ("queue", "queue"),
    ("more", "more"),
    ("pause", "pause"),
    ("resume", "resume"),
    ("abort", "stop"),
    ("stop", "stop"),
    ("stand down", "stand down"),
    ("model", "model"),
    ("/model", "model"),
    ("new session", "new session"),
    ("/new-session", "new session"),
    ("/clear", "new session"),
    ("compact", "compact"),
    ("/compact", "compact"),
];

/// Words that need a number behind them.
const NUMBERED: &[(&str, &str)] = &[
    ("cancel", "cancel m42"),
    ("show", "show 5"),
    ("approve", "approve 5"),
    ("deny", "deny 5"),
    ("allow", "yes 5"),
    ("yes", "yes 5"),
    ("no", "no 5"),
];

/// How a line begins that may be meant as a decision.
const DECIDING: &[&str] = &["yes", "no", "ok", "approve", "deny"];

/// Returns what a line means. Of the lines that are no words, those are near misses that have at
/// most two words and lie within an edit or two of a word ([`near`]), and, while an approval is or
/// was open (`asked`), those that begin like a decision.
#[must_use]
pub fn read(text: &str, asked: Asked) -> Reading {
    if let Some(word) = OperatorWord::parse(text) {
        return Reading::Word(word);
    }
    let decision = decision(text);
    if approval::parse(&decision).is_some() {
        return Reading::Decision(decision);
    }
    if let Some(word) = meant(text, asked) {
        return Reading::Miss(Miss::Word(word));
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    match asked {
        Asked::Lately if DECIDING.contains(&first.as_str()) => Reading::Miss(Miss::Decision),
        Asked::Lately | Asked::Not => Reading::Prompt,
    }
}

/// Returns the text with `approve` as `yes` and `deny` as `no`, which are the words that decide.
#[must_use]
pub fn decision(text: &str) -> String {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim_start();
    let word = match first.trim_end_matches(['.', '!']).to_ascii_lowercase().as_str() {
        "approve" => "yes",
        "deny" => "no",
        _ => return text.to_owned(),
    };
    if rest.is_empty() { word.to_owned() } else { format!("{word} {rest}") }
}

/// Returns the word that a line may be meant for.
fn meant(text: &str, asked: Asked) -> Option<&'static str> {
    let line = bare(text).to_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    let (first, argument) = match words.as_slice() {
        [first] => (*first, None),
        [first, argument] => (*first, Some(*argument)),
        _ => return None,
    };
    let line = words.join(" ");
    if let Some((_, shown)) = PLAIN.iter().find(|(word, _)| near::is_near(&line, word)) {
        return Some(shown);
    }
    let numbered = argument.is_some_and(|it| it.contains(|c: char| c.is_ascii_digit()));
    let glued = |word: &str| {
        let rest = first.strip_prefix(word);
        argument.is_none() && rest.is_some_and(is_number)
    };
    let fits = |word: &str| match argument {
        Some(_) => numbered && (first == word || word.len() > 2 && near::is_near(first, word)),
        // `yes` and `no` alone decide; mistyped they are talk, unless something was asked.
        None if glued(word) => true,
        None if matches!(word, "yes" | "allow") => {
            asked == Asked::Lately && near::is_near(first, word)
        }
        None => first == word || word.len() > SHOW && near::is_near(first, word),
    };
    NUMBERED.iter().find(|(word, _)| fits(word)).map(|(_, shown)| *shown)
}

/// `show` and `deny` are too short for a mistyped one without a number to mean anything.
const SHOW: usize = "show".len();

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['m', '#']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the text without spaces around it and without the mark that ends it.
fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(['.', '!', '?']).trim_end()
}

fn message(word: &str) -> Option<MessageId> {
    is_number(word).then(|| word.trim_start_matches(['m', '#']).parse().ok().map(MessageId))?
}

impl Miss {
    /// Returns what somebody is told who may have meant a word. `open`: the open approvals.
    #[must_use]
    pub fn answer(self, said: &str, open: &[ApprovalNumber]) -> String {
        let said = Quoted(said);
        match (self, open) {
            (Self::Word(word), _) => format!(
                "I know no {said}; did you mean `{word}`? I have done nothing with it. {LIST}"
            ),
            (Self::Decision, [number, ..]) => format!(
                "{said} decides nothing: approval {number} is open. Say `yes {number}` or \
                 `no {number} REASON`, and nothing else on that line. {LIST}"
            ),
            (Self::Decision, []) => format!(
                "{said} decides nothing: no approval is open any more. If it was meant as a prompt, \
                 begin the line with another word. {LIST}"
            ),
        }
    }
}

/// Returns what somebody is told whose bare `yes` or `no` finds nothing to decide.
#[must_use]
pub fn nothing_to_decide(said: &str) -> String {
    format!(
        "no approval is open, so {} decides nothing. If it was meant as a prompt, write a sentence",
        Quoted(said)
    )
}

/// All words in one line, for those who missed one.
pub const LIST: &str = "My words: help, status, queue, cancel m42, stop, show 5, more, yes 5, no 5 \
     REASON, go on m42, pause, resume, model, compact, new session, stand down. Anything else is a prompt";

/// Returns the answer to `help`, a line each. `name`: how the agent is addressed in a room.
#[must_use]
pub fn help(name: &str) -> Vec<String> {
    let name = shown::label(name);
    vec![
        format!(
            "Say `@{name}` and what you want done: that is a prompt. A line with only one of these \
             words is a command instead:"
        ),
        "status: what I do | queue: what waits for me | cancel m42: take back message m42 (yours; \
         an owner any)"
            .to_owned(),
        "show 5: all of approval 5 | more: the next page | yes 5, no 5 REASON: decide it (owner; \
         also approve 5, deny 5)"
            .to_owned(),
        "stop: end my turn | pause, resume: start nothing new, go on | compact, new session: \
         shorten or empty my context | model NAME (owner)"
            .to_owned(),
        "stand down: I start nothing in this room until a person mentions me here again (owner) | \
         go on m42: continue what is held of m42 (owner)"
            .to_owned(),
    ]
}

/// Something that was said, fit to be shown in a line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.trim();
        let cut: String = text.chars().take(QUOTED_MAX).collect();
        let more = if cut.len() < text.len() { "…" } else { "" };
        write!(f, "`{}{more}`", shown::label(&cut))
    }
}

#[cfg(test)]
mod tests;
