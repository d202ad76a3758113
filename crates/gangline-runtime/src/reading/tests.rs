//! Paths as programs name them, on a real file system with links.

use std::{fs, os::unix::fs::symlink};

use gangline_core::reading::{AROUND, CLOSED};
use serde_json::json;

use super::*;

/// A home folder with a project, an installation's state with the agent's notes, and links.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    reading: Reading,
}

impl Place {
    fn new(workdir: &str, mode: Permissions, searches: Searches) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for dir in ["home/proj/src/a/b", "home/.ssh", "state/agents/ada/notes", "state/agents/bob"]
        {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        for file in
            ["home/proj/a", "home/.ssh/id", "state/owner.token", "state/agents/bob/irc.secret"]
        {
            fs::write(root.join(file), "x").unwrap();
        }
        symlink(root.join("state"), root.join("home/proj/st")).unwrap();
        symlink(root.join("state/owner.token"), root.join("home/proj/token")).unwrap();
        symlink("src", root.join("home/proj/source")).unwrap();
        symlink("src/a/b", root.join("home/proj/deep")).unwrap();
        symlink("/etc", root.join("home/proj/etc")).unwrap();
        let reading = Reading {
            policy: Policy::new(mode),
            bounds: Bounds {
                open: vec![root.join(workdir), root.join("state/agents/ada/notes")],
                closed: vec![root.join("state"), root.join("home/.ssh")],
            },
            workdir: root.join(workdir),
            cwd: None,
            home: Some(root.join("home")),
            searches,
        };
        Self { _folder: folder, root, reading }
    }

    fn word(&self, tool: &str, input: &Value) -> &'static str {
        // `ROOT` stands for the test's folder.
        let text = input.to_string().replace("ROOT", &self.root.display().to_string());
        let permit = self.reading.permit(tool, &serde_json::from_str(&text).unwrap());
        match permit {
            Permit::Allow => "allow",
            Permit::Ask => "ask",
            Permit::Deny(why) if why == CLOSED => "closed",
            Permit::Deny(why) if why == AROUND => "around",
            Permit::Deny(_) => "deny",
        }
    }
}

#[test]
fn a_file_is_read_unasked_inside_asked_outside_and_never_in_the_installation() {
    let place = Place::new("home/proj", Permissions::Ask, Searches::ReadAll);
    for (path, expect) in [
        ("a", "allow"),
        ("./src/../a", "allow"),
        ("ROOT/home/proj/new", "allow"),
        ("source/x", "allow"),
        ("ROOT/state/agents/ada/notes/n.md", "allow"),
        ("", "allow"),
        ("ROOT/home/other", "ask"),
        ("../other", "ask"),
        ("ROOT/home/proj2/x", "ask"),
        ("/etc/shadow", "ask"),
        ("etc/shadow", "ask"),
        ("//etc/shadow", "ask"),
        ("~/notes", "ask"),
        ("~other/x", "allow"),
        ("/proc/self/cwd/a", "ask"),
        ("/proc/self/environ", "ask"),
        // The program's own root may be another.
        ("/proc/self/rootROOT/home/proj/a", "ask"),
        ("/proc/self/rootROOT/state/owner.token", "closed"),
        ("ROOT/state", "closed"),
        ("ROOT/state/owner.token", "closed"),
        ("ROOT/state/agents/bob/irc.secret", "closed"),
        ("ROOT/home/proj/../../state/owner.token", "closed"),
        ("st/owner.token", "closed"),
        ("token", "closed"),
        ("st/agents/ada/notes/n.md", "allow"),
        // Read as the kernel does it, or with `..` taken away first: the worse counts.
        ("source/../../../state/owner.token", "closed"),
        ("deep/../../../../../state/owner.token", "closed"),
        ("deep/../../../state/owner.token", "closed"),
        ("deep/../../../a", "ask"),
        ("st/../state/owner.token", "closed"),
        ("~/.ssh/id", "closed"),
        ("file://ROOT/state/owner.token", "closed"),
    ] {
        assert_eq!(place.word("Read", &json!({ "file_path": path })), expect, "{path}");
    }
    let closed = json!({"file_path": "token", "content": "x"});
    assert_eq!(place.word("Write", &closed), "closed");
    assert_eq!(place.word("Write", &json!({"file_path": "a"})), "ask");
    assert_eq!(place.word("NotebookEdit", &json!({"notebook_path": "st/x.ipynb"})), "closed");
    assert_eq!(place.word("Read", &json!({})), "allow", "it fails by itself");
    assert_eq!(place.word("TodoWrite", &json!({"file_path": "token"})), "allow");
}

