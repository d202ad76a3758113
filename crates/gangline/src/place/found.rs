//! An `agents.yaml` that lies in the working folder. It says which programs run as this user and where
//! the installation is, so one that was only found there is used only after a person has allowed it.
//! `--config`, `GANGLINE_CONFIG` and `init` are such a word. Start at [`allow`].

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use gangline_hub::about;
use gangline_os::{
    dial::{own_gid, own_uid},
    fsio,
    paths::{Overrides, Paths},
};

use crate::{configuration, failure::Failure, output};

#[cfg(test)]
mod tests;

/// The file in the state folder with the configurations that were allowed, as a list of paths.
const KNOWN: &str = "known-configurations.json";
/// The most that is read of it, in bytes.
const KNOWN_MAX: u64 = 1024 * 1024;
/// The most configurations that are remembered; the oldest are forgotten.
const KNOWN_MOST: usize = 1000;

/// Makes sure that the configuration may be used, if it was only found in the working folder. `paths` are
/// as the command line and the environment have them: the file's own `state` is not believed.
///
/// # Errors
/// When it is another user's, or one that others may write. When nobody has allowed it, and there is no
/// terminal to ask at or the answer is no.
pub(super) fn allow(named: &Overrides, paths: &Paths) -> Result<(), Failure> {
    let file = &paths.config_file;
    if named.config.is_some()
        || std::env::var_os("GANGLINE_CONFIG").is_some_and(|it| !it.is_empty())
    {
        return Ok(());
    }
    let Some(real) = beside(file) else { return Ok(()) };
    // The user's own folder of configurations, and the demo's.
    let usual = Paths::from_env_with(Overrides { folder: Some("/".into()), ..named.clone() });
    let usual = usual.ok().and_then(|usual| fs::canonicalize(usual.config_file).ok());
    let inside = fs::canonicalize(&paths.state).is_ok_and(|state| real.starts_with(state));
    if usual.is_some_and(|usual| usual == real) || inside {
        return Ok(());
    }
    for path in [file.as_path(), &real] {
        if let Some(why) = foreign(path).map_err(Failure::environment)? {
            return Err(refused(file, &why));
        }
    }
    if known(&paths.state).contains(&real) {
        return Ok(());
    }
    if is_in_use(paths, &real) || asked(file)? {
        return remember(&paths.state, &real);
    }
    Err(unknown(file))
}

/// Records that a person has chosen this configuration, by a command that named it. What cannot be
/// recorded is asked about the next time.
pub(crate) fn chosen(paths: &Paths) {
    let Ok(real) = fs::canonicalize(&paths.config_file) else { return };
    if let Err(failure) = remember(&paths.state, &real) {
        tracing::debug!(error = failure.sentence(), "cannot record the configuration");
    }
}

/// Returns where the file really is, if it is the working folder's.
fn beside(file: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    if file.parent() != Some(&here) {
        return None;
    }
    fs::canonicalize(file).ok()
}

/// Returns why somebody else decides what the file says: who owns it or its folder, or may write it.
fn foreign(file: &Path) -> io::Result<Option<String>> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    for (path, what) in [(file, "it"), (folder, "its folder")] {
        let about = fs::symlink_metadata(path)?;
        let mode = about.mode();
        if !fsio::is_ours(&about) {
            return Ok(Some(format!("{what} belongs to another user (uid {})", about.uid())));
        }
        // What is in a sticky folder, only its owner can replace. A link has no mode of its own.
        let open = !about.is_symlink() && mode & 0o1000 == 0;
        let by_group = mode & 0o020 != 0 && !is_own_group(about.gid());
        if open && (mode & 0o002 != 0 || by_group) {
            return Ok(Some(format!("other users may write {what} (mode {:03o})", mode & 0o777)));
        }
    }
    Ok(None)
}

/// Returns whether a group is this user's alone, as each user has one on many systems.
fn is_own_group(gid: u32) -> bool {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    gid == own_gid() && is_alone((own_uid(), gid), &read("/etc/passwd"), &read("/etc/group"))
}

