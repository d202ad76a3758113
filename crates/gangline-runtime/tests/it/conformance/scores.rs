//! The scores that are committed, and the page that shows them.
//!
//! With `GANGLINE_WRITE=1` in the environment they are written instead of compared: first the tests
//! in `real.rs`, then the one here.

use std::{fs, path::PathBuf, time::Duration};

use gangline_conformance::{Outcome, Report, Score, cells, report, report::Way};
use gangline_runtime::registry::dialect;
use serde_json::{Value, json};

const HOW: &str = "see what changed; if it is right, run `GANGLINE_WRITE=1 cargo nextest run -p \
                   gangline-runtime conformance::real`, then the same with \
                   `conformance::scores`";

fn file(column: &str) -> PathBuf {
    let name = column.replace(' ', "-").replace(['(', ')'], "");
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/it/conformance/scores/{name}.json"))
}

fn writes() -> bool {
    std::env::var_os("GANGLINE_WRITE").is_some()
}

/// Compares a report with what is committed, durations aside.
pub(crate) fn check(report: &Report) {
    let cell = |Outcome { cell, score, .. }: &Outcome| match score.why() {
        None => json!([cell.id, score.word()]),
        Some(why) => json!([cell.id, score.word(), why]),
    };
    let cells: Vec<String> = report.outcomes.iter().map(|it| cell(it).to_string()).collect();
    let text = format!("[\n{}\n]\n", cells.join(",\n"));
    let path = file(report.backend);
    if writes() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, committed, "{}: {HOW}", path.display());
}

/// Makes a report of what is committed.
fn committed(dialect: &'static dialect::Dialect) -> Option<Report> {
    let text = fs::read_to_string(file(dialect.name())).ok()?;
    let rows: Vec<Vec<Value>> = serde_json::from_str(&text).unwrap();
    let outcome = |row: Vec<Value>| {
        let word = |place: usize| row.get(place).and_then(Value::as_str).unwrap_or_default();
        let why = word(2).to_owned();
        let score = match word(1) {
            "yes" => Score::Yes,
            "unsupported" => Score::Unsupported,
            "hidden" => Score::Hidden(why),
            "skipped" => Score::Skipped(why),
            "asked" => Score::Does(Way::Asked),
            "refused" => Score::Does(Way::Refused),
            "not held" => Score::Does(Way::NotHeld),
            _ => Score::No(why),
        };
        Outcome { cell: cells::find(word(0)).unwrap(), score, took: Duration::ZERO }
    };
    Some(Report {
        backend: dialect.name(),
        version: dialect.tested.to_owned(),
        outcomes: rows.into_iter().map(outcome).collect(),
        took: Duration::ZERO,
    })
}

const HEAD: &str = "# The backends, rule by rule

What each backend did in the tests: the real program, in the version that is named, against the
stand-in model. `gangline doctor --deep` makes the same table on your machine with your versions, without
network and tokens, in about a minute for each backend; `--times` shows how long each step takes.

* **yes**: it was observed.
* **unsupported**: the backend declares that it cannot do this; Gangline works without it.
* **hidden**: the program does not show or do this, so no adapter could. If the program only stays
  silent, the explanation says how long the test waited.
* **skipped**: it was not tried.
* **no**: the rule does not hold.

Two rows say what happens to a call of the program's tool for reading, or of `cat` if it has none:

* **asked**: a person decides.
* **refused**: it never runs.
* **not held**: it runs unasked.

A column is a program as it usually runs, or in the way that its name says. `claude per turn` has a
process for each turn. `acp (opencode)` is `agent: acp` with a command and the user's own settings;
Gangline then knows nothing of the program. `tmux (claude)` is a terminal whose screen Gangline reads and
whose hooks it uses. Kiro takes no model but its vendor's. Its column is of a recorded peer, a program in
its place that speaks as Kiro's documentation says; it does not show what Kiro does when its model
refuses a request.

The tests write this page. [adding-a-backend.md](adding-a-backend.md) shows how to add a backend.

";

/// The page has every score that is committed, and nothing else.
#[test]
fn the_page_shows_the_scores() {
    let reports: Vec<Report> =
        dialect::DIALECTS.iter().chain(dialect::OTHERS).filter_map(committed).collect();
    assert!(!reports.is_empty());
    let all: Vec<&Report> = reports.iter().collect();
    let text = format!("{HEAD}{}", report::markdown(&all));
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/backends.md");
    if writes() {
        fs::write(&path, &text).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == page, "docs/backends.md is not up to date: {HOW}");
}