#[test]
fn a_search_looks_where_its_path_and_its_pattern_lead() {
    let place = Place::new("home/proj", Permissions::Ask, Searches::ReadAll);
    for (tool, input, expect) in [
        ("Grep", json!({"pattern": "x"}), "allow"),
        ("Grep", json!({"pattern": "x", "path": "src"}), "allow"),
        ("Grep", json!({"pattern": "../../etc"}), "allow"),
        ("Grep", json!({"pattern": "x", "path": "/etc"}), "ask"),
        ("Grep", json!({"pattern": "x", "path": "st"}), "closed"),
        ("Grep", json!({"pattern": "x", "path": "ROOT"}), "around"),
        ("Grep", json!({"pattern": "x", "path": "/"}), "around"),
        ("Grep", json!({"pattern": "x", "path": "~"}), "around"),
        ("Glob", json!({"pattern": "**/*.rs"}), "allow"),
        ("Glob", json!({"pattern": "src/*.rs"}), "allow"),
        ("Glob", json!({"pattern": "*.rs", "path": "src"}), "allow"),
        ("Glob", json!({"pattern": "/etc/*"}), "ask"),
        ("Glob", json!({"pattern": "../*"}), "around"),
        ("Glob", json!({"pattern": "../../state/*"}), "closed"),
        ("Glob", json!({"pattern": "src/*/../../../*"}), "ask"),
        ("Glob", json!({"pattern": "{/etc,src}/*"}), "ask"),
        ("Glob", json!({"pattern": "st/*"}), "closed"),
        ("Glob", json!({"pattern": "*", "path": "ROOT/state"}), "closed"),
    ] {
        assert_eq!(place.word(tool, &input), expect, "{tool} {input}");
    }
}

#[test]
fn a_home_folder_as_the_working_folder_opens_nothing_that_is_closed() {
    let place = Place::new("home", Permissions::Ask, Searches::ReadAll);
    assert_eq!(place.word("Read", &json!({"file_path": "proj/a"})), "allow");
    assert_eq!(place.word("Read", &json!({"file_path": ".ssh/id"})), "closed");
    assert_eq!(place.word("Grep", &json!({"pattern": "x"})), "around");
    assert_eq!(place.word("Grep", &json!({"pattern": "x", "path": "proj"})), "allow");
    let place = Place::new("home", Permissions::Ask, Searches::LeaveOut);
    assert_eq!(place.word("Grep", &json!({"pattern": "x"})), "allow");
    assert_eq!(place.word("Grep", &json!({"pattern": "x", "path": ".ssh"})), "closed");
}

#[test]
fn what_is_closed_is_closed_in_every_mode() {
    for mode in Permissions::ALL {
        let place = Place::new("home/proj", *mode, Searches::ReadAll);
        assert_eq!(place.word("Read", &json!({"file_path": "token"})), "closed", "{mode}");
        let outside = place.word("Read", &json!({"file_path": "/etc/hosts"}));
        assert_eq!(outside, if *mode == Permissions::Ask { "ask" } else { "allow" }, "{mode}");
    }
}

#[test]
fn a_program_that_changed_its_folder_is_followed() {
    let mut place = Place::new("home/proj", Permissions::Ask, Searches::ReadAll);
    let input = json!({"file_path": "owner.token"});
    assert_eq!(place.word("Read", &input), "allow");
    let state = place.root.join("state");
    place.reading.works_in(&state.display().to_string());
    assert_eq!(place.word("Read", &input), "closed");
    let home = place.root.join("home/proj");
    place.reading.works_in(&home.display().to_string());
    assert_eq!(place.word("Read", &input), "allow");
}

