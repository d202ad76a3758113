//! An approval as a person sees it: one line to decide on, and the whole of it.
//!
//! Pure: texts come in masked and go out with everything visible (see [`crate::shown`]). What does
//! not fit is cut in the middle, with the count of what was left out; a line says whether it shows
//! all of the action ([`Extent`]). Start at [`announcement`] and [`whole`].

use std::fmt::Write as _;

use crate::{
    approval::{
        Decision,
        diff::{Change, Counts, Odd},
    },
    id::MessageId,
    lookalike,
    redact::{self, Hidden, Redacted},
    shown,
    split::LINE_BYTES,
};

/// The longest name of a folder or file in one line, in bytes.
const PATH_MAX: usize = 60;
/// The longest name of a person or tool in one line, in bytes.
const NAME_MAX: usize = 40;
/// The longest summary, in bytes.
pub const SUMMARY_MAX: usize = 300;
/// Of a cut text the beginning gets so many parts of [`PARTS`], the end the rest.
const HEAD_PARTS: usize = 5;
const PARTS: usize = 8;
/// The end of the mark between the two.
const LEFT_OUT: &str = " more]… ";

/// What an agent wants to do. Its texts are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Run a command in a shell.
    Run {
        /// The command.
        command: String,
        /// Where, if not in the agent's folder.
        folder: Option<String>,
        /// Other arguments that change what is done.
        more: Option<String>,
    },
    /// Write files.
    Write {
        /// Each file, and what becomes of it.
        files: Vec<FileChange>,
        /// Other arguments that change what is done.
        more: Option<String>,
    },
    /// Use another tool.
    Use {
        /// Its name.
        tool: String,
        /// Its arguments.
        arguments: String,
    },
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Which file.
    pub path: String,
    /// Where that leads, if the path does not say it.
    pub leads_to: Option<String>,
    /// Whether all of its content is given, so that what it held is gone.
    pub extent: FileExtent,
    /// The lines, as a difference.
    pub change: Change,
}

/// How much of a file a change replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileExtent {
    /// All of it; what it held is not known here.
    Whole,
    /// All of it, and there was no such file.
    New,
    /// All of it, compared with what it held.
    Compared,
    /// All of it; what it held, so many bytes, is too long or no text.
    Unshown(u64),
    /// Parts.
    Parts,
}

/// Whether a line shows all of what is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It does.
    Whole,
    /// Something was left out.
    Cut,
}

/// Who wants it, for whom, where.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The agent.
    pub agent: &'a str,
    /// Who asked for it; `None` if the agent began by itself.
    pub asker: Option<&'a str>,
    /// Where the agent works.
    pub folder: &'a str,
    /// The home folder, shown as `~`.
    pub home: Option<&'a str>,
}

/// A line of at most [`LINE_BYTES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The text.
    pub text: String,
    /// How much of the action it shows.
    pub extent: Extent,
}

impl Announcement {
    /// Returns how much of the action the line shows as it was said: nobody has seen what is hidden.
    #[must_use]
    pub fn extent_of(&self, said: &Redacted) -> Extent {
        if redact::hides(said.as_str()) { Extent::Cut } else { self.extent }
    }
}

/// Returns the line by which those learn that an approval waits who read along where it was asked.
/// `number` is at most as long as the number that replaces it.
#[must_use]
pub fn announcement(wanted: &Wanted, around: Around<'_>, number: &str) -> Announcement {
    let agent = around.agent;
    let tail = format!(". Owner: `@{agent} yes {number}` or `no {number} REASON`");
    let pointer = format!("`@{agent} show {number}` or `gangline approvals {number}`");
    line(wanted, around, (&tail, &pointer))
}

/// What stands for a command that only owners are shown, and only in private.
pub const WITHHELD: &str = "a command that cannot be taken apart; owners are shown it in private";

/// Returns the line by which those learn that an approval waits who must not be shown what it is.
#[must_use]
pub fn withheld(around: Around<'_>, number: &str) -> Announcement {
    let agent = around.agent;
    let asker = around.asker.map(|asker| format!(" (for {})", short_end(asker, 2 * NAME_MAX)));
    let text = format!(
        "{agent} wants to run{}: {WITHHELD}. Owner: `/msg {agent} show {number}` or `gangline \
         approvals {number}` shows it; decide there with `yes {number}` or `no {number} REASON`",
        asker.unwrap_or_default(),
    );
    Announcement { text, extent: Extent::Cut }
}

