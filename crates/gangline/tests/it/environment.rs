//! What an agent's processes know of who they are: all of their environment, and nothing of their
//! neighbours' or of whoever started the hub.

use std::{collections::BTreeMap, fs};

use gangline_testkit::{Stage, World, eventually};

/// What the calling shell has, and nobody else's processes may.
const CALLER: [(&str, &str); 8] = [
    ("CLAUDECODE", "1"),
    ("NODE_OPTIONS", "--require /nowhere"),
    ("GT_ROLE", "caller/mayor"),
    ("GT_CREW", "caller"),
    ("GT_SESSION_ID", "11111111-1111-4111-8111-111111111111"),
    ("BD_ACTOR", "caller"),
    ("CULTURE_NICK", "oak-caller"),
    ("GANGLINE_NICK", "oak-caller"),
];

fn stage() -> Stage {
    let mut stage = Stage::new(
        env!("CARGO_BIN_EXE_gangline"),
        &["oak-ada", "oak-bob"],
        None,
        ("", "permissions: bypass"),
    );
    let text = fs::read_to_string(&stage.config).unwrap();
    let (top, bob) = text.split_once("  - nick: oak-bob\n").unwrap();
    let text = format!(
        "{top}    gastown: {{role: forge/crew/ada, rig: forge, polecat: nux, bead: gt-7, actor: \
         forge/ada}}\n    env: {{GIT_AUTHOR_NAME: ada, PLAIN: one}}\n  - nick: oak-bob\n{bob}    \
         env: {{GT_SESSION_ID_ENV: MY_SESSION, GT_RIG: own}}\n"
    );
    fs::write(&stage.config, text).unwrap();
    for (name, value) in CALLER {
        stage.world.set(name, value);
    }
    stage
}

