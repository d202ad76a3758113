//! Skills: a folder each, whose `SKILL.md` begins with its name and what it is for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::{FILE_LIMIT, Origin, read_start};
use crate::tool::shorten;

/// How many skills are offered.
const SKILLS_LIMIT: usize = 128;
/// How much of a description is listed, in bytes.
const DESCRIPTION_LIMIT: usize = 1_024;
const NAME_LIMIT: usize = 64;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// By which the model asks for it.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// Its file, with links resolved.
    pub file: PathBuf,
}

/// What stands at the beginning of a file, between two lines of `---`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Front {
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    disable_model_invocation: bool,
}

/// The skills found so far, by name.
#[derive(Debug, Default)]
pub(super) struct Found {
    skills: BTreeMap<String, Skill>,
    notices: Vec<String>,
}

impl Found {
    /// Adds the skills of a folder; of two with the same name the first stays.
    pub(super) fn scan(&mut self, folder: &Path, origin: Origin<'_>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let file = folder.join("SKILL.md");
            match origin.locate(&file) {
                Ok(None) => {}
                Err(notice) => self.notices.push(notice),
                Ok(Some(real)) => match skill(&file, real) {
                    Err(why) => self.notices.push(format!("{} is no skill: {why}", file.display())),
                    Ok(None) => {}
                    Ok(Some(skill)) => self.add(skill),
                },
            }
        }
    }

    fn add(&mut self, skill: Skill) {
        if self.skills.len() < SKILLS_LIMIT {
            self.skills.entry(skill.name.clone()).or_insert(skill);
        } else if !self.skills.contains_key(&skill.name) {
            let file = skill.file.display();
            self.notices.push(format!("{file} is not offered: there are {SKILLS_LIMIT} already"));
        }
    }

    pub(super) fn done(self) -> (Vec<Skill>, Vec<String>) {
        (self.skills.into_values().collect(), self.notices)
    }
}

/// Reads a skill's beginning; nothing if it is not meant for the model.
fn skill(file: &Path, real: PathBuf) -> Result<Option<Skill>, String> {
    let (text, _) = read_start(&real, FILE_LIMIT).ok_or("it cannot be read")?;
    let (front, _) = split(&text);
    let front: Front = match front {
        None => Front::default(),
        Some(front) => serde_saphyr::from_str(front)
            .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())?,
    };
    if front.disable_model_invocation {
        return Ok(None);
    }
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = front.name.map(|name| one_line(&name)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| folder.into_owned());
    if name.len() > NAME_LIMIT {
        return Err(format!("its name is longer than {NAME_LIMIT} bytes"));
    }
    let description = one_line(front.description.as_deref().unwrap_or_default());
    if description.is_empty() {
        return Err("it does not say what it is for".to_owned());
    }
    let description = shorten(description, DESCRIPTION_LIMIT);
    Ok(Some(Skill { name, description, file: real }))
}

impl Skill {
    /// Reads what the skill says, with the folder that its own paths start from.
    pub(crate) fn body(&self) -> Option<String> {
        let (text, whole) = read_start(&self.file, FILE_LIMIT)?;
        let (_, body) = split(&text);
        let folder = self.file.parent().unwrap_or(Path::new("/")).display();
        let rest = if whole { "" } else { "\n\n[the rest is left out: read the file itself]" };
        Some(format!("Base directory for this skill: {folder}\n\n{}{rest}", body.trim()))
    }
}

/// Splits a text into what stands between its first two lines of `---`, and the rest.
fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, rest)) = text.split_once('\n') else { return (None, text) };
    if first.trim_end() != "---" {
        return (None, text);
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&rest[..length]), &rest[length + line.len()..]);
        }
        length += line.len();
    }
    (None, text)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
