//! What the tests of Codex share, on top of the rig of a session.

use std::path::PathBuf;

use gangline_os::{process, secret::Secret};
use gangline_testkit::{
    hostile::{self, Play},
    programs,
};

pub(crate) use crate::rig::{Done, Rig, turn};

/// The key of the model, which no shell may see.
pub(crate) const KEY: &str = "sk-standin-0123456789";

/// What its sessions find in their environment.
const ENV: [(&str, &str); 3] = [
    ("GANGLINE_NICK", "oak-ada"),
    ("GANGLINE_TOKEN", "a-token"),
    // What a parent of this program's kind would leave behind.
    ("CODEX_THREAD_ID", "somebody-else"),
];

impl Rig {
    /// A rig for the real Codex, whose model follows the script.
    pub(crate) async fn codex(script: &str) -> Self {
        let mut rig = with(programs::codex().display().to_string());
        let address = rig.model(script).await;
        rig.options.base_url = Some(format!("http://{address}/v1"));
        rig.options.api_key = Some(Secret::new(KEY));
        rig
    }

    /// A rig for the program that misbehaves.
    pub(crate) fn hostile(play: Play) -> Self {
        let mut rig = with(String::new());
        let program = hostile::codex().program(play, &rig.path(""));
        rig.options.command = Some(vec![program.display().to_string()]);
        rig.options.api_key = Some(Secret::new(KEY));
        rig
    }

    /// Starts a program of the test's own, which ends with what is returned.
    pub(crate) fn helper(&self, command: &[String]) -> process::Child {
        let env = self.options.env.iter().map(|(name, value)| (name.into(), value.into()));
        let spawn = process::Spawn {
            program: PathBuf::from(&command[0]),
            args: command[1..].iter().map(Into::into).collect(),
            cwd: self.path("work"),
            env: env.collect(),
            stdin: process::Stdin::Null,
            stdout: process::Output::Inherit,
            stderr: process::Output::Inherit,
            group: process::Group::New,
        };
        process::spawn(spawn).unwrap()
    }
}

fn with(command: String) -> Rig {
    let mut rig = Rig::of("codex", vec![command]);
    let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned()));
    rig.options.env.extend(env);
    rig.options.model = Some("gpt-5.5".to_owned());
    rig.options.allowed_tools = Vec::new();
    rig
}
