//! What a person pastes into an IRC client to join.

use std::fmt::Write as _;

use gangline_os::secret::Secret;

#[cfg(test)]
mod tests;

/// Returns the lines for weechat, irssi, ii and any other client; `room` is where to go then.
pub(crate) fn lines(irc: &str, owner: &Secret, room: Option<&str>) -> String {
    let (host, port) = irc.rsplit_once(':').unwrap_or((irc, "6667"));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let token = owner.expose();
    let join = room.map_or_else(String::new, |room| format!("   then  /join {room}"));
    let ii_join = room.map_or_else(String::new, |room| {
        format!("\n                  then  echo '/j {room}' > ~/irc/{host}/in")
    });
    let mut out = format!("Join with any IRC client: {host}, port {port}, no TLS.\n");
    let _ = writeln!(out, "  as the owner, who may approve and pause:");
    let _ = writeln!(
        out,
        "    weechat       /server add gangline {host}/{port} -notls -sasl_mechanism=scram-sha-256 \
         -sasl_username=owner -sasl_password={token}\n            then  /connect gangline{join}"
    );
    let _ = writeln!(
        out,
        "  the same by the server password owner:TOKEN, which goes to whatever has the port:"
    );
    let _ = writeln!(out, "    irssi         /connect {host} {port} owner:{token}{join}");
    let _ = writeln!(
        out,
        "    ii            IIPASS=owner:{token} ii -s {host} -p {port} -n you -k IIPASS{ii_join}"
    );
    // Elsewhere the system does not tell whose a connection is.
    if cfg!(target_os = "linux") {
        let _ = writeln!(out, "  as yourself, who may talk to the agents, without a password:");
        let _ = writeln!(out, "    irssi         /connect {host} {port}{join}");
    }
    out
}
