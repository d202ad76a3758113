//! `gangline import`: culture's files on a disk, read and left as they are.

use std::{fs, path::Path, time::SystemTime};

use gangline_testkit::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_gangline"))
}

/// What culture's files look like on a machine that runs it.
fn culture(world: &World) -> Vec<String> {
    let ada = world.path("src/ada").display().to_string();
    let bob = world.path("src/bob").display().to_string();
    let server = format!(
        "server: {{name: thor, host: localhost, port: 6667}}\nbuffer_size: 300\npoll_interval: \
         60\nsleep_start: '23:00'\nagents:\n  ada: {ada}\n  bob: {bob}\n"
    );
    let mesh = format!(
        "server: {{name: thor, host: 0.0.0.0, port: 6667, links: []}}\nagents:\n  - {{nick: ada, \
         type: claude, workdir: {ada}, channels: [\"#general\"], archived: false}}\n"
    );
    let old = "agents:\n  - {nick: thor-eve, agent: codex, directory: ~/src/eve}\n";
    vec![
        world.file(".culture/server.yaml", &server),
        world.file(".culture/mesh.yaml", &mesh),
        world.file(".culture/agents.yaml", old),
        world.file("src/ada/culture.yaml", "suffix: ada\nbackend: claude\nicon: \"*\"\n"),
        world.file("src/bob/culture.yaml", "suffix: bob\nbackend: codex\narchived: true\n"),
    ]
}

/// Returns what must not change: bytes, times, and that no file has come.
fn seen(files: &[String]) -> Vec<(String, Vec<u8>, SystemTime)> {
    let mut seen = Vec::new();
    for file in files {
        let folder = Path::new(file).parent().unwrap();
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().flatten().map(|it| it.file_name()).collect();
        names.sort();
        let about = fs::metadata(file).unwrap();
        seen.push((
            format!("{file} {names:?}"),
            fs::read(file).unwrap(),
            about.modified().unwrap(),
        ));
    }
    seen
}

fn config(world: &World) -> String {
    world.path("config/gangline/agents.yaml").display().to_string()
}

