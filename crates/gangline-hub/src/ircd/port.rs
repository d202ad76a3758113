//! What follows when the port is taken: by another user, it may have been taken to hear passwords.

use std::{io, net::SocketAddr, path::Path};

use gangline_irc::server::config::BindError;
use gangline_os::{dial::own_uid, peer};
use tracing::{error, warn};

use super::IrcdError;
use crate::credentials;

#[cfg(test)]
mod tests;

/// Returns why the server did not start. Must be called by whoever holds the lock of `irc.db`: it
/// may replace the owner's token.
pub(super) fn refused(error: BindError, state: &Path) -> IrcdError {
    let (address, source) = match error {
        BindError::Io { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
            (address, source)
        }
        error @ (BindError::Io { .. }
        | BindError::NotLoopback { .. }
        | BindError::Socket { .. }) => {
            return error.into();
        }
    };
    match listener(address) {
        Some(uid) if uid != own_uid() => {
            IrcdError::PortTaken { address, uid, remedy: replace_token(state), source }
        }
        Some(_) | None => BindError::Io { address, source }.into(),
    }
}

fn listener(address: SocketAddr) -> Option<u32> {
    peer::tcp_listener_uid(address).unwrap_or_else(|error| {
        warn!(%error, "the kernel did not say who listens on a port");
        None
    })
}

/// Makes a new token for the owner, and says so. The hash of the old one is replaced when the
/// server starts; nobody is let in before.
fn replace_token(state: &Path) -> String {
    let path = state.join("owner.token");
    match credentials::replace(&path) {
        Ok(()) => {
            warn!(path = %path.display(), "the owner's token was replaced");
            format!(
                "So the owner's token is a new one ({}); the old one is refused from now on",
                path.display()
            )
        }
        Err(why) => {
            error!(%why, "the owner's token could not be replaced");
            format!(
                "The owner's token could not be replaced ({why}): delete {} before the hub starts",
                path.display()
            )
        }
    }
}
