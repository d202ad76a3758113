//! Rules: what a person has allowed permanently, and which rules an approval offers to make.
//!
//! Pure. A command is not matched as text. The caller parses it into simple commands, and each of
//! them needs a rule. No rule covers a command that cannot be parsed for certain
//! ([`Subject::Unclear`]); a person is asked. Start at [`Offer::allowed_by`].

use std::fmt;

use crate::shown;

pub mod replay;
pub mod suggest;

/// The most simple commands in one command that can have rules.
pub const COMMANDS_MAX: usize = 32;

/// The words of a rule that are operators of the shell: between two commands of a pipeline, behind the
/// folder that a command begins with, and where a part of a pipeline sends its errors.
pub const OPERATORS: &[&str] =
    &["|", "&&", "2>&1", "1>&2", ">&2", "2>/dev/null", ">/dev/null", "1>/dev/null", "&>/dev/null"];

/// What one rule lets run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Form {
    /// This simple command, or this whole pipeline, word for word. `cd FOLDER &&` in front of it are
    /// three words more, and operators are words ([`OPERATORS`]): no other word of a rule may be one.
    Command(Vec<String>),
    /// Any change of this file.
    File(String),
    /// These arguments, byte for byte.
    Arguments(String),
}

/// What a permission request is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// All of these; each needs a rule.
    Forms(Vec<Form>),
    /// No rule can cover it; the reason, for people.
    Unclear(String),
}

/// The rules that `always` would make of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Offer {
    /// The tool.
    pub tool: String,
    /// Where the agent works.
    pub directory: String,
    /// What it asks.
    pub subject: Subject,
}

/// A rule, with its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Its number.
    pub number: i64,
    /// The tool.
    pub tool: String,
    /// The folder in which the agent must work.
    pub directory: String,
    /// What it lets run.
    pub form: Form,
}

impl Rule {
    /// Returns whether the rule allows this form of an offer.
    #[must_use]
    pub fn allows(&self, offer: &Offer, form: &Form) -> bool {
        self.tool == offer.tool && self.directory == offer.directory && self.form == *form
    }
}

impl Offer {
    /// Returns the numbers of the rules that allow all of it, the lowest first; `None` if any part
    /// has no rule.
    #[must_use]
    pub fn allowed_by(&self, rules: &[Rule]) -> Option<Vec<i64>> {
        let Subject::Forms(forms) = &self.subject else { return None };
        let one = |form: &Form| rules.iter().find(|rule| rule.allows(self, form));
        let mut numbers = Vec::new();
        for form in forms {
            numbers.push(one(form)?.number);
        }
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then_some(numbers)
    }

    /// Returns the forms that need a rule.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        match &self.subject {
            Subject::Forms(forms) => forms,
            Subject::Unclear(_) => &[],
        }
    }

    /// Returns what `always` would store, in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.subject {
            Subject::Forms(forms) => {
                let forms: Vec<String> =
                    forms.iter().map(|form| shown_as(&self.tool, form)).collect();
                format!("{} in {}", forms.join(", "), shown::code(&self.directory))
            }
            Subject::Unclear(why) => format!("no rule: {why}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", shown_as(&self.tool, &self.form), shown::code(&self.directory))
    }
}

fn shown_as(tool: &str, form: &Form) -> String {
    let tool = shown::label(tool);
    match form {
        Form::Command(words) => format!("{tool} `{}`", shown::code(&line(words))),
        Form::File(path) => format!("{tool} any change of `{}`", shown::code(path)),
        Form::Arguments(json) => format!("{tool} `{}`", shown::code(json)),
    }
}

/// Returns the words of a rule as one line that a shell reads as the same words.
#[must_use]
pub fn line(words: &[String]) -> String {
    let moves = words.first().is_some_and(|word| word == "cd");
    let shown = |(at, word): (usize, &String)| {
        let next = words.get(at + 1).is_some_and(|next| next == "|");
        let bare = match word.as_str() {
            "|" => true,
            "&&" => moves && at == 2,
            word => next && OPERATORS.contains(&word),
        };
        if bare { word.clone() } else { quoted(word) }
    };
    words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests;
