//! Another backend by `--runtime`: who keeps it, who takes it back, what is refused (R3-17).

use std::fs;

use gangline_testkit::{Ngircd, ircd, stage};
use serde_json::{Value, json};

use super::{Fleet, gone};

/// Besides what is built in: the native loop under another name, and a program in a terminal.
const ENTRIES: &str = r#"{"runtimes": {
    "other": {"adapter": "native"},
    "pair": {"bin": "aider", "delivery": "tmux"}
}}"#;

impl Fleet {
    fn with_entries(agents: &[&str], yaml: (&str, &str)) -> Self {
        let fleet = Self::with(env!("CARGO_BIN_EXE_gangline"), agents, yaml);
        let _ = fleet.world().file("config/gangline/runtimes.json", ENTRIES);
        fleet
    }

    /// What the agent really has, and what is configured if that is another.
    fn runtime(&self, nick: &str) -> (Value, Value) {
        let row = self.ps().remove(nick).unwrap();
        (row["runtime"].clone(), row["configured_runtime"].clone())
    }

    fn does(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran.stderr
    }

    fn ordered(&self) -> Vec<String> {
        self.stage.query("SELECT agent || ' ' || coalesce(runtime, '-') FROM orders ORDER BY agent")
    }
}

fn native() -> (Value, Value) {
    (json!("native"), Value::Null)
}

fn other() -> (Value, Value) {
    (json!("other"), json!("native"))
}

/// R3-17: `restart` keeps what was ordered, `start` takes it back, the name of the configured one
/// too; `up` leaves everything as it is.
#[test]
fn another_backend_is_kept_by_a_restart_and_taken_back_by_a_start() {
    let fleet = Fleet::with_entries(&["oak-ada", "oak-bob"], ("", ""));
    fleet.up();
    assert_eq!(fleet.runtime("oak-ada"), native());
    let told = fleet.does(&["restart", "oak-ada", "--runtime", "other"]);
    assert!(told.contains("oak-ada gets other instead of native\n"), "{told}");
    assert_eq!((fleet.runtime("oak-ada"), fleet.runtime("oak-bob")), (other(), native()));
    let _ = fleet.does(&["restart", "oak-ada"]);
    assert_eq!(fleet.runtime("oak-ada"), other());
    let pid = fleet.pid("oak-ada");
    let _ = fleet.does(&["start", "oak-ada"]);
    assert_eq!((fleet.pid("oak-ada"), fleet.runtime("oak-ada")), (pid, other()), "it runs");
    let _ = fleet.does(&["down"]);
    let told = fleet.does(&["up", "-d"]);
    assert!(told.contains("note: --runtime: oak-ada gets other instead of native\n"), "{told}");
    assert_eq!((fleet.runtime("oak-ada"), fleet.runtime("oak-bob")), (other(), native()));
    let _ = fleet.does(&["stop", "oak-ada"]);
    let told = fleet.does(&["start", "oak-ada"]);
    assert!(told.contains("oak-ada gets native again, as configured\n"), "{told}");
    assert_eq!((fleet.runtime("oak-ada"), fleet.ordered()), (native(), vec!["oak-ada -".into()]));
    let _ = fleet.does(&["stop", "oak-ada"]);
    let _ = fleet.does(&["start", "oak-ada", "--runtime", "other"]);
    assert_eq!(fleet.runtime("oak-ada"), other());
    let _ = fleet.does(&["restart", "oak-ada", "--runtime", "native"]);
    assert_eq!(fleet.runtime("oak-ada"), native());
    let mut alice = fleet.person("alice");
    alice.say("#general", "@oak-ada say exactly still-there");
    fleet.all_answered(&["still-there".to_owned()]);
}

/// R3-17, C41: with `up` it is every agent's, in a new hub or in one that runs, which ends nobody.
#[test]
fn up_gives_another_backend_to_all() {
    let fleet = Fleet::with_entries(&["oak-ada", "oak-bob"], ("", ""));
    let _ = fleet.does(&["up", "-d", "--runtime", "other"]);
    assert_eq!((fleet.runtime("oak-ada"), fleet.runtime("oak-bob")), (other(), other()));
    let pid = fleet.pid("oak-ada");
    let told = fleet.does(&["up", "-d", "--runtime", "native"]);
    let outdated = "note: oak-ada runs with earlier settings: `gangline restart oak-ada`";
    assert!(told.contains(outdated), "{told}");
    assert_eq!((fleet.pid("oak-ada"), fleet.runtime("oak-ada")), (pid, other()));
    let _ = fleet.does(&["restart", "--all"]);
    assert_eq!((fleet.runtime("oak-ada"), fleet.runtime("oak-bob")), (native(), native()));
}

