use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
};

use super::*;
use crate::{Purpose, StartOptions};

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn places(scan: &Scan) -> Vec<(String, Kind)> {
    scan.brought.iter().map(|file| (file.place(), file.kind)).collect()
}

#[test]
fn a_text_names_files_in_many_ways() {
    let check = |text: &str, expected: &[&str]| {
        let found = named::words(text, "/proj");
        for word in expected {
            assert!(found.contains(word), "{text}: {word} in {found:?}");
        }
    };
    check("./x.sh", &["x.sh"]);
    check("bash .claude/x.sh --flag", &[".claude/x.sh"]);
    check(r#""$CLAUDE_PROJECT_DIR"/.claude/x.sh"#, &[".claude/x.sh"]);
    check("$CLAUDE_PROJECT_DIR/.claude/x.sh", &[".claude/x.sh"]);
    check("${CLAUDE_PROJECT_DIR}/x.sh", &["x.sh"]);
    check("/proj/a/b.py;next", &["a/b.py", "next"]);
    check("FOO=x/y.sh cmd", &["x/y.sh"]);
    assert!(!named::words("../x.sh a/../../y", "/proj").iter().any(|word| word.contains("..")));
}

#[test]
fn a_text_names_the_copy_wherever_it_named_the_file() {
    let check = |text: &str, expected: &str| {
        assert_eq!(respelled(text, "/proj", (".claude/x.sh", "/copy/.claude/x.sh")), expected);
    };
    check("./.claude/x.sh -a", "/copy/.claude/x.sh -a");
    check("bash .claude/x.sh", "bash /copy/.claude/x.sh");
    check(r#""$CLAUDE_PROJECT_DIR"/.claude/x.sh"#, "/copy/.claude/x.sh");
    check(r#""$CLAUDE_PROJECT_DIR/.claude/x.sh""#, r#""/copy/.claude/x.sh""#);
    check("${CLAUDE_PROJECT_DIR}/.claude/x.sh|cat", "/copy/.claude/x.sh|cat");
    check("/proj/.claude/x.sh", "/copy/.claude/x.sh");
    // Other files of which it is a part.
    check(
        "a/.claude/x.sh .claude/x.sh2 /copy/.claude/x.sh",
        "a/.claude/x.sh .claude/x.sh2 /copy/.claude/x.sh",
    );
}

/// What a program reads in its folder and above is found, up to the user's own home; what settings name
/// is a part of it.
#[test]
fn a_folder_is_scanned_upwards() {
    let top = tempfile::tempdir().unwrap();
    let (home, work) = (top.path().join("home"), top.path().join("home/repo/sub"));
    fs::create_dir_all(&work).unwrap();
    let hook = r#"{"hooks": {"Stop": [{"command": "bash ./hook.sh"}]},
        "permissions": {"allow": ["Bash(cat notes.md)"]}}"#;
    write(&work, ".claude/settings.json", hook);
    write(&work, "hook.sh", "id");
    write(&work, "notes.md", "text");
    write(&work, "../.mcp.json", "{}");
    write(&work, "../.claude/settings.json", "{}");
    write(&work, "../.claude/skills/one/SKILL.md", "x");
    write(&home, ".claude/settings.json", "{}");
    write(&home, ".mcp.json", "{}");
    let found = scan(&work, Some(&home), &programs::CLAUDE);
    let expected = [
        (".claude/settings.json".to_owned(), Kind::Settings),
        ("hook.sh".to_owned(), Kind::Script),
        ("../.claude/skills/one/SKILL.md".to_owned(), Kind::Skill),
        ("../.mcp.json".to_owned(), Kind::Servers),
    ];
    assert_eq!((places(&found), &found.unread), (expected.into(), &Vec::new()));
    assert!(scan(&work, Some(&home), &programs::NOTHING).is_empty());
}

/// Each byte of what was shown is in the hash: content, place, kind and mode.
#[test]
fn the_hash_changes_with_everything_that_was_shown() {
    let top = tempfile::tempdir().unwrap();
    let work = top.path();
    let now = || scan(work, None, &programs::CLAUDE).hash();
    let mut seen = vec![now()];
    let mut differs = |what: &str| {
        let hash = now();
        assert!(!seen.contains(&hash), "{what}");
        seen.push(hash);
    };
    write(work, ".claude/settings.json", r#"{"apiKeyHelper": "./k.sh"}"#);
    differs("settings");
    write(work, "k.sh", "echo key");
    differs("a script that they name");
    write(work, "k.sh", "echo other");
    differs("its content");
    fs::set_permissions(work.join("k.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    differs("its mode");
    write(work, ".claude/skills/s/SKILL.md", "x");
    differs("a skill");
    fs::rename(work.join(".claude/skills"), work.join(".claude/agents")).unwrap();
    differs("its place");
    write(work, "README.md", "y");
    assert_eq!(Some(&now()), seen.last(), "what nothing names");
}

/// Foreign files are read within bounds: a pipe is not waited for, a link to a folder not followed, and
/// too much is said. With one of these nothing can be allowed.
#[test]
fn what_is_not_read_is_said_and_cannot_be_allowed() {
    let check = |make: &dyn Fn(&Path), part: &str| {
        let top = tempfile::tempdir().unwrap();
        make(top.path());
        let found = scan(top.path(), None, &programs::CLAUDE);
        assert!(found.unread.iter().any(|text| text.contains(part)), "{part}: {:?}", found.unread);
        assert!(!found.is_empty());
        let error = copy::make(&top.path().join("copies"), &found).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert!(!top.path().join("copies").exists());
    };
    check(&|top| drop(UnixListener::bind(top.join(".mcp.json")).unwrap()), ".mcp.json: ");
    check(&|top| write(top, ".mcp.json", &"x".repeat(2 << 20)), "too large");
    check(
        &|top| {
            write(top, ".claude/skills/a/SKILL.md", "x");
            symlink("/etc", top.join(".claude/skills/b")).unwrap();
        },
        "link to a folder",
    );
    check(
        &|top| (0..500).for_each(|n| write(top, &format!(".claude/agents/{n}.md"), "x")),
        "more than is looked at",
    );
}

/// A copy is private, has the content of its hash or is refused, and others go.
#[test]
fn a_copy_is_what_was_allowed() {
    let top = tempfile::tempdir().unwrap();
    let (work, copies) = (top.path().join("work"), top.path().join("copies"));
    write(&work, ".claude/settings.json", r#"{"apiKeyHelper": "./k.sh"}"#);
    write(&work, "k.sh", "echo key");
    fs::set_permissions(work.join("k.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let found = scan(&work, None, &programs::CLAUDE);
    let made = copy::make(&copies, &found).unwrap();
    let trusted = Trusted { hash: found.hash(), copies: copies.clone() };
    assert_eq!(copy::open(&trusted).unwrap(), made);
    assert_eq!(copy::make(&copies, &found).unwrap(), made, "again");
    let mode = |file: &Brought| fs::metadata(made.of(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(found.brought.iter().map(mode).collect::<Vec<_>>(), [0o600, 0o700]);
    fs::write(made.of(&found.brought[1]), "id").unwrap();
    assert!(copy::open(&trusted).unwrap_err().to_string().contains("is not what was allowed"));
    assert_eq!(copy::make(&copies, &found).unwrap(), made, "mended");
    assert!(copy::open(&trusted).is_ok());
    write(&work, "k.sh", "echo other");
    let other = scan(&work, None, &programs::CLAUDE);
    copy::make(&copies, &other).unwrap();
    copy::remove_others(&copies, Some(&other.hash())).unwrap();
    assert!(copy::open(&trusted).is_err());
    copy::remove_others(&copies, None).unwrap();
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
}

static NO_SWITCH: Brings = Brings {
    items: &[Item::here("tools.json", Kind::Servers)],
    without: Without::NoSwitch,
    from: From::Folder,
};
static SWITCH: Brings =
    Brings { without: Without::Switch { args: &["--no"], env: &[] }, ..NO_SWITCH };

/// A program without a switch does not start where something is brought along; what was allowed is
/// compared before each start.
#[test]
fn a_start_loads_what_was_allowed_and_nothing_else() {
    let top = tempfile::tempdir().unwrap();
    let mut options = StartOptions::within(top.path());
    fs::create_dir_all(&options.workdir).unwrap();
    options.env = vec![("GANGLINE_RUN".to_owned(), "i/oak-ada/1".to_owned())];
    let load = |options: &StartOptions, brings| decide(options, brings).map(|it| it.load);
    assert_eq!(load(&options, &NO_SWITCH), Ok(Load::Nothing), "nothing is there");
    write(&options.workdir, "tools.json", "{}");
    let work = options.workdir.clone();
    let hash = || scan(&work, None, &NO_SWITCH).hash();
    let refused = load(&options, &NO_SWITCH).unwrap_err();
    let command = format!("gangline trust allow oak-ada {}", short(&hash()));
    assert!(refused.contains("tools.json (servers)") && refused.contains(&command), "{refused}");
    assert_eq!(load(&options, &SWITCH), Ok(Load::Nothing));
    options.trusted = Some(Trusted { hash: hash(), copies: top.path().join("copies") });
    assert_eq!(load(&options, &NO_SWITCH), Ok(Load::Folder));
    assert_eq!(load(&options, &SWITCH), Ok(Load::Folder));
    options.purpose = Purpose::Judge;
    assert_eq!(load(&options, &SWITCH), Ok(Load::Nothing), "who judges needs none of it");
    options.purpose = Purpose::Work;
    write(&work, "tools.json", "{\"evil\": 1}");
    assert!(load(&options, &NO_SWITCH).is_err(), "it has changed");
    let decided = decide(&options, &SWITCH).unwrap();
    assert_eq!(decided.load, Load::Nothing);
    assert!(decided.notice.unwrap().contains("not what was allowed"));
}

/// What a program reads in a folder is no file for a rule, wherever the folder is.
#[test]
fn what_programs_read_is_known_by_its_path() {
    for path in [
        "/proj/.claude/settings.json",
        "/proj/sub/.mcp.json",
        "/proj/.claude/skills/x/SKILL.md",
        "/proj/.codex/config.toml",
        "/proj/opencode.json",
        "/proj/.opencode/plugin/x.js",
        "/proj/.Claude/Settings.JSON",
        "/proj/.claude/scheduled_tasks.json",
        "/proj/.env",
    ] {
        assert!(programs::is_read(Path::new(path)), "{path}");
    }
    for path in [
        "/proj/settings.json",
        "/proj/src/main.rs",
        "/proj/.claude/plans/x.md",
        "/proj/AGENTS.md",
        "/",
    ] {
        assert!(!programs::is_read(Path::new(path)), "{path}");
    }
}

/// OpenCode adds its schema's address to settings that have none; any other change counts.
#[test]
fn what_opencode_writes_itself_is_no_change() {
    let top = tempfile::tempdir().unwrap();
    let hash = |text: &str| {
        write(top.path(), "opencode.json", text);
        scan(top.path(), None, &programs::OPENCODE).hash()
    };
    let plain = hash(r#"{"mcp": {}}"#);
    assert_eq!(hash("{\n  \"$schema\": \"https://opencode.ai/config.json\",\"mcp\": {}}"), plain);
    assert_ne!(hash(r#"{"mcp": {"x": {}}}"#), plain);
    assert_ne!(hash("{ no json"), plain);
    let packages = |text: &str| {
        write(top.path(), ".opencode/package.json", text);
        scan(top.path(), None, &programs::OPENCODE).hash()
    };
    let before = hash("{}");
    let own = r#"{"dependencies": {"@opencode-ai/plugin": "1.18.33"}}"#;
    assert_eq!(packages(own), before, "its own package");
    assert_ne!(packages(r#"{"dependencies": {"evil": "file:../evil"}}"#), before);
}

/// Code that is loaded imports other files by paths from its own: a change of these is a change too.
#[test]
fn what_code_imports_is_a_part_of_it() {
    let top = tempfile::tempdir().unwrap();
    let work = top.path();
    write(work, ".opencode/plugin/x.ts", "import { a } from \"../lib/a\"; import \"./gone\"");
    write(work, ".opencode/lib/a.ts", "export * from './deep/b.js'");
    write(
        work,
        ".opencode/lib/deep/b.js",
        "require('../../../out.cjs'); import '../../../../../x'",
    );
    write(work, "out.cjs", "");
    write(work, ".opencode/lib/other.ts", "");
    let found = scan(work, None, &programs::OPENCODE);
    let expected = [
        (".opencode/lib/a.ts", Kind::Script),
        (".opencode/lib/deep/b.js", Kind::Script),
        (".opencode/plugin/x.ts", Kind::Plugin),
        ("out.cjs", Kind::Script),
    ];
    let expected = expected.map(|(path, kind)| (path.to_owned(), kind));
    assert_eq!((places(&found), &found.unread), (expected.into(), &Vec::new()));
}

/// Instructions are text that a program reads itself; another user's count as brought along.
#[test]
fn instructions_of_another_user_are_brought_along() {
    let top = tempfile::tempdir().unwrap();
    let work = top.path().join("work");
    write(&work, "AGENTS.md", "text");
    write(top.path(), "AGENTS.md", "text");
    let now = || scan(&work, None, &programs::CODEX);
    assert!(now().is_empty(), "one's own");
    if gangline_os::dial::own_uid() != 0 {
        // Nobody else can give a file away.
        return;
    }
    std::os::unix::fs::chown(top.path().join("AGENTS.md"), Some(65534), None).unwrap();
    let found = now();
    assert_eq!(places(&found), [("../AGENTS.md".to_owned(), Kind::Foreign)]);
    let mut options = StartOptions::within(top.path());
    options.workdir = work.clone();
    let decided = decide(&options, &programs::CODEX).unwrap();
    assert!(decided.left_out && decided.load == Load::Nothing);
    options.trusted = Some(Trusted { hash: found.hash(), copies: top.path().join("copies") });
    assert_eq!(decide(&options, &programs::CODEX).unwrap().load, Load::Folder);
}
