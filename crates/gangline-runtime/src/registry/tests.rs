//! What files of each form mean, which of them wins, and that no text ends us.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{
    ENTRIES, Places, Registry, Source, edit, forms,
    item::{Files, Form},
};

mod random;

/// A home of its own, and files in it.
struct Home(TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| home.write(path, text));
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn registry(&self) -> Registry {
        let home = self.path().as_os_str().to_owned();
        Registry::load(&Places::from_env(&|name| (name == "HOME").then(|| home.clone())))
    }
}

const OURS: &str = ".config/gangline/runtimes.json";
const SEEDS: &str = ".gastown/runtimes.json";
const TOWN: &str = "gt/settings/agents.json";
const TOWN_SAYS: &str = "gt/settings/config.json";

/// Returns adapter, command and fields of an entry, or what is wrong with the file.
fn read(form: Form, entry: &str) -> String {
    let mut files = Files::default();
    forms::read(&format!("{{\"runtimes\": {{{entry}}}}}"), form, &mut files);
    if let Some(problem) = files.problems.first() {
        return format!("bad: {}", problem.message);
    }
    let found = files.items[0].found(Some(Path::new("/home/a"))).unwrap();
    let command = found.command.map_or_else(|| "-".to_owned(), |words| words.join(" "));
    let extra = serde_json::to_string(&found.extra).unwrap();
    let ignored: Vec<String> = files.ignored.iter().map(|it| it.message.clone()).collect();
    format!("{} | {command} | {extra} | {}", found.entry.name, ignored.join("; "))
}

