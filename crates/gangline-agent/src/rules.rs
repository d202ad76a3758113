//! The rules that `always` would make of a permission request.
//!
//! The store holds the rules and compares ([`gangline_core::rule`]). This file reads the request. An
//! unknown argument makes it unclear: a rule must not let more run than people saw.

use std::path::{Component, Path, PathBuf};

use gangline_api::approval::LINKS;
use gangline_core::{
    redact::Redactor,
    rule::{COMMANDS_MAX, Form, Offer, Rule, Subject},
    shown,
};
use gangline_os::fsio;
use gangline_runtime::{ApprovalAsk, NamedFile, Way, folder::programs, shell};
use serde_json::{Map, Value};

/// The longest request that can have rules, in bytes of its words, path or arguments.
const RULES_BYTES: usize = 4096;
/// Arguments of a shell's tool that do not change what runs.
const BESIDE_A_COMMAND: &[&str] =
    &["description", "timeout", "timeout_ms", "reason", "run_in_background", "is_background"];
/// The argument that switches a sandbox off, which does nothing when it is false.
const NO_SANDBOX: &str = "dangerouslyDisableSandbox";
/// Arguments that name the folder of a command.
const FOLDERS: &[&str] = &["cwd", "workdir", "dir_path", "directory"];
/// Tools that change one file, and the arguments that name it.
const FILE_TOOLS: &[&str] = &["Edit", "Write", "MultiEdit", "NotebookEdit"];
const FILES: &[&str] = &["file_path", "notebook_path"];
/// Other tools whose rule is the same arguments, of a file that leads nowhere else.
const OTHER_FILE_TOOLS: &[&str] = &["Read", "Delete", "Move"];
/// The other arguments of such a tool: the change itself.
const BESIDE_A_FILE: &[&str] = &[
    "old_string",
    "new_string",
    "content",
    "replace_all",
    "edits",
    "new_source",
    "cell_id",
    "cell_type",
    "edit_mode",
];

/// Returns the rules that a request offers.
pub(crate) fn offer(ask: &ApprovalAsk, directory: &str, redactor: &Redactor) -> Offer {
    let subject = match subject(ask, directory) {
        Ok(forms) if forms.iter().any(|form| has_secret(form, redactor)) => secret(),
        Ok(forms) if forms.iter().map(size).sum::<usize>() > RULES_BYTES => {
            Subject::Unclear("it is too long".to_owned())
        }
        Ok(forms) => Subject::Forms(forms),
        Err(why) => Subject::Unclear(why),
    };
    let offer = Offer { tool: ask.tool.clone(), directory: directory.to_owned(), subject };
    let shown = offer.describe();
    match redactor.redact(&shown).as_str() == shown {
        true => offer,
        // People would see less than the rule says.
        false => Offer { subject: secret(), ..offer },
    }
}

fn secret() -> Subject {
    Subject::Unclear("it holds a secret".to_owned())
}

fn subject(ask: &ApprovalAsk, directory: &str) -> Result<Vec<Form>, String> {
    if ask.presumed {
        return Err("its program does not say which call it asks about".to_owned());
    }
    if FILE_TOOLS.contains(&ask.tool.as_str()) && starts_something(ask) {
        return Err("programs read this file when they start".to_owned());
    }
    if let Some(why) = leads_elsewhere(&ask.files) {
        return Err(why);
    }
    let empty = Map::new();
    let input = match &ask.input {
        Value::Object(fields) => fields,
        Value::Null => &empty,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err("its arguments have an unknown form".to_owned());
        }
    };
    if ask.tool == "Bash" {
        return command(input, directory);
    }
    if FILE_TOOLS.contains(&ask.tool.as_str())
        && let Some(form) = file(input, &ask.files)
    {
        return Ok(vec![form]);
    }
    // Requests that describe their arguments in words, or do not tell them.
    if ["asks", "unknown", "title", "calls"].iter().any(|key| input.contains_key(*key)) {
        return Err("its program does not say its arguments".to_owned());
    }
    // Whoever does not know where a file leads cannot compare it later.
    if ask.files.is_empty()
        && (FILE_TOOLS.contains(&ask.tool.as_str())
            || OTHER_FILE_TOOLS.contains(&ask.tool.as_str()))
    {
        return Err("it is not known which file it is about".to_owned());
    }
    Ok(vec![Form::Arguments(ask.input.to_string())])
}

/// Says why the files that a request names have no rule: tomorrow a link leads elsewhere.
fn leads_elsewhere(files: &[NamedFile]) -> Option<String> {
    files.iter().find_map(|file| {
        let named = shown::code(&file.named);
        let to = shown::code(&file.shown()?);
        Some(match file.way {
            Way::Several => format!("it is not clear which file `{named}` is: {to}"),
            Way::Link | Way::Straight => format!("`{named}` leads to `{to}`"),
        })
    })
}

/// Returns the arguments as they are shown and stored, with the files that lead elsewhere. Nothing that a
/// model calls so is believed.
pub(crate) fn with_links(input: Value, files: &[NamedFile]) -> Value {
    let links: Map<String, Value> = files
        .iter()
        .filter_map(|file| Some((file.named.clone(), Value::String(file.shown()?))))
        .collect();
    let Value::Object(mut fields) = input else { return input };
    if let Some(said) = fields.remove(LINKS) {
        fields.insert(format!("argument {LINKS}"), said);
    }
    if !links.is_empty() {
        fields.insert(LINKS.to_owned(), Value::Object(links));
    }
    Value::Object(fields)
}