fn table(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The environment of a shell of the agent's backend.
fn environment(stage: &Stage, nick: &str) -> BTreeMap<String, String> {
    let mut eve = stage.member(&format!("eve-{nick}"));
    eve.say("#general", &format!("@{nick} run env -0 > env-{nick}; echo written"));
    eve.hears(nick, "#general", "written");
    table(&fs::read_to_string(stage.world.path(&format!("work/env-{nick}"))).unwrap())
}

/// Values that differ from run to run, by a word for what they are.
fn plain(stage: &Stage, nick: &str, env: BTreeMap<String, String>) -> Vec<String> {
    let home = stage.world.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let lines = env.into_iter().filter(|(name, _)| !["_", "PWD", "SHLVL"].contains(&name.as_str()));
    let line = |(name, value): (String, String)| {
        let value = match name.as_str() {
            "PATH" | "GANGLINE_TOKEN" => "…".to_owned(),
            "GANGLINE_RUN" => value.split_once('/').unwrap().1.to_owned(),
            "GT_SESSION_ID" | "MY_SESSION" if value.parse::<uuid::Uuid>().is_ok() => {
                "a uuid".to_owned()
            }
            _ => value.replace(home, "~").replace(nick, "NICK"),
        };
        format!("{name}={value}")
    };
    lines.map(line).collect()
}

/// Starts the hub from an agent's shell, which does not see the owner's password.
fn up_by_an_agent(stage: &mut Stage) {
    stage.world.set("GANGLINE_RUN", "x/oak-caller/1");
    let ready = stage.world.path("by-an-agent").display().to_string();
    let ran = stage.world.run(&["--config", &stage.config, "up", "-d", "--ready-file", &ready]);
    stage.world.set("GANGLINE_RUN", "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains(&stage.token()), "{}", ran.stdout);
    assert!(ran.stdout.contains("a person can see it with `gangline join`"), "{}", ran.stdout);
    names_the_token_alone(&fs::read_to_string(ready).unwrap());
}

/// A ready line for an agent has no token, and the name of its file.
fn names_the_token_alone(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line.trim()).unwrap();
    let token = fs::read_to_string(line["token_file"].as_str().unwrap()).unwrap();
    assert!(line["token"].is_null() && !line.to_string().contains(token.trim()), "{line}");
    token.trim().to_owned()
}

/// An agent that starts a hub of its own is not shown the owner's token either, in words, as JSON and in the file.
#[test]
fn an_agent_that_runs_the_demo_does_not_see_its_owners_token() {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    world.set("GANGLINE_RUN", "x/oak-caller/1");
    let mut demo = world.start_ready(&["demo"]);
    let token = names_the_token_alone(&fs::read_to_string(world.path("ready-0")).unwrap());
    let told = demo.output();
    assert!(told.contains("The password is not shown to agents"), "{told}");
    assert!(!told.contains(&token), "{told}");
    assert_eq!(demo.terminate(), 0);
    let mut demo = world.start(&["--json", "demo"]);
    let told = demo.says("\"}\n");
    names_the_token_alone(told.lines().find(|line| line.starts_with('{')).unwrap());
    assert_eq!(demo.terminate(), 0);
}

/// R3-09, R3-20, R0-59, C22: the whole environment as a table, of two agents side by side; what
/// the calling shell is called reaches nobody.
#[test]
fn each_agent_is_told_who_it_is_and_nothing_of_others() {
    let mut stage = stage();
    up_by_an_agent(&mut stage);
    let hub = fs::read_to_string(stage.world.state().join("hub.json")).unwrap();
    let hub: serde_json::Value = serde_json::from_str(&hub).unwrap();
    let of_hub = table(&fs::read_to_string(format!("/proc/{}/environ", hub["pid"])).unwrap());
    let marks = ["GANGLINE_RUN", "GANGLINE_STARTED_BY"];
    for name in CALLER.map(|(name, _)| name).into_iter().chain(marks) {
        assert_eq!(of_hub.get(name), None, "the hub keeps {name}");
    }
    let (ada, bob) = (environment(&stage, "oak-ada"), environment(&stage, "oak-bob"));
    assert_ne!(ada["GT_SESSION_ID"], bob["GT_SESSION_ID"]);
    assert_eq!(bob["MY_SESSION"], bob["GT_SESSION_ID"]);
    let query = "SELECT json_extract(payload, '$.session_id') FROM events WHERE kind = \
                 'session_start' ORDER BY agent";
    let told = eventually("both sessions", || Some(stage.query(query)).filter(|it| it.len() == 2));
    assert_eq!(told, [ada["GT_SESSION_ID"].clone(), bob["GT_SESSION_ID"].clone()]);
    let common = |nick: &str| {
        vec![
            "CULTURE_NICK=NICK".to_owned(),
            "GANGLINE_NICK=NICK".to_owned(),
            format!("GANGLINE_RUN={nick}/1"),
            "GANGLINE_SOCKET=~/run/gangline-NICK.sock".to_owned(),
            "GANGLINE_STATE_DIR=~/state/gangline/agents/NICK".to_owned(),
            "GANGLINE_TOKEN=…".to_owned(),
            "GT_AGENT=native".to_owned(),
            "GT_SESSION=NICK".to_owned(),
            "GT_SESSION_ID=a uuid".to_owned(),
            "GT_WORKDIR=~/work".to_owned(),
            "HOME=~".to_owned(),
            "PATH=…".to_owned(),
            "TMPDIR=~/state/gangline/agents/NICK/tmp".to_owned(),
            "XDG_CONFIG_HOME=~/config".to_owned(),
            "XDG_RUNTIME_DIR=~/run".to_owned(),
            "XDG_STATE_HOME=~/state".to_owned(),
        ]
    };
    let expect = |nick: &str, own: &[&str]| {
        let mut all = common(nick);
        all.extend(own.iter().map(|line| (*line).to_owned()));
        all.sort();
        all
    };
    let own = [
        "BD_ACTOR=forge/ada",
        "GIT_AUTHOR_NAME=ada",
        "GT_POLECAT=nux",
        "GT_RIG=forge",
        "GT_ROLE=forge/crew/ada",
        "GT_SESSION_ID_ENV=GT_SESSION_ID",
        "PLAIN=one",
    ];
    assert_eq!(plain(&stage, "oak-ada", ada), expect("oak-ada", &own));
    let own = ["BD_ACTOR=NICK", "GT_RIG=own", "GT_SESSION_ID_ENV=MY_SESSION", "MY_SESSION=a uuid"];
    assert_eq!(plain(&stage, "oak-bob", bob), expect("oak-bob", &own));
    let _ = stage.world.run(&["--config", &stage.config, "down"]).ok();
}

/// C22, C42: a session that is gone on with keeps its id, and a new one has another.
#[test]
fn the_sessions_id_lasts_as_long_as_the_session() {
    let stage = stage();
    let mut hub = stage.up();
    let first = environment(&stage, "oak-ada")["GT_SESSION_ID"].clone();
    assert_eq!(hub.terminate(), 0);
    let _hub = stage.up();
    let again = environment(&stage, "oak-ada");
    assert_eq!(again["GT_SESSION_ID"], first);
    assert_ne!(again["GANGLINE_TOKEN"], "", "its token is a new one");
}