/// R3-16, R3-17: what is looked at is the backend that runs, and it is said that it was ordered.
#[test]
fn the_ordered_backend_is_the_one_that_is_looked_at() {
    let fleet = Fleet::with_entries(&["oak-ada", "oak-bob"], ("", ""));
    fleet.up();
    let _ = fleet.does(&["restart", "oak-ada", "--runtime", "other"]);
    let looks_same = || {
        let told = fleet.run(&["doctor", "oak-ada", "oak-bob"]).ok();
        let heading = told
            .find(
                "Agent oak-ada: other
",
            )
            .unwrap_or_else(|| panic!("{told}"));
        let said = &told[heading..];
        assert!(
            said.contains("driven as native, ordered by --runtime instead of native"),
            "{said}"
        );
        assert!(said.contains("-> `gangline restart oak-ada --runtime native`"), "{said}");
        assert!(
            told.contains(
                "Agent oak-bob: native
"
            ),
            "{told}"
        );
        let list = fleet.run(&["runtime", "list"]).ok();
        let line = |name: &str| {
            let of = |line: &&str| line.starts_with(name);
            list.lines().find(of).unwrap_or_else(|| panic!("{name} in {list}")).trim_end()
        };
        assert!(line("other ").ends_with("oak-ada (--runtime)"), "{list}");
        assert!(line("native ").ends_with(" oak-bob"), "{list}");
        let rows = fleet.run(&["runtime", "list", "--json"]).json();
        let rows = rows["runtimes"].as_array().unwrap();
        let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row("other")["agents"], json!(["oak-ada"]));
        assert_eq!(row("other")["ordered_for"], json!(["oak-ada"]));
        assert_eq!(row("native")["agents"], json!(["oak-bob"]));
        assert_eq!(row("native")["ordered_for"], Value::Null);
    };
    looks_same();
    let _ = fleet.does(&["down"]);
    looks_same();
    // One that is gone from the files fails with what to do.
    fs::write(fleet.world().path("config/gangline/runtimes.json"), "{}").unwrap();
    let ran = fleet.run(&["doctor", "oak-ada"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("`other` was ordered by --runtime"), "{}", ran.stdout);
    assert!(ran.stdout.contains("`gangline restart oak-ada --runtime native`"), "{}", ran.stdout);
}

/// R3-17: whether an agent can run is asked of the backend that it will have, not of the configured
/// one: by a start, and by a hub that reads the configuration again.
#[test]
fn a_configured_backend_that_cannot_run_hinders_nobody_who_has_another() {
    let fleet = Fleet::with_entries(&["oak-ada"], ("", ""));
    let entries = ENTRIES.replace(r#"native"}"#, r#"native", "base_url": "http://127.0.0.1:9"}"#);
    let _ = fleet.world().file("config/gangline/runtimes.json", &entries);
    let file = fleet.stage.config.clone();
    let text = fs::read_to_string(&file).unwrap();
    // A program in a terminal, and none is named.
    let lame = text.replacen("agent: native", "agent: tmux", 1);
    assert_ne!(lame, text);
    fs::write(&file, lame).unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("`tmux` needs the name of a program"), "{}", ran.stderr);
    let _ = fleet.does(&["up", "-d", "--runtime", "other"]);
    assert_eq!(fleet.runtime("oak-ada"), (json!("other"), json!("tmux")));
    let _ = fleet.does(&["up", "-d"]);
    assert!(!fleet.hub_log().contains("refused"), "{}", fleet.hub_log());
    let _ = fleet.does(&["restart", "--hub"]);
    let _ = fleet.does(&["down"]);
    // It is kept from before.
    let _ = fleet.does(&["up", "-d"]);
    assert_eq!(fleet.runtime("oak-ada"), (json!("other"), json!("tmux")));
    let _ = fleet.does(&["down"]);
    // Neither can run: said, with what to do; a hub has others to care for.
    fs::write(fleet.world().path("config/gangline/runtimes.json"), "{}").unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no backend `other`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`gangline restart oak-ada --runtime NAME`"), "{}", ran.stderr);
}

