//! The bytes of a connection, whichever way it came.

use std::io;

use bytes::BytesMut;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpStream, UnixStream, tcp, unix},
};

/// A connection.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The half that is read.
pub(super) enum Reading {
    Tcp(tcp::OwnedReadHalf),
    Unix(unix::OwnedReadHalf),
}

/// The half that is written.
pub(super) enum Writing {
    Tcp(tcp::OwnedWriteHalf),
    Unix(unix::OwnedWriteHalf),
}

impl Stream {
    /// Returns the two halves, for the two subtasks of a connection.
    pub(super) fn into_split(self) -> (Reading, Writing) {
        match self {
            Self::Tcp(stream) => {
                let (reading, writing) = stream.into_split();
                (Reading::Tcp(reading), Writing::Tcp(writing))
            }
            Self::Unix(stream) => {
                let (reading, writing) = stream.into_split();
                (Reading::Unix(reading), Writing::Unix(writing))
            }
        }
    }

    /// Writes what fits now.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        }
    }
}

impl Reading {
    /// Waits until there is something to read. Cancel-safe: yes.
    pub(super) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.readable().await,
            Self::Unix(half) => half.readable().await,
        }
    }

    /// Reads what is there.
    pub(super) fn try_read_buf(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_read_buf(buffer),
            Self::Unix(half) => half.try_read_buf(buffer),
        }
    }
}

impl Writing {
    /// Writes everything. Cancel-safe: no; a part may have been written.
    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.write_all(bytes).await,
            Self::Unix(half) => half.write_all(bytes).await,
        }
    }

    /// Writes what fits now.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_write(bytes),
            Self::Unix(half) => half.try_write(bytes),
        }
    }

    /// Says that nothing more will come.
    pub(super) async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.shutdown().await,
            Self::Unix(half) => half.shutdown().await,
        }
    }
}
