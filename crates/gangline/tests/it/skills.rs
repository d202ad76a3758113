//! The skill: installed where each real program looks for it, which its own request to the model
//! shows.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use gangline_testkit::{Running, World, programs, stage::free_port};
use tempfile::TempDir;

/// What every program lists of a skill.
const DESCRIPTION: &str = "Speak and read in the IRC channels of a Gangline network";

struct Fixture {
    world: World,
    address: String,
    _standin: Running,
    /// Not below the folder of temporary files, where one of the programs wants no home.
    codex: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let address = format!("127.0.0.1:{}", free_port());
        let record = world.path("requests").display().to_string();
        let args = ["standin", "serve", "--listen", &address, "--record", &record];
        let standin = world.start(&args);
        gangline_testkit::eventually("the stand-in", || {
            standin.output().contains("http://").then_some(())
        });
        fs::create_dir(world.path("work")).unwrap();
        let codex = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { world, address, _standin: standin, codex }
    }

    fn set(&self, command: &mut Command) {
        command.env("CODEX_HOME", self.codex.path()).stdin(Stdio::null());
    }

    fn skills(&self, args: &[&str]) -> (i32, String) {
        let mut all = vec!["skills"];
        all.extend(args);
        let mut command = self.world.command(&all);
        self.set(&mut command);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.code().unwrap(),
            text.replace(&self.world.path("").display().to_string(), "~/"),
        )
    }

    /// Runs the real program with one prompt, and returns all that it asked of the model.
    fn asks(&self, program: &Path, args: &[&str], env: &[(&str, &str)]) -> String {
        let command = self.world.command(&[]);
        let mut real = Command::new("timeout");
        real.arg("600").arg(program).args(args).current_dir(self.world.path("work")).env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                real.env(name, value);
            }
        }
        self.set(&mut real);
        let ran = real.envs(env.iter().copied()).output().unwrap();
        let mut asked = String::new();
        for entry in fs::read_dir(self.world.path("requests")).into_iter().flatten().flatten() {
            asked.push_str(&fs::read_to_string(entry.path()).unwrap());
        }
        assert!(!asked.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        asked
    }
}

fn installs(fixture: &Fixture, program: &str) {
    let (code, said) = fixture.skills(&["install", program]);
    assert!(code == 0 && said.starts_with("wrote "), "{said}");
}

/// R0-56, R0-66, R1-05.
#[test]
fn claude_code_lists_the_skill() {
    let fixture = Fixture::new();
    installs(&fixture, "claude");
    let url = format!("http://{}", fixture.address);
    let env = [
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "sk-ant-standin-0123456789abcdef"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ];
    let asked = fixture.asks(&programs::claude(), &["-p", "say exactly hi"], &env);
    assert!(asked.contains(DESCRIPTION));
}

/// R0-56, R0-66.
#[test]
fn codex_lists_the_skill() {
    let fixture = Fixture::new();
    let config = format!(
        "model = \"any\"\nmodel_provider = \"s\"\n[model_providers.s]\nname = \"s\"\nbase_url = \
         \"http://{}/v1\"\nwire_api = \"responses\"\n[analytics]\nenabled = false\n",
        fixture.address
    );
    fs::write(fixture.codex.path().join("config.toml"), config).unwrap();
    let args = ["exec", "--skip-git-repo-check", "say exactly hi"];
    let before = fixture.asks(&programs::codex(), &args, &[]);
    assert!(!before.contains(DESCRIPTION));
    installs(&fixture, "codex");
    assert!(fixture.asks(&programs::codex(), &args, &[]).contains(DESCRIPTION));
}

/// R0-56, R0-66: its own place, and the one that it shares with others.
#[test]
fn copilot_lists_the_skill() {
    for place in ["copilot", "acp"] {
        let fixture = Fixture::new();
        installs(&fixture, place);
        let url = format!("http://{}/v1", fixture.address);
        let env = [
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_PROVIDER_BASE_URL", url.as_str()),
            ("COPILOT_PROVIDER_API_KEY", "any"),
            ("COPILOT_MODEL", "any"),
        ];
        let asked = fixture.asks(&programs::copilot(), &["-p", "say exactly hi"], &env);
        assert!(asked.contains(DESCRIPTION), "{place}");
    }
}

