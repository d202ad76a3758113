//! What an agent's folder brings along for its program, and what of it may be loaded.
//!
//! A clone of somebody's repository can hold settings, hooks, servers and plugins that a program starts
//! without a question. What each program reads there, and which switch leaves it out, is data
//! ([`programs`]). What is there is found by [`scan`]; what an owner has allowed is kept as a copy
//! ([`copy`]); what a start may load is decided by [`decide`]. Nothing here runs anything.

pub mod copy;
mod decide;
mod instructions;
mod named;
pub mod programs;
pub(crate) mod project;
pub(crate) mod projects;
mod scan;
pub mod show;

pub use copy::Copied;
pub use decide::{Decided, Load, decide};
pub use instructions::with_instructions;
pub use named::respelled;
pub use scan::{Brought, Scan, scan};

pub use crate::options::Trusted;

use gangline_core::words;

words! {
    /// What a file of a folder is to the program that reads it.
    Kind, "kind of what a folder brings along" {
        /// Settings: hooks, variables, helpers, permissions.
        Settings = "settings",
        /// Tool servers.
        Servers = "servers",
        /// Code that the program loads.
        Plugin = "plugin",
        /// A program that is run on events.
        Hook = "hook",
        /// A skill.
        Skill = "skill",
        /// An agent of the program.
        Agent = "agent",
        /// A command of the program.
        Command = "command",
        /// Prompts that the program gives itself at certain times.
        Schedule = "schedule",
        /// Instructions of another user. The user's own are text that anybody may write for an agent.
        Foreign = "instructions of another user",
        /// Rules about what may run.
        Rules = "rules",
        /// A file of the folder that one of the others names.
        Script = "script",
    }
}

impl Kind {
    /// Returns whether its text is code, which imports other files.
    fn is_code(self) -> bool {
        matches!(self, Self::Plugin | Self::Hook | Self::Script)
    }

    /// Returns whether files that its text names are looked for, since it can start them.
    fn starts(self) -> bool {
        matches!(self, Self::Settings | Self::Servers | Self::Plugin | Self::Hook)
    }
}

/// Where a program looks for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// In its working folder.
    Folder,
    /// In its working folder and in every folder above.
    Upwards,
    /// The same, but a file of this user, or of root, is not looked at.
    Foreign,
}

/// A file that a program reads, or a folder of which it reads all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Its path below the folder.
    pub path: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Where it is looked for.
    pub at: At,
}

impl Item {
    /// Returns an item of the working folder.
    #[must_use]
    pub const fn here(path: &'static str, kind: Kind) -> Self {
        Self { path, kind, at: At::Folder }
    }

    /// Returns an item of the working folder and those above.
    #[must_use]
    pub const fn up(path: &'static str, kind: Kind) -> Self {
        Self { path, kind, at: At::Upwards }
    }

    /// Returns a file of instructions, which counts where it belongs to another user.
    #[must_use]
    pub const fn instructions(path: &'static str) -> Self {
        Self { path, kind: Kind::Foreign, at: At::Foreign }
    }
}

/// How a program is kept from loading what its folder brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// By these arguments and variables.
    Switch {
        /// The arguments.
        args: &'static [&'static str],
        /// The variables, with their values.
        env: &'static [(&'static str, &'static str)],
    },
    /// By what its adapter tells it; this says what that is.
    Adapter(&'static str),
    /// Not at all: it does not start where something is brought along that nobody has allowed.
    NoSwitch,
}

/// From where a program loads what was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// From Gangline's copy: what changes in the folder changes nothing.
    Copy,
    /// From the folder: before each start its content is compared with what was allowed.
    Folder,
}

/// What a program reads in its folder, and how that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brings {
    /// What it reads.
    pub items: &'static [Item],
    /// How it is kept from that.
    pub without: Without,
    /// From where it loads what was allowed.
    pub from: From,
}

/// Returns the first digits of a hash, by which people name it.
#[must_use]
pub fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

/// How many digits of a hash people write.
pub const SHORT: usize = 12;

#[cfg(test)]
mod tests;
