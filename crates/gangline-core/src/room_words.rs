//! Room words: the commands that people say to an agent on a line, and guesses at mistyped ones.
//! The mention is stripped before ([`crate::mention`]).
//!
//! A line is a room word only if its whole text is the word and its argument. Start at [`read`].

use std::fmt;

use crate::{
    approval,
    id::{ApprovalNumber, MessageId},
    model::ModelName,
    near, shown,
    split::LINE_BYTES,
};

/// How long after an approval was closed a line that begins like a decision is a near miss.
pub const LATELY: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// The most that is quoted of a line that was not understood, in bytes.
const QUOTED_MAX: usize = 40;

/// A command that a person says to an agent on a line. Who may say which is decided where it is
/// carried out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RoomWord {
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
    /// `more`: the next page of what was shown. Anybody who may prompt may ask.
    More,
    /// `pause`: feed nothing new.
    Pause(Option<String>),
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
    /// `trust`: what its folder brings along and is not loaded.
    Trust,
}

impl RoomWord {
    /// Returns the text as a room word, if it is nothing else; case does not matter, and
    /// neither do the marks that end a sentence.
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
            ["pause"] => Some(Self::Pause(None)),
            // "pause the build" is a prompt.
            ["pause", rest @ ..] if is_end(rest) => Some(Self::Pause(Some(rest.join(" ")))),
            ["resume"] => Some(Self::Resume),
            ["abort" | "stop"] => Some(Self::Abort),
            ["stand", "down"] => Some(Self::StandDown),
            ["model" | "/model"] => Some(Self::Model),
            ["model" | "/model", "default" | "--default"] => Some(Self::SetModel(None)),
            // Names of models are told by case.
            ["model" | "/model", _] => Some(Self::SetModel(Some(said.last()?.parse().ok()?))),
            ["new", "session"] | ["/new-session" | "/clear"] => Some(Self::NewSession),
            ["compact" | "/compact"] => Some(Self::Compact),
            ["trust"] => Some(Self::Trust),
            _ => None,
        }
    }
}

/// Returns whether this says when a pause ends: `2h`, `for 2h`, `until tomorrow 9:00`.
fn is_end(words: &[&str]) -> bool {
    match words {
        ["for" | "until", _, ..] => words.len() <= PAUSE_WORDS_MAX,
        [time] => time.starts_with(|c: char| c.is_ascii_digit()),
        _ => false,
    }
}

/// The most words that say when a pause ends.
const PAUSE_WORDS_MAX: usize = 5;

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
    Word(RoomWord),
    /// A decision about an approval, in the words of [`approval::parse`].
    Decision(String),
    /// No word, but somebody may have meant one: it is answered, and is no prompt.
    Miss(Miss),
    /// A prompt.
    Prompt,
}

/// What somebody may have meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Miss {
    /// This word, in the form that is understood: mistyped, without its argument, or with a word of
    /// politeness.
    Word(String),
    /// A decision about an approval, with something that does not belong to it.
    Decision,
}

/// A room word: how it is said, how people are shown it, and what `help` says of it. A new one is a
/// variant of [`RoomWord`] with its line in [`RoomWord::parse`], and a row here.
struct Word {
    /// What is understood; a line near to one of them is a near miss. None for a word that is read
    /// elsewhere.
    said: &'static [&'static str],
    /// How it is shown.
    shown: &'static str,
    /// What stands for the number that it needs, if it needs one.
    number: Option<&'static str>,
    /// How the list of all words has it; nothing if another word stands for it there.
    listed: &'static str,
    help: Help,
}

