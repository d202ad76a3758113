//! Instructions and skills in real folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use gangline_harness::instructions::{Instructions, Places, gather};
use gangline_harness::{ToolContext, ToolError, tools::Skills};
use gangline_os::CancellationToken;
use gangline_testkit::stage;
use serde_json::{Value, json};

use crate::fake::*;

struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// A home with a configuration, and a git checkout with a folder in a folder.
    fn new() -> Self {
        let disk = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(disk.path("home/.config/gangline")).unwrap();
        fs::create_dir_all(disk.path("repo/.git")).unwrap();
        fs::create_dir_all(disk.path("repo/a/b")).unwrap();
        disk
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn gather(&self) -> Instructions {
        let env = [("HOME".into(), self.path("home").into())];
        gather(&Places::of(&self.path("repo/a/b"), &env))
    }

    /// Gathers and returns the files' names and texts, below our folder.
    fn texts(&self) -> Vec<(String, String)> {
        let text = self.gather().text;
        let mut sections = text.split("\n\n## ");
        let head = sections.next().unwrap();
        assert!(head.is_empty() || head.starts_with("# Instructions\n"), "{head}");
        let plain = |path: &str| {
            let below = Path::new(path).strip_prefix(self.path("")).unwrap();
            below.display().to_string()
        };
        let parts = |section: &str| {
            let (path, text) = section.split_once("\n\n").unwrap();
            (plain(path), text.to_owned())
        };
        sections.map(parts).collect()
    }

    fn notices(&self) -> Vec<String> {
        let ours = format!("{}/", self.path("").display().to_string().trim_end_matches('/'));
        self.gather().notices.into_iter().map(|notice| notice.replace(&ours, "")).collect()
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

/// R1-05: a person's own instructions come first, then the project's from its root down to
/// the working folder; what lies above the project is not read.
#[test]
fn instructions_are_read_from_home_and_from_the_project_down_to_the_folder() {
    let disk = Disk::new();
    assert_eq!(disk.gather(), Instructions::default());
    for (name, text) in [
        ("home/.claude/CLAUDE.md", "one"),
        ("home/.config/AGENTS.md", "two"),
        ("home/.config/gangline/AGENTS.md", "three"),
        ("CLAUDE.md", "above the project"),
        ("repo/AGENTS.md", "four"),
        ("repo/CLAUDE.md", "five"),
        ("repo/.claude/CLAUDE.md", "six"),
        ("repo/CLAUDE.local.md", "mine alone"),
        ("repo/a/AGENTS.md", " \n"),
        ("repo/a/b/CLAUDE.md", "seven\n"),
        ("repo/a/b/c/CLAUDE.md", "below the folder"),
    ] {
        disk.file(name, text);
    }
    assert_eq!(
        disk.texts(),
        pairs(&[
            ("home/.claude/CLAUDE.md", "one"),
            ("home/.config/AGENTS.md", "two"),
            ("home/.config/gangline/AGENTS.md", "three"),
            ("repo/AGENTS.md", "four"),
            ("repo/CLAUDE.md", "five"),
            ("repo/.claude/CLAUDE.md", "six"),
            ("repo/CLAUDE.local.md", "mine alone"),
            ("repo/a/b/CLAUDE.md", "seven"),
        ])
    );
    assert_eq!(disk.notices(), [""; 0]);
    fs::remove_dir(disk.path("repo/.git")).unwrap();
    assert_eq!(disk.texts().len(), 4, "without a checkout the folder itself is the project");
}

/// Each file and each text once, whatever leads to it; imports one level deep.
#[test]
fn imports_are_read_once_and_one_level_deep() {
    let disk = Disk::new();
    disk.file("repo/AGENTS.md", "agents");
    disk.file("repo/CLAUDE.md", "see @AGENTS.md, @docs/style.md and @nobody");
    disk.file("repo/docs/style.md", "style, then @deeper.md");
    disk.file("repo/docs/deeper.md", "not reached");
    disk.file("repo/a/AGENTS.md", "agents");
    symlink(disk.path("repo/docs/style.md"), disk.path("repo/a/CLAUDE.md")).unwrap();
    disk.file("repo/a/b/AGENTS.md", "no imports here: @../../docs/deeper.md");
    assert_eq!(
        disk.texts(),
        pairs(&[
            ("repo/AGENTS.md", "agents"),
            ("repo/CLAUDE.md", "see @AGENTS.md, @docs/style.md and @nobody"),
            ("repo/docs/style.md", "style, then @deeper.md"),
            ("repo/a/b/AGENTS.md", "no imports here: @../../docs/deeper.md"),
        ])
    );
}

/// What a project says may be anybody's: it cannot bring files of the person's into the prompt.
#[test]
fn a_project_leads_nowhere_outside_of_itself() {
    let disk = Disk::new();
    disk.file("home/.ssh/id", "the key");
    disk.file("home/.claude/CLAUDE.md", "mine: @more.md and @~/.ssh/id");
    disk.file("home/.claude/more.md", "more");
    disk.file("repo/CLAUDE.md", "@../home/.ssh/id @~/.ssh/id");
    symlink(disk.path("home/.ssh/id"), disk.path("repo/a/AGENTS.md")).unwrap();
    fs::create_dir_all(disk.path("repo/.claude/skills/x")).unwrap();
    symlink(disk.path("home/.ssh/id"), disk.path("repo/.claude/skills/x/SKILL.md")).unwrap();
    let texts = disk.texts();
    let mine = pairs(&[
        ("home/.claude/CLAUDE.md", "mine: @more.md and @~/.ssh/id"),
        ("home/.claude/more.md", "more"),
        ("home/.ssh/id", "the key"),
    ]);
    assert_eq!(texts[..3], mine);
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert_eq!(
        disk.notices(),
        [
            "repo/../home/.ssh/id is not read: it leads out of the project",
            "repo/CLAUDE.md imports ~/.ssh/id, which is not in the project: it is not read",
            "repo/a/AGENTS.md is not read: it leads out of the project",
            "repo/.claude/skills/x/SKILL.md is not read: it leads out of the project",
        ]
    );
}

/// No file blocks the start or fills the prompt.
#[test]
fn what_is_read_is_bounded_and_no_pipe_is_waited_for() {
    let disk = Disk::new();
    disk.file("repo/AGENTS.md", &"x".repeat(100_000));
    for (number, folder) in ["repo/.claude", "repo/a", "repo/a/b"].into_iter().enumerate() {
        disk.file(&format!("{folder}/CLAUDE.md"), &format!("{number}{}", "y".repeat(60_000)));
    }
    let pipe = disk.path("repo/CLAUDE.md");
    make_pipe(&pipe);
    let gathered = disk.gather();
    assert!(gathered.text.len() < 200_000, "{}", gathered.text.len());
    assert_eq!(
        disk.notices(),
        [
            "repo/AGENTS.md is cut off at 65536 bytes",
            "repo/a/b/CLAUDE.md is not read: there is too much already",
        ]
    );
}

fn make_pipe(path: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut child = gangline_os::process::spawn(gangline_os::process::Spawn {
            program: "mkfifo".into(),
            args: vec![path.into()],
            cwd: "/".into(),
            env: gangline_os::process::base_env(),
            stdin: gangline_os::process::Stdin::Null,
            stdout: gangline_os::process::Output::Null,
            stderr: gangline_os::process::Output::Null,
            group: gangline_os::process::Group::New,
        })
        .unwrap();
        assert!(child.wait().await.unwrap().success());
    });
}

fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
}

/// R1-05, R1-57: skills are listed by name and description; their text comes when the model asks.
#[tokio::test]
async fn skills_are_listed_and_read_when_the_model_asks() {
    let disk = Disk::new();
    disk.file("home/.claude/skills/release/SKILL.md", &skill("release", "How to ship", "Tag it."));
    disk.file(
        "home/.agents/skills/mine/SKILL.md",
        &skill("taste", "what I like\n  and why", "Tea."),
    );
    disk.file("repo/.claude/skills/release/SKILL.md", &skill("release", "the project's", "No."));
    disk.file(
        "repo/a/.agents/skills/deep/SKILL.md",
        "---\ndescription: >\n  far\n  down\n---\nDeep.",
    );
    disk.file("repo/a/.claude/skills/odd/SKILL.md", "---\nname: [x\n---\n");
    disk.file("repo/a/.claude/skills/mute/SKILL.md", "no front matter");
    disk.file(
        "repo/.claude/skills/people/SKILL.md",
        "---\ndescription: only people call it\ndisable-model-invocation: true\n---\n",
    );
    disk.file("repo/.claude/skills/README.md", "no skill");
    let gathered = disk.gather();
    assert_eq!(
        gathered.prompt(),
        "# Skills\n\nInstructions for certain kinds of work. Before you do such work, read them \
         with the tool `Skill`.\n\n- deep: far down\n- release: How to ship\n\
         - taste: what I like and why"
    );
    let notices = disk.notices();
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert_eq!(
        notices[0],
        "repo/a/.claude/skills/mute/SKILL.md is no skill: it does not say what it is for"
    );
    assert!(notices[1].starts_with("repo/a/.claude/skills/odd/SKILL.md is no skill: "));

    let fake =
        Fake::start(vec![calls("a", "Skill", &json!({"name": "release"})), says("ok")]).await;
    let (harness, told) = fake.harness(vec![Skills::offered(&gathered.skills).unwrap()]);
    within(harness.prompt("ship it")).await.unwrap();
    let folder = disk.path("home/.claude/skills/release").display().to_string();
    assert_eq!(
        told.only(&["result", "error"]),
        [format!("result a Base directory for this skill: {folder}\n\nTag it.")]
    );
}

