//! `gangline runtime set default NAME`: another usual backend, in our own `runtimes.json`.

use std::io;

use gangline_config::nearest::{nearest, slips};
use gangline_os::fsio;
use gangline_runtime::{adapters, registry::edit};

use crate::{configuration, failure::Failure, output};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

pub(super) fn run(name: &str) -> Result<u8, Failure> {
    let registry = configuration::registry();
    let found = registry.find(name).map_err(|error| {
        let names = registry.names();
        let failure = Failure::user(error.to_string());
        match nearest(name, names.iter().map(String::as_str), slips(name)) {
            Some(near) => failure.hint(format!("did you mean {near}?")),
            None => failure,
        }
    })?;
    if let Err(error) = adapters::maker(&found) {
        return Err(Failure::user(error.to_string()));
    }
    let Some(file) = registry.places().ours.clone() else {
        return Err(Failure::environment(anyhow::anyhow!(
            "cannot find runtimes.json: neither XDG_CONFIG_HOME nor HOME is set"
        )));
    };
    let text = match fsio::read_foreign_text(&file, LARGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::environment(error)),
    };
    let text = edit::with_default(&file, &text, name).map_err(|problem| {
        Failure::user(problem.to_string()).hint("nothing was written: correct the file first")
    })?;
    crate::init::file::make_folder(&file)?;
    // A link stays one: what it names is replaced.
    let real = file.canonicalize().unwrap_or_else(|_| file.clone());
    fsio::write_private(&real, text.as_bytes()).map_err(Failure::environment)?;
    output::print(&format!(
        "{name} is now the default, set in {}: agents without `agent:` use it from their next \
         start on\n",
        file.display()
    ))?;
    Ok(0)
}
