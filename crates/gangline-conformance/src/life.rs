//! A session that everything is permitted to, and what becomes of it: a crash, a resume under other
//! permissions, a stop in mid-turn.

use std::time::Duration;

use super::{
    Score,
    card::Card,
    faults,
    plan::{Fields, Initial, Listed, Plan, Servers},
    session::Session,
    stage::{self, Try},
    surroundings, tools,
    turn::{Said, Why},
};
use gangline_runtime::{Permissions, RuntimeEvent, SessionHandle, SessionId};

/// Everything is permitted to it.
const BOB: Plan = Plan {
    tag: "bob",
    permissions: Permissions::Bypass,
    shell: Listed::No,
    initial: Initial::None,
    fields: Fields::Unknown,
    servers: Servers::Http,
};

/// Only what is listed is permitted to it, and the shell is not.
const CY: Plan = Plan {
    tag: "cyd",
    permissions: Permissions::Allowlist,
    fields: Fields::Known,
    servers: Servers::None,
    ..BOB
};

/// The first one, gone on with under other permissions.
const BOB_AGAIN: Plan = Plan { tag: BOB.tag, ..CY };

/// It goes on with what there never was.
const EVE: Plan = Plan { tag: "eve", ..BOB };

const STEPS_OF_BOB: &[Try] = &[
    Try {
        cells: &["early_prompt", "unknown_fields", "apart"],
        step: |session, _| Box::pin(early(session)),
    },
    Try { cells: &["bypass"], step: |session, _| Box::pin(tools::unasked(session)) },
    Try {
        cells: &["workdir", "environment", "no_leak"],
        step: |session, card| Box::pin(surroundings::seen(session, card)),
    },
    Try { cells: &["steer"], step: |session, _| Box::pin(steer(session)) },
    Try {
        cells: &["mcp_http"],
        step: |session, card| Box::pin(tools::server(session, card, "mcp_http")),
    },
    Try {
        cells: &["error_500"],
        step: |session, card| Box::pin(faults::refused(session, card, &faults::BROKEN)),
    },
];

const STEPS_OF_CY: &[Try] = &[
    Try { cells: &["allowlist"], step: |session, _| Box::pin(tools::forbidden(session)) },
    Try { cells: &["stop_mid_turn"], step: |session, _| Box::pin(stop_mid_turn(session)) },
];

/// Cells of its end.
const ENDS: [&str; 3] = ["crash", "resume", "lost_session"];

/// How long a text that was added may take to be told, before the tool beside it goes on.
const STEER_GRACE: Duration = Duration::from_millis(700);

/// Plays a session, its crash and what comes after it.
pub(super) async fn play(card: &Card<'_>) {
    let later = || STEPS_OF_CY.iter().flat_map(|step| step.cells).chain(&ENDS);
    let all = || STEPS_OF_BOB.iter().flat_map(|step| step.cells).chain(later());
    if !all().any(|id| card.wants(id)) {
        return;
    }
    let since = card.now();
    card.trying(STEPS_OF_BOB[0].cells);
    let session = match Session::begin(card, &BOB, None).await {
        Ok(begun) => stage::go_through(STEPS_OF_BOB, begun, card).await,
        Err(why) => {
            let tried = Err(format!("no session: {why}"));
            return all().for_each(|id| card.judge(id, &tried, since));
        }
    };
    if !later().any(|id| card.wants(id)) {
        return stage::end(session, card).await;
    }
    let session = match session {
        Some(session) => Some(session),
        None => stage::again(&BOB, card).await,
    };
    match session {
        Some(session) => ends(card, session).await,
        None => {
            let tried = Err("no session was left to try it in".to_owned());
            later().for_each(|id| card.judge(id, &tried, since));
        }
    }
}

