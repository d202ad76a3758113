//! The files that a call names, and where each of them leads: what is shown, ruled and compared later.
//!
//! A name is no promise. Between the question and the answer, and between a rule and its use, a file or a
//! folder may become a link. Start at [`NamedFile::of`]; [`moved`] looks again.

use std::path::{Path, PathBuf};

use gangline_os::fsio;

/// A file that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// As the call names it.
    pub named: String,
    /// The file itself, with all links resolved when the call was asked about.
    pub leads_to: PathBuf,
    /// How the name leads there.
    pub way: Way,
    /// Each path that the program may take it for, and where that led.
    ways: Vec<(PathBuf, PathBuf)>,
}

/// How a name leads to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// It is the file's own path.
    Straight,
    /// It is a link, or passes one, or goes back by `..`.
    Link,
    /// It may be one of several files.
    Several,
}

impl NamedFile {
    /// Resolves a name. `given` are the absolute paths that it may stand for; links above `workdir` are
    /// the owner's own.
    #[must_use]
    pub fn of(named: &str, given: Vec<PathBuf>, workdir: &Path) -> Self {
        let ways: Vec<(PathBuf, PathBuf)> = given
            .into_iter()
            .map(|path| {
                let leads_to = fsio::resolved(&path);
                (path, leads_to)
            })
            .collect();
        let leads_to = ways.first().map(|(_, to)| to.clone()).unwrap_or_default();
        let straight = |(path, to): &(PathBuf, PathBuf)| {
            let own = path.strip_prefix(workdir).map(|rest| fsio::resolved(workdir).join(rest));
            *to == own.unwrap_or_else(|_| path.clone())
        };
        let way = if ways.iter().any(|(_, to)| *to != leads_to) {
            Way::Several
        } else if ways.iter().all(straight) {
            Way::Straight
        } else {
            Way::Link
        };
        Self { named: named.to_owned(), leads_to, way, ways }
    }

    /// Takes the path that was judged for the place to which the name leads.
    pub(crate) fn at(mut self, judged: &Path) -> Self {
        if self.leads_to != judged {
            judged.clone_into(&mut self.leads_to);
            self.way = Way::Link;
        }
        self
    }

    /// Returns where it leads, for people; `None` if the name says it.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        match self.way {
            Way::Straight => None,
            Way::Link => Some(format!("{}, a link", self.leads_to.display())),
            Way::Several => {
                let mut places: Vec<String> = Vec::new();
                for (_, to) in &self.ways {
                    let to = to.display().to_string();
                    if !places.contains(&to) {
                        places.push(to);
                    }
                }
                Some(places.join(" or "))
            }
        }
    }
}

/// Says which file leads elsewhere by now than when it was asked about, for the model and for people. What
/// a link does after this look is not seen here.
#[must_use]
pub fn moved(files: &[NamedFile]) -> Option<String> {
    files.iter().find_map(|file| {
        let other = |(path, then): &(PathBuf, PathBuf)| {
            let now = fsio::resolved(path);
            (now != *then).then(|| (then.clone(), now))
        };
        let (then, now) = file.ways.iter().find_map(other)?;
        Some(format!(
            "refused: `{}` led to {} when people were asked, and it leads to {} now; ask again, so that \
             they see where it leads",
            file.named,
            then.display(),
            now.display()
        ))
    })
}

#[cfg(test)]
mod tests;
