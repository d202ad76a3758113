//! Which program reads what, and that nothing of it is loaded unasked: every file of every program.

use std::{fs, os::unix::fs::chown, path::PathBuf};

use gangline_os::dial::own_uid;
use serde_json::json;

use super::*;
use crate::{
    Permissions, StartOptions,
    folder::{At, Load, Trusted, copy, decide, scan, short},
};

/// A program is known by its backend, by the name of its file where any program may be, or by what another
/// program is told to start.
#[test]
fn what_a_program_reads_is_known_by_its_name() {
    let check = |name: &str, command: &str, expected: &Brings| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let brings = of(name, &words, None);
        assert_eq!(brings, expected, "{name} {command}");
    };
    check("claude", "claude", &CLAUDE);
    check("claude", "npx claude-code", &CLAUDE);
    check("codex", "/opt/codex", &CODEX);
    check("opencode", "/x/wrapper acp", &OPENCODE);
    check("qwen", "qwen --acp", &QWEN);
    check("goose", "goose acp", &NOTHING);
    check("native", "", &NOTHING);
    for name in ["acp", "tmux"] {
        check(name, "/opt/bin/opencode acp", &OPENCODE);
        check(name, "codex-acp", &CODEX_ACP);
        check(name, "/x/claude-agent-acp", &CLAUDE_ACP);
        check(name, "npx -y @zed-industries/claude-code-acp@0.9.1", &CLAUDE_ACP);
        check(name, "npx @zed-industries/codex-acp@latest", &CODEX_ACP);
        check(name, "bunx opencode-ai acp", &OPENCODE);
        check(name, "node /x/node_modules/@google/gemini-cli/dist/index.js --acp", &GEMINI);
        check(name, "env A=b qwen --acp", &QWEN);
        check(name, "sh -c exec /opt/copilot;--acp", &COPILOT);
        check(name, "nice cline.exe --acp", &CLINE);
        check(name, "kiro-cli-chat acp", &KIRO);
        check(name, "unheard-of --model claude-opus", &NOTHING);
        // What another program starts gets no switch of ours.
        check(name, "env A=b claude", &CLAUDE_ACP);
        check(name, "npx @openai/codex", &CODEX_ACP);
    }
    check("tmux", "/x/claude.exe --mine", &CLAUDE);
    check("tmux", "bash", &NOTHING);
    let like = json!({"like": "codex"});
    assert_eq!(in_terminal(&["/x/wrapper".to_owned()], Some(&like)), &CODEX);
    assert_eq!(in_terminal(&["/x/wrapper".to_owned()], Some(&json!({"like": "shell"}))), &NOTHING);
}

#[test]
fn a_link_to_a_known_program_is_that_program() {
    let top = tempfile::tempdir().unwrap();
    let real = top.path().join("node_modules/@google/gemini-cli/index.js");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::write(&real, "").unwrap();
    let link = top.path().join("helper");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(by_command(&[link.display().to_string()]), &GEMINI);
}

/// A folder that brings along one file.
struct Clone {
    _top: tempfile::TempDir,
    options: StartOptions,
    file: PathBuf,
}

impl Clone {
    fn new(item: &Item, above: bool, permissions: Permissions) -> Self {
        let top = tempfile::tempdir().unwrap();
        let mut options = StartOptions::within(top.path());
        options.workdir = top.path().join("clone/sub");
        options.permissions = permissions;
        options.env = vec![
            ("HOME".to_owned(), top.path().display().to_string()),
            ("GANGLINE_RUN".to_owned(), "i/oak-ada/1".to_owned()),
        ];
        fs::create_dir_all(&options.workdir).unwrap();
        let folder = if above { top.path().join("clone") } else { options.workdir.clone() };
        let mut file = folder.join(item.path);
        if file.extension().is_none() && !item.path.ends_with(".env") {
            file.push("deep/x.md");
        }
        let clone = Self { _top: top, options, file };
        clone.write("{\"hooks\": 1}");
        if item.at == At::Foreign {
            chown(&clone.file, Some(65534), None).unwrap();
            chown(folder.join(item.path), Some(65534), None).unwrap();
        }
        clone
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.file.parent().unwrap()).unwrap();
        fs::write(&self.file, text).unwrap();
    }
}

/// Each file that a program reads, in its folder or above, under each kind of permissions: named, not
/// loaded; loaded when it was allowed; after a change asked about again, and not loaded.
#[test]
fn nothing_is_loaded_unasked_whatever_it_is_and_whatever_is_permitted() {
    let bridges: [&Brings; 2] = [&CLAUDE_ACP, &CODEX_ACP];
    let mut checked = 0;
    for brings in ALL.into_iter().chain(bridges) {
        let items = brings.items.iter().filter(|it| it.at != At::Foreign || own_uid() == 0);
        let places = items.flat_map(|item| {
            let above: &[bool] = if item.at == At::Folder { &[false] } else { &[false, true] };
            above.iter().map(move |above| (item, *above))
        });
        for (item, above) in places {
            for permissions in [Permissions::Ask, Permissions::Allowlist, Permissions::Bypass] {
                check(brings, &Clone::new(item, above, permissions), item.path);
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "{checked}");
}

fn check(brings: &Brings, clone: &Clone, path: &str) {
    let Clone { options, .. } = clone;
    let mut options = options.clone();
    let home = PathBuf::from(&options.env[0].1);
    let look = || scan(&options.workdir.clone(), Some(&home), brings);
    let found = look();
    let mode = options.permissions;
    let about = format!("{path} {mode:?} {:?}", brings.without);
    assert!(found.brought.iter().any(|it| it.path.starts_with(path)), "{about}: {found:?}");
    let refuses = |options: &StartOptions, hash: &str| match decide(options, brings) {
        Err(why) => {
            let named = why.contains(path)
                && why.contains(&format!("gangline trust allow oak-ada {}", short(hash)));
            assert!(brings.without == Without::NoSwitch && named, "{about}: {why}");
        }
        Ok(decided) => {
            let switched = brings.without != Without::NoSwitch;
            assert!(switched && decided.load == Load::Nothing, "{about}: {decided:?}");
        }
    };
    refuses(&options, &found.hash());
    let copies = home.join("copies");
    if brings.from == From::Copy {
        copy::make(&copies, &found).unwrap();
    }
    let trusted = Trusted { hash: found.hash(), copies };
    options.trusted = Some(trusted);
    let loaded = decide(&options, brings).unwrap().load;
    match brings.from {
        From::Folder => assert_eq!(loaded, Load::Folder, "{about}"),
        From::Copy => assert!(matches!(loaded, Load::Copy(_)), "{about}"),
    }
    // A pull.
    clone.write("{\"hooks\": 2}");
    let pulled = scan(&options.workdir, Some(&home), brings);
    assert_ne!(pulled.hash(), found.hash(), "{about}");
    match brings.from {
        From::Folder => refuses(&options, &pulled.hash()),
        From::Copy => {
            let Load::Copy(copied) = decide(&options, brings).unwrap().load else {
                panic!("{about}: it is loaded from the copy");
            };
            assert_eq!(copied.files, found.brought, "{about}: what was allowed");
        }
    }
}
