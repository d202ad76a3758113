//! Programs asked for their versions: some at once, each for half a minute at most.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use gangline_os::task::TaskGroup;
use tokio::sync::{Semaphore, mpsc};

use self::ask::{Said, ask};
use crate::output;

pub(crate) mod ask;

/// How long a program may take to say its version: some unpack themselves at their first start.
const PATIENCE: Duration = Duration::from_secs(30);
/// Another patience, in whole seconds.
const PATIENCE_VARIABLE: &str = "GANGLINE_VERSION_SECONDS";
/// The time after which a note says which program is waited for.
const QUIET: Duration = Duration::from_secs(2);
/// How many are asked at once: many of these programs take a second of processor time to start, and
/// all together would delay each other.
const AT_ONCE: usize = 4;
/// What is shown of a version, in characters.
const VERSION_MAX: usize = 60;

/// Whom to ask, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The program's file.
    pub(crate) program: PathBuf,
    /// The words of the question, most often `--version`.
    pub(crate) args: Vec<String>,
    /// Its environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// How another program of the same name begins what it says of its version.
    pub(crate) namesake: Option<&'static str>,
}

/// What a program said of its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    /// Its first line; fit to be shown.
    Known(String),
    /// An empty answer. It may work for all that.
    Unknown,
    /// Nothing within the time for it. It may work for all that.
    Late,
    /// It could not be started or ended with an error: fit to be shown.
    Broken(String),
    /// It is another program of the same name.
    Namesake(String),
}

impl Question {
    /// Returns whether the answers would be the same: the environment changes no version.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.program, &self.args) == (&other.program, &other.args)
    }
}

impl Version {
    /// Returns why the version is not known, as the end of a sentence.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::Unknown => Some("it says nothing".to_owned()),
            Self::Late => Some(format!("took longer than {} s", patience().as_secs())),
            Self::Broken(why) => Some(why.clone()),
            Self::Namesake(line) => Some(format!("another program of this name: {line}")),
        }
    }
}

/// Asks all of them; the answers are in the order of the questions.
///
/// Cancel-safe: no; dropped, it kills the programs.
pub(crate) async fn ask_all(questions: Vec<Question>) -> Vec<Version> {
    let mut tasks = TaskGroup::new("versions");
    let (tell, mut told) = mpsc::channel(questions.len().max(1));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut answers = vec![Version::Late; questions.len()];
    for (index, question) in questions.into_iter().enumerate() {
        let (tell, places) = (tell.clone(), places.clone());
        tasks.spawn("version", async move {
            let _place = places.acquire().await;
            let _ = tell.send((index, one(&question).await)).await;
        });
    }
    drop(tell);
    while let Some((index, answer)) = told.recv().await {
        if let Some(slot) = answers.get_mut(index) {
            *slot = answer;
        }
    }
    answers
}

async fn one(question: &Question) -> Version {
    let args: Vec<&str> = question.args.iter().map(String::as_str).collect();
    let asked = ask(&question.program, &args, "/".as_ref(), question.env.clone(), patience());
    tokio::pin!(asked);
    let said = match tokio::time::timeout(QUIET, &mut asked).await {
        Ok(said) => said,
        Err(_) => {
            let name = question.program.file_name().unwrap_or_default().display();
            output::note(&format!("still asking {} for its version …", shown(&name.to_string())));
            asked.await
        }
    };
    match said {
        Err(error) => Version::Broken(shown(&error.to_string())),
        Ok(said) => judge(question, &said),
    }
}

/// Returns how long a program may take to say its version.
fn patience() -> Duration {
    let named = std::env::var(PATIENCE_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    named.map_or(PATIENCE, |seconds: u16| Duration::from_secs(u64::from(seconds.max(1))))
}

fn judge(question: &Question, said: &Said) -> Version {
    let line = Said::first(&said.out).or_else(|| Said::first(&said.err)).map(shown);
    let Some(exit) = said.exit else {
        return line.map_or(Version::Late, Version::Known);
    };
    if !exit.success() {
        let name = question.program.file_name().unwrap_or_default().display();
        let args = question.args.join(" ");
        let code = exit.code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
        let line = line.map_or_else(String::new, |line| format!(": {line}"));
        return Version::Broken(format!("`{name} {args}` ended with {code}{line}"));
    }
    match line {
        None => Version::Unknown,
        Some(line) if question.namesake.is_some_and(|other| line.starts_with(other)) => {
            Version::Namesake(line)
        }
        Some(line) => Version::Known(line),
    }
}

/// Makes text of a program fit to be shown and to be a comment: one short line.
pub(crate) fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c.is_alphanumeric() { c } else { ' ' };
    let plain: String = text.chars().map(plain).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(VERSION_MAX).collect()
}

#[cfg(test)]
mod tests;
