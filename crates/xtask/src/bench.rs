//! `cargo xtask bench`: goals as ratios. Subject and anchor are measured in turn in one run, since
//! absolute figures of a shared machine say nothing. Start at [`run`].

mod bridge;
mod idle;
mod procfs;
mod storage;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::metadata::Metadata;
use crate::shell;

/// What `cargo xtask bench` is told.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Ids of goals, such as P1; all when none is given.
    goals: Vec<String>,
    /// Print the raw figures as JSON instead of the table.
    #[arg(long)]
    json: bool,
    /// How often subject and anchor are measured, in turn.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure release builds.
    #[arg(long)]
    release: bool,
}

/// Which side of its anchor a figure has to be on.
#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(limit) => ratio <= limit,
            Self::AtLeast(limit) => ratio >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// One goal and how it is measured.
struct Goal {
    id: &'static str,
    what: &'static str,
    unit: &'static str,
    bound: Bound,
    measure: fn(&Bench) -> Result<Measured>,
}

const GOALS: &[Goal] = &[
    Goal {
        id: "P1",
        what: "memory (PSS) of an idle agent daemon / of a bare tokio program",
        unit: "KiB",
        bound: Bound::AtMost(10.0),
        measure: idle::one_daemon,
    },
    Goal {
        id: "P4",
        what: "mention to the child's standard input, p50 / a bare bridge",
        unit: "µs",
        bound: Bound::AtMost(5.0),
        measure: bridge::mention,
    },
    Goal {
        id: "P6",
        what: "durable cycles a second of 50 producers / a bare single-writer loop",
        unit: "/s",
        bound: Bound::AtLeast(0.7),
        measure: storage::producers,
    },
    Goal {
        id: "P9",
        what: "memory (PSS) of 50 idle agents and their hub / of 50 bare tokio programs",
        unit: "KiB",
        bound: Bound::AtMost(4.0),
        measure: idle::fifty_daemons,
    },
];

/// What a measurement needs to know.
struct Bench {
    /// Folder of built programs.
    built: PathBuf,
    rounds: usize,
    /// `--release` or nothing, for cargo.
    profile: &'static [&'static str],
}

impl Bench {
    /// Measures the two in turn, so that what else the machine does falls on both.
    fn in_turn(
        &self,
        mut subject: impl FnMut() -> Result<f64>,
        mut anchor: impl FnMut() -> Result<f64>,
    ) -> Result<Measured> {
        let (mut of_subject, mut of_anchor) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds.max(1) {
            of_subject.push(subject().context("the subject")?);
            of_anchor.push(anchor().context("the anchor")?);
        }
        Ok(Measured::Figures { subject: of_subject, anchor: of_anchor })
    }

    /// Builds the product and returns where it is.
    fn product(&self) -> Result<PathBuf> {
        let mut cargo = shell::cargo();
        cargo.args(["build", "--package", "gangline", "--bin", "gangline"]).args(self.profile);
        shell::run(&mut cargo)?;
        Ok(self.built.join("gangline"))
    }

    /// Builds an anchor, one of this crate's examples, and returns where it is.
    fn anchor(&self, name: &str) -> Result<PathBuf> {
        let mut cargo = shell::cargo();
        cargo.args(["build", "--package", "xtask", "--example", name]).args(self.profile);
        shell::run(&mut cargo)?;
        Ok(self.built.join("examples").join(name))
    }
}

/// What came out.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Measured {
    /// One figure a round.
    Figures { subject: Vec<f64>, anchor: Vec<f64> },
    /// No figure can be had yet, and why.
    NotYet(&'static str),
}

/// One goal's line of the raw figures.
#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    what: &'a str,
    unit: &'a str,
    goal: String,
    measured: &'a Measured,
}

/// `cargo xtask bench`. Fails when a goal is missed or cannot be measured for another reason than
/// not being measurable yet.
pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let goals = chosen(&args.goals)?;
    let profile: &[&str] = if args.release { &["--release"] } else { &[] };
    let folder = if args.release { "release" } else { "debug" };
    let built = Metadata::load()?.target_directory.join(folder);
    let bench = Bench { built, rounds: args.rounds, profile };
    let mut missed = false;
    if !args.json {
        println!("{} build, {} rounds, median of each", folder, args.rounds.max(1));
        println!("id  | subject | anchor | ratio | goal | verdict");
    }
    for goal in goals {
        let measured =
            (goal.measure)(&bench).with_context(|| format!("cannot measure {}", goal.id))?;
        let (line, met) = line(goal, &measured);
        missed |= !met;
        if args.json {
            let goal_text = goal.bound.text();
            let Goal { id, what, unit, .. } = goal;
            let record = Record { id, what, unit, goal: goal_text, measured: &measured };
            println!("{}", serde_json::to_string(&record)?);
        } else {
            println!("{line}");
        }
    }
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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

/// One line of the table, and whether the goal is not missed.
fn line(goal: &Goal, measured: &Measured) -> (String, bool) {
    let bound = goal.bound.text();
    match measured {
        Measured::NotYet(why) => {
            (format!("{:<3} | – | – | – | {bound} | not yet measurable: {why}", goal.id), true)
        }
        Measured::Figures { subject, anchor } => {
            let (subject, anchor) = (median(subject), median(anchor));
            let ratio = subject / anchor;
            let met = anchor > 0.0 && goal.bound.holds(ratio);
            let verdict = if met { "met" } else { "missed" };
            let unit = goal.unit;
            let figures = format!("{subject:.0} {unit} | {anchor:.0} {unit} | {ratio:.2}");
            (format!("{:<3} | {figures} | {bound} | {verdict} ({})", goal.id, goal.what), met)
        }
    }
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => 0.0,
        many if many.len() % 2 == 1 => many[many.len() / 2],
        many => f64::midpoint(many[many.len() / 2 - 1], many[many.len() / 2]),
    }
}
