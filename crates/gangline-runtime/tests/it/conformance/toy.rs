//! The toy backend of `docs/adding-a-backend.md`: an agent of JSON lines, one process per session.

mod worker;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use async_trait::async_trait;
use gangline_os::{
    process::{self, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use gangline_runtime::{Capabilities, Runtime, RuntimeError, Session, StartOptions, session};
use serde_json::Value;

use self::worker::Worker;

const NAME: &str = "toy";
/// A stopped program is gone within this.
const STOP_WITHIN: Duration = Duration::from_secs(10);

const CAN: Capabilities = Capabilities {
    interrupt: true,
    approvals: true,
    usage: true,
    structured: true,
    calls: true,
    failures: true,
    ..Capabilities::NONE
};

/// The adapter.
pub(crate) struct Toy;

#[async_trait]
impl Runtime for Toy {
    fn capabilities(
        &self,
        _command: Option<&[String]>,
        _extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        Ok(CAN)
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        let child = process::spawn(spawn(&options));
        let child =
            child.map_err(|error| RuntimeError::Start { runtime: NAME, why: error.to_string() })?;
        let (mut session, port) = session::pair(NAME, &options, CAN);
        let worker = Worker::new(&options, child, port);
        session.run_in(tasks, STOP_WITHIN, worker.run());
        Ok(session)
    }
}

/// How the program is started: everything that it may see is said here.
fn spawn(options: &StartOptions) -> Spawn {
    let command = options.command.clone().unwrap_or_else(|| vec!["toy-agent".to_owned()]);
    let (program, args) = command.split_first().map_or_else(Default::default, |(first, rest)| {
        (PathBuf::from(first), rest.iter().map(Into::into).collect())
    });
    let key = options.api_key.as_ref().map_or("", |key| key.expose());
    let own = [
        ("TOY_URL", options.base_url.as_deref().unwrap_or_default()),
        ("TOY_MODEL", options.model.as_deref().unwrap_or("toy-1")),
        ("TOY_KEY", key),
    ];
    let given = options.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Spawn {
        program,
        args,
        cwd: options.workdir.clone(),
        env: given.chain(own).map(|(name, value)| (name.into(), value.into())).collect(),
        stdin: Stdin::Piped,
        stdout: Output::Piped,
        stderr: Output::Null,
        group: Group::New,
    }
}
