//! The servers of a story: the chat server and the stand-in model, each a part of its own.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc,
};

use gangline_core::{AgentName, Tier};
use gangline_hub::{
    credentials,
    ircd::{Ircd, IrcdOptions, Keep, Tuning},
};
use gangline_irc::server::config::Limits;
use gangline_os::{CancellationToken, clock, paths::Paths};
use gangline_standin::{Script, StandinOptions};

use super::{ADA, BOB, Part, Threads};

pub(super) fn secret_file(paths: &Paths, nick: &str) -> PathBuf {
    let agent: AgentName = nick.parse().unwrap();
    credentials::agent_secret_file(paths, &agent)
}

/// Starts the chat server; it keeps its history in memory.
pub(super) fn ircd(paths: &Paths) -> (SocketAddr, Part<()>) {
    let account = |nick: &str| {
        let password = credentials::load_or_make(&secret_file(paths, nick)).unwrap();
        (nick.to_owned(), Tier::Agent, credentials::hash(&password))
    };
    let options = IrcdOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        name: "lab".to_owned(),
        state: paths.state.clone(),
        accounts: [ADA, BOB].map(account).into(),
        clock: clock::system(),
    };
    let limits = Limits { flood: None, ..Limits::default() };
    let tuning = Tuning { keep: Keep::InMemory(1000), limits, ..Tuning::default() };
    let (tell, told) = mpsc::sync_channel(1);
    let part = Part::run("ircd", Threads::One, move || async move {
        let ircd = Ircd::open(options, tuning).await.unwrap();
        tell.send(ircd.address()).unwrap();
        ircd.run(CancellationToken::new()).await;
    });
    (told.recv().expect("a chat server"), part)
}

/// Starts the stand-in model, which records what it is asked.
pub(super) fn standin(script: &str, record: &Path) -> (SocketAddr, Part<()>) {
    let (script, record) = (Script::parse(script).unwrap(), record.to_owned());
    let (tell, told) = mpsc::sync_channel(1);
    let part = Part::run("standin", Threads::One, move || async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        tell.send(listener.local_addr().unwrap()).unwrap();
        let (script, record) = (Some(script), Some(record));
        let options = StandinOptions { listener, script, record, clock: clock::system() };
        gangline_standin::serve(options, CancellationToken::new()).await.unwrap();
    });
    (told.recv().expect("a model"), part)
}
