//! A service manager, as far as it listens: the socket of `sd_notify`.

use std::{
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use crate::wait::eventually_seeing;

/// Hears whoever has its socket as `NOTIFY_SOCKET`, until the process ends. It reads all the time:
/// the system keeps a few words only, and drops what comes when they are not read.
pub struct ServiceManager {
    /// Where it listens.
    pub socket: PathBuf,
    heard: Arc<Mutex<Vec<String>>>,
}

impl ServiceManager {
    /// Listens at this path.
    ///
    /// # Panics
    /// When it cannot.
    #[must_use]
    pub fn listen(socket: &Path) -> Self {
        let listener = UnixDatagram::bind(socket).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let said = Arc::clone(&heard);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length) = listener.recv(&mut bytes) {
                said.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            }
        });
        Self { socket: socket.to_owned(), heard }
    }

    /// Waits for a word with this part that was not waited for before.
    ///
    /// # Panics
    /// When it does not come in time; shows the others.
    pub fn hears(&self, part: &str) {
        eventually_seeing(&format!("the service manager to hear {part}"), || {
            let mut heard = self.heard.lock().unwrap();
            let at = heard.iter().position(|said| said.contains(part));
            at.map(|at| heard.remove(at)).ok_or_else(|| format!("{heard:?}"))
        });
    }
}
