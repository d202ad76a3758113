//! `cargo xtask fuzz properties`: every property test of the workspace, with inputs that nobody has
//! tried yet. The gate's inputs are the same in every run: its seed is in `.cargo/config.toml`.
//! Start at [`run`].

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::shell;
use crate::tidy::Tree;

/// What proptest makes its inputs of.
const SEED: &str = "PROPTEST_RNG_SEED";

/// So many of the runner's last lines are searched for what failed.
const LAST: usize = 400;

/// A property test, as the test runner knows it.
#[derive(Debug, PartialEq, Eq)]
struct Property {
    package: String,
    name: String,
}

/// Runs them all, round after round, until the time is over; the round that is under way then is
/// finished. The first round with a failure ends the run with an error that says how to repeat it.
pub(super) fn run(seconds: u32) -> Result<()> {
    let properties = find(&Tree::load(&shell::root())?);
    let filter = filter(&properties);
    shell::run(nextest("run").arg("--no-run"))?;
    let listed = shell::read(nextest("list").args(["--message-format", "oneline", "-E", &filter]))?;
    all_there(&properties, &listed)?;
    println!("{} property tests, for {seconds} s", properties.len());
    let begun = shell::now();
    while begun.elapsed() < Duration::from_secs(seconds.into()) {
        let seed = RandomState::new().build_hasher().finish();
        println!("seed {seed}");
        let mut round = nextest("run");
        round.args(["--no-fail-fast", "--status-level", "slow", "--final-status-level", "fail"]);
        round.args(["-E", &filter]).env(SEED, seed.to_string());
        let (passed, said) = shell::run_keeping_tail(&mut round, LAST)?;
        if !passed {
            bail!("a property does not hold; to repeat it:\n{}", repeat(seed, &said, &filter));
        }
    }
    Ok(())
}

fn nextest(verb: &str) -> Command {
    let mut command = shell::cargo();
    command.args(["nextest", verb, "--workspace", "--cargo-quiet"]);
    command
}

/// The tests in every block of `proptest!`. This tool has none, only texts that look like some.
fn find(files: &Tree) -> Vec<Property> {
    let mut found = Vec::new();
    for file in files.rust() {
        let Some((package, module)) = place(file.path) else { continue };
        let (mut inside, mut is_test) = (false, false);
        for line in file.text.lines() {
            match line.trim() {
                "proptest! {" => inside = true,
                "#[test]" => is_test = inside,
                _ if line == "}" => inside = false,
                code => {
                    let name = code.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
                    if let (true, Some((name, _))) = (is_test, name) {
                        let name = match module.as_str() {
                            "" => name.to_owned(),
                            module => format!("{module}::{name}"),
                        };
                        found.push(Property { package: package.to_owned(), name });
                        is_test = false;
                    }
                }
            }
        }
    }
    found
}

/// A source's package, and the path of its module in its binary.
fn place(path: &str) -> Option<(&str, String)> {
    let (package, inner) = path.strip_prefix("crates/")?.split_once('/')?;
    let inner = inner.strip_prefix("src/").or_else(|| inner.strip_prefix("tests/it/"))?;
    let mut parts: Vec<&str> = inner.strip_suffix(".rs")?.split('/').collect();
    if parts.last().is_some_and(|last| ["lib", "main"].contains(last)) {
        parts.pop();
    }
    (package != "xtask").then(|| (package, parts.join("::")))
}

fn filter(properties: &[Property]) -> String {
    let one = |it: &Property| format!("(package(={}) & test(={}))", it.package, it.name);
    properties.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// Nothing is left out silently: the runner must know each that was found in the sources.
fn all_there(properties: &[Property], listed: &str) -> Result<()> {
    let is_listed = |it: &&Property| {
        let mut lines = listed.lines().filter_map(|line| line.trim().rsplit_once(' '));
        lines.any(|(binary, name)| {
            name == it.name && binary.split("::").next() == Some(it.package.as_str())
        })
    };
    let unknown: Vec<_> = properties.iter().filter(|it| !is_listed(it)).collect();
    ensure!(unknown.is_empty(), "the test runner does not know {unknown:?}");
    ensure!(!properties.is_empty(), "there is no property test");
    Ok(())
}

/// The command that does the same again: with what failed only, if the runner's lines tell that.
fn repeat(seed: u64, said: &[String], filter: &str) -> String {
    let mut failed: Vec<String> = Vec::new();
    for line in said.iter().map(|line| line.trim()).filter(|line| line.starts_with("FAIL [")) {
        let mut words = line.rsplit(' ');
        if let (Some(name), Some(binary)) = (words.next(), words.next()) {
            let one = format!("(binary_id(={binary}) & test(={name}))");
            if !failed.contains(&one) {
                failed.push(one);
            }
        }
    }
    let which = if failed.is_empty() { filter.to_owned() } else { failed.join(" | ") };
    format!("{SEED}={seed} cargo nextest run --workspace -E '{which}'")
}