#[test]
fn what_names_no_file_is_asked_where_a_program_says_little() {
    let place = Place::new("home/proj", Permissions::Ask, Searches::ReadAll);
    let root = place.root.display().to_string();
    let of = |tool: &str, input: Value, places: &[&str]| {
        let places: Vec<String> = places.iter().map(|it| it.replace("ROOT", &root)).collect();
        place.reading.permit_of_unknown(tool, (&input, &places))
    };
    assert_eq!(of("Read", json!({"title": "Viewing"}), &[]), Permit::Ask);
    assert_eq!(of("Read", json!({"path": "a"}), &[]), Permit::Allow);
    assert_eq!(of("Read", json!({"title": "Viewing"}), &["ROOT/home/proj/a"]), Permit::Allow);
    assert_eq!(of("Read", json!({"path": "a"}), &["/etc/hosts"]), Permit::Ask);
    let closed = Permit::Deny(CLOSED.to_owned());
    assert_eq!(of("Read", json!({"filePath": "token"}), &[]), closed);
    // Several files, as words or as objects: each counts.
    assert_eq!(of("Read", json!({"files": [{"path": "a"}]}), &[]), Permit::Allow);
    assert_eq!(
        of("Read", json!({"files": [{"path": "a"}, {"path": "/etc/hosts"}]}), &[]),
        Permit::Ask
    );
    assert_eq!(of("Read", json!({"files": [{"path": "a"}, {"path": "token"}]}), &[]), closed);
    assert_eq!(of("Read", json!({"paths": ["a", "token"]}), &[]), closed);
    assert_eq!(of("Edit", json!({}), &["ROOT/state/owner.token"]), closed);
    assert_eq!(of("Grep", json!({"pattern": "x"}), &[]), Permit::Ask);
    assert_eq!(of("Grep", json!({"pattern": "x", "path": "src"}), &[]), Permit::Allow);
    assert_eq!(of("Bash", json!({"command": "ls"}), &[]), Permit::Ask);
}

/// A file is closed by whichever of its names a call uses; one that merely has several names is not.
#[test]
fn a_closed_file_is_closed_by_its_other_names_too() {
    for mode in [Permissions::Ask, Permissions::Allowlist, Permissions::Bypass] {
        let place = Place::new("home/proj", mode, Searches::ReadAll);
        let link = |from: &str, to: &str| {
            fs::hard_link(place.root.join(from), place.root.join(to)).unwrap();
        };
        link("state/owner.token", "home/proj/hard");
        link("home/.ssh/id", "home/proj/src/hard");
        link("home/proj/a", "home/proj/again");
        fs::write(place.root.join("state/agents/ada/notes/n"), "x").unwrap();
        link("state/agents/ada/notes/n", "home/proj/note");
        symlink("hard", place.root.join("home/proj/soft")).unwrap();
        for (tool, path, word) in [
            ("Read", "hard", "closed"),
            ("Read", "ROOT/home/proj/src/hard", "closed"),
            ("Read", "soft", "closed"),
            ("Edit", "hard", "closed"),
            ("Grep", "hard", "closed"),
            ("Read", "again", "allow"),
            ("Read", "note", "allow"),
        ] {
            let input = match tool {
                "Grep" => json!({"pattern": "x", "path": path}),
                _ => json!({"file_path": path}),
            };
            assert_eq!(place.word(tool, &input), word, "{mode:?} {tool} {path}");
        }
        let input = json!({"file_path": "hard"});
        assert!(matches!(place.reading.permit_of_place("Read", &input).0, Permit::Deny(_)));
    }
}

/// What a tool does not use is not shown as if it counted.
#[test]
fn what_a_tool_does_not_use_is_said_to_be_ignored() {
    let reading = Reading::in_folder("/srv", Permissions::Ask);
    let known = ["command".to_owned(), "timeout".to_owned()];
    for (input, expect) in [
        (json!({"command": "a", "timeout": 5}), json!({"command": "a", "timeout": 5})),
        (
            json!({"command": "a", "cwd": "/srv", "env": null, "description": "b"}),
            json!({"command": "a", "description": "b"}),
        ),
        (
            json!({"command": "a", "cwd": "/", "env": {"PATH": "/x"}, "run_in_background": true}),
            json!({"command": "a", "ignored":
                {"cwd": "/", "env": {"PATH": "/x"}, "run_in_background": true}}),
        ),
        (json!({"command": "a", "ignored": 1}), json!({"command": "a", "ignored": {"ignored": 1}})),
    ] {
        assert_eq!(reading.with_known("Bash", input, &known), expect);
    }
    let (path, known) = ("/srv/a", ["file_path".to_owned()]);
    let input = json!({"file_path": path, "cwd": "/srv", "path": "/other", "mode": "0755"});
    let expect = json!({"file_path": path, "ignored":
        {"cwd": "/srv", "path": "/other", "mode": "0755"}});
    assert_eq!(reading.with_known("Write", input, &known), expect);
}