/// Returns the line by which an owner learns of it in private. `place` says where it was asked;
/// `waits` is set when it is not the first time.
#[must_use]
pub fn owners_notice(
    wanted: &Wanted,
    around: Around<'_>,
    (number, place): (&str, &str),
    waits: Option<&str>,
) -> Announcement {
    let tail = format!(". Say `yes {number}` or `no {number} REASON` here");
    let pointer = format!("`show {number}` or `gangline approvals {number}`");
    let place = short_end(place, NAME_MAX);
    let asker = around.asker.map_or_else(|| place.clone(), |asker| format!("{asker} {place}"));
    let around = Around { asker: Some(&asker), ..around };
    match waits {
        None => line(wanted, around, (&tail, &pointer)),
        Some(waits) => {
            let tail = format!("{tail}; it has waited for {waits}");
            line(wanted, around, (&tail, &pointer))
        }
    }
}

fn line(wanted: &Wanted, around: Around<'_>, (tail, pointer): (&str, &str)) -> Announcement {
    let parts = Parts::of(wanted, around);
    let asker = around.asker.map(|asker| format!("for {}", short_end(asker, 2 * NAME_MAX)));
    let folder = parts.folder.as_ref().map(|folder| format!("in {folder}"));
    let round: Vec<String> = asker.into_iter().chain(folder).collect();
    let round = if round.is_empty() { String::new() } else { format!(" ({})", round.join(", ")) };
    let head = format!("{} wants to {}{round}: ", around.agent, parts.verb);
    let room = LINE_BYTES.saturating_sub(head.len() + tail.len());
    let whole = format!("`{}`{}", parts.what, parts.note);
    if whole.len() <= room && parts.extent == Extent::Whole {
        let extent = if redact::hides(&parts.what) { Extent::Cut } else { Extent::Whole };
        return Announcement { text: format!("{head}{whole}{tail}"), extent };
    }
    let note = match parts.note.strip_suffix(')') {
        Some(note) => format!("{note}; all of it: {pointer})"),
        None => format!(" (cut; all of it: {pointer})"),
    };
    let (what, _) = middle_out(&parts.what, room.saturating_sub(note.len() + 2));
    let mut text = format!("{head}`{what}`{note}{tail}");
    text.truncate(text.floor_char_boundary(LINE_BYTES));
    Announcement { text, extent: Extent::Cut }
}

/// The pieces of one line.
struct Parts {
    verb: String,
    folder: Option<String>,
    what: String,
    /// ` (…)`, or nothing.
    note: String,
    /// Whether `what` is all there is.
    extent: Extent,
}

impl Parts {
    fn of(wanted: &Wanted, around: Around<'_>) -> Self {
        match wanted {
            Wanted::Run { command, folder, more } => {
                let lines = command.trim_end_matches('\n').split('\n').count();
                let mut notes = Vec::new();
                if lines > 1 {
                    notes.push(format!("{lines} lines"));
                }
                // A folder that the call names changes what is done.
                let named = folder.as_deref().map(|it| path(it, around.home));
                let is_cut = named.as_ref().is_some_and(|it| it.starts_with('…'));
                let folder = named.unwrap_or_else(|| path(around.folder, around.home));
                let mut what = shown::code(command);
                add_more(&mut what, more.as_deref());
                notes.extend(remarks(command));
                Self {
                    verb: "run".to_owned(),
                    folder: Some(folder).filter(|it| !it.is_empty()),
                    what,
                    note: noted(&notes),
                    extent: if is_cut { Extent::Cut } else { Extent::Whole },
                }
            }
            Wanted::Write { files, more } => {
                let names: Vec<String> = files.iter().map(|it| named(it, around.home)).collect();
                let mut what = names.join(", ");
                add_more(&mut what, more.as_deref());
                Self {
                    verb: "write".to_owned(),
                    folder: None,
                    what,
                    note: noted(&written(files)),
                    // The line names the files; what is written stands elsewhere.
                    extent: Extent::Cut,
                }
            }
            Wanted::Use { tool, arguments } => {
                let (what, notes) = (shown::code(arguments), remarks(arguments));
                Self {
                    verb: format!("use {}", short_end(tool, NAME_MAX)),
                    folder: None,
                    what,
                    note: noted(&notes),
                    extent: if tool.len() > NAME_MAX { Extent::Cut } else { Extent::Whole },
                }
            }
        }
    }
}

fn named(file: &FileChange, home: Option<&str>) -> String {
    let name = path(&file.path, home);
    match &file.leads_to {
        Some(to) => format!("{name} → {}", path(to, home)),
        None => name,
    }
}

