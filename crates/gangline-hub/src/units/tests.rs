use super::{Installation, Scope, Server, Unfit, agent, hub};

fn installation() -> Installation {
    Installation {
        scope: Scope::User,
        program: "/opt/gang line/gangline".into(),
        config: "/home/otto/agents.yaml".into(),
        state: "/home/otto/100%/$state".into(),
        environment: "/home/otto/.config/gangline/environment".into(),
        path: "/usr/bin:/home/otto/\"bin\"".to_owned(),
        server: Server::Embedded,
    }
}

#[test]
fn the_hubs_unit_is_written_so_that_systemd_reads_it_back() {
    let expect = r#"[Unit]
Description=Gangline hub: the chat server
StartLimitIntervalSec=300
StartLimitBurst=20

[Service]
Type=notify
NotifyAccess=main
ExecStart="/opt/gang line/gangline" --config "/home/otto/agents.yaml" --state "/home/otto/100%%/$$state" up --service --no-agents
Environment="PATH=/usr/bin:/home/otto/\"bin\""
EnvironmentFile=-/home/otto/.config/gangline/environment
Restart=on-failure
RestartPreventExitStatus=78 3 64
KillMode=mixed
ExecReload=/bin/kill -HUP $MAINPID
RestartSec=2
WatchdogSec=60
TimeoutStartSec=90
TimeoutStopSec=20

[Install]
WantedBy=default.target
"#;
    assert_eq!(hub(&installation()), expect);
}

/// R1-48: an agent that crashes is started again, one whose fault no restart mends is not, and one
/// that ends gets the time that its drain may take.
#[test]
fn an_agents_unit_restarts_what_a_restart_mends() {
    let system = Installation {
        scope: Scope::System { user: "otto".to_owned() },
        program: "/usr/bin/gangline".into(),
        state: "/srv/state".into(),
        path: "/usr/bin".to_owned(),
        ..installation()
    };
    let expect = r#"[Unit]
Description=Gangline agent %i
Wants=gangline.service
After=gangline.service
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=20

[Service]
Type=notify
NotifyAccess=main
ExecStart="/usr/bin/gangline" --config "/home/otto/agents.yaml" --state "/srv/state" daemon %i
User=otto
Environment="PATH=/usr/bin"
EnvironmentFile=-/home/otto/.config/gangline/environment
Restart=on-failure
RestartPreventExitStatus=78 3 64
KillMode=mixed
RestartSec=5
WatchdogSec=180
TimeoutStartSec=120
TimeoutStopSec=80

[Install]
WantedBy=multi-user.target
"#;
    assert_eq!(agent(&system), expect);
    let elsewhere = Installation { server: Server::Elsewhere, ..system };
    assert!(!agent(&elsewhere).contains("gangline.service"));
}

/// What systemd 255 said of each (`systemd-analyze verify`): a program's name has no variables and no quotes,
/// all other words may have them.
#[test]
fn each_word_is_written_as_systemd_reads_it_back() {
    let odd = Installation {
        program: "/opt/$x/gang;line".into(),
        config: "/home/o'tto/a\\b/\"agents\".yaml".into(),
        state: "/srv/$state/100%".into(),
        environment: "/home/o'tto/[a]*\\/gangline.env".into(),
        ..installation()
    };
    assert_eq!(odd.check(), Ok(()));
    let unit = hub(&odd);
    let start = r#"ExecStart="/opt/$x/gang;line" --config "/home/o'tto/a\\b/\"agents\".yaml" --state "/srv/$$state/100%%" up"#;
    assert!(unit.contains(start), "{unit}");
    assert!(unit.contains("EnvironmentFile=-/home/o'tto/\\[a]\\*\\\\/gangline.env\n"), "{unit}");
}

#[test]
fn what_a_unit_cannot_hold_is_refused() {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    let control = |what, word: &str| Err(Unfit::Control { what, word: word.to_owned() });
    let bad = "/srv/x\nExecStartPre=/bin/evil";
    let with = |change: &dyn Fn(&mut Installation)| {
        let mut it = installation();
        change(&mut it);
        it.check()
    };
    assert_eq!(with(&|it| it.state = bad.into()), control("the state folder's path", bad));
    assert_eq!(
        with(&|it| it.config = "/a\rb".into()),
        control("the configuration's path", "/a\rb")
    );
    assert_eq!(with(&|it| it.path = "/bin\t".to_owned()), control("PATH", "/bin\t"));
    let user = |it: &mut Installation| it.scope = Scope::System { user: "o\nGroup=0".to_owned() };
    assert_eq!(with(&user), control("the user's name", "o\nGroup=0"));
    let raw = std::path::PathBuf::from(OsString::from_vec(b"/srv/\xff".to_vec()));
    let path = raw.clone();
    let expect = Err(Unfit::NotText { what: "the state folder's path", path });
    assert_eq!(with(&|it| it.state = raw.clone()), expect);
    for program in ["/opt/it's/gangline", "/opt/\"x\"/gangline", "/opt/a\\b/gangline"] {
        assert_eq!(with(&|it| it.program = program.into()), Err(Unfit::Program(program.into())));
    }
}
