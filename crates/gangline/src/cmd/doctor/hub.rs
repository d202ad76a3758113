//! The hub and the IRC server.

use std::{net::SocketAddr, path::Path, time::Duration};

use gangline_core::AgentName;
use gangline_hub::about::{About, StandingWord};
use gangline_os::{
    dial::{dial, own_uid},
    paths::Paths,
    peer::tcp_listener_uid,
    proc::{has_variable, was_replaced},
};
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

use super::report::Check;
use crate::{configuration::Loaded, fleet};

/// How long the IRC server may take to take a connection.
const PATIENCE: Duration = Duration::from_secs(3);

/// The hub as far as it matters to others.
pub(super) struct Hub {
    /// Whether one runs.
    pub(super) runs: bool,
    /// What it says of itself.
    about: Option<About>,
}

impl Hub {
    /// Returns its process, if it has said that.
    pub(super) fn pid(&self) -> Option<u32> {
        self.about.as_ref().map(|about| about.pid)
    }

    /// Returns how an agent that it keeps stands.
    pub(super) fn standing(&self, nick: &AgentName) -> Option<StandingWord> {
        self.about.as_ref()?.kept.get(nick.as_str()).map(|kept| kept.standing)
    }
}

/// Looks for the hub.
pub(super) fn look(paths: &Paths, loaded: Option<&Loaded>) -> (Hub, Check) {
    const NAME: &str = "hub";
    match fleet::hub(paths) {
        Err(failure) => (Hub { runs: false, about: None }, Check::failed(NAME, &failure)),
        Ok(None) => {
            let check = Check::note(NAME, "none runs");
            let check = match loaded {
                Some(_) => check.remedy("`gangline up -d` starts one"),
                None => check,
            };
            (Hub { runs: false, about: None }, check)
        }
        Ok(Some(hub)) => {
            let check = match &hub.about {
                None => Check::note(NAME, "it is starting"),
                Some(about) => running(about, &paths.config_file),
            };
            (Hub { runs: true, about: hub.about }, check)
        }
    }
}

fn running(about: &About, config: &Path) -> Check {
    const NAME: &str = "hub";
    let text = format!("process {}, version {}", about.pid, about.version);
    if let Some(why) = &about.refused {
        return Check::warn(NAME, format!("{text}: it still runs with an earlier configuration"))
            .detail(why)
            .remedy("correct the configuration, then `gangline up -d`");
    }
    if about.config != config {
        let theirs = about.config.display();
        return Check::warn(NAME, format!("{text}: it runs with another configuration: {theirs}"))
            .remedy(format!("`gangline doctor --config {theirs}` checks that one"))
            .remedy("`gangline down`, then `gangline up -d`, uses the one above");
    }
    if was_replaced(about.pid) == Some(true) {
        return Check::warn(NAME, format!("{text}: its program was replaced after it started"))
            .remedy("`gangline restart --hub`, and `gangline restart --all --when-idle`");
    }
    Check::ok(NAME, text)
}

/// Looks whether the IRC server answers, or its port is free for the hub.
pub(super) async fn irc(hub: &Hub, loaded: Option<&Loaded>) -> Vec<Check> {
    const NAME: &str = "irc";
    if let Some(about) = &hub.about {
        let check = match reach(&about.irc).await {
            Ok(()) => Check::ok(NAME, format!("{} takes connections", about.irc)),
            Err(why) => Check::fail(NAME, format!("{} does not answer: {why}", about.irc))
                .remedy(remedy(loaded, hub)),
        };
        return std::iter::once(check).chain(socket(about)).chain(http(about)).collect();
    }
    let Some(loaded) = loaded else { return Vec::new() };
    if loaded.config.network.embedded {
        return vec![match loaded.embedded_address() {
            Err(failure) => Check::failed(NAME, &failure),
            Ok(address) => free(address).await,
        }];
    }
    let address = loaded.config.server.address();
    let reached = match reach(&address).await {
        Ok(()) => Check::ok(NAME, format!("{address} takes connections")),
        Err(why) => Check::fail(NAME, format!("{address} cannot be reached: {why}"))
            .remedy(remedy(Some(loaded), hub)),
    };
    vec![reached]
}

