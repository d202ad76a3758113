//! Whose credentials requests carry to the API.

use gangline_os::secret::Secret;

use crate::{admit::TOKEN_PATH, upstream::Upstream};

/// With which credentials requests go to the API.
#[derive(Debug, Clone)]
pub enum Credential {
    /// With this key, which the backend does not have. Its requests carry the relay's token in place of
    /// the key.
    Key(Secret),
    /// With the backend's own: a login. Its requests carry the relay's token in their path.
    Own,
}

impl Credential {
    /// Returns the address for a backend: with the API's base path, and with the token where the backend
    /// sends its own credentials.
    #[must_use]
    pub fn address(&self, port: u16, upstream: &Upstream, token: &Secret) -> String {
        let token = match self {
            Self::Key(_) => String::new(),
            Self::Own => format!("{TOKEN_PATH}{}", token.expose()),
        };
        format!("http://127.0.0.1:{port}{token}{}", upstream.base())
    }
}
