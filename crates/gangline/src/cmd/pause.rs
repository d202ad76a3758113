//! `gangline pause`: no new turns; and the way of all words to daemons.

use crate::{
    cli::{Global, Whom},
    control::{self, Taken, Word},
    failure::Failure,
    fleet::{Fleet, Member},
    output, unmark,
};

pub(super) async fn run(global: &Global, whom: Whom) -> Result<u8, Failure> {
    tell(global, &whom, Word::Pause).await
}

/// Tells each of the agents, also when one of them does not listen.
pub(super) async fn tell(global: &Global, whom: &Whom, word: Word) -> Result<u8, Failure> {
    unmark::refuse(&format!("{word} agents"))?;
    let fleet = Fleet::open(global).await?;
    let chosen = fleet.chosen(whom, concerns).await?;
    if chosen.is_empty() {
        output::note("there are no agents");
    }
    let mut last = None;
    for member in &chosen {
        match control::tell(&fleet, member, word).await {
            Ok(taken) => output::print(&told(member, word, &taken))?,
            Err(failure) if chosen.len() == 1 => return Err(failure),
            Err(failure) => {
                failure.report();
                last = Some(failure.exit().code());
            }
        }
    }
    Ok(last.unwrap_or(0))
}

fn concerns(fleet: &Fleet, member: &Member) -> bool {
    member.runs() || fleet.is_enabled(&member.name)
}

fn told(member: &Member, word: Word, taken: &Taken) -> String {
    let name = &member.name;
    let done = match word {
        Word::Pause => "is paused: new messages wait",
        Word::Resume => "resumed",
        Word::Interrupt => "ends its turn",
        Word::Compact => "shortens its context once no turn is open",
        Word::Clear => "begins a new session once no turn is open",
    };
    match taken {
        Taken::ByDaemon => format!("{name} {done}\n"),
        Taken::ByRow => format!("{name} {done}; its daemon is not running\n"),
        Taken::Unheard(why) => format!(
            "{name} {done}. Its socket cannot be used ({why}), so it learns this from the database: \
             that takes up to 30 s\n"
        ),
    }
}
