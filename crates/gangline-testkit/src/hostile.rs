//! Programs that pretend to be a backend and misbehave: one list of plays for every wire.
//!
//! Each wire has a script of its own in `hostile/`, written for Node, which the tests need anyway.
//! [`Hostile::program`] writes it as an executable file. The far side is fake here, never ours.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// How a program misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Play {
    /// It answers everything as it should.
    Good,
    /// It starts and never says a word.
    SilentFromTheStart,
    /// It takes the prompt and never says another word.
    SilentInTheTurn,
    /// It exits when it has taken the prompt, with code 7.
    ExitsAfterThePrompt,
    /// It exits after half of a text.
    ExitsInAText,
    /// It exits after a tool call has begun.
    ExitsInATool,
    /// It ignores its interrupt, the end of its input, and TERM.
    IgnoresTerm,
    /// It starts a grandchild in a session of its own that outlives it.
    Grandchild,
    /// It writes 64 MiB to its error output before it answers.
    FloodsStderr,
    /// It writes 100 MB without a line break, then answers.
    EndlessLine,
    /// It writes a line that is not UTF-8, then answers.
    InvalidUtf8,
    /// It writes messages of kinds that nobody knows, then answers.
    UnknownEvents,
    /// It writes lines that are no messages at all, then answers.
    Garbage,
    /// It asks for an approval and exits.
    AsksAndDies,
    /// It ends one turn twice.
    AnswersTwice,
    /// It refuses to go on with any session; new ones work.
    RefusesResume,
    /// It reports success although it says nothing and did nothing.
    SuccessWithoutAWord,
}

impl Play {
    /// Every play.
    pub const ALL: [Self; 17] = [
        Self::Good,
        Self::SilentFromTheStart,
        Self::SilentInTheTurn,
        Self::ExitsAfterThePrompt,
        Self::ExitsInAText,
        Self::ExitsInATool,
        Self::IgnoresTerm,
        Self::Grandchild,
        Self::FloodsStderr,
        Self::EndlessLine,
        Self::InvalidUtf8,
        Self::UnknownEvents,
        Self::Garbage,
        Self::AsksAndDies,
        Self::AnswersTwice,
        Self::RefusesResume,
        Self::SuccessWithoutAWord,
    ];

    /// Returns the word by which the scripts know it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::SilentFromTheStart => "silent_from_the_start",
            Self::SilentInTheTurn => "silent_in_the_turn",
            Self::ExitsAfterThePrompt => "exits_after_the_prompt",
            Self::ExitsInAText => "exits_in_a_text",
            Self::ExitsInATool => "exits_in_a_tool",
            Self::IgnoresTerm => "ignores_term",
            Self::Grandchild => "grandchild",
            Self::FloodsStderr => "floods_stderr",
            Self::EndlessLine => "endless_line",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::UnknownEvents => "unknown_events",
            Self::Garbage => "garbage",
            Self::AsksAndDies => "asks_and_dies",
            Self::AnswersTwice => "answers_twice",
            Self::RefusesResume => "refuses_resume",
            Self::SuccessWithoutAWord => "success_without_a_word",
        }
    }
}

/// What the scripts of all wires share: the play, lines in and out, and the misbehaviour that is
/// the same on every wire.
const SHARED: &str = include_str!("hostile/shared.js");

/// A wire that such programs speak.
pub struct Hostile {
    /// Its name, for the file.
    pub wire: &'static str,
    /// Its script, put behind the shared one.
    pub script: &'static str,
}

impl Hostile {
    /// Programs in a terminal: lines typed in, a screen out.
    #[must_use]
    pub fn terminal() -> Self {
        Self { wire: "terminal", script: include_str!("hostile/terminal.js") }
    }

    /// Writes the program into `folder` and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn program(&self, play: Play, folder: &Path) -> PathBuf {
        let path = folder.join(format!("hostile-{}-{}", self.wire, play.word()));
        let head = format!("#!/usr/bin/env node\nconst PLAY = {:?};\n", play.word());
        fs::write(&path, [&head, SHARED, self.script].concat()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

/// The wire of Codex's app-server.
#[must_use]
pub fn codex() -> Hostile {
    Hostile { wire: "codex", script: include_str!("hostile/codex.js") }
}

/// Programs that speak the Agent Client Protocol.
#[must_use]
pub fn acp() -> Hostile {
    Hostile { wire: "acp", script: include_str!("hostile/acp.js") }
}

/// The stream of Claude Code, whether its process lives on or has one thing to do.
#[must_use]
pub fn claude() -> Hostile {
    Hostile { wire: "claude", script: include_str!("hostile/claude.js") }
}
