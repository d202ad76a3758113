//! What the tests of programs in a terminal share, on top of the rig of a session.

use std::{fs, sync::Arc};

use gangline_os::{
    run_id::{self, RunProcess},
    secret::Secret,
};
use gangline_runtime::{NoTools, RuntimeEvent, TurnResult};

use crate::rig::look_again;
pub(crate) use crate::rig::{Done, Rig, turn};

/// Joins its streams to a socket, as the daemon's own bridge does.
const BRIDGE: &str = r#"const s = require("net").connect(process.argv[2]);
process.stdin.pipe(s); s.pipe(process.stdout); s.on("close", () => process.exit(0));"#;

/// What its sessions find in their environment.
const ENV: [(&str, &str); 3] = [
    ("LANG", "C.UTF-8"),
    ("PS1", "$ "),
    // What a daemon in somebody's tmux has.
    ("TMUX", "/tmp/somebody,1,0"),
];

impl Rig {
    /// A rig for a program; `screen` is what the configuration says about its screen.
    pub(crate) fn new(command: &[&str], screen: serde_json::Value) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let mut rig = Self::of("tmux", command);
        let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned()));
        rig.options.env.extend(env);
        rig.options.system_prompt = String::new();
        rig.options.allowed_tools = Vec::new();
        rig.options.extra.insert("screen".to_owned(), screen);
        rig.options.tools = Arc::new(NoTools);
        rig
    }

    /// A rig for a program that is written here, in Python.
    pub(crate) fn python(program: &str, screen: serde_json::Value) -> Self {
        let mut rig = Self::new(&[], screen);
        let path = rig.path("program");
        rig.set_program(&path, &format!("#!/usr/bin/env python3\n{program}"));
        rig
    }

    /// Lets the program's hooks reach the adapter.
    pub(crate) fn with_hooks(mut self) -> Self {
        let bridge = self.path("bridge.js");
        fs::write(&bridge, BRIDGE).unwrap();
        self.options.tool_bridge = vec!["node".to_owned(), bridge.display().to_string()];
        self
    }

    /// Serves a model that follows the script, gives the key for it, and returns its address.
    pub(crate) async fn served(&mut self, script: &str) -> String {
        let address = self.model(script).await;
        self.options.api_key = Some(Secret::new("sk-ant-standin-0123456789ab"));
        format!("http://{address}")
    }

    pub(crate) async fn until_accepted(&mut self) {
        self.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    }

    /// Runs a command of tmux on the agent's server, as a human would.
    #[allow(clippy::disallowed_methods, reason = "the human's own program, which ends at once")]
    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("tmux")
            .args(["-u", "-N", "-S", "tmux.sock"])
            .args(args)
            .current_dir(self.path("sessions"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The tmux server.
    pub(crate) fn server(&self) -> RunProcess {
        let server =
            self.run_processes().into_iter().find(|(_, line)| line.contains(" -D ")).unwrap().0;
        let mut all = run_id::run_processes(&self.installation).into_iter();
        all.find(|it| it.pid == server).unwrap()
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows a text.
    pub(crate) async fn until_shown(&self, text: &str) {
        while !self.screen().contains(text) {
            look_again().await;
        }
    }

    /// Stops it; its exit is told last, and no process is left.
    pub(crate) async fn put_away(mut self) {
        self.runtime.stop(gangline_runtime::StopReason::Shutdown).await;
        assert_eq!(self.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));
        assert_eq!(self.run_processes(), []);
    }
}

impl Done {
    /// Why it failed.
    pub(crate) fn why(&self) -> &str {
        match self.result() {
            TurnResult::Failed { why, .. } => why,
            other => panic!("not failed but {other:?}"),
        }
    }
}