/// Returns whether nobody but this user, and root, is in the group, by the texts of `passwd` and `group`. A
/// user that they do not list comes from elsewhere, and so may others: then the group has to have the user's
/// own number.
fn is_alone((uid, gid): (u32, u32), passwd: &str, group: &str) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let number = |fields: &[String], at: usize| fields.get(at)?.parse::<u32>().ok();
    let users: Vec<_> = passwd.lines().map(fields).collect();
    let names = |wanted: &dyn Fn(&[String]) -> bool| -> Vec<String> {
        users.iter().filter(|it| wanted(it)).filter_map(|it| it.first().cloned()).collect()
    };
    let own = names(&|it| number(it, 2).is_some_and(|other| other == uid || other == 0));
    let others = names(&|it| number(it, 3) == Some(gid));
    let groups = group.lines().map(fields).filter(|it| number(it, 2) == Some(gid));
    let members: Vec<String> = groups
        .filter_map(|it| it.get(3).cloned())
        .flat_map(|names| names.split(',').map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect();
    let is_listed = users.iter().any(|it| number(it, 2) == Some(uid));
    (is_listed || gid == uid) && others.iter().chain(&members).all(|name| own.contains(name))
}

/// Returns whether a hub of this user runs with it already, or ran with it last.
fn is_in_use(paths: &Paths, real: &Path) -> bool {
    let same = |config: PathBuf| fs::canonicalize(config).is_ok_and(|config| config == *real);
    if about::last(paths).is_some_and(|about| same(about.config)) {
        return true;
    }
    // Anybody can write a record into the folder that the file names, but not run a hub there as us.
    let Some(state) = configuration::quiet(&paths.config_file).and_then(|it| it.state()) else {
        return false;
    };
    let there = Paths { state, ..paths.clone() };
    let hub = about::running(&there).ok().flatten();
    let ours = |pid| fs::metadata(format!("/proc/{pid}")).is_ok_and(|it| it.uid() == own_uid());
    hub.is_some_and(|hub| {
        hub.holder.pid.is_some_and(ours) && hub.about.is_some_and(|about| same(about.config))
    })
}

/// Asks the person at the terminal, if there is one.
fn asked(file: &Path) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    output::note(&format!(
        "This folder has a configuration that was not used before: {}\nIt says which programs run \
         as you, and where your installation is.\nUse it from now on? [y/N]",
        file.display()
    ));
    let mut answer = String::new();
    io::stdin().lock().take(100).read_line(&mut answer).map_err(Failure::environment)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn refused(file: &Path, why: &str) -> Failure {
    let path = file.display();
    let text = format!("the configuration {path} of this folder is not used: {why}");
    Failure::config(anyhow::Error::msg(text))
        .hint("it could start programs as you; in another folder your own configuration is used")
        .hint(format!("if you trust it, name it: `--config {path}`"))
}

fn unknown(file: &Path) -> Failure {
    let path = file.display();
    let text =
        format!("nobody has allowed the configuration {path}, which was found in this folder");
    Failure::config(anyhow::Error::msg(text))
        .hint("it says which programs run as you: read it before you use it")
        .hint(format!("`--config {path}` uses it; at a terminal, a command asks once"))
}

/// Returns the configurations that were allowed. A record that cannot be read allows nothing.
fn known(state: &Path) -> Vec<PathBuf> {
    let text = fsio::read_foreign_text(&state.join(KNOWN), KNOWN_MAX).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn remember(state: &Path, real: &Path) -> Result<(), Failure> {
    let mut known = known(state);
    if known.iter().any(|it| it == real) {
        return Ok(());
    }
    known.push(real.to_owned());
    let surplus = known.len().saturating_sub(KNOWN_MOST);
    known.drain(..surplus);
    let cannot =
        |error: io::Error| Failure::environment(error).doing("cannot record the configuration");
    fsio::private_dir(state).map_err(cannot)?;
    let text = serde_json::to_vec(&known).map_err(Failure::environment)?;
    fsio::write_private(&state.join(KNOWN), &text).map_err(cannot)
}
