use std::path::Path;

use clap::{Parser, ValueEnum};

use super::{FuzzArgs, Target, arguments};
use crate::shell;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: FuzzArgs,
}

fn parse(line: &str) -> Option<(Option<Target>, u32)> {
    let args = Line::try_parse_from(line.split(' ')).ok()?.args;
    Some((args.target, args.seconds))
}

#[test]
fn a_run_is_a_minute_for_every_target_unless_told_otherwise() {
    let check = |line, expected| assert_eq!(parse(line), expected, "{line}");
    check("fuzz", Some((None, 60)));
    check("fuzz irc_wire", Some((Some(Target::IrcWire), 60)));
    check("fuzz config --seconds 5", Some((Some(Target::Config), 5)));
    check("fuzz properties --seconds 600", Some((Some(Target::Properties), 600)));
    check("fuzz config --seconds 0", None); // libFuzzer would take it for "without end"
    check("fuzz elsewhere", None);
}

#[test]
fn what_is_learnt_goes_to_the_first_folder_and_the_seeds_are_the_second() {
    assert_eq!(
        arguments("irc_wire", 5, Path::new("/t/fuzz")),
        [
            "fuzz",
            "run",
            "--target-dir",
            "/t/fuzz",
            "irc_wire",
            "/t/fuzz/corpus/irc_wire",
            "fuzz/corpus/irc_wire",
            "--",
            "-max_total_time=5",
            "-max_len=9000",
        ]
    );
}

#[test]
fn every_target_has_its_source_its_seeds_and_its_place_in_the_manifest() {
    let folder = shell::root().join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut programs = 0;
    for target in Target::value_variants() {
        let Some(name) = target.program() else { continue };
        programs += 1;
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(folder.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name}");
        assert!(folder.join("corpus").join(name).is_dir(), "{name}");
        assert_eq!(target.to_possible_value().unwrap().get_name(), name);
    }
    assert_eq!(manifest.matches("[[bin]]").count(), programs);
}
