//! Rules worth making: what people allowed again and again, never refused, and is not dangerous. Pure.

use std::path::{Component, Path};

use super::{Form, Offer, Rule, Subject, replay::Was};

/// Commands whose rules are never suggested: they destroy, publish, install, reach other machines, run
/// something else, or change what others may do.
const DANGEROUS: &[&str] = &[
    "apt",
    "apt-get",
    "at",
    "aws",
    "az",
    "bash",
    "brew",
    "bun",
    "bunx",
    "chattr",
    "chgrp",
    "chmod",
    "chown",
    "chroot",
    "cp",
    "crontab",
    "curl",
    "dash",
    "dd",
    "deno",
    "dnf",
    "docker",
    "doas",
    "env",
    "find",
    "ftp",
    "gangline",
    "gcloud",
    "gh",
    "glab",
    "gpg",
    "helm",
    "install",
    "ip",
    "iptables",
    "kill",
    "killall",
    "ksh",
    "kubectl",
    "launchctl",
    "ln",
    "mkfs",
    "mount",
    "mv",
    "mysql",
    "nc",
    "ncat",
    "nft",
    "node",
    "nohup",
    "npx",
    "nsenter",
    "openssl",
    "pacman",
    "passwd",
    "perl",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pkexec",
    "pkill",
    "podman",
    "pnpx",
    "poweroff",
    "psql",
    "python",
    "python3",
    "reboot",
    "rm",
    "rmdir",
    "rsync",
    "ruby",
    "scp",
    "sed",
    "setfacl",
    "sftp",
    "sh",
    "shred",
    "shutdown",
    "socat",
    "sqlite3",
    "ssh",
    "su",
    "sudo",
    "systemctl",
    "tar",
    "tee",
    "telnet",
    "terraform",
    "timeout",
    "truncate",
    "umount",
    "unlink",
    "unshare",
    "unzip",
    "useradd",
    "usermod",
    "uvx",
    "wget",
    "xargs",
    "yum",
    "zsh",
];
/// Of these programs the commands that change something beyond the folder, or run what they fetch.
const PARTS: &[(&str, &[&str])] = &[
    ("cargo", &["install", "login", "owner", "publish", "uninstall", "yank"]),
    (
        "git",
        &[
            "am",
            "branch",
            "checkout",
            "cherry-pick",
            "clean",
            "clone",
            "commit",
            "config",
            "fetch",
            "filter-branch",
            "gc",
            "merge",
            "mv",
            "pull",
            "push",
            "rebase",
            "remote",
            "reset",
            "restore",
            "revert",
            "rm",
            "send-email",
            "stash",
            "submodule",
            "switch",
            "tag",
            "update-ref",
            "worktree",
        ],
    ),
    ("go", &["get", "install", "run"]),
    ("npm", &["ci", "exec", "i", "install", "login", "publish", "uninstall", "unpublish", "x"]),
    ("pnpm", &["add", "dlx", "exec", "i", "install", "publish", "remove"]),
    ("uv", &["add", "pip", "publish", "run", "sync", "tool"]),
    ("yarn", &["add", "dlx", "install", "publish", "remove"]),
];

const OUTSIDE: &str = "it names a hidden file, or one outside the agent's folder";

/// Says why a rule for this is not suggested; `None` if it may be. Whoever wants such a rule makes it
/// with `always`, and sees what it allows.
#[must_use]
pub fn danger(directory: &str, form: &Form) -> Option<&'static str> {
    match form {
        Form::Command(words) => command(Path::new(directory), words),
        Form::File(path) => file(Path::new(directory), Path::new(path)),
        Form::Arguments(_) => Some("Gangline does not know what the tool does"),
    }
}