/// R3-17: what cannot be is refused with exit code 1, what to do, and nothing changed.
#[test]
fn a_backend_that_cannot_be_changes_nothing() {
    let fleet = Fleet::with_entries(&["oak-ada", "oak-bob"], ("", ""));
    let refused = |args: &[&str], parts: &[&str]| {
        let ran = fleet.run(args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{args:?}: {part} in {}", ran.stderr);
        }
    };
    let unknown = [
        "there is no backend `othr`; there is: native, claude,",
        "pair\n",
        "did you mean other?",
        "`gangline runtime list`",
    ];
    refused(&["up", "-d", "--runtime", "othr"], &unknown);
    assert!(fleet.world().processes_like("up --service").is_empty());
    fleet.up();
    let (ada, bob) = (fleet.pid("oak-ada"), fleet.pid("oak-bob"));
    refused(&["restart", "--all", "--runtime", "othr"], &unknown);
    refused(&["start", "oak-ada", "--runtime", "othr"], &unknown);
    refused(&["up", "-d", "--runtime", "othr"], &unknown);
    refused(
        &["start", "oak-ada", "--runtime", "other"],
        &["oak-ada runs already, with native", "`gangline restart oak-ada --runtime other`"],
    );
    refused(
        &["restart", "oak-ada", "--runtime", "tmux"],
        &["with `tmux`", "needs the name of a program"],
    );
    assert_eq!(fleet.ordered(), [] as [&str; 0]);
    assert_eq!((fleet.pid("oak-ada"), fleet.pid("oak-bob")), (ada, bob));
    let _ = fleet.does(&["stop", "oak-ada"]);
    refused(&["start", "oak-ada", "--runtime", "othr"], &unknown);
    assert_eq!(
        (fleet.standing("oak-ada"), fleet.ordered()),
        ("stopped".into(), vec!["oak-ada -".to_owned()])
    );
    // What is not found from here may be found from there.
    let ran = fleet.run(&["start", "oak-ada", "--runtime", "pair", "--no-wait"]);
    assert!(ran.stderr.contains("warning: `aider` is not on the PATH here"), "{}", ran.stderr);
    let _ = fleet.does(&["stop", "oak-ada"]);
    // An entry that is gone when the daemon starts: no restart mends that, and it is said how.
    let _ = fleet.does(&["start", "oak-ada", "--runtime", "other"]);
    fs::write(fleet.world().path("config/gangline/runtimes.json"), "{}").unwrap();
    let ran = fleet.run(&["daemon", "oak-bob", "--runtime", "other", "--state", "elsewhere"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("`gangline restart oak-bob --runtime NAME`"), "{}", ran.stderr);
    refused(&["restart", "oak-ada"], &["there is no backend `other`"]);
    let _ = fleet.does(&["restart", "oak-ada", "--runtime", "native"]);
    assert_eq!(fleet.runtime("oak-ada"), native());
}

/// R3-17: where no hub is needed, none is needed for this.
#[test]
fn another_backend_needs_no_hub_on_a_foreign_server() {
    if !ircd::is_there("ngircd") {
        return stage::skip(
            "fleet::another_backend_needs_no_hub_on_a_foreign_server",
            "ngircd is not installed (Debian package `ngircd`)",
        );
    }
    let yaml = ("network: {embedded: false, trust_nicks: true}", "");
    let fleet = Fleet::with_entries(&["oak-ada"], yaml);
    let _server = Ngircd::default().start(fleet.world(), &fleet.stage.irc);
    let _ = fleet.does(&["start", "oak-ada", "--runtime", "other"]);
    let first = fleet.pid("oak-ada");
    assert_eq!(fleet.runtime("oak-ada"), other());
    let _ = fleet.does(&["restart", "oak-ada"]);
    gone(first);
    assert_eq!(fleet.runtime("oak-ada"), other());
    let _ = fleet.does(&["restart", "oak-ada", "--runtime", "native"]);
    assert_eq!(fleet.runtime("oak-ada"), native());
    let _ = fleet.does(&["stop", "oak-ada"]);
}