fn add_more(what: &mut String, more: Option<&str>) {
    if let Some(more) = more {
        let _ = write!(what, " with {}", shown::code(more));
    }
}

/// Returns what a person who decides is told of a text beside the text: what is hidden of it, what
/// shows nothing, and what looks like something else.
fn remarks(text: &str) -> Vec<String> {
    let mut notes = redact::hidden(text).notes();
    // Of a row from before hidden parts were counted.
    if text.contains(redact::MASK) {
        notes.push("a part is masked".to_owned());
    }
    if text.chars().any(|c| shown::is_hidden(c) && !['\n', '\t'].contains(&c)) {
        notes.push("characters that show nothing are written as `<U+…>`".to_owned());
    }
    notes.extend(lookalike::remarks(text));
    notes
}

/// Returns what is said of files: the counts of lines, what is hidden in them, and what looks odd in
/// them and in their names.
fn written(files: &[FileChange]) -> Vec<String> {
    let hidden = files.iter().map(|it| it.change.hidden());
    let hidden = hidden.fold(Hidden::default(), Hidden::plus);
    let mut notes = vec![counted(files)];
    notes.extend(hidden.notes());
    notes.extend(files.iter().map(|it| it.change.odd()).fold(Odd::default(), Odd::plus).notes());
    notes.extend(files.iter().flat_map(|it| remarks(&it.path)));
    notes
}

fn noted(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) }
}

/// Returns `+12 −3 lines`; of a whole file that was not compared only what it will hold is known.
fn counted(files: &[FileChange]) -> String {
    let counts = files.iter().fold(Counts::default(), |sum, it| sum.plus(it.change.counts()));
    let Counts { added, removed } = counts;
    let comes = if added == 1 { "+1 line".to_owned() } else { format!("+{added} lines") };
    let known = |it: &FileChange| matches!(it.extent, FileExtent::Compared | FileExtent::Parts);
    match files {
        [FileChange { extent: FileExtent::New, .. }] => format!("{comes}, a new file"),
        [FileChange { extent: FileExtent::Unshown(bytes), .. }] => format!(
            "{comes}, the whole file; it holds {bytes} bytes, which are too many to compare or no \
             text"
        ),
        [] => format!("+{added} −{removed} lines"),
        files if files.iter().any(known) => format!("+{added} −{removed} lines"),
        _ => format!("{comes}, the whole file"),
    }
}

/// Returns one line for lists and logs: what is done, cut in the middle at [`SUMMARY_MAX`].
#[must_use]
pub fn summary(wanted: &Wanted) -> String {
    let around = Around { agent: "", asker: None, folder: "", home: None };
    let parts = Parts::of(wanted, around);
    let (what, _) = middle_out(&parts.what, SUMMARY_MAX.saturating_sub(parts.note.len()));
    format!("{what}{}", parts.note)
}

/// What is known of an approval beside the action itself.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// `approval 4 of vm-claude`, and where it stands.
    pub title: &'a str,
    /// Who asked for it, and where; `None` if nobody did.
    pub asked: Option<&'a str>,
    /// The tool.
    pub tool: &'a str,
    /// What the agent said last before it asked; may be empty.
    pub said_before: &'a str,
    /// The rules that `always` would store; `None` if that was not recorded.
    pub always: Option<&'a str>,
}

/// Returns all that is known of an approval, a line each: what [`whole`] shows, and the facts.
#[must_use]
pub fn card(facts: Facts<'_>, wanted: &Wanted, around: Around<'_>) -> Vec<String> {
    let mut out = vec![shown::label(facts.title)];
    out.extend(facts.asked.map(|asked| format!("for: {}", shown::label(asked))));
    if !matches!(wanted, Wanted::Use { .. }) {
        out.push(format!("tool: {}", shown::label(facts.tool)));
    }
    out.extend(whole(wanted, around));
    if !facts.said_before.trim().is_empty() {
        block(&mut out, "said before", facts.said_before.trim());
    }
    out.extend(facts.always.map(|rule| format!("always: {rule}")));
    out
}

/// Returns who asked for it and where, for [`Facts::asked`]. `target` is a channel, a nick, or
/// empty for a prompt of the command line.
#[must_use]
pub fn asked(sender: &str, target: &str, message: MessageId) -> String {
    let place = match target {
        "" => "at the command line".to_owned(),
        room if room.starts_with('#') => format!("in {room}"),
        _ => "in private".to_owned(),
    };
    format!("{sender}, {place} ({message})")
}

