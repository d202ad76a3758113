//! What a sync costs in this minute: the anchor of everything that is durable.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell;

/// A file that grows.
pub(super) struct Disk(File);

impl Disk {
    /// Makes the file in a folder.
    pub(super) fn within(folder: &Path) -> Result<Self> {
        File::create(folder.join("synced")).map(Self).context("cannot make a file to sync")
    }

    /// Appends 4 KiB and syncs them; returns the microseconds.
    pub(super) fn append_and_sync(&mut self) -> Result<f64> {
        let start = shell::now();
        self.0.write_all(&[7; 4096]).context("cannot append")?;
        self.0.sync_data().context("cannot sync")?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    }
}
