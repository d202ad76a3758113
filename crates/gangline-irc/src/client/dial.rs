//! Opens the connection of a link: TCP to any server, the private socket to the own one.

use std::io;

use gangline_os::dial::{DialError, dial_tokio};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{Address, session::register::MaySendPassword};

/// The half that is read.
pub(super) type Reading = Box<dyn AsyncRead + Send + Unpin>;
/// The half that is written.
pub(super) type Writing = Box<dyn AsyncWrite + Send + Unpin>;

/// An open connection.
pub(super) struct Dialled {
    pub(super) reading: Reading,
    pub(super) writing: Writing,
    /// Whether a password may go over it.
    pub(super) password: MaySendPassword,
}

/// Connects. To the own server only by its socket, whose listener the kernel vouches for: whoever
/// takes the server's port while it is down is never spoken to.
///
/// Cancel-safe: yes; a connection that was not returned is closed.
pub(super) async fn dial(address: &Address) -> io::Result<Dialled> {
    match address {
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let loopback = stream.peer_addr()?.ip().to_canonical().is_loopback();
            let password = if loopback { MaySendPassword::Yes } else { MaySendPassword::No };
            let (reading, writing) = stream.into_split();
            Ok(Dialled { reading: Box::new(reading), writing: Box::new(writing), password })
        }
        Address::Own(path) => {
            let stream = dial_tokio(path).map_err(in_one_line)?;
            let (reading, writing) = stream.into_split();
            let (reading, writing) = (Box::new(reading), Box::new(writing));
            Ok(Dialled { reading, writing, password: MaySendPassword::Yes })
        }
    }
}

/// Events have no place for a source.
fn in_one_line(error: DialError) -> io::Error {
    match error {
        DialError::Connect { path, source } => {
            io::Error::new(source.kind(), format!("{}: {source}", path.display()))
        }
        error @ DialError::Foreign { .. } => {
            io::Error::new(io::ErrorKind::PermissionDenied, error.to_string())
        }
    }
}