/// Returns what is said of a decision wherever the approval was announced.
#[must_use]
pub fn decided(number: &str, decision: Decision, by: &str, reason: Option<&str>) -> String {
    let word = match decision {
        Decision::Allow => "allowed",
        Decision::Deny => "denied",
    };
    let by = short_end(by, 2 * NAME_MAX);
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", shown::code(reason)));
    let text = format!("approval {number}: {word} by {by}{reason}");
    middle_out(&text, LINE_BYTES).0
}

/// Returns what is said wherever an approval was announced that nobody decides any more.
#[must_use]
pub fn closed(number: &str, why: &str) -> String {
    format!("approval {number} is closed without a decision: {}", shown::label(why))
}

/// Returns everything of the action, a line each, with nothing left out.
#[must_use]
pub fn whole(wanted: &Wanted, around: Around<'_>) -> Vec<String> {
    let mut out = Vec::new();
    match wanted {
        Wanted::Run { command, folder, more } => {
            let folder = folder.as_deref().unwrap_or(around.folder);
            if !folder.is_empty() {
                out.push(format!("folder: {}", shown::code(folder)));
            }
            block(&mut out, "command", command);
            remarked(&mut out, &remarks(command));
            out.extend(more.as_deref().map(|more| format!("with: {}", shown::code(more))));
        }
        Wanted::Write { files, more } => {
            if !around.folder.is_empty() {
                out.push(format!("folder: {}", shown::code(around.folder)));
            }
            for file in files {
                let notes = noted(&written(std::slice::from_ref(file)));
                let leads = file.leads_to.iter().map(|to| format!(" → {}", shown::code(to)));
                let leads: String = leads.collect();
                out.push(format!("file: {}{leads}{notes}", shown::code(&file.path)));
                out.extend(file.change.shown());
            }
            out.extend(more.as_deref().map(|more| format!("with: {}", shown::code(more))));
        }
        Wanted::Use { tool, arguments } => {
            out.push(format!("tool: {}", shown::code(tool)));
            block(&mut out, "arguments", arguments);
            remarked(&mut out, &remarks(arguments));
        }
    }
    out
}

fn remarked(out: &mut Vec<String>, notes: &[String]) {
    if !notes.is_empty() {
        out.push(format!("note: {}", notes.join("; ")));
    }
}

/// A text of one line stands behind its name, a longer one below it.
fn block(out: &mut Vec<String>, name: &str, text: &str) {
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    match lines.as_slice() {
        [one] => out.push(format!("{name}: {}", shown::code(one))),
        many => {
            out.push(format!("{name} ({} lines):", many.len()));
            out.extend(many.iter().map(|line| format!("  {}", shown::code(line))));
        }
    }
}

/// Returns the text within so many bytes: if it is longer, its beginning and its end, and between
/// them how many characters were left out.
#[must_use]
pub fn middle_out(text: &str, max_bytes: usize) -> (String, Extent) {
    if text.len() <= max_bytes {
        return (text.to_owned(), Extent::Whole);
    }
    // The count has at most as many digits as the number of bytes.
    let mark = |left: usize| format!(" …[{left}{LEFT_OUT}");
    let room = max_bytes.saturating_sub(mark(text.len()).len());
    let head = text.floor_char_boundary(room * HEAD_PARTS / PARTS);
    let tail = text.ceil_char_boundary(text.len() - room.saturating_sub(head));
    let left = text[head..tail].chars().count();
    (format!("{}{}{}", &text[..head], mark(left), &text[tail..]), Extent::Cut)
}

/// Returns whether something was left out of a text by [`middle_out`].
#[must_use]
pub fn is_cut(text: &str) -> bool {
    text.contains(LEFT_OUT)
}

fn path(path: &str, home: Option<&str>) -> String {
    let home = home.filter(|home| home.len() > 1);
    let below = home.and_then(|home| path.strip_prefix(home));
    let short = match below {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => path.to_owned(),
    };
    let short = shown::code(&short);
    if short.len() <= PATH_MAX {
        return short;
    }
    // The end of a path tells most.
    let from = short.ceil_char_boundary(short.len() - (PATH_MAX - "…".len()));
    format!("…{}", &short[from..])
}

fn short_end(text: &str, max_bytes: usize) -> String {
    let text = shown::code(text);
    if text.len() <= max_bytes {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(max_bytes - "…".len())])
}

#[cfg(test)]
mod tests;
