//! The checkpoint: what must outlive a context that is shortened (C13). Pure.
//!
//! It has two halves. What Gangline knows itself is a [`Record`]: the last words of people, the files
//! that were touched, what is open. What only the agent knows it writes into a form with a heading
//! for each of [`SECTIONS`], and [`Form::missing`] says what it left out. The first prompt after the
//! context was shortened carries both, behind the rules that always hold: [`told`].

use crate::mention::escape;

/// The headings of the agent's form, without their `## `.
pub const SECTIONS: [&str; 2] = ["Task", "Constraints"];
/// Longest section that is given back, in bytes.
const SECTION_MAX: usize = 8 * 1024;
/// Longest quoted line, in bytes.
const LINE_MAX: usize = 4 * 1024;
/// The mark where a longer text was cut.
const CUT: &str = " … (cut)";

/// What the agent wrote into its form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    sections: [String; SECTIONS.len()],
}

impl Form {
    /// Reads the form: each section ends at the next heading. Of two sections of one name both count.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut form = Self::default();
        let mut open = None;
        for line in text.lines() {
            match heading(line) {
                Some((level, title)) if level <= 2 => {
                    open = SECTIONS.iter().position(|name| name.eq_ignore_ascii_case(title));
                }
                Some(_) | None => {
                    if let Some(section) = open.and_then(|at: usize| form.sections.get_mut(at)) {
                        section.push_str(line);
                        section.push('\n');
                    }
                }
            }
        }
        for section in &mut form.sections {
            *section = cut(section.trim(), SECTION_MAX);
        }
        form
    }

    /// Returns the names of the sections that are absent or empty.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let all = SECTIONS.iter().zip(&self.sections);
        all.filter(|(_, text)| text.is_empty()).map(|(name, _)| *name).collect()
    }

    fn written(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = SECTIONS.iter().zip(&self.sections);
        all.filter(|(_, text)| !text.is_empty()).map(|(name, text)| (*name, text.as_str()))
    }
}

/// Returns the level and the title of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let title = title.strip_prefix(' ')?.trim().trim_end_matches([':', '#']).trim_end();
    (level > 0).then_some((level, title))
}

/// What Gangline knows itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The last words of people, oldest first.
    pub words: Vec<Words>,
    /// Files that tools wrote, in the order of the last time.
    pub files: Vec<String>,
    /// Open questions, reminders and approvals, one line each.
    pub open: Vec<String>,
}

/// What one person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Who and where: `eve in #general`.
    pub from: String,
    /// The words as they were said.
    pub text: String,
}

impl Record {
    /// Returns the record as the file that is kept in the agent's notes.
    #[must_use]
    pub fn file(&self) -> String {
        let mut text =
            "# Checkpoint\n\nWritten by Gangline; it is overwritten each time.\n".to_owned();
        self.sections("## ", &mut text);
        text
    }

    fn sections(&self, mark: &str, text: &mut String) {
        let words: Vec<String> = self.words.iter().map(Words::line).collect();
        let quoted = |lines: &[String]| lines.iter().map(|it| line(it)).collect::<Vec<_>>();
        for (title, lines) in [
            ("Last words of people, oldest first", words),
            ("Files touched since the last checkpoint", quoted(&self.files)),
            ("Open questions, reminders and approvals", quoted(&self.open)),
        ] {
            if lines.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{mark}{title}\n"));
            for line in lines {
                text.push_str(&format!("> {line}\n"));
            }
        }
    }
}

impl Words {
    /// On one line, and unlike a frame of ours, whatever was said.
    fn line(&self) -> String {
        format!("{}: {}", escape(&self.from), line(&self.text))
    }
}

/// All that the first prompt after a shortened context carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told<'a> {
    /// Why it is told, in words: `your conversation was shortened`.
    pub why: &'a str,
    /// Rules of the configuration that always hold.
    pub pinned: &'a [String],
    /// What the agent wrote, and how long ago in words.
    pub form: (&'a Form, Option<&'a str>),
    /// What Gangline knows.
    pub record: &'a Record,
    /// The folder of the agent's notes.
    pub notes: &'a str,
}

/// Returns what is added to the prompt.
#[must_use]
pub fn told(told: &Told<'_>) -> String {
    let (form, age) = told.form;
    let mut text = format!(
        "\n\n[gangline] {}. What must not be lost follows; your notes are in {}\n",
        told.why, told.notes
    );
    text.push_str(&pinned(told.pinned));
    let age = age.map(|age| format!(", {age} ago")).unwrap_or_default();
    for (name, section) in form.written() {
        text.push_str(&format!("\n[gangline] {name} (written by you{age}):\n"));
        for section_line in section.lines() {
            text.push_str(&format!("> {}\n", line(section_line)));
        }
    }
    told.record.sections("[gangline] ", &mut text);
    text.truncate(text.trim_end().len());
    text
}

/// Returns the rules that always hold, as they are given to the agent: after a shortened context, and
/// in its system prompt. Empty if there are none.
#[must_use]
pub fn pinned(rules: &[String]) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut text = "\n[gangline] Rules of your operator that always hold:\n".to_owned();
    for rule in rules {
        text.push_str(&format!("- {}\n", rule.trim()));
    }
    text
}

/// Returns a line that an agent or a person wrote, on one line and cut.
fn line(text: &str) -> String {
    escape(&cut(text, LINE_MAX))
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}{CUT}", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests;
