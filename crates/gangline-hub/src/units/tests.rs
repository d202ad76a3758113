use super::{Installation, Scope, Server, agent, hub};

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
