//! The record, read back: what a stand-in was asked, while it goes on.

use std::{fs, path::PathBuf};

/// The requests that a stand-in has recorded in a folder.
pub struct Records {
    folder: PathBuf,
    read: Vec<String>,
}

impl Records {
    /// Looks at the folder that is given to a stand-in as its record, from its first request on.
    #[must_use]
    pub fn of(folder: PathBuf) -> Self {
        Self { folder, read: Vec::new() }
    }

    /// Returns all requests so far, oldest first, as the JSON text of their files. Each file is read
    /// once; one that cannot be read, and those behind it, wait for another call.
    pub fn all(&mut self) -> &[String] {
        loop {
            let next = self.folder.join(format!("{:06}.json", self.read.len() + 1));
            match fs::read_to_string(next) {
                Ok(text) => self.read.push(text),
                Err(_) => return &self.read,
            }
        }
    }
}
