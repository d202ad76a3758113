//! `cargo xtask bench`: goals as ratios. Subject and anchor are measured in turn in one run, since
//! absolute figures of a shared machine say nothing. Start at [`run`].

mod bridge;
mod fleet;
mod idle;
mod irc;
mod mention;
mod model;
mod place;
mod procfs;
mod row;
mod storage;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell;
use place::{Place, Program};
use row::Row;

/// No further round is begun that would probably end after this.
const BUDGET: Duration = Duration::from_secs(82);

/// What `cargo xtask bench` is told.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Ids of goals, such as P1; all when none is given.
    goals: Vec<String>,
    /// Print the figures of every round as JSON, one line for each comparison.
    #[arg(long)]
    json: bool,
    /// How often subject and anchor are measured, in turn; fewer if a goal would take too long.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure release builds (building them takes minutes) instead of development builds.
    #[arg(long)]
    release: bool,
}

/// One goal and how it is measured.
struct Goal {
    id: &'static str,
    needs: &'static [Program],
    measure: fn(&Bench) -> Result<Vec<Row>>,
}

const GOALS: &[Goal] = &[
    Goal { id: "P1", needs: &[Program::Gangline, Program::BareTokio], measure: idle::one_daemon },
    Goal {
        id: "P4",
        needs: &[Program::Gangline, Program::BareBridge],
        measure: mention::to_the_model,
    },
    Goal { id: "P6", needs: &[Program::StorageBench], measure: storage::cycles },
    Goal {
        id: "P9",
        needs: &[Program::Gangline, Program::BareTokio],
        measure: idle::fifty_daemons,
    },
];

/// What a measurement needs to know.
struct Bench {
    place: Place,
    rounds: usize,
}

impl Bench {
    /// Calls `round` as often as asked for, as long as the time allows; at least once.
    fn each_round(&self, mut round: impl FnMut() -> Result<()>) -> Result<()> {
        let start = shell::now();
        for done in 1..=self.rounds {
            round()?;
            let spent = start.elapsed();
            let next = u32::try_from(done).map_or(spent, |done| spent / done);
            if done < self.rounds && spent + next > BUDGET {
                eprintln!("{done} of {} rounds: the next would take too long", self.rounds);
                break;
            }
        }
        Ok(())
    }
}

/// `cargo xtask bench`. Fails when a goal is missed or cannot be measured.
pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let goals = chosen(&args.goals)?;
    let needs = goals.iter().flat_map(|goal| goal.needs.iter().copied());
    let place = Place::make(args.release, needs)?;
    let bench = Bench { place, rounds: args.rounds.max(1) };
    if !args.json {
        println!("{}", introduction(&bench, args.release));
    }
    let mut missed = false;
    for goal in goals {
        let rows = (goal.measure)(&bench).with_context(|| format!("cannot measure {}", goal.id))?;
        for row in &rows {
            missed |= !row.met();
            let text = if args.json { row.json(goal.id)? } else { row.lines(goal.id) };
            println!("{text}");
        }
    }
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn introduction(bench: &Bench, release: bool) -> String {
    let build = if release {
        "release builds"
    } else {
        "DEVELOPMENT builds (not optimised; --release measures what is shipped)"
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!(
        "{build}, {} rounds, subject and anchor in turn, medians; {processors} processors, load \
         {}\n{}",
        bench.rounds,
        procfs::load(),
        row::HEADER
    )
}

fn chosen(ids: &[String]) -> Result<Vec<&'static Goal>> {
    if ids.is_empty() {
        return Ok(GOALS.iter().collect());
    }
    let find = |id: &String| match GOALS.iter().find(|goal| goal.id.eq_ignore_ascii_case(id)) {
        Some(goal) => Ok(goal),
        None => {
            let known: Vec<_> = GOALS.iter().map(|goal| goal.id).collect();
            bail!("no goal {id}; there are {}", known.join(", "))
        }
    };
    ids.iter().map(find).collect()
}