/// What `help` says of a word.
enum Help {
    /// This: how it is said, a colon, and what it does.
    Own(&'static str),
    /// Its name is in what is said of another word.
    Among,
    /// Nothing: whoever asked for `help` knows it.
    Itself,
}
use Help::{Among, Itself, Own};

const STOP: &str = "stop";

/// All of them, in the order in which they are listed and explained.
const WORDS: &[Word] = &[
    Word::plain(&["help"], "help", Itself),
    Word::plain(&["status"], "status", Own("status: what I do")),
    Word::plain(&["queue"], "queue", Own("queue: waiting messages")),
    Word::numbered(
        &["cancel"],
        ("cancel", "mN"),
        "cancel mN",
        Own("cancel m42: cancel message m42 (your own; owners any)"),
    ),
    Word::plain(&["abort", "stop"], STOP, Own("stop: end my turn")),
    Word::numbered(&["show"], ("show", "N"), "show N", Own("show 5: all of approval 5")),
    Word::plain(&["more"], "more", Own("more: the next page")),
    Word::numbered(&["approve"], ("approve", "N"), "", Among),
    Word::numbered(&["deny"], ("deny", "N"), "", Among),
    Word::numbered(
        &["allow", "yes"],
        ("yes", "N"),
        "yes N",
        Own("yes 5, no 5 REASON: decide it (owner; also approve 5, deny 5)"),
    ),
    Word::elsewhere("yes N always", "yes 5 always: allow it now and later without asking (owner)"),
    Word::numbered(&["no"], ("no", "N"), "no N REASON", Among),
    Word::elsewhere(
        "answer N TEXT",
        "answer 5 TEXT: answer question 5, by a text or the number of an option; in private the \
         answer alone will do while no other question is open to you",
    ),
    Word::elsewhere(
        "answer N WORD",
        "answer 5 WORD: choose WORD for finding 5, which `status` shows (owner); 5 WORD will do",
    ),
    Word::elsewhere(
        "remind WHEN TEXT",
        "remind WHEN TEXT: I get TEXT then, and answer here; WHEN is in 20 min, tomorrow 9:00, \
         every day 9:00",
    ),
    Word::elsewhere(
        "go on mN",
        "go on m42: let the held messages of m42's request continue (owner)",
    ),
    Word::plain(
        &["pause"],
        "pause",
        Own("pause, pause 2h, pause until 9:00, resume: begin no new turns, continue"),
    ),
    Word::plain(&["resume"], "resume", Among),
    Word::plain(&["model", "/model"], "model", Own("model NAME: change my model (owner)")),
    Word::plain(
        &["compact", "/compact"],
        "compact",
        Own("compact, new session: shorten or empty my context"),
    ),
    Word::plain(&["new session", "/new-session", "/clear"], "new session", Among),
    // A line near to it, such as "rust", is no mistake.
    Word::elsewhere("trust", "trust: what my folder brings along and I do not load (owner)"),
    Word::plain(
        &["stand down"],
        "stand down",
        Own(
            "stand down: I ignore agents in this room until a person mentions me here again (owner)",
        ),
    ),
];

impl Word {
    const fn plain(said: &'static [&'static str], shown: &'static str, help: Help) -> Self {
        Self { said, shown, number: None, listed: shown, help }
    }

    const fn numbered(
        said: &'static [&'static str],
        (shown, number): (&'static str, &'static str),
        listed: &'static str,
        help: Help,
    ) -> Self {
        Self { said, shown, number: Some(number), listed, help }
    }

    /// A word that is read elsewhere, and only listed and explained here.
    const fn elsewhere(listed: &'static str, help: &'static str) -> Self {
        Self { said: &[], shown: listed, number: None, listed, help: Own(help) }
    }
}

/// Returns all that is understood of the words without a number, with their words.
fn plain() -> impl Iterator<Item = (&'static str, &'static Word)> {
    let words = WORDS.iter().filter(|word| word.number.is_none());
    words.flat_map(|word| word.said.iter().map(move |said| (*said, word)))
}

/// Returns the same of those with a number, and what stands for that.
fn numbered() -> impl Iterator<Item = (&'static str, &'static Word, &'static str)> {
    let words = WORDS.iter().filter_map(|word| Some((word, word.number?)));
    words.flat_map(|(word, number)| word.said.iter().map(move |said| (*said, word, number)))
}

/// Words of politeness and haste: with one of them a room word is still meant as one.
const FILLERS: &[&str] = &["please", "pls", "plz", "now", "me", "it", "thanks"];

/// Marks that end a word or a sentence and change nothing of it.
const MARKS: &[char] = &['.', '!', '?', ',', ';', ':', '…'];

/// How a line begins that may be meant as a decision.
const DECIDING: &[&str] = &["yes", "no", "ok", "approve", "deny"];

