//! What a person pastes into an IRC client to join.

use std::fmt::Write as _;

use gangline_os::secret::Secret;

#[cfg(test)]
mod tests;

/// Returns the lines for irssi, ii and any other client; `room` is where to go then.
pub(crate) fn lines(irc: &str, owner: &Secret, room: Option<&str>) -> String {
    let (host, port) = irc.rsplit_once(':').unwrap_or((irc, "6667"));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let token = owner.expose();
    let join = room.map_or_else(String::new, |room| format!("   then  /join {room}"));
    let ii_join = room.map_or_else(String::new, |room| {
        format!("\n                  then  echo '/j {room}' > ~/irc/{host}/in")
    });
    let mut out = format!("Join with any IRC client: {host}, port {port}, no TLS.\n");
    let _ =
        writeln!(out, "  as the owner, who may approve and pause (the password is owner:TOKEN):");
    let _ = writeln!(out, "    irssi         /connect {host} {port} owner:{token}{join}");
    let _ = writeln!(
        out,
        "    ii            IIPASS=owner:{token} ii -s {host} -p {port} -n you -k IIPASS{ii_join}"
    );
    let _ = writeln!(out, "  as somebody of this machine, without a password:");
    let _ = writeln!(out, "    irssi         /connect {host} {port}{join}");
    out
}