/// Says why a stored rule would not be made today; `None` if it would.
#[must_use]
pub fn no_longer_holds(rule: &Rule) -> Option<String> {
    match &rule.form {
        Form::Command(words) => shell::still_holds(words).err().map(|unclear| unclear.to_string()),
        Form::File(path) => {
            let leads_to = fsio::resolved(Path::new(path));
            let same = leads_to == Path::new(path);
            (!same).then(|| {
                format!("the path leads to `{}`", shown::code(&leads_to.display().to_string()))
            })
        }
        Form::Arguments(_) => None,
    }
}

/// Returns what a recorded request would offer today. `stored` is what it offered when it was asked.
#[must_use]
pub fn offer_today((tool, detail): (&str, &str), stored: Offer) -> Offer {
    let forms = match (tool, serde_json::from_str(detail)) {
        ("Bash", Ok(Value::Object(input))) => command(&input, &stored.directory),
        _ => match stored.forms().iter().find_map(|form| no_rule_of(&stored, form)) {
            Some(why) => Err(why),
            None => return stored,
        },
    };
    // What was no rule when more was known is none now.
    let subject = match (stored.subject, forms) {
        (Subject::Unclear(why), _) | (_, Err(why)) => Subject::Unclear(why),
        (Subject::Forms(_), Ok(forms)) => Subject::Forms(forms),
    };
    Offer { subject, ..stored }
}

fn no_rule_of(offer: &Offer, form: &Form) -> Option<String> {
    let Offer { tool, directory, .. } = offer;
    let (tool, directory) = (tool.clone(), directory.clone());
    no_longer_holds(&Rule { number: 0, tool, directory, form: form.clone() })
}

fn command(input: &Map<String, Value>, directory: &str) -> Result<Vec<Form>, String> {
    for (key, value) in input {
        let key = key.as_str();
        let here = || value.as_str() == Some(directory);
        if value.is_null() {
            continue;
        }
        if FOLDERS.contains(&key) && !here() {
            return Err("it runs in another folder".to_owned());
        }
        let known = key == "command"
            || FOLDERS.contains(&key)
            || BESIDE_A_COMMAND.contains(&key)
            || key == "commands" && repeats(input, value)
            || key == NO_SANDBOX && *value == Value::Bool(false);
        if !known {
            return Err(format!("it has the argument `{}`", shown::label(key)));
        }
    }
    let script = match input.get("command") {
        Some(Value::String(script)) => script.clone(),
        Some(Value::Array(words)) => joined(words).ok_or("its command has an unknown form")?,
        Some(_) | None => return Err("its command is not known".to_owned()),
    };
    let commands = shell::commands(&script).map_err(|unclear| unclear.to_string())?;
    let mut forms: Vec<Form> = Vec::new();
    for form in commands.into_iter().map(Form::Command) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    match forms.len() <= COMMANDS_MAX {
        true => Ok(forms),
        false => Err("it has too many commands".to_owned()),
    }
}

/// Returns whether a list of commands is the command said again.
fn repeats(input: &Map<String, Value>, commands: &Value) -> bool {
    let Value::Array(commands) = commands else { return false };
    let commands: Option<Vec<&str>> = commands.iter().map(Value::as_str).collect();
    let command = input.get("command").and_then(Value::as_str);
    commands.is_some_and(|commands| command == Some(commands.join("; ").as_str()))
}

/// Returns words as a shell's line.
fn joined(words: &[Value]) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    shlex::try_join(words?).ok()
}

/// Returns whether it changes what some program loads from its folder: each change of that is looked at.
fn starts_something(ask: &ApprovalAsk) -> bool {
    let named = FILES.iter().filter_map(|key| ask.input.get(*key)?.as_str());
    let mut paths =
        named.map(PathBuf::from).chain(ask.files.iter().map(|file| file.leads_to.clone()));
    paths.any(|path| programs::is_read(&path))
}

fn file(input: &Map<String, Value>, files: &[NamedFile]) -> Option<Form> {
    let mut named = input.iter().filter(|(key, _)| FILES.contains(&key.as_str()));
    let path = named.next().and_then(|(_, value)| value.as_str())?;
    let known =
        |key: &String| FILES.contains(&key.as_str()) || BESIDE_A_FILE.contains(&key.as_str());
    let straight = Path::new(path).is_absolute()
        && Path::new(path).components().all(|part| part != Component::ParentDir);
    let one = named.next().is_none() && input.keys().all(known);
    let [file] = files else { return None };
    let place = file.leads_to.to_str().filter(|_| file.named == path)?;
    (straight && one).then(|| Form::File(place.to_owned()))
}

fn size(form: &Form) -> usize {
    match form {
        Form::Command(words) => words.iter().map(|word| word.len() + 1).sum(),
        Form::File(text) | Form::Arguments(text) => text.len(),
    }
}

/// Returns whether the masker would change it. A secret is never stored.
fn has_secret(form: &Form, redactor: &Redactor) -> bool {
    let masked = |text: &String| redactor.redact(text).as_str() != text;
    match form {
        Form::Command(words) => words.iter().any(masked) || masked(&words.join(" ")),
        Form::File(text) | Form::Arguments(text) => masked(text),
    }
}

#[cfg(test)]
mod tests;
