//! `cargo xtask bench`: goals as ratios. Subject and anchor are measured in turn in one run, since
//! absolute figures of a shared machine say nothing. Start at [`run`].

mod adapter;
mod backend;
mod bare;
mod bridge;
mod chat;
mod cli;
mod control;
mod disk;
mod fleet;
mod held;
mod idle;
mod ipc;
mod irc;
mod joined;
mod lines;
mod mention;
mod model;
mod place;
mod procfs;
mod recv;
mod relay;
mod row;
mod servers;
mod storage;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell;
use place::{Build, Place, Program};
use row::{Row, Run};

/// No further round is begun that would probably end after this.
const BUDGET: Duration = Duration::from_secs(82);
/// The word for every goal.
const ALL: &str = "all";

/// What `cargo xtask bench` is told.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Ids of goals, such as P1; `all`, or none, for all. P2, P4 and P8 have a row for each adapter.
    goals: Vec<String>,
    /// Print the figures of every round as JSON, one line for each comparison.
    #[arg(long)]
    json: bool,
    /// How often subject and anchor are measured, in turn; fewer if a goal would take too long.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// One round of few operations: to see that everything can be measured, not how fast it is.
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Measure release builds (building them takes minutes) instead of development builds.
    #[arg(long)]
    release: bool,
    /// Build nothing: measure the programs as they were built last.
    #[arg(long)]
    no_build: bool,
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
        id: "P2",
        needs: &[Program::Gangline, Program::AdapterBench],
        measure: joined::from_exec,
    },
    Goal { id: "P3", needs: &[Program::Gangline, Program::BareEcho], measure: ipc::requests },
    Goal {
        id: "P4",
        needs: &[Program::Gangline, Program::AdapterBench, Program::BareBridge],
        measure: mention::to_the_model,
    },
    Goal { id: "P5", needs: &[Program::Gangline], measure: cli::whole_process },
    Goal { id: "P6", needs: &[Program::StorageBench], measure: storage::cycles },
    Goal { id: "P8", needs: &[Program::AdapterBench], measure: adapter::to_events },
    Goal {
        id: "P9",
        needs: &[Program::Gangline, Program::BareTokio],
        measure: idle::fifty_daemons,
    },
    Goal { id: "P10", needs: &[Program::Gangline, Program::IrcLoad], measure: chat::beside_others },
    Goal { id: "P11", needs: &[Program::Gangline, Program::BareLines], measure: lines::to_buffer },
    Goal { id: "P12", needs: &[Program::Gangline, Program::BareBridge], measure: recv::wakes },
    Goal { id: "P13", needs: &[Program::RelayBench], measure: relay::added },
    Goal { id: "P14", needs: &[Program::Gangline], measure: held::waiting },
];

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Full,
    Quick,
}

/// What a measurement needs to know.
struct Bench {
    place: Place,
    rounds: usize,
    pace: Pace,
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

    /// Returns how many operations there are in a round, of so many in a whole one.
    fn some(&self, many: usize) -> usize {
        match self.pace {
            Pace::Full => many,
            Pace::Quick => (many / 10).max(1),
        }
    }
}

/// `cargo xtask bench`. Fails when a goal is missed or cannot be measured.
pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let goals = chosen(&args.goals)?;
    let needs = goals.iter().flat_map(|goal| goal.needs.iter().copied());
    let build = if args.no_build { Build::AsItIs } else { Build::Anew };
    let place = Place::make(args.release, build, needs)?;
    let (pace, rounds) = match args.quick {
        true => (Pace::Quick, 1),
        false => (Pace::Full, args.rounds.max(1)),
    };
    let bench = Bench { place, rounds, pace };
    let build = if args.release { "release" } else { "dev" };
    if !args.json {
        println!("{}", introduction(&bench, build));
    }
    let mut missed = false;
    for goal in goals {
        let rows = (goal.measure)(&bench).with_context(|| format!("cannot measure {}", goal.id))?;
        let run = Run { id: goal.id, build, load: procfs::load() };
        for row in &rows {
            missed |= !row.met();
            let text = if args.json { row.json(&run)? } else { row.lines(&run) };
            println!("{text}");
        }
    }
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn introduction(bench: &Bench, build: &str) -> String {
    let remark = match (bench.pace, build) {
        (Pace::Quick, _) => " (few operations: these figures judge nothing)",
        (Pace::Full, "dev") => " (not optimised; --release measures what is shipped)",
        (Pace::Full, _) => "",
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!(
        "{build} builds{remark}, {} rounds, subject and anchor in turn, medians; {processors} \
         processors\n{}",
        bench.rounds,
        row::HEADER
    )
}

fn chosen(ids: &[String]) -> Result<Vec<&'static Goal>> {
    if ids.is_empty() || ids.iter().any(|id| id == ALL) {
        return Ok(GOALS.iter().collect());
    }
    let find = |id: &String| match GOALS.iter().find(|goal| goal.id.eq_ignore_ascii_case(id)) {
        Some(goal) => Ok(goal),
        None => {
            let known: Vec<_> = GOALS.iter().map(|goal| goal.id).collect();
            bail!("no goal {id}; there are {} and {ALL}", known.join(", "))
        }
    };
    ids.iter().map(find).collect()
}