fn command(directory: &Path, words: &[String]) -> Option<&'static str> {
    let words: &[String] = match words {
        [cd, folder, and, rest @ ..] if cd == "cd" && and == "&&" => {
            if leads_out(directory, folder) {
                return Some(OUTSIDE);
            }
            rest
        }
        words => words,
    };
    let Some((program, arguments)) = words.split_first() else { return Some("it is empty") };
    // Another file of that name may stand there tomorrow.
    if program.contains('/') {
        return Some("it runs a file that may say something else later");
    }
    let versionless = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if DANGEROUS.contains(&program.as_str()) || DANGEROUS.contains(&versionless) {
        return Some("the command can destroy, publish, install or run something else");
    }
    let parts = PARTS.iter().find(|(name, _)| name == program).map(|(_, parts)| *parts);
    let dangerous = |word: &String| parts.is_some_and(|parts| parts.contains(&word.as_str()));
    if arguments.iter().any(dangerous) {
        return Some("this part of the program changes something beyond the folder");
    }
    // Of such a program the first word that is no option is what it does.
    let acts = arguments.iter().any(|word| !word.starts_with('-'));
    if parts.is_some() && !acts {
        return Some("it is not clear what the program does");
    }
    if arguments.iter().any(|word| leads_out(directory, word)) {
        return Some(OUTSIDE);
    }
    let forces = |word: &String| {
        let word = word.as_str();
        word == "-f"
            || word.contains("force")
            || word.contains("delete")
            || word.contains("no-verify")
    };
    arguments.iter().any(forces).then_some("it forces or deletes")
}

/// Returns whether a word names a file outside the folder, or a hidden one.
fn leads_out(directory: &Path, word: &str) -> bool {
    let path = Path::new(word.split_once('=').map_or(word, |(_, value)| value));
    let inside = path.strip_prefix(directory).unwrap_or(path);
    inside.is_absolute() || inside.components().any(hidden)
}

fn hidden(part: Component<'_>) -> bool {
    part != Component::CurDir && part.as_os_str().to_string_lossy().starts_with('.')
}

fn file(directory: &Path, path: &Path) -> Option<&'static str> {
    let Ok(inside) = path.strip_prefix(directory) else {
        return Some(OUTSIDE);
    };
    inside.components().any(hidden).then_some(OUTSIDE)
}

/// A call that was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a, A> {
    /// Whose it is.
    pub agent: A,
    /// What it asked.
    pub offer: &'a Offer,
    /// What became of it.
    pub was: Was,
}

/// A rule that is worth making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion<'a, A> {
    /// Whose.
    pub agent: A,
    /// The tool.
    pub tool: &'a str,
    /// The folder in which the agent must work.
    pub directory: &'a str,
    /// What would run without asking.
    pub form: &'a Form,
    /// How often a person allowed it.
    pub allowed: usize,
}

/// Returns the rules worth making, the most often allowed first: a person allowed each at least `least`
/// times and refused it never, no rule of `rules` allows it, and it is no [`danger`].
#[must_use]
pub fn suggest<'a, A: Copy + PartialEq>(
    calls: &[Call<'a, A>],
    rules: &[(A, Rule)],
    least: usize,
) -> Vec<Suggestion<'a, A>> {
    let mut all: Vec<(Suggestion<'a, A>, bool)> = Vec::new();
    for call in calls {
        let Subject::Forms(forms) = &call.offer.subject else { continue };
        for form in forms {
            let (tool, directory) = (call.offer.tool.as_str(), call.offer.directory.as_str());
            let same = |(it, _): &(Suggestion<'a, A>, bool)| {
                let place = (it.agent, it.tool, it.directory);
                place == (call.agent, tool, directory) && it.form == form
            };
            let at = match all.iter().position(same) {
                Some(at) => at,
                None => {
                    let new = Suggestion { agent: call.agent, tool, directory, form, allowed: 0 };
                    all.push((new, false));
                    all.len() - 1
                }
            };
            let Some((found, denied)) = all.get_mut(at) else { continue };
            match call.was {
                Was::Allowed => found.allowed += 1,
                Was::Denied => *denied = true,
                Was::Ruled | Was::Undecided => {}
            }
        }
    }
    let known = |it: &Suggestion<'a, A>| {
        rules.iter().any(|(agent, rule)| {
            *agent == it.agent
                && rule.tool == it.tool
                && rule.directory == it.directory
                && rule.form == *it.form
        })
    };
    let mut worth: Vec<_> = all
        .into_iter()
        .filter(|(it, denied)| !denied && it.allowed >= least)
        .map(|(it, _)| it)
        .filter(|it| !known(it) && danger(it.directory, it.form).is_none())
        .collect();
    worth.sort_by_key(|it| std::cmp::Reverse(it.allowed));
    worth
}
