//! Where alerts go, by the configuration.

use std::path::Path;

use gangline_alerts::Plan;

use super::Loaded;
use crate::failure::Failure;

/// Returns where alerts go; fails if the file of a secret cannot be read.
pub(crate) fn plan(loaded: &Loaded) -> Result<Plan, Failure> {
    let config = &loaded.config;
    let folder = loaded.file.parent().unwrap_or(Path::new("/"));
    Plan::read(&config.webhooks, &config.alerts, folder).map_err(Failure::config)
}
