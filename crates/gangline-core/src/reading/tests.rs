//! The table of paths, and what each mode makes of them.

use super::*;

fn bounds() -> Bounds {
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
    Bounds {
        open: paths(&["/home/ori", "/state/agents/oak-ada/notes", "/state/agents/oak-ada/tmp"]),
        closed: paths(&[
            "/state",
            "/home/ori/.ssh",
            "/home/ori/.netrc",
            "/home/ori/.local/state/gl",
        ]),
    }
}

#[test]
fn a_path_is_inside_outside_or_closed() {
    let bounds = bounds();
    for (path, expect) in [
        ("/home/ori", Access::Inside),
        ("/home/ori/proj/src/main.rs", Access::Inside),
        ("/home/orion/x", Access::Outside),
        ("/home", Access::Outside),
        ("/", Access::Outside),
        ("/etc/shadow", Access::Outside),
        ("/state", Access::Closed),
        ("/state/owner.token", Access::Closed),
        ("/state/agents/oak-bob/irc.secret", Access::Closed),
        ("/state/agents/oak-bob/notes/n.md", Access::Closed),
        ("/state/agents/oak-ada", Access::Closed),
        ("/state/agents/oak-ada/irc.secret", Access::Closed),
        ("/state/agents/oak-ada/sessions/s.jsonl", Access::Closed),
        ("/state/agents/oak-ada/notes/n.md", Access::Inside),
        ("/state/agents/oak-ada/notes2/n.md", Access::Closed),
        ("/state/agents/oak-ada/tmp", Access::Inside),
        ("/statement", Access::Outside),
        ("/home/ori/.ssh/id_ed25519", Access::Closed),
        ("/home/ori/.ssh2", Access::Inside),
        ("/home/ori/.netrc", Access::Closed),
        ("/home/ori/.netrc.old", Access::Inside),
        ("/home/ori/.local/state/gl/gangline.db", Access::Closed),
        // What was not resolved is not believed to lie inside.
        ("/home/ori/../../etc/shadow", Access::Outside),
        ("home/ori/x", Access::Outside),
        ("", Access::Outside),
    ] {
        assert_eq!(bounds.access(Path::new(path), Extent::Alone), expect, "{path}");
    }
    let none = Bounds::default();
    assert_eq!(none.access(Path::new("/x"), Extent::Below), Access::Outside);
    let both = Bounds { open: vec!["/x".into()], closed: vec!["/x".into()] };
    assert_eq!(both.access(Path::new("/x/y"), Extent::Alone), Access::Closed);
}

#[test]
fn a_search_does_not_come_by_a_closed_folder() {
    let bounds = bounds();
    for (path, expect) in [
        ("/home/ori", Access::Around),
        ("/home/ori/.local", Access::Around),
        ("/home/ori/proj", Access::Inside),
        ("/", Access::Around),
        ("/etc", Access::Outside),
        ("/state/agents", Access::Closed),
        ("/state/agents/oak-ada/notes", Access::Inside),
    ] {
        assert_eq!(bounds.access(Path::new(path), Extent::Below), expect, "{path}");
    }
}

#[test]
fn names_are_compared_as_the_file_system_does() {
    let access = bounds().access(Path::new("/STATE/owner.token"), Extent::Alone);
    let folds = cfg!(target_os = "macos");
    assert_eq!(access, if folds { Access::Closed } else { Access::Outside });
}

#[test]
fn each_mode_makes_its_own_of_where_a_file_lies() {
    let of = |mode| Policy::of_agent(mode, &["Read".to_owned()], []);
    let closed = Permit::Deny(CLOSED.to_owned());
    for mode in Permissions::ALL {
        let policy = of(*mode);
        assert_eq!(policy.on_file("Read", Access::Closed), closed, "{mode}");
        assert_eq!(policy.on_file("Write", Access::Closed), closed, "{mode}");
        assert_eq!(policy.on_file("Grep", Access::Around), Permit::Deny(AROUND.to_owned()));
        assert_eq!(policy.on_file("Read", Access::Inside), Permit::Allow, "{mode}");
    }
    let outside = |mode, tool| of(mode).on_file(tool, Access::Outside);
    assert_eq!(outside(Permissions::Ask, "Read"), Permit::Ask);
    assert_eq!(outside(Permissions::Ask, "Write"), Permit::Ask);
    assert_eq!(outside(Permissions::Allowlist, "Read"), Permit::Allow);
    assert!(matches!(outside(Permissions::Allowlist, "Write"), Permit::Deny(_)));
    assert_eq!(outside(Permissions::Bypass, "Read"), Permit::Allow);
    assert_eq!(of(Permissions::Ask).on_file("Write", Access::Inside), Permit::Ask);
}
