//! Two sessions at once, and what becomes of them: a stop in mid-turn, a crash, a resume.

use std::time::Duration;

use super::{
    Subject, Verdict,
    card::Card,
    plan::{Fields, Initial, Listed, Plan, Servers},
    session::Session,
    stage::{self, Try},
    tools,
    turn::{Said, Turn, Why},
};
use crate::{PermissionMode, RuntimeEvent, SessionHandle, SessionId};

const BOB: Plan = Plan {
    tag: "bob",
    permissions: PermissionMode::Bypass,
    shell: Listed::No,
    initial: Initial::None,
    fields: Fields::Unknown,
    servers: Servers::Http,
};

const CY: Plan = Plan {
    tag: "cyd",
    permissions: PermissionMode::Allowlist,
    shell: Listed::No,
    initial: Initial::None,
    fields: Fields::Known,
    servers: Servers::None,
};

const STEPS_OF_BOB: &[Try] = &[
    Try { cells: &["bypass"], step: |session, _| Box::pin(tools::unasked(session)) },
    Try {
        cells: &["workdir", "environment", "no_leak"],
        step: |session, card| Box::pin(environment(session, card)),
    },
    Try { cells: &["steer"], step: |session, _| Box::pin(steer(session)) },
    Try {
        cells: &["mcp_http"],
        step: |session, card| Box::pin(tools::server(session, card, "mcp_http")),
    },
];

const STEPS_OF_CY: &[Try] = &[
    Try { cells: &["allowlist"], step: |session, _| Box::pin(tools::forbidden(session)) },
    Try { cells: &["stop_mid_turn"], step: |session, _| Box::pin(stop_mid_turn(session)) },
];

/// Cells that are noted here and not by steps.
const OWN: [&str; 3] = ["early_prompt", "unknown_fields", "apart"];
const ENDS: [&str; 3] = ["crash", "resume", "lost_session"];

/// How long a text that was added may take to be told, before the tool beside it goes on.
const STEER_GRACE: Duration = Duration::from_millis(700);

/// Plays both sessions.
pub(super) async fn pair<'a>(subject: &'a Subject, card: &Card<'a>) {
    let steps = STEPS_OF_BOB.iter().chain(STEPS_OF_CY).flat_map(|step| step.cells);
    if !steps.chain(&OWN).chain(&ENDS).any(|id| card.wants(id)) {
        return;
    }
    let since = card.now();
    let (bob, cy) = tokio::join!(early(subject, &BOB), early(subject, &CY));
    let tried = match (&bob, &cy) {
        (Ok(_), Ok(_)) => Ok(()),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    };
    card.judge("early_prompt", &tried, since);
    card.judge("unknown_fields", &bob.as_ref().map(|_| ()).map_err(Why::clone), since);
    if let (Ok((bob, of_bob)), Ok((cy, of_cy))) = (&bob, &cy) {
        card.judge("apart", &apart(subject, (bob, of_bob), (cy, of_cy)), since);
    }
    OWN.iter().for_each(|id| card.judge(id, &tried, since));
    let of_cy = async {
        if let Some(session) = opened(cy, STEPS_OF_CY, card) {
            let left = stage::go_through(STEPS_OF_CY, session, card).await;
            stage::end(left, card).await;
        }
    };
    let of_bob = async {
        let Ok((session, first)) = bob else {
            ENDS.iter().for_each(|id| card.judge(id, &tried, card.now()));
            drop(opened(bob, STEPS_OF_BOB, card));
            return;
        };
        if let Some(session) = stage::go_through(STEPS_OF_BOB, session, card).await {
            ends(subject, card, session, &first).await;
        }
    };
    tokio::join!(of_cy, of_bob);
}

type Early<'a> = Result<(Session<'a>, Turn), Why>;

fn opened<'a>(early: Early<'a>, steps: &[Try], card: &Card<'a>) -> Option<Session<'a>> {
    match early {
        Ok((session, _)) => Some(session),
        Err(why) => {
            let tried = Err(format!("no session: {why}"));
            let cells = steps.iter().flat_map(|step| step.cells);
            cells.for_each(|id| card.judge(id, &tried, card.now()));
            None
        }
    }
}

/// Starts a session and gives a prompt at once, ready or not.
async fn early<'a>(subject: &'a Subject, plan: &Plan) -> Early<'a> {
    let mut session = Session::begin(subject, plan, None).await?;
    let said = session.say("say").await?;
    let patience = subject.dialect.pace.ready + subject.dialect.pace.turn;
    let turn = session.finish_with(said, &crate::Answer::Allow, patience).await?;
    turn.completed()?;
    turn.said_text(&format!("answer {}", turn.said.word))?;
    Ok((session, turn))
}