#[tokio::test]
async fn a_skill_is_found_by_either_field_and_a_missing_one_is_told() {
    let disk = Disk::new();
    assert!(Skills::offered(&disk.gather().skills).is_none());
    disk.file("repo/.claude/skills/one/SKILL.md", &skill("one", "x", "Body."));
    let tool = Skills::offered(&disk.gather().skills).unwrap();
    let ctx = ToolContext {
        cwd: "/".into(),
        judged: None,
        closed: Vec::new(),
        cancel: CancellationToken::new(),
    };
    let call = async |input: Value| tool.execute(&ctx, input).await;
    for input in [json!({"name": "one"}), json!({"skill": "/one"})] {
        assert!(call(input).await.unwrap().ends_with("\n\nBody."));
    }
    let error = call(json!({"name": "two"})).await.unwrap_err().to_string();
    assert_eq!(error, "invalid input: `name` names no skill; there is: one");
    assert!(matches!(call(json!({})).await, Err(ToolError::Input(_))));
    disk.file("repo/.claude/skills/one/SKILL.md", &skill("one", "x", "Changed."));
    assert!(call(json!({"name": "one"})).await.unwrap().ends_with("Changed."));
    fs::remove_file(disk.path("repo/.claude/skills/one/SKILL.md")).unwrap();
    assert!(matches!(call(json!({"name": "one"})).await, Err(ToolError::Failed(_))));
}

#[test]
fn places_are_taken_from_the_environment() {
    let env = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect::<Vec<_>>()
    };
    let cwd = Path::new("/w");
    let places = Places::of(cwd, &env(&[("HOME", "/h")]));
    assert_eq!((places.home, places.config), (Some("/h".into()), Some("/h/.config".into())));
    let places = Places::of(cwd, &env(&[("HOME", "h"), ("XDG_CONFIG_HOME", "/c")]));
    assert_eq!((places.home, places.config), (None, Some("/c".into())));
}

/// Credentials and the installation's own files are in no prompt, whatever leads to them. A closed folder
/// that holds the whole project closes nothing in it.
#[test]
fn what_is_closed_to_the_agents_tools_is_not_read() {
    let disk = Disk::new();
    disk.file("repo/CLAUDE.md", "see @keys/id and @notes.md");
    disk.file("repo/keys/id", "SECRET");
    disk.file("repo/notes.md", "notes");
    symlink(disk.path("repo/keys/id"), disk.path("repo/a/AGENTS.md")).unwrap();
    disk.file("repo/keys/.claude/skills/x/SKILL.md", "---\ndescription: y\n---\nSECRET");
    let home = disk.path("home");
    fs::create_dir_all(home.join(".claude")).unwrap();
    symlink(disk.path("repo/keys/id"), home.join(".claude/CLAUDE.md")).unwrap();
    let env = [("HOME".into(), home.into())];
    let gathered = |cwd: &str, closed: &[&str]| {
        let closed = closed.iter().map(|name| disk.path(name)).collect();
        gather(&Places::of(&disk.path(cwd), &env).closed_to(closed))
    };
    let open = gathered("repo/a/b", &[]);
    assert!(open.text.contains("SECRET"), "the control: {open:?}");
    let closed = gathered("repo/a/b", &["repo/keys"]);
    assert!(!closed.prompt().contains("SECRET") && closed.text.contains("notes"), "{closed:?}");
    let told = closed.notices.iter().filter(|it| it.contains("holds credentials"));
    assert_eq!(told.count(), 3, "the import, the link and the one of home: {:?}", closed.notices);
    let around = gathered("repo/a/b", &["repo"]);
    assert!(around.text.contains("notes"), "the project lies in it: {around:?}");
    let beside = gathered("repo/keys", &["repo/keys"]);
    assert_eq!(beside.skills.len(), 0, "the project's root is above the closed folder");
}

/// Another user who may write into a folder above the project can add nothing to the prompt.
#[test]
fn files_and_checkouts_of_another_user_are_not_read() {
    if !stage::is_root() {
        return stage::skip("instructions of another user", "only root can give files away");
    }
    let foreign = |path: &Path| std::os::unix::fs::lchown(path, Some(65534), None).unwrap();
    let disk = Disk::new();
    disk.file("repo/a/b/CLAUDE.md", "ours");
    disk.file("repo/a/AGENTS.md", "theirs");
    disk.file("repo/a/b/.claude/skills/x/SKILL.md", "---\ndescription: y\n---\ntheirs");
    foreign(&disk.path("repo/a/AGENTS.md"));
    foreign(&disk.path("repo/a/b/.claude/skills/x/SKILL.md"));
    let found = disk.gather();
    assert!(found.text.contains("ours") && !found.prompt().contains("theirs"), "{found:?}");
    let told = found.notices.iter().filter(|it| it.contains("belongs to another user"));
    assert_eq!(told.count(), 2, "{:?}", found.notices);

    let disk = Disk::new();
    disk.file("repo/a/b/CLAUDE.md", "ours");
    disk.file("repo/AGENTS.md", "made beside a checkout of another user");
    foreign(&disk.path("repo/.git"));
    assert_eq!(disk.texts(), pairs(&[("repo/a/b/CLAUDE.md", "ours")]));
    let disk = Disk::new();
    disk.file("repo/a/b/CLAUDE.md", "ours");
    disk.file("repo/AGENTS.md", "above a folder of another user");
    foreign(&disk.path("repo/a"));
    assert_eq!(disk.texts(), pairs(&[("repo/a/b/CLAUDE.md", "ours")]));
}
