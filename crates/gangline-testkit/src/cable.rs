//! A cable between a client and a server: TCP that a test cuts, deafens and mends.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    thread,
};

const OPEN: u8 = 0;
const DEAF: u8 = 1;
const CUT: u8 = 2;
const GONE: u8 = 3;

/// Carries bytes between whoever connects to [`Cable::address`] and the server behind it.
pub struct Cable {
    /// Where it listens, `host:port`.
    pub address: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: AtomicU8,
    /// The two ends of every connection: the client's and the server's.
    ends: Mutex<Vec<(TcpStream, TcpStream)>>,
    /// Ends at the server whose client has gone without its knowing.
    ghosts: Mutex<Vec<TcpStream>>,
}

impl Cable {
    /// Listens at `address` for what shall go to the server at `to`.
    ///
    /// # Panics
    /// When the address cannot be had.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    pub fn between(address: &str, to: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let shared = Arc::new(Shared {
            state: AtomicU8::new(OPEN),
            ends: Mutex::new(Vec::new()),
            ghosts: Mutex::new(Vec::new()),
        });
        let (accepting, to) = (Arc::clone(&shared), to.to_owned());
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { continue };
                match accepting.state.load(Ordering::SeqCst) {
                    GONE => return,
                    CUT => drop(client),
                    _ => connect(&accepting, client, &to),
                }
            }
        });
        Self { address: address.to_owned(), shared }
    }

    /// From now on nothing that the server says gets through; what the client says does.
    pub fn deafen(&self) {
        self.shared.state.store(DEAF, Ordering::SeqCst);
    }

    /// Both sides see the end, and nobody gets through until [`Self::mend`].
    pub fn cut(&self) {
        self.shared.state.store(CUT, Ordering::SeqCst);
        self.hang_up();
    }

    /// Both sides see the end; who connects again gets through.
    ///
    /// # Panics
    /// When a thread died with the lock.
    pub fn hang_up(&self) {
        for (client, server) in self.shared.ends.lock().unwrap().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    }

    /// The client sees the end; the server believes that it is still there, until
    /// [`Self::bury`].
    ///
    /// # Panics
    /// When a thread died with the lock.
    pub fn leave_ghosts(&self) {
        let mut ghosts = self.shared.ghosts.lock().unwrap();
        for (client, server) in self.shared.ends.lock().unwrap().drain(..) {
            ghosts.push(server);
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// The server sees that its ghosts have gone.
    ///
    /// # Panics
    /// When a thread died with the lock.
    pub fn bury(&self) {
        for server in self.shared.ghosts.lock().unwrap().drain(..) {
            let _ = server.shutdown(Shutdown::Both);
        }
    }

    /// Whoever connects gets through, and what the server says too.
    pub fn mend(&self) {
        self.shared.state.store(OPEN, Ordering::SeqCst);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.shared.state.store(GONE, Ordering::SeqCst);
        self.hang_up();
        self.bury();
        // Wakes the thread that accepts, so that it sees that it is over.
        let _ = TcpStream::connect(&self.address);
    }
}

fn connect(shared: &Arc<Shared>, client: TcpStream, to: &str) {
    let Ok(server) = TcpStream::connect(to) else { return };
    let kept = (client.try_clone().unwrap(), server.try_clone().unwrap());
    shared.ends.lock().unwrap().push(kept);
    if shared.state.load(Ordering::SeqCst) == CUT {
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }
    let up = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let upward = Arc::clone(shared);
    thread::spawn(move || carry(&upward, up.0, up.1, Way::ToServer));
    let downward = Arc::clone(shared);
    thread::spawn(move || carry(&downward, server, client, Way::ToClient));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ToServer,
    ToClient,
}

/// Carries one way until its source ends; a ghost's source is its client's, which has ended.
fn carry(shared: &Shared, mut from: TcpStream, mut to: TcpStream, way: Way) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let deaf = way == Way::ToClient && shared.state.load(Ordering::SeqCst) == DEAF;
        if !deaf && to.write_all(&bytes[..count]).is_err() && way == Way::ToServer {
            break;
        }
    }
    match way {
        // A client that ends by itself takes its connection along; one that was made a ghost of
        // does not.
        Way::ToServer => {
            let server = to.peer_addr().ok().zip(to.local_addr().ok());
            let ghosts = shared.ghosts.lock().unwrap();
            let is_ghost = ghosts
                .iter()
                .any(|ghost| ghost.peer_addr().ok().zip(ghost.local_addr().ok()) == server);
            if !is_ghost {
                let _ = to.shutdown(Shutdown::Both);
            }
        }
        Way::ToClient => {
            let _ = to.shutdown(Shutdown::Both);
        }
    }
}