/// Looks whether the hub's chat server can be reached by its daemons.
fn socket(about: &About) -> Option<Check> {
    const NAME: &str = "irc socket";
    let path = about.socket.as_deref()?;
    Some(match dial(path, PATIENCE) {
        Ok(_) => Check::ok(NAME, format!("{} takes the agents' connections", path.display())),
        Err(error) => Check::fail(NAME, one_line(&error)).remedy(
            "the hub makes a removed socket again within 30 s; if not, run `gangline restart \
             --hub`",
        ),
    })
}

/// Says where the HTTP interface listens, or why it does not.
fn http(about: &About) -> Option<Check> {
    const NAME: &str = "http";
    if let Some(why) = &about.http_trouble {
        return Some(Check::warn(NAME, format!("the hub {why}")).remedy(
            "stop the other program, or set another `http.port` and run `gangline restart --hub`",
        ));
    }
    about.http.as_ref().map(|address| Check::ok(NAME, format!("{address} takes requests")))
}

fn one_line(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn remedy(loaded: Option<&Loaded>, hub: &Hub) -> &'static str {
    match loaded.is_some_and(|loaded| loaded.config.network.embedded) {
        true if hub.runs => "run `gangline restart --hub`; the log is hub.log in the state folder",
        _ => "start that server, or set another `server.host` and `server.port`",
    }
}

/// Nobody else may have the port that the hub wants.
async fn free(address: SocketAddr) -> Check {
    match timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(_)) => {
            Check::fail("irc", format!("another program listens on {address}{}", whose(address)))
                .remedy("stop it, or set another `server.port`")
        }
        Ok(Err(_)) | Err(_) => Check::ok("irc", format!("{address} is free for the hub")),
    }
}

/// Returns whose a listener is, if it is another user's.
fn whose(address: SocketAddr) -> String {
    match tcp_listener_uid(address) {
        Ok(Some(uid)) if uid != own_uid() => {
            format!(", of user {uid}: that user can read a password that you send there")
        }
        Ok(_) | Err(_) => String::new(),
    }
}

async fn reach(address: &str) -> Result<(), String> {
    let dial = async {
        let mut why = "its name has no address".to_owned();
        for address in lookup_host(address).await.map_err(|error| error.to_string())? {
            match TcpStream::connect(address).await {
                Ok(_) => return Ok(()),
                Err(error) => why = error.to_string(),
            }
        }
        Err(why)
    };
    let late = || Err(format!("nothing within {} s", PATIENCE.as_secs()));
    timeout(PATIENCE, dial).await.unwrap_or_else(|_| late())
}

/// A login to a server that is not ours wants its password.
pub(super) fn sasl(hub: &Hub, loaded: Option<&Loaded>) -> Option<Check> {
    let network = &loaded?.config.network;
    let name = &network.sasl.as_ref().filter(|_| !network.embedded)?.password_env;
    Some(variable("irc login", name, hub))
}

/// A variable that the configuration names.
pub(super) fn variable(check: &str, name: &str, hub: &Hub) -> Check {
    let set = std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let has = hub.about.as_ref().and_then(|about| has_variable(about.pid, name));
    match (set, hub.runs) {
        (true, true) if has == Some(false) => {
            Check::warn(check, format!("the variable {name} is set here, and the hub lacks it"))
                .remedy("`gangline restart --hub` gives the hub the environment of this shell")
        }
        (true, _) => Check::ok(check, format!("the variable {name} is set")),
        (false, true) if has == Some(true) => {
            Check::ok(check, format!("the hub has the variable {name}"))
        }
        (false, true) if has == Some(false) => Check::fail(
            check,
            format!("the variable {name} is not set, neither here nor in the hub"),
        )
        .remedy(format!("set {name} here, then run `gangline restart --hub`")),
        (false, true) => {
            Check::warn(check, format!("the variable {name} is not set here; the hub may have it"))
                .remedy(format!("set {name} where the hub is started"))
        }
        (false, false) => Check::fail(check, format!("the variable {name} is not set"))
            .remedy(format!("set {name} where the hub is started")),
    }
}