/// A prompt that is given at once, ready or not.
async fn early(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("say").await?;
    let patience = session.subject.dialect.pace.ready + session.subject.dialect.pace.turn;
    let turn = session.finish_with(said, &gangline_runtime::Answer::Allow, patience).await?;
    turn.completed()?;
    turn.said_text(&format!("answer {}", turn.said.word))
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
async fn ends(card: &Card<'_>, mut session: Session<'_>) {
    let handle = session.handle();
    let resumes = ["resume", "lost_session"].iter().any(|id| card.wants(id));
    if resumes && session.first.is_none() {
        // What is gone on with has to have something in it.
        let said = session.works().await;
        tracing::debug!(?said, "a session to go on with");
    }
    let first = session.first.clone();
    if card.wants("crash") {
        let since = card.now();
        card.trying(&["crash"]);
        match crash(&mut session).await {
            Ok(Crash::NoProgram) => card.note("crash", Score::Unsupported),
            Ok(Crash::Reported) => card.judge("crash", &Ok(()), since),
            Err(why) => card.judge("crash", &Err(why), since),
        }
    }
    card.faults(session.faults());
    stage::end(Some(session), card).await;
    tokio::join!(goes_on(card, &handle, first), lost(card, &handle));
}

/// What became of a program that was killed.
enum Crash {
    /// It was told.
    Reported,
    /// There is none.
    NoProgram,
}

async fn crash(session: &mut Session<'_>) -> Result<Crash, Why> {
    let said = session.say("wait").await?;
    session.request_with(&said.word).await?;
    // Some have a program in a turn only.
    let handle = session.handle();
    let Some(pid) = handle.pid else { return Ok(Crash::NoProgram) };
    session.kill(pid, handle.pid_start)?;
    let code = session.until_exited().await?;
    if code == 0 {
        return Err("it is told as an exit with 0".to_owned());
    }
    if session.open.runs() {
        return Err("it says that it runs after its end".to_owned());
    }
    session.nothing_left().await.map(|()| Crash::Reported)
}

/// Goes on with it, and tries in there what needs a session of its own otherwise.
async fn goes_on(card: &Card<'_>, handle: &SessionHandle, first: Option<Said>) {
    let mut session = None;
    if card.wants("resume") {
        let since = card.now();
        card.trying(&["resume"]);
        let tried = resume(card, handle, first, &mut session).await;
        card.judge("resume", &tried, since);
    }
    if !STEPS_OF_CY.iter().flat_map(|step| step.cells).any(|id| card.wants(id)) {
        return stage::end(session, card).await;
    }
    if let Some(open) = &mut session
        && !open.settle().await
    {
        stage::end(session.take(), card).await;
    }
    let session = match session {
        Some(session) => Some(session),
        None => stage::again(&CY, card).await,
    };
    if let Some(session) = session {
        let left = stage::go_through(STEPS_OF_CY, session, card).await;
        return stage::end(left, card).await;
    }
    let tried = Err("no session began to try it in".to_owned());
    let cells = STEPS_OF_CY.iter().flat_map(|step| step.cells);
    cells.for_each(|id| card.judge(id, &tried, card.now()));
}

async fn resume<'a>(
    card: &Card<'a>,
    handle: &SessionHandle,
    first: Option<Said>,
    session: &mut Option<Session<'a>>,
) -> Result<(), Why> {
    let first = first.ok_or("nothing was said in the session before")?;
    let session = session.insert(Session::begin(card, &BOB_AGAIN, Some(handle)).await?);
    session.until_ready().await?;
    if session.ready != handle.session {
        let (was, is) = (&handle.session, &session.ready);
        return Err(format!("{was:?} goes on as {is:?}: {}", session.tail()));
    }
    let turn = session.works().await?;
    let request = session.request_with(&turn.said.word).await?;
    match request.contains(&first.word) {
        true => Ok(()),
        false => Err("the model is not sent what was said before".to_owned()),
    }
}

/// A session that there never was.
async fn lost(card: &Card<'_>, handle: &SessionHandle) {
    if !card.wants("lost_session") {
        return;
    }
    let since = card.now();
    card.trying(&["lost_session"]);
    let tried = none_such(card, handle).await;
    card.judge("lost_session", &tried, since);
}

/// A session that there never was: the start fails, it exits, or it says that it begins anew.
async fn none_such(card: &Card<'_>, handle: &SessionHandle) -> Result<(), Why> {
    let Some(known) = &handle.session else { return Err("no session to begin from".to_owned()) };
    let gone = SessionHandle { session: Some(another(known)), ..handle.clone() };
    let Ok(mut session) = Session::begin(card, &EVE, Some(&gone)).await else { return Ok(()) };
    let tried = match session.until_ready().await {
        Err(_) => match session.exit_code() {
            Some(0) if !was_reported(&session) => Err("it exits with 0, without a word".to_owned()),
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
    match was_reported(session) || session.ready != gone.session {
        true => Ok(()),
        false => Err("it begins anew under the old id and says nothing".to_owned()),
    }
}

fn was_reported(session: &Session<'_>) -> bool {
    session.told.iter().any(|event| matches!(event, RuntimeEvent::Notice { .. }))
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
