//! Where things lie for a command: the configuration and the state folder.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gangline_hub::about;
use gangline_os::paths::{self, Overrides, Paths};

use crate::{
    configuration::{self, Loaded, Source},
    failure::Failure,
    output,
};

pub(crate) mod found;

/// Whether it was said that the demo's state is looked at.
static TOLD: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests;

/// Returns the paths as the command line and the environment have them; the configuration's own
/// `state` is not looked at. A configuration that is only found in the working folder must be allowed
/// ([`found::allow`]).
///
/// # Errors
/// When there is no home folder, and when the found configuration is not allowed.
pub(crate) fn plain(named: &Overrides) -> Result<Paths, Failure> {
    let paths = unread(named)?;
    found::allow(named, &paths)?;
    Ok(paths)
}

/// As [`plain`], for a command that obeys no configuration which it finds.
///
/// # Errors
/// When there is no home folder.
pub(crate) fn unread(named: &Overrides) -> Result<Paths, Failure> {
    let paths = Paths::from_env_with(named.clone()).map_err(|error| {
        Failure::environment(error).hint("give --state and --config, or set HOME")
    })?;
    Ok(Paths {
        config_file: paths::absolute(&paths.config_file),
        state: paths::absolute(&paths.state),
        runtime: paths.runtime,
    })
}

/// Makes sure that a configuration which the command line or the environment names is there: without
/// it a command would look at another installation.
pub(crate) fn named_is_there(named: &Overrides) -> Result<(), Failure> {
    let by_environment = || std::env::var_os("GANGLINE_CONFIG").filter(|file| !file.is_empty());
    match named.config.clone().or_else(|| by_environment().map(PathBuf::from)) {
        Some(file) if !file.exists() => Err(configuration::missing(&paths::absolute(&file))),
        Some(_) | None => Ok(()),
    }
}

/// An installation that a command looks at.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) paths: Paths,
    /// The configuration, read when it is first asked for, and once.
    source: OnceCell<Source>,
}

impl Installation {
    /// Returns the configuration for what it may tell; see [`configuration::quiet`].
    pub(crate) fn configuration(&self) -> Option<Loaded> {
        self.source().quiet()
    }

    /// Returns why the configuration cannot be used; see [`Source::trouble`].
    pub(crate) fn trouble(&self) -> Option<String> {
        self.source().trouble()
    }

    fn source(&self) -> &Source {
        self.source.get_or_init(|| Source::read(&self.paths.config_file))
    }
}

/// Returns the paths of the [`existing`] installation.
///
/// # Errors
/// When a configuration is named that is not there.
pub(crate) fn of_existing(named: &Overrides) -> Result<Paths, Failure> {
    existing(named).map(|installation| installation.paths)
}

/// Returns the installation for a command that looks at what a hub left: in the state folder that was
/// named, else the configuration's, else the usual one, else the demo's if only that has a
/// database. Its configuration is the one that was named, else the one of the state folder
/// ([`in_use`]), else the usual one.
///
/// # Errors
/// When a configuration is named that is not there.
pub(crate) fn existing(named: &Overrides) -> Result<Installation, Failure> {
    named_is_there(named)?;
    let mut paths = plain(named)?;
    let mut source = OnceCell::new();
    if named.state.is_none() {
        let read = source.get_or_init(|| Source::read(&paths.config_file));
        if let Some(state) = read.quiet().and_then(|it| it.state()) {
            paths.state = state;
        }
        let usual = paths.state.clone();
        paths.state = choose(&usual, &|state| state.join("gangline.db").is_file());
        if paths.state != usual && !TOLD.swap(true, Ordering::Relaxed) {
            output::note(&format!("note: looking at the demo's state, {}", paths.state.display()));
        }
    }
    if named.config.is_none()
        && let Some(file) = in_use(&paths).filter(|file| *file != paths.config_file)
    {
        paths.config_file = file;
        source.take();
    }
    Ok(Installation { paths, source })
}

/// Returns the configuration that belongs to a state folder: the one that its running hub reads,
/// else the one inside of it, which is a demo's. `None`: the folder does not say it.
pub(crate) fn in_use(paths: &Paths) -> Option<PathBuf> {
    let hub = about::running(paths).ok().flatten();
    let read = hub.and_then(|hub| hub.about).map(|about| about.config);
    let inside = paths.state.join("agents.yaml");
    read.into_iter().chain([inside]).find(|file| file.is_file())
}

/// Returns the demo's state folder below the usual one.
pub(crate) fn demo_state(usual: &Path) -> PathBuf {
    usual.join("demo")
}

/// Returns whether the state folder is the demo's: its configuration lies in it.
pub(crate) fn is_demos(paths: &Paths) -> bool {
    paths.state.file_name().is_some_and(|name| name == "demo")
        && paths.config_file == paths.state.join("agents.yaml")
}

fn choose(usual: &Path, has_database: &dyn Fn(&Path) -> bool) -> PathBuf {
    let demo = demo_state(usual);
    if !has_database(usual) && has_database(&demo) { demo } else { usual.to_owned() }
}
