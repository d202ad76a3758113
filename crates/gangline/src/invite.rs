//! What a person pastes into an IRC client to join.

use std::fmt::Write as _;

use gangline_hub::credentials::OWNER;
use gangline_os::secret::Secret;

use crate::caller;

#[cfg(test)]
mod tests;

/// How a line to paste is indented.
const MARGIN: &str = "    ";

/// Returns the lines for WeeChat, clients with windows, irssi and ii, each to be pasted as it is;
/// `room` is where to go then. The way that does not send the password comes first.
pub(crate) fn lines(irc: &str, owner: &Secret, room: Option<&str>) -> String {
    let (host, port) = place(irc);
    let token = owner.expose();
    let join: Vec<String> = room.iter().map(|room| format!("/join {room}")).collect();
    let mut out = format!("Join with any IRC client: {host}, port {port}, no TLS.\n");
    let mut block = |title: &str, lines: &[String]| {
        let _ = writeln!(out, "  {title}");
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "{MARGIN}{line}");
        });
    };
    let set = |key: &str, value: &str| format!("/set irc.server.gangline.{key} {value}");
    // A line that is pasted before the connection stands is no loss, and what an earlier `/server add`
    // has said of the address does not stay.
    let mut weechat = vec![
        format!("/server add gangline {host}/{port} -notls"),
        set("addresses", &format!("{host}/{port}")),
        set("sasl_mechanism", "scram-sha-256"),
        set("sasl_username", OWNER),
        set("sasl_password", token),
    ];
    weechat.extend(room.map(|room| set("autojoin", room)));
    weechat.extend(["/save".to_owned(), "/connect gangline".to_owned()]);
    block("WeeChat, as the owner, who may approve and pause:", &weechat);
    block(
        "a client with windows (Halloy, HexChat, Textual …), as the owner:",
        &[
            "no TLS; SASL by SCRAM-SHA-256, else PLAIN".to_owned(),
            format!("account {OWNER}, password {token}"),
        ],
    );
    let irssi = [format!("/connect {host} {port} {OWNER}:{token}")];
    block(
        "irssi, as the owner; it sends the password to the program that has the port:",
        &[&irssi, &join[..]].concat(),
    );
    let ii = [
        format!("export IIPASS={OWNER}:{token}"),
        format!("ii -s {host} -p {port} -n you -k IIPASS"),
    ];
    let ii_join: Vec<String> =
        room.iter().map(|room| format!("echo '/j {room}' > ~/irc/{host}/in")).collect();
    block("ii, as the owner; the same:", &[&ii, &ii_join[..]].concat());
    // Elsewhere the system does not tell whose a connection is.
    if cfg!(target_os = "linux") {
        let plain = [format!("/connect {host} {port}")];
        block(
            "any client without a password: you may talk to the agents, and not approve:",
            &[&plain, &join[..]].concat(),
        );
    }
    out
}

/// Returns what any client needs to join, and the command that prints the rest.
pub(crate) fn brief(irc: &str, owner: &Secret, room: Option<&str>) -> String {
    let ((host, port), token) = (place(irc), owner.expose());
    let room = room.map_or_else(String::new, |room| format!("The room is {room}; "));
    format!(
        "Join {host}/{port}, no TLS, account {OWNER}, password {token}\n\
         {room}`gangline join` prints lines to paste into your client.\n"
    )
}

/// Returns how to connect, with the password unless an agent reads it.
pub(crate) fn for_caller(irc: &str, owner: &Secret, room: Option<&str>) -> String {
    match caller::may_read_password() {
        true => lines(irc, owner, room),
        false => without_password(irc, room),
    }
}

/// Returns what an agent may read: where people join, and how they find the password.
pub(crate) fn without_password(irc: &str, room: Option<&str>) -> String {
    let (host, port) = place(irc);
    let room = room.map_or_else(String::new, |room| format!(" The room is {room}."));
    format!(
        "The chat is at {host}/{port}, no TLS, account {OWNER}.{room}\n\
         The password is not shown to agents; a person can see it with `gangline join`.\n"
    )
}

/// Returns host and port, as clients take them.
pub(crate) fn place(irc: &str) -> (&str, &str) {
    let (host, port) = irc.rsplit_once(':').unwrap_or((irc, "6667"));
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}
