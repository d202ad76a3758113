//! Whether somebody has logged in meanwhile: seen by files that were written, or by asking again.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Between two looks at files.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Between two questions to the program.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// Files by which a login comes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files(Vec<PathBuf>);

/// How they look; a different look means that somebody wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look(Vec<Option<(u64, Option<SystemTime>)>>);

impl Files {
    /// Those names in a folder; without a folder none.
    pub(crate) fn of(folder: Option<&Path>, names: &[&str]) -> Self {
        let Some(folder) = folder else { return Self::default() };
        Self(names.iter().map(|name| folder.join(name)).collect())
    }

    /// Looks at them.
    pub(crate) fn look(&self) -> Look {
        let state = |path: &PathBuf| {
            let data = fs::metadata(path).ok()?;
            Some((data.len(), data.modified().ok()))
        };
        Look(self.0.iter().map(state).collect())
    }
}

/// How a login shows.
#[derive(Debug, Clone)]
pub(crate) enum Sign {
    /// Somebody writes these.
    Files(Files),
    /// Nothing does: the program is asked.
    Asking,
}

/// What is to be done about a missing login now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// It is there.
    LoggedIn,
    /// Ask the program; the watch begins anew if it is still missing.
    Ask,
}

/// The watch for a login that is missing. Times are monotonic.
#[derive(Debug)]
pub(crate) struct Watch {
    sign: Sign,
    /// As it was when it was refused, and when to look next.
    under_way: Option<(Option<Look>, Duration)>,
}

impl Watch {
    /// One that has not begun.
    pub(crate) fn of(sign: Sign) -> Self {
        Self { sign, under_way: None }
    }

    /// A login was refused.
    pub(crate) fn begin(&mut self, now: Duration) {
        self.under_way = Some(match &self.sign {
            Sign::Files(files) => (Some(files.look()), now + LOOK_EVERY),
            Sign::Asking => (None, now + ASK_EVERY),
        });
    }

    /// It does not matter any more.
    pub(crate) fn end(&mut self) {
        self.under_way = None;
    }

    /// When to call [`Watch::look`] next.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.under_way.as_ref().map(|(_, next)| *next)
    }

    /// Looks, if it is time to.
    pub(crate) fn look(&mut self, now: Duration) -> Found {
        let Some((before, _)) = self.under_way.take_if(|(_, next)| *next <= now) else {
            return Found::Nothing;
        };
        match &self.sign {
            Sign::Asking => Found::Ask,
            Sign::Files(files) if before.as_ref() == Some(&files.look()) => {
                self.under_way = Some((before, now + LOOK_EVERY));
                Found::Nothing
            }
            Sign::Files(_) => Found::LoggedIn,
        }
    }
}