/// Returns what a line means. Of the lines that are no words, those are near misses that have at
/// most two words and lie within an edit or two of a word ([`near`]), and, while an approval is or
/// was open (`asked`), those that begin like a decision.
#[must_use]
pub fn read(text: &str, asked: Asked) -> Reading {
    if let Some(word) = RoomWord::parse(text) {
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

/// Returns the word that a line may be meant for, with the number that the line has.
fn meant(text: &str, asked: Asked) -> Option<String> {
    let line = text.to_lowercase();
    let words: Vec<&str> = line.split_whitespace().map(bare).filter(|it| !it.is_empty()).collect();
    let (first, argument) = match words.as_slice() {
        [first] => (*first, None),
        [first, argument] => (*first, Some(*argument)),
        _ => return None,
    };
    let line = words.join(" ");
    let without_number = |fits: &dyn Fn(&str) -> bool| {
        plain().find(|(said, _)| fits(said)).map(|(_, word)| word.shown.to_owned())
    };
    if let Some(word) = without_number(&|word| near::is_near(&line, word)) {
        return Some(word);
    }
    if let Some(word) = argument.and_then(|other| without_filler(first, other)) {
        let mut numbered = numbered().filter(|(it, ..)| !matches!(*it, "yes" | "no" | "allow"));
        let shown = || {
            let (_, word, number) = numbered.find(|(it, ..)| *it == word)?;
            Some(format!("{} {number}", word.shown))
        };
        return without_number(&|it| it == word).or_else(shown);
    }
    let digits = argument.is_some_and(|it| it.contains(|c: char| c.is_ascii_digit()));
    let glued = |word: &str| first.strip_prefix(word).filter(|rest| is_number(rest));
    let fits = |word: &str| match argument {
        Some(_) => digits && (first == word || word.len() > 2 && near::is_near(first, word)),
        // `yes` and `no` alone decide; mistyped they are talk, unless something was asked.
        None if glued(word).is_some() => true,
        None if matches!(word, "yes" | "allow") => {
            asked == Asked::Lately && near::is_near(first, word)
        }
        // With a mark that asks: talk.
        None if word == "no" => false,
        None => first == word || word.len() > SHOW && near::is_near(first, word),
    };
    let (form, word, number) = numbered().find(|(said, ..)| fits(said))?;
    let said = argument.filter(|it| is_number(it)).or_else(|| glued(form));
    // An approval has a plain number; only messages are written `m3`.
    let said = said.map(|said| match word.shown {
        "cancel" => said,
        _ => said.trim_start_matches('m'),
    });
    Some(format!("{} {}", word.shown, said.unwrap_or(number)))
}

/// Returns the other one of two words, if one of them is a filler.
fn without_filler<'a>(first: &'a str, second: &'a str) -> Option<&'a str> {
    match (FILLERS.contains(&first), FILLERS.contains(&second)) {
        (true, false) => Some(second),
        (false, true) => Some(first),
        (true, true) | (false, false) => None,
    }
}

/// `show` and `deny` are too short for a mistyped one without a number to mean anything.
const SHOW: usize = "show".len();

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['m', '#']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the text without spaces around it and without the marks that end it.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || MARKS.contains(&c)).trim_start()
}

fn message(word: &str) -> Option<MessageId> {
    is_number(word).then(|| word.trim_start_matches(['m', '#']).parse().ok().map(MessageId))?
}

/// The reply to a line that is not a room word.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// What they said.
    pub said: &'a str,
    /// How the agent is addressed where they said it: `@ada `, or nothing in private.
    pub to: &'a str,
    /// The open approvals.
    pub open: &'a [ApprovalNumber],
    /// What became of the one that was closed last, if that was a short while ago.
    pub ended: Option<&'a str>,
}

impl Reply<'_> {
    /// Returns the reply to a near miss: a line or two.
    #[must_use]
    pub fn missed(self, miss: &Miss) -> Vec<String> {
        let (said, to) = (Quoted(self.said), self.to);
        let missed = match (miss, self.open) {
            (Miss::Word(word), _) => {
                let what = if word == STOP { ", which ends my turn" } else { "" };
                format!(
                    "I do not know {said}; did you mean `{to}{word}`{what}? I have done nothing."
                )
            }
            (Miss::Decision, [number, ..]) => format!(
                "{said} decides nothing: approval {number} is open. Say `yes {number}` or \
                 `no {number} REASON`, and nothing else on that line."
            ),
            (Miss::Decision, []) => return vec![self.nothing_to_decide()],
        };
        vec![missed, list()]
    }

    /// Returns the reply to a bare `yes` or `no` that finds nothing to decide.
    #[must_use]
    pub fn nothing_to_decide(self) -> String {
        let said = Quoted(self.said);
        let why = match self.ended {
            Some(ended) => format!("{ended}; nothing else is open"),
            None => "no approval is open".to_owned(),
        };
        format!(
            "{why}, so {said} decides nothing. If you meant a prompt, begin it with another word"
        )
    }
}

/// Returns all words in one line, for replies to near misses.
#[must_use]
pub fn list() -> String {
    let words: Vec<&str> =
        WORDS.iter().map(|word| word.listed).filter(|listed| !listed.is_empty()).collect();
    format!("My words: {}. Anything else is a prompt", words.join(", "))
}

/// Returns the answer to `help`, a line each. `name`: how the agent is addressed in a room.
#[must_use]
pub fn help(name: &str) -> Vec<String> {
    const BETWEEN: &str = " | ";
    let name = shown::label(name);
    let mut lines = vec![format!(
        "Say `@{name}` and what you want done: that is a prompt. A line with only one of these \
         words is a command instead:"
    )];
    let mut line = String::new();
    for word in WORDS {
        let Own(text) = word.help else { continue };
        if !line.is_empty() && line.len() + BETWEEN.len() + text.len() > LINE_BYTES {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push_str(BETWEEN);
        }
        line.push_str(text);
    }
    lines.push(line);
    lines
}

/// A quoted text, safe to show in a line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.trim();
        let mut quoted = String::new();
        for c in text.chars() {
            // A hidden character is written out, and is longer then.
            let one = shown::label(c.encode_utf8(&mut [0; 4]));
            if quoted.len() + one.len() > QUOTED_MAX {
                quoted.push('…');
                break;
            }
            quoted.push_str(&one);
        }
        write!(f, "`{quoted}`")
    }
}

#[cfg(test)]
mod tests;
