//! Where a server is, and by that whether its word about people is believed.

use std::{fmt, path::PathBuf};

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `host:port`, plain TCP. Anybody may listen there, so the `gangline/…` stamps of such a
    /// server are not believed.
    Tcp(String),
    /// The private socket of the installation's own server. Its listener must be this user, or
    /// root; its stamps are believed.
    Own(PathBuf),
}

impl Address {
    /// Returns whether it is the installation's own server.
    #[must_use]
    pub fn is_own(&self) -> bool {
        match self {
            Self::Tcp(_) => false,
            Self::Own(_) => true,
        }
    }
}

impl From<String> for Address {
    fn from(address: String) -> Self {
        Self::Tcp(address)
    }
}

impl From<&str> for Address {
    fn from(address: &str) -> Self {
        Self::Tcp(address.to_owned())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Own(path) => path.display().fmt(f),
        }
    }
}