fn apart(
    subject: &Subject,
    (one, of_one): (&Session<'_>, &Turn),
    (other, of_other): (&Session<'_>, &Turn),
) -> Result<(), Why> {
    if one.ready == other.ready {
        return Err(format!("both have the session {:?}", one.ready));
    }
    match subject.model.newest_with(&[&of_one.said.word, &of_other.said.word]) {
        Some(_) => Err("a request of one holds what was said to the other".to_owned()),
        None => Ok(()),
    }
}

/// What commands see of their surroundings.
async fn environment(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let turn = session.turn("env").await?;
    turn.completed()?;
    let text = session.file(&format!("env-{}.txt", turn.said.word)).await?;
    card.judge("workdir", &Ok(()), since);
    let seen: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let given = &session.options.env;
    let missing = ["GANGLINE_AGENT", "GANGLINE_RUN", "GT_SESSION_ID", "CULTURE_NICK"]
        .into_iter()
        .find(|name| {
            let given = given.iter().find(|(known, _)| known == name);
            !seen.iter().any(|(seen, value)| seen == name && given.is_some_and(|it| it.1 == *value))
        });
    let passed = missing.map_or(Ok(()), |name| Err(format!("a command does not see {name}")));
    card.judge("environment", &passed, since);
    match leaked(given, &seen) {
        Some(name) => Err(format!("a command sees {name} of the daemon's own environment")),
        None => Ok(()),
    }
}

/// Variables that every shell sets, or that are the machine's and no secret.
const HARMLESS: [&str; 12] = [
    "_", "HOME", "HOSTNAME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM",
    "USER",
];

/// Returns a variable of this process that was not given to the session and is seen in it.
fn leaked(given: &[(String, String)], seen: &[(&str, &str)]) -> Option<String> {
    let ours = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let foreign = |name: &String| {
        !HARMLESS.contains(&name.as_str()) && !given.iter().any(|(given, _)| given == name)
    };
    ours.filter(|(name, value)| foreign(name) && value.len() >= 4)
        .find(|(name, value)| seen.contains(&(name.as_str(), value.as_str())))
        .map(|(name, _)| name)
}

/// A text that is added while a command runs.
async fn steer(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("pause").await?;
    session.file(&format!("begun-{}.txt", said.word)).await?;
    let (added, uuid) = session.add(&said).await?;
    let steered = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Steered { uuid: of, .. } if *of == uuid);
    // Most programs give it to the model after the command only.
    let _ = session.until(STEER_GRACE, "steered", steered).await;
    let go = session.options.workdir.join(format!("go-{}.txt", said.word));
    gangline_os::fsio::write_private(&go, b"go").map_err(|error| error.to_string())?;
    let turn = session.finish(said).await?;
    turn.completed()?;
    session.request_with(&added.word).await?;
    match session.told.iter().any(steered) {
        true => Ok(()),
        false => Err("it has reached the model, but nobody said so".to_owned()),
    }
}

async fn stop_mid_turn(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("wait").await?;
    session.request_with(&said.word).await?;
    match session.stop().await? {
        0 => session.nothing_left().await,
        code => Err(format!("it exited with {code}")),
    }
}

/// A crash in mid-turn, and what comes after it.
async fn ends<'a>(subject: &'a Subject, card: &Card<'a>, mut session: Session<'a>, first: &Turn) {
    let since = card.now();
    let handle = session.runtime.session().unwrap_or_else(|| session.begun.clone());
    if handle.pid.is_none() {
        card.note("crash", Verdict::Unsupported);
    } else if card.wants("crash") {
        let tried = crash(&mut session).await;
        card.judge("crash", &tried, since);
    }
    stage::end(Some(session), card).await;
    if card.wants("resume") {
        let since = card.now();
        let tried = resume(subject, card, &handle, &first.said).await;
        card.judge("resume", &tried, since);
    }
    if card.wants("lost_session") {
        let since = card.now();
        let tried = lost(subject, card, &handle).await;
        card.judge("lost_session", &tried, since);
    }
}

async fn crash(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("wait").await?;
    session.request_with(&said.word).await?;
    session.kill()?;
    let code = session.until_exited().await?;
    if code == 0 {
        return Err("it is told as an exit with 0".to_owned());
    }
    if session.runtime.is_ready() {
        return Err("it says that it is ready after its end".to_owned());
    }
    session.nothing_left().await
}

async fn resume<'a>(
    subject: &'a Subject,
    card: &Card<'a>,
    handle: &SessionHandle,
    first: &Said,
) -> Result<(), Why> {
    let mut session = Session::begin(subject, &BOB, Some(handle)).await?;
    let tried = goes_on(&mut session, handle, first).await;
    stage::end(Some(session), card).await;
    tried
}

async fn goes_on(
    session: &mut Session<'_>,
    handle: &SessionHandle,
    first: &Said,
) -> Result<(), Why> {
    session.until_ready().await?;
    if session.ready != handle.session {
        return Err(format!("{:?} goes on as {:?}", handle.session, session.ready));
    }
    let turn = session.works().await?;
    let request = session.request_with(&turn.said.word).await?;
    match request.contains(&first.word) {
        true => Ok(()),
        false => Err("the model is not sent what was said before".to_owned()),
    }
}

/// A session that there never was: the start fails, it exits, or it says that it begins anew.
async fn lost<'a>(
    subject: &'a Subject,
    card: &Card<'a>,
    handle: &SessionHandle,
) -> Result<(), Why> {
    let Some(known) = &handle.session else { return Err("no session to begin from".to_owned()) };
    let gone = SessionHandle { session: Some(another(known)), ..handle.clone() };
    let Ok(mut session) = Session::begin(subject, &BOB, Some(&gone)).await else { return Ok(()) };
    let tried = match session.until_ready().await {
        Err(_) => match session.exit_code() {
            Some(0) => Err("it exits with 0".to_owned()),
            Some(_) => Ok(()),
            None => Err("it neither becomes ready nor exits".to_owned()),
        },
        Ok(()) => anew(&mut session, &gone).await,
    };
    stage::end(Some(session), card).await;
    tried
}

async fn anew(session: &mut Session<'_>, gone: &SessionHandle) -> Result<(), Why> {
    session.works().await?;
    let told = session.told.iter().any(|event| matches!(event, RuntimeEvent::Notice { .. }));
    match told || session.ready != gone.session {
        true => Ok(()),
        false => Err("it begins anew under the old id and says nothing".to_owned()),
    }
}

/// Returns an id of the same form that no session has.
fn another(id: &SessionId) -> SessionId {
    let mut text: Vec<char> = id.0.chars().collect();
    if let Some(last) = text.last_mut() {
        *last = match last {
            '0' => '1',
            '0'..='9' => '0',
            'a' => 'b',
            _ => 'a',
        };
    }
    SessionId(text.into_iter().collect())
}