/// R0-61, R0-62, R1-43: everything in `~/.culture` and in the agents' folders becomes one file, and
/// nothing of it is touched.
#[test]
fn what_lies_in_the_home_is_imported_and_left_as_it_is() {
    let world = world();
    let files = culture(&world);
    fs::create_dir_all(world.path("src/eve")).unwrap();
    let before = seen(&files);
    let out = world.run(&["import"]).ok();
    assert_eq!(seen(&files), before);
    let ada = files[3].as_str();
    for part in [
        format!("read     {ada}\n"),
        format!("taken    {ada}:1: thor-ada: claude, in {}", world.path("src/ada").display()),
        format!("dropped  {}:3: poll_interval: 60: channels are not polled", files[0]),
        format!("dropped  {}:4: sleep_start: `sleep_start` and `sleep_end` belong", files[0]),
        format!("dropped  {}:3: thor-ada: already imported from {ada}:1", files[1]),
        format!("changed  {}:3: thor-bob: archived: `enabled: false`", files[4]),
        "changed  permissions: `ask`: culture lets an agent do everything".to_owned(),
        "(3 agents, 1 of them switched off)".to_owned(),
        "culture agents stop --all".to_owned(),
    ] {
        assert!(out.contains(&part), "no `{part}` in\n{out}");
    }
    let checked = world.run(&["config", "check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert!(checked.stdout.contains("ok (3 agents)"), "{}", checked.stdout);
    let of_parser = checked
        .stderr
        .lines()
        .filter(|line| !line.contains("no backend") && !line.contains("its program cannot be run"));
    assert_eq!(of_parser.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn a_dry_run_writes_nothing_and_prints_the_file() {
    let world = world();
    let files = culture(&world);
    let ran = world.run(&[
        "import",
        "--dry-run",
        &files[0],
        &world.path("src/eve").display().to_string(),
    ]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("eve"), "{}", ran.stderr);
    let ran = world.run(&["import", "--dry-run", &files[0]]);
    assert!(ran.stderr.contains("taken    "), "{}", ran.stderr);
    let text = ran.ok();
    assert!(!world.path("config").exists());
    let file = world.file("elsewhere.yaml", &text);
    assert!(world.run(&["config", "check", &file]).ok().contains("ok (2 agents)"));
    let json = world.run(&["import", "--dry-run", "--json", &files[0]]).json();
    assert_eq!(json["text"].as_str(), Some(text.as_str()));
    assert_eq!(json["agents"], serde_json::json!(["thor-ada"]));
    assert_eq!(json["switched_off"], serde_json::json!(["thor-bob"]));
    assert_eq!(json["config"], serde_json::Value::Null);
}

#[test]
fn neither_a_configuration_nor_a_source_is_written_over() {
    let world = world();
    let files = culture(&world);
    let before = seen(&files);
    let config = config(&world);
    let _ = world.file("config/gangline/agents.yaml", "mine");
    let ran = world.run(&["import"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("there is a configuration already"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&config).unwrap(), "mine");
    let json = world.run(&["import", "--force", "--json"]).json();
    let aside = json["moved_aside"].as_str().unwrap();
    assert_eq!(fs::read_to_string(aside).unwrap(), "mine");
    assert_eq!(json["config"], config.as_str());
    // Not even by force: neither a file that was named nor one that another led to, by any name.
    std::os::unix::fs::symlink(world.path("src"), world.path("link")).unwrap();
    let linked = world.path("link/ada/culture.yaml").display().to_string();
    for out in [&files[0], &files[2], &files[3], &linked] {
        let ran = world.run(&["import", "--force", "--out", out]);
        assert_eq!(ran.code, 1, "{out}: {}", ran.stdout);
        assert!(ran.stderr.contains("is one of the imported files"), "{}", ran.stderr);
    }
    assert_eq!(seen(&files), before);
    let out = world.path("new/folder/fleet.yaml");
    let _ = world.run(&["import", "--out", out.to_str().unwrap()]).ok();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&out).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn faults_are_told_with_their_place_and_nothing_is_written() {
    let world = world();
    let bad = world
        .file("bad.yaml", "server: {name: oak}\nagents:\n  - nick: oak-Ada\n    directory: /\n");
    let ran = world.run(&["import", &bad]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let expected = format!("error: {bad}:3:11: `oak-Ada` is not an agent's nick: ");
    assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("\n3 |   - nick: oak-Ada\n  |           ^^^^^^^\n"),
        "{}",
        ran.stderr
    );
    for (args, part) in [
        (vec!["import"], ".culture"),
        (vec!["import", "nowhere.yaml"], "nowhere.yaml: No such file"),
        (vec!["import", "."], "no files of culture's are in "),
    ] {
        let ran = world.run(&args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
    }
    let large = world.file("large.yaml", "");
    fs::File::options().write(true).open(&large).unwrap().set_len(100 << 20).unwrap();
    let ran = world.run(&["import", &large]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("the file has 104857600 bytes; at most 1048576"), "{}", ran.stderr);
    assert!(!world.path("config").exists());
}

/// Nothing in an agent's folder can keep an import waiting.
#[test]
fn a_folders_file_that_is_no_file_is_a_fault() {
    let world = world();
    let here = world.path("").display().to_string();
    let server = world.file("server.yaml", &format!("agents: {{ada: {here}}}\n"));
    let pipe = world.path("culture.yaml");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let ran = world.run(&["import", &server]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("culture.yaml: this is no file"), "{}", ran.stderr);
}

#[test]
fn a_directory_that_is_gone_is_told() {
    let world = world();
    let file = world.file("agents.yaml", "agents:\n  - {nick: oak-ada, directory: ~/nowhere}\n");
    let ran = world.run(&["import", &file, "--out", "out.yaml"]);
    let home = world.path("nowhere");
    let part = format!("warning: oak-ada: its directory {} is not there", home.display());
    let out = ran.ok();
    assert!(out.contains(&part), "no `{part}` in {out}");
}
