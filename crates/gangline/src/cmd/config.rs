//! `gangline config check` and `gangline config schema`.

use std::path::PathBuf;

use crate::{cli::Global, configuration, failure::Failure, output, place};

pub(super) fn check(global: &Global, file: Option<PathBuf>) -> Result<u8, Failure> {
    let file = match file {
        Some(file) => file,
        None => place::plain(global)?.config_file,
    };
    let loaded = configuration::load(&file)?;
    for warning in loaded.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    let agents = match loaded.config.agents.len() {
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    };
    output::print(&format!("{}: ok ({agents})\n", file.display()))?;
    Ok(0)
}

pub(super) fn schema() -> Result<u8, Failure> {
    output::json(&gangline_api::config::schema())?;
    Ok(0)
}
