//! The backends that are compared. A foreign one gets the example `bench_adapters` as its program:
//! it plays the far side of the wire, and nothing of a vendor's own costs is in the figures.

use std::path::Path;

/// One backend under test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Backend {
    Native,
    Claude,
    Codex,
    Acp,
}

impl Backend {
    pub(super) const ALL: [Self; 4] = [Self::Native, Self::Claude, Self::Codex, Self::Acp];
    /// Those whose program is a child with pipes.
    pub(super) const PIPED: [Self; 3] = [Self::Claude, Self::Codex, Self::Acp];

    /// Returns the word in the configuration.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Acp => "acp",
        }
    }

    /// Returns the lines of an agent's entry that are this backend's own: the model is at a port of
    /// this machine, or the player of the program tells that port of each prompt.
    pub(super) fn settings(self, player: &Path, port: u16) -> String {
        let key = match self {
            Self::Native => {
                return format!("    model: bench\n    base_url: http://127.0.0.1:{port}\n");
            }
            Self::Claude | Self::Codex => "command",
            Self::Acp => "acp_command",
        };
        let player = player.display().to_string();
        format!("    {key}: [{player:?}, play, {}, word, \"{port}\"]\n", self.name())
    }
}