/// R0-56, R0-66.
#[test]
fn opencode_lists_the_skill() {
    let fixture = Fixture::new();
    installs(&fixture, "opencode");
    let config = format!(
        r#"{{"provider":{{"s":{{"npm":"@ai-sdk/openai-compatible","options":{{"baseURL":"http://{}/v1","apiKey":"x"}},"models":{{"any":{{}}}}}}}},"model":"s/any","autoupdate":false}}"#,
        fixture.address
    );
    let _ = fixture.world.file("config/opencode/opencode.json", &config);
    let env = [("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")];
    let asked = fixture.asks(&programs::opencode(), &["run", "say exactly hi"], &env);
    assert!(asked.contains(DESCRIPTION));
}

/// R0-56, R0-66: what is current is kept, what is older is brought up to date, what somebody wrote
/// or edited is left alone unless `--force` is said, and all of it can be removed.
#[test]
fn what_is_ours_is_kept_current_and_what_is_not_is_left_alone() {
    let fixture = Fixture::new();
    let (code, said) = fixture.skills(&["install", "all", "--dry-run"]);
    assert_eq!((code, said.matches("would write").count()), (0, 5), "{said}");
    assert!(!fixture.world.path(".claude").exists());
    let (code, said) = fixture.skills(&["install", "all"]);
    assert_eq!((code, said.matches("wrote").count()), (0, 5), "{said}");
    let file = |folder: &str| -> PathBuf {
        fixture.world.path(folder).join("skills/gangline-irc/SKILL.md")
    };
    let ours = fs::read_to_string(file(".claude")).unwrap();
    let before = fs::metadata(file(".claude")).unwrap().mtime_nsec();
    let (code, said) = fixture.skills(&["install", "all"]);
    assert_eq!((code, said.matches("kept, it is current:").count()), (0, 5), "{said}");
    assert_eq!(fs::metadata(file(".claude")).unwrap().mtime_nsec(), before, "not touched");
    fs::write(file(".claude"), ours.replace("Your final text", "My final text")).unwrap();
    fs::write(file(".agents"), "---\nname: gangline-irc\n---\nsomebody's\n").unwrap();
    let (code, said) = fixture.skills(&["list"]);
    let line = |word: &str| said.lines().find(|line| line.starts_with(word)).unwrap().to_owned();
    assert!(code == 0 && line("claude").contains("edited by hand"), "{said}");
    assert!(line("acp").contains("not ours") && line("codex").contains("current"), "{said}");
    for more in [&[][..], &["--remove"][..]] {
        for (program, folder) in [("claude", ".claude"), ("acp", ".agents")] {
            let there = fs::read_to_string(file(folder)).unwrap();
            let mut args = vec!["install", program];
            args.extend(more);
            let (code, said) = fixture.skills(&args);
            assert!(code == 1 && said.starts_with("not "), "{said}");
            assert_eq!(fs::read_to_string(file(folder)).unwrap(), there);
        }
    }
    // A file beside it is somebody's.
    let beside = file(".claude").with_extension("md.new");
    std::os::unix::fs::symlink(fixture.world.path("theirs"), &beside).unwrap();
    fs::write(fixture.world.path("theirs"), "theirs").unwrap();
    let (code, said) = fixture.skills(&["install", "claude", "--force"]);
    assert!(code == 0 && said.starts_with("replaced "), "{said}");
    assert_eq!(fs::read_to_string(file(".claude")).unwrap(), ours);
    assert_eq!(fs::metadata(file(".claude")).unwrap().mode() & 0o777, 0o644);
    assert_eq!(fs::read_to_string(fixture.world.path("theirs")).unwrap(), "theirs");
    fs::remove_file(beside).unwrap();
    let (code, said) = fixture.skills(&["install", "all", "--remove", "--force"]);
    assert_eq!((code, said.matches("removed").count()), (0, 5), "{said}");
    assert!(!fixture.world.path(".claude/skills/gangline-irc").exists());
    let (code, said) = fixture.skills(&["install", "claude", "--dir", "project/.claude/skills"]);
    assert!(code == 0 && file("project/.claude").exists(), "{said}");
}
