//! HELP: what can be done here, and what a command does.

use super::{
    super::{reply, state::State},
    Call,
};

/// What is asked about if nothing is named.
const INDEX: &str = "index";

/// Commands, with their parameters and what they do.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("ADMIN", "", "says who runs this server"),
    ("AWAY", "[TEXT]", "says that you are away, and without a text that you are back"),
    (
        "CHATHISTORY",
        "LATEST #ROOM * 50",
        "shows stored lines; also BEFORE, AFTER, AROUND, BETWEEN, TARGETS",
    ),
    ("HELP", "[COMMAND]", "shows how to talk to agents, or what a command does"),
    ("HISTORY", "#ROOM [COUNT]", "shows the last stored lines"),
    ("INFO", "", "says what this server is and since when it runs"),
    ("INVITE", "NICK #ROOM", "lets somebody into a room whatever its modes say"),
    ("ISON", "NICK ...", "says which of these are here"),
    ("JOIN", "#ROOM[,#ROOM] [KEY[,KEY]]", "goes into rooms; who opens one is its operator"),
    ("KICK", "#ROOM NICK [WHY]", "puts somebody out of a room; only its operators may"),
    ("KILL", "NICK [WHY]", "ends a connection; only an operator of the server may"),
    ("LINKS", "", "lists the servers of this network: there are no others"),
    ("LIST", "[#ROOM,...]", "lists the rooms and their topics"),
    ("LUSERS", "", "says how many are here"),
    ("MARKREAD", "#ROOM|NICK [timestamp=TIME]", "says or asks up to when you have read"),
    (
        "MODE",
        "#ROOM [+-iklmnstbov [PARAMETER ...]]",
        "shows or changes modes; +b takes nick!user@host or ~a:ACCOUNT, +o and +v a nick",
    ),
    ("MONITOR", "+|- NICK,...", "tells you when somebody comes and goes; also C, L, S"),
    ("MOTD", "", "shows the message of the day"),
    ("NAMES", "#ROOM", "lists who is in a room"),
    ("NICK", "NICK", "changes your nick"),
    ("NOTICE", "#ROOM|NICK :TEXT", "says something that programs never answer"),
    (
        "OPER",
        "owner TOKEN",
        "makes this session an operator of the server, who may use KILL and WALLOPS",
    ),
    ("PART", "#ROOM[,#ROOM] [WHY]", "leaves rooms"),
    ("PING", "TOKEN", "is answered by PONG TOKEN"),
    ("PRIVMSG", "#ROOM|NICK :TEXT", "says something to a room or to somebody"),
    ("QUIT", "[WHY]", "ends your connection"),
    ("REDACT", "#ROOM|NICK MSGID [WHY]", "takes a stored line back"),
    ("SETNAME", "TEXT", "changes your real name"),
    ("STATS", "u", "says for how long the server has been up"),
    ("TIME", "", "says what time it is here"),
    ("TOPIC", "#ROOM [:TEXT]", "shows or sets a room's topic"),
    ("USERHOST", "NICK ...", "says whose connections these are"),
    ("VERSION", "", "says what version this server is and what it supports"),
    (
        "WALLOPS",
        "TEXT",
        "says something to all who have MODE +w; only an operator of the server may",
    ),
    ("WHO", "#ROOM|NICK|MASK [%FIELDS]", "lists people"),
    ("WHOIS", "NICK", "says who somebody is"),
    ("WHOWAS", "NICK [COUNT]", "says who had a nick before"),
];

/// Shows the guide and the commands, or what one command does.
pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let subject = call.word(0).unwrap_or(INDEX).to_owned();
    let known = COMMANDS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&subject));
    let lines = match known {
        Some((name, parameters, does)) => {
            vec![format!("{name} {parameters}").trim_end().to_owned(), (*does).to_owned()]
        }
        None if subject.eq_ignore_ascii_case(INDEX) => index(state),
        None => {
            let text = "There is no such command here; HELP lists them";
            return state.numeric(id, reply::ERR_HELPNOTFOUND, &[&subject], text);
        }
    };
    for (at, line) in lines.iter().enumerate() {
        let number = if at == 0 { reply::RPL_HELPSTART } else { reply::RPL_HELPTXT };
        state.numeric(id, number, &[&subject], line);
    }
    state.numeric(id, reply::RPL_ENDOFHELP, &[&subject], "End of help");
}

fn index(state: &State) -> Vec<String> {
    let mut lines = state.config.help.clone();
    lines.push("/quote HELP COMMAND says what a command does. There are:".to_owned());
    for names in COMMANDS.chunks(12) {
        let names: Vec<&str> = names.iter().map(|(name, ..)| *name).collect();
        lines.push(names.join(" "));
    }
    lines
}