/// R3-12, C46: how an entry of `runtimes.json` is driven, and what it changes.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn an_entry_of_runtimes_json_chooses_its_adapter() {
    for (entry, wanted) in [
        (r#""claude": {"bin": "claude"}"#, "claude | - | {} | "),
        (r#""claude": {"bin": "/opt/claude", "args": ["-x"]}"#, "claude | /opt/claude -x | {} | "),
        (r#""claude": {"args": ["-x"]}"#, "claude | claude -x | {} | "),
        (
            r#""claude": {"bin": "claude", "ready": "prompt", "delivery": "tmux"}"#,
            "tmux | claude | {} | ",
        ),
        (
            r#""claude": {"delivery": "tmux", "ready": "warmup", "args": ["-x"]}"#,
            r#"tmux | claude -x | {"screen":{"ready":[]}} | "#,
        ),
        (
            r#""codex": {"bin": "codex", "ready": "warmup", "delivery": "stdin"}"#,
            "codex | - | {} | `runtimes.codex`: `ready` is not used with the codex adapter",
        ),
        (
            r#""claude": {"adapter": "claude", "delivery": "tmux"}"#,
            "claude | - | {} | `runtimes.claude`: `delivery` is not used with the claude adapter",
        ),
        (r#""goose": {"delivery": "tmux"}"#, "tmux | goose | {} | "),
        (r#""native": {"delivery": "tmux"}"#, "bad: `runtimes.native`: no program is configured"),
        (r#""mine": {"bin": "~/bin/x", "adapter": "codex"}"#, "codex | /home/a/bin/x | {} | "),
        (r#""mine": {"adapter": "codex"}"#, "codex | - | {} | "),
        (r#""work": {"bin": "/opt/a/claude"}"#, "claude | /opt/a/claude | {} | "),
        (r#""goose": {"bin": "/o/goose", "args": ["-v"]}"#, "goose | /o/goose acp -v | {} | "),
        (r#""codex": {"bin": "cx", "delivery": "stdin"}"#, "codex | cx | {} | "),
        (
            r#""aider": {"bin": "aider", "args": ["--dark"], "delivery": "tmux", "ready": "warmup",
                "ready_delay_ms": 900}"#,
            r#"tmux | aider --dark | {"screen":{"ready":[],"warm_up_ms":900}} | "#,
        ),
        (
            r#""aider": {"bin": "aider", "delivery": "tmux", "ready_prompt_prefix": "> "}"#,
            r#"tmux | aider | {"screen":{"ready":[">"]}} | "#,
        ),
        (r#""x": {"bin": "x", "args": ["acp"], "delivery": "rpc"}"#, "acp | x acp | {} | "),
        (
            r#""x": {"bin": "x", "adapter": "acp", "why": 1}"#,
            "acp | x | {} | `runtimes.x.why` is not used by Gangline",
        ),
        (
            r#""x": {"bin": "x", "delivery": "stdin"}"#,
            "bad: `runtimes.x`: nothing says how it is driven: write `adapter`, or `delivery`: tmux for a terminal program, rpc for an ACP agent",
        ),
        (r#""x": {"adapter": "tmux"}"#, "bad: `runtimes.x`: no program is configured"),
        (
            r#""x": {"bin": "bin/x", "adapter": "tmux"}"#,
            "bad: `runtimes.x`: `bin/x` depends on the working folder: write a whole path, or a name on the PATH",
        ),
        (r#""x": {"bin": 4}"#, "bad: `runtimes.x.bin` must be text, not a number"),
        (
            r#""x": {"bin": "x", "args": "y"}"#,
            "bad: `runtimes.x.args` must be a list of texts, not text",
        ),
        (r#""x": {"bin": "x", "env": {"A=B": "c"}}"#, "bad: `runtimes.x.env` has an invalid name"),
        (
            r#""x": {"bin": "x", "env": {"A": 1}}"#,
            "bad: `runtimes.x.env` must be an object of texts, not an object",
        ),
        (r#""x": {"bin": "x", "ready": "now"}"#, "bad: `runtimes.x.ready` is prompt or warmup"),
        (
            r#""x": {"bin": "x", "delivery": "mail"}"#,
            "bad: `runtimes.x.delivery` is tmux, stdin or rpc",
        ),
        (
            r#""x": {"bin": "x", "delivery": "tmux", "ready_delay_ms": -1}"#,
            "bad: `runtimes.x.ready_delay_ms` must be a whole number from 0 to 600000, not a number",
        ),
        (
            r#""Big": {"bin": "x"}"#,
            "bad: `runtimes.Big` is no backend's name: write a-z, 0-9, and -, _ or . between them",
        ),
        (
            r#""x": {"adapter": "zebra"}"#,
            "bad: `runtimes.x`: there is no adapter `zebra`; there is: native, claude, codex, acp, opencode, cline, copilot, gemini, kiro, goose, qwen, tmux",
        ),
        (
            r#""x": {"adapter": "a\u001b[31m"}"#,
            "bad: `runtimes.x`: there is no adapter `a [31m`; there is: native, claude, codex, acp, opencode, cline, copilot, gemini, kiro, goose, qwen, tmux",
        ),
        (r#""x": []"#, "bad: `runtimes.x` must be an object, not a list"),
    ] {
        assert_eq!(read(Form::Runtimes, entry), wanted, "{entry}");
    }
}

/// C22: Gas Town's own form; its arguments are for a terminal, so no adapter but that of terminals
/// is given a flag that takes permissions away.
#[test]
fn gas_towns_agents_are_read() {
    for (entry, wanted) in [
        (
            r#""claude": {"name": "claude", "command": "claude",
                "args": ["--dangerously-skip-permissions"], "ready_prompt_prefix": "❯ "}"#,
            "claude | - | {} | `runtimes.claude`: `args` is not used with the claude adapter; \
             `runtimes.claude`: `ready_prompt_prefix` is not used with the claude adapter",
        ),
        (
            r#""groq-compound": {"command": "claude", "args": ["-y"], "env": {"A": "b"}}"#,
            "claude | - | {} | `runtimes.groq-compound`: `args` is not used with the claude adapter",
        ),
        (
            r#""amp": {"command": "amp", "args": ["--no-ide"], "ready_delay_ms": 5000}"#,
            r#"tmux | amp --no-ide | {"screen":{"warm_up_ms":5000}} | "#,
        ),
        (
            r#""omp": {"command": "omp", "acp": {"mode": "subcommand", "command": "acp", "args": ["-v"]}}"#,
            "acp | omp acp -v | {} | ",
        ),
        (r#""omp": {"command": "omp", "acp": {"mode": "native"}}"#, "acp | omp | {} | "),
        (
            r#""omp": {"command": "omp", "acp": {"mode": "native", "command": "/o/a"}}"#,
            "acp | /o/a | {} | ",
        ),
        (
            r#""omp": {"command": "omp", "acp": {"mode": "flag", "args": ["--acp"]}}"#,
            "acp | omp --acp | {} | ",
        ),
        (
            r#""omp": {"command": "omp", "acp": {"mode": "x"}}"#,
            "bad: `runtimes.omp.acp`.mode is subcommand, flag or native",
        ),
        (
            r#""vibe": {"command": "vibe", "resume_flag": "-r", "supports_hooks": false}"#,
            "tmux | vibe | {} | `runtimes.vibe.resume_flag` is not used by Gangline; \
             `runtimes.vibe.supports_hooks` is not used by Gangline",
        ),
    ] {
        assert_eq!(read(Form::Agents, entry), wanted, "{entry}");
    }
}

fn named(program: &str) -> String {
    format!(r#"{{"runtimes": {{"x": {{"bin": "{program}", "adapter": "acp"}}}}}}"#)
}

/// R3-12, C22: of several files that say something of one name the nearest to Gangline, and to the
/// rig, wins; a file's entry stands for the built-in one.
#[test]
fn which_file_wins_is_a_table() {
    let town = |program: &str| {
        format!(r#"{{"version": 1, "agents": {{"x": {{"command": "{program}"}}}}}}"#)
    };
    let files = [
        (TOWN, town("town")),
        (SEEDS, named("seeds")),
        (OURS, named("ours")),
        ("gt/oak/settings/agents.json", town("rig")),
    ];
    let home = Home::new(&[]);
    let program = |home: &Home, folder: &str| {
        let found = home.registry().at(&home.path().join(folder)).find("x");
        found.map(|found| found.program().unwrap().to_owned()).ok()
    };
    assert_eq!(program(&home, "gt/oak/crew/joe"), None);
    for (path, text) in &files {
        home.write(path, text);
        let name = if path.contains("oak") {
            "rig"
        } else if *path == TOWN {
            "town"
        } else if *path == SEEDS {
            "seeds"
        } else {
            "ours"
        };
        assert_eq!(program(&home, "gt/oak/crew/joe").as_deref(), Some(name));
    }
    // Neither another rig nor a repository that has such a file.
    assert_eq!(program(&home, "gt/elm").as_deref(), Some("ours"));
    home.write("repo/settings/agents.json", &town("repo"));
    home.write("gt/elm/crew/joe/settings/agents.json", &town("repo"));
    assert_eq!(program(&home, "repo").as_deref(), Some("ours"));
    assert_eq!(program(&home, "gt/elm/crew/joe").as_deref(), Some("ours"));
}

/// R3-13, C22: who says what is usual, from the weakest to the strongest.
#[test]
fn who_says_what_is_usual_is_a_table() {
    let home = Home::new(&[("gt/oak/crew/joe/.git/HEAD", "")]);
    let usual = |role: Option<&str>| {
        let here = home.registry().at(&home.path().join("gt/oak/crew/joe/src"));
        assert_eq!(here.problems(), []);
        here.default(role).name
    };
    assert_eq!(usual(None), "claude");
    for (path, text, wanted) in [
        (TOWN_SAYS, r#"{"type": "town-settings", "default_agent": "a"}"#, ["a", "a"]),
        ("gt/oak/settings/config.json", r#"{"default_agent": "b"}"#, ["b", "b"]),
        (TOWN_SAYS, r#"{"default_agent": "a", "role_agents": {"crew": "c"}}"#, ["b", "c"]),
        (
            "gt/oak/settings/config.json",
            r#"{"default_agent": "b", "role_agents": {"crew": "d"}}"#,
            ["b", "d"],
        ),
        (SEEDS, r#"{"default": "e"}"#, ["e", "e"]),
        (OURS, r#"{"default": "f"}"#, ["f", "f"]),
        ("gt/oak/.gastown/runtime.json", r#"{"runtime": "g"}"#, ["g", "g"]),
        ("gt/oak/.gangline/runtime.json", r#"{"runtime": "h"}"#, ["h", "h"]),
        ("gt/oak/crew/joe/.gastown/runtime.json", r#"{"runtime": "i"}"#, ["i", "i"]),
        ("gt/oak/crew/joe/.gangline/runtime.json", r#"{"runtime": "j"}"#, ["j", "j"]),
        ("gt/oak/crew/joe/src/.gastown/runtime.json", r#"{"runtime": "k"}"#, ["k", "k"]),
        // Above the repository nobody speaks but the rig.
        ("gt/oak/crew/.gangline/runtime.json", r#"{"runtime": "no"}"#, ["k", "k"]),
    ] {
        home.write(path, text);
        assert_eq!([usual(None), usual(Some("oak/crew/joe"))], wanted, "{path}");
    }
}

#[test]
fn a_folder_in_no_repository_speaks_for_itself_alone() {
    let home = Home::new(&[
        (".gangline/runtime.json", r#"{"runtime": "codex"}"#),
        ("a/.gangline/runtime.json", r#"{"runtime": "kiro"}"#),
    ]);
    let usual = |folder: &str| home.registry().at(&home.path().join(folder)).default(None).name;
    assert_eq!([usual("a"), usual("a/b")], ["kiro", "claude"]);
}

/// Another user's file chooses nothing, and another user's `.git` above makes no repository.
#[test]
fn another_users_files_choose_no_backend() {
    if gangline_os::dial::own_uid() != 0 {
        return gangline_testkit::stage::skip(
            "registry: another user's",
            "only root can give a file away",
        );
    }
    let home = Home::new(&[
        ("shared/.git/HEAD", ""),
        ("shared/.gangline/runtime.json", r#"{"runtime": "codex"}"#),
        ("shared/proj/README.md", ""),
    ]);
    let at = || home.registry().at(&home.path().join("shared/proj"));
    let give = |path: &str, user: u32| {
        std::os::unix::fs::chown(home.path().join(path), Some(user), None).unwrap();
    };
    assert_eq!(at().default(None).name, "codex", "one's own");
    give("shared/.gangline/runtime.json", 65534);
    assert_eq!(at().default(None).name, "claude");
    let told: Vec<String> = at().problems().iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains("belongs to another user"), "{told:?}");
    give("shared/.gangline/runtime.json", 0);
    give("shared/.git", 65534);
    assert_eq!(at().default(None).name, "claude");
}

/// Nothing is lost by a bad file: it is told with its place, and the built-in backends work.
#[test]
fn a_bad_file_is_told_with_its_place_and_costs_nothing_else() {
    for (text, wanted) in [
        ("{\n  \"default\": ", "2: this is no JSON: EOF while parsing a value"),
        ("[]", "1: the file must be an object, not a list"),
        ("", "1: this is no JSON: EOF while parsing a value"),
        ("{\n\n\"runtimes\": 3}", "3: `runtimes` must be an object, not a number"),
        (
            "{\"runtimes\": {\n  \"codex\": {\n    \"bin\": [] }}}",
            "3: `runtimes.codex.bin` must be text, not a list",
        ),
        (
            "{\"default\": \"a\",\n\"default\": \"b\"}",
            "1: `default` appears twice; the last one applies",
        ),
    ] {
        let home = Home::new(&[(OURS, text)]);
        let registry = home.registry();
        let told: Vec<String> = registry.problems().iter().map(ToString::to_string).collect();
        assert_eq!(told, [format!("{}:{wanted}", home.path().join(OURS).display())]);
        assert_eq!(registry.find("claude").unwrap().source, Source::BuiltIn);
        assert_eq!(registry.list().len(), ENTRIES.len());
    }
    let home = Home::new(&[]);
    fs::create_dir_all(home.path().join(OURS)).unwrap();
    assert_eq!(home.registry().problems().len(), 1);
}

#[test]
fn an_entry_says_its_file_and_line_and_one_beside_a_bad_one_works() {
    let text =
        "{\"runtimes\": {\n  \"bad\": {\"bin\": 1},\n  \"good\":\n    {\"bin\": \"codex\"}\n}}";
    let home = Home::new(&[(OURS, text)]);
    let found = home.registry().find("good").unwrap();
    assert_eq!(found.entry.name, "codex");
    let file = home.path().join(OURS);
    assert_eq!(found.source, Source::File { file, line: 4, path: "runtimes.good".into() });
    let error = home.registry().find("bad").unwrap_err().to_string();
    assert!(error.starts_with("there is no backend `bad`; there is: native, claude"), "{error}");
    assert!(error.ends_with(", good"), "{error}");
}

#[test]
fn a_program_of_any_adapter_can_be_driven_in_a_terminal() {
    let home =
        Home::new(&[(OURS, r#"{"runtimes": {"claude": {"bin": "/o/claude", "args": ["-x"]}}}"#)]);
    let in_terminal = |name: &str| home.registry().find(name).unwrap().in_terminal();
    assert_eq!(in_terminal("claude").command.unwrap(), ["/o/claude", "-x"]);
    assert_eq!(in_terminal("codex").command.unwrap(), ["codex"]);
    assert_eq!(in_terminal("codex").entry.name, "tmux");
}

/// R0-63: one word of the configuration is the program; the backend's own arguments stand behind it.
#[test]
fn a_program_named_alone_gets_its_backends_arguments() {
    let whole = |backend: &str, words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        super::Found::built_in(super::built_in(backend).unwrap()).completed(words).join(" ")
    };
    assert_eq!(whole("qwen", &["/opt/my-qwen"]), "/opt/my-qwen --acp");
    assert_eq!(whole("qwen", &["my-qwen", "--x"]), "my-qwen --x");
    assert_eq!(whole("claude", &["/opt/claude"]), "/opt/claude");
}

/// A session goes on with the same program only, whatever the entry is called.
#[test]
fn sessions_are_kept_by_what_can_go_on_with_them() {
    let home = Home::new(&[(
        OURS,
        r#"{"runtimes": {
            "beta": {"adapter": "claude", "bin": "claude-beta"},
            "mine": {"adapter": "acp", "bin": "mine"},
            "pair": {"adapter": "tmux", "bin": "aider"},
            "codex": {"adapter": "tmux", "bin": "codex"}
        }}"#,
    )]);
    let owner = |name: &str| home.registry().find(name).unwrap().owner();
    for name in ["native", "claude", "acp", "goose", "opencode", "tmux"] {
        assert_eq!(owner(name), name);
    }
    let given = ["beta", "mine", "pair", "codex"].map(owner);
    assert_eq!(given, ["claude", "mine@acp", "pair@tmux", "codex@tmux"]);
    let in_terminal = |name: &str| home.registry().find(name).unwrap().in_terminal().owner();
    let given = ["claude", "beta", "opencode", "mine", "pair", "codex"].map(in_terminal);
    assert_eq!(
        given,
        ["claude", "claude", "opencode@tmux", "mine@tmux", "pair@tmux", "codex@tmux"]
    );
    // By the file's own word, and once more by the agent's.
    let typed = r#"{"runtimes": {"claude": {"delivery": "tmux"}, "codex": {"delivery": "tmux"}}}"#;
    home.write(OURS, typed);
    assert_eq!(["claude", "codex"].map(owner), ["claude", "codex@tmux"]);
    assert_eq!(["claude", "codex"].map(in_terminal), ["claude", "codex@tmux"]);
}

/// R3-17: an entry can say where its model is, for an agent that has it by `--runtime`.
#[test]
fn an_entry_says_where_its_model_is_and_by_which_variable_it_is_paid() {
    let text = "{\"runtimes\": {\n\"native\": {\"base_url\": \"http://127.0.0.1:9\", \
                \"api_key_env\": \"KEY_2\"},\n\"a\": {\"adapter\": \"native\", \"base_url\": \
                \"ftp://x\"},\n\"b\": {\"adapter\": \"native\", \"api_key_env\": \"sk-ant-1\"}}}";
    let home = Home::new(&[(OURS, text)]);
    let found = home.registry().find("native").unwrap();
    assert_eq!(found.base_url.as_deref(), Some("http://127.0.0.1:9"));
    assert_eq!(found.api_key_env.as_deref(), Some("KEY_2"));
    let told: Vec<String> =
        home.registry().problems().iter().map(|it| it.message.clone()).collect();
    assert_eq!(
        told,
        [
            "`runtimes.a.base_url` begins with http:// or https:// and a host",
            "`runtimes.b.api_key_env` is the name of an environment variable"
        ]
    );
}

/// R3-16: another default changes that value alone.
#[test]
fn another_default_leaves_all_other_text_as_it_is() {
    let file = Path::new("/c/runtimes.json");
    for (text, wanted) in [
        ("", "{\n  \"default\": \"kiro\"\n}\n"),
        ("{}", "{\"default\": \"kiro\"}"),
        ("{ \"z\": 1 }\n", "{ \"default\": \"kiro\", \"z\": 1 }\n"),
        (
            "{\n\t\"z\" : 1,\n\t\"a\": {}\n}",
            "{\n\t\"default\": \"kiro\",\n\t\"z\" : 1,\n\t\"a\": {}\n}",
        ),
        ("{\"z\":1, \"default\" : \"x\" ,\"a\":2}", "{\"z\":1, \"default\" : \"kiro\" ,\"a\":2}"),
        (
            "{\"a\": {\"default\": 1}, \"default\": null}",
            "{\"a\": {\"default\": 1}, \"default\": \"kiro\"}",
        ),
        ("\u{feff}{\"default\":\"ä\"}", "\u{feff}{\"default\":\"kiro\"}"),
    ] {
        assert_eq!(edit::with_default(file, text, "kiro").unwrap(), wanted);
    }
    assert!(edit::with_default(file, "{\"a\": }", "kiro").is_err());
    assert!(edit::with_default(file, "[]", "kiro").is_err());
}
