//! What a session's program and its commands see around them.

use std::path::PathBuf;

use super::{Score, card::Card, session::Session, turn::Why};

/// What the daemon tells every session.
const GIVEN: [&str; 4] = ["GANGLINE_AGENT", "GANGLINE_RUN", "GT_SESSION_ID", "CULTURE_NICK"];

/// Variables that every shell sets, or that are the machine's and no secret.
const HARMLESS: [&str; 12] = [
    "_", "HOME", "HOSTNAME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM",
    "USER",
];
/// A shorter value may be the same by chance.
const TELLING: usize = 4;

type Variables = Vec<(String, String)>;

/// Looks at what a command sees, and at what its program was started with.
pub(super) async fn seen(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let said = session.say("env").await?;
    session.request_with(&said.word).await?;
    let of_program = of_program(session);
    let turn = session.finish(said).await?;
    turn.completed()?;
    let text = session.file(&format!("env-{}.txt", turn.said.word)).await?;
    card.judge("workdir", &Ok(()), since);
    let of_command = variables(text.lines());
    let given = &session.options.env;
    let missing = GIVEN.into_iter().find(|name| {
        let value = given.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        !of_command.iter().any(|(seen, is)| seen == name && value == Some(is))
    });
    let passed = missing.map_or(Ok(()), |name| Err(format!("a command does not see {name}")));
    card.judge("environment", &passed, since);
    let foreign = foreign(given);
    if foreign.is_empty() {
        let why = "nothing stands in this environment that could be passed on";
        card.note("no_leak", Score::Skipped(why.to_owned()));
    }
    let leaked = |of: &Variables| foreign.iter().find(|it| of.contains(it)).map(|(name, _)| name);
    match (leaked(&of_program), leaked(&of_command)) {
        (Some(name), _) => Err(format!("the program has {name} of the daemon's own environment")),
        (_, Some(name)) => Err(format!("a command sees {name} of the daemon's own environment")),
        (None, None) => Ok(()),
    }
}

/// Returns the variables of this process that were not given to the session.
fn foreign(given: &[(String, String)]) -> Variables {
    let ours = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let is_foreign = |name: &String, value: &String| {
        !HARMLESS.contains(&name.as_str())
            && !given.iter().any(|(known, is)| known == name && is == value)
            && value.len() >= TELLING
    };
    ours.filter(|(name, value)| is_foreign(name, value)).collect()
}

/// Returns what the program was started with, where the system tells.
fn of_program(session: &Session<'_>) -> Variables {
    let pid = session.handle().pid;
    let file = pid.map(|pid| PathBuf::from(format!("/proc/{pid}/environ")));
    let bytes = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    variables(text.split('\0'))
}

fn variables<'a>(lines: impl Iterator<Item = &'a str>) -> Variables {
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
