//! Where an entry of the registry stands, and what is wrong there.

use std::{fmt, path::PathBuf};

/// Where an entry of the registry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In Gangline.
    BuiltIn,
    /// In a file.
    File {
        /// The file.
        file: PathBuf,
        /// The line of its value; the first is 1.
        line: usize,
        /// The keys down to it, such as `runtimes.codex`.
        path: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File { file, line, .. } => write!(f, "{}:{line}", file.display()),
        }
    }
}

/// Something in a file that is wrong, or that has no meaning here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub source: Source,
    /// What, in one line.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.message)
    }
}
