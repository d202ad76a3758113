//! What clients can ask, one file a command.

use super::{call::Call, client_id::ClientId, state::State};
use crate::wire::numeric as n;

mod about;
mod authenticate;
mod away;
mod batch;
mod cap;
mod chathistory;
mod help;
mod history;
mod invite;
mod ison;
mod join;
mod kick;
mod kill;
mod list;
mod lusers;
mod markread;
mod mode;
mod monitor;
mod motd;
mod names;
mod nick;
mod oper;
mod part;
mod pass;
mod ping;
mod privmsg;
mod quit;
mod redact;
mod setname;
mod tagmsg;
mod time;
mod topic;
mod user;
mod userhost;
mod version;
mod wallops;
mod who;
mod whois;
mod whowas;

pub(super) use history::finish as finish_history;
pub(super) use lusers::run as lusers;
pub(super) use markread::finish as finish_marker;
pub(super) use mode::finish as finish_modes;
pub(super) use motd::run as motd;
pub(super) use nick::again as nick_again;
pub(super) use redact::{finish as finish_redaction, found as found_to_redact};
pub(super) use topic::finish as finish_topic;

/// Does what is asked.
pub(super) fn run(state: &mut State, mut call: Call) {
    let Some(client) = state.client(call.id) else { return };
    let command = call.message.command.clone();
    if !client.is_ready() {
        return before_registration(state, &mut call, &command);
    }
    if state.refuse_reader(&call) {
        return;
    }
    if batch::takes(state, &call) {
        return;
    }
    match command.as_str() {
        "ADMIN" => about::admin(state, &call),
        "AUTHENTICATE" => authenticate::run(state, &call),
        "BATCH" => batch::run(state, &mut call),
        "AWAY" => away::run(state, &call),
        "CAP" => cap::run(state, &call),
        "CHATHISTORY" => chathistory::run(state, &mut call),
        "HELP" | "HELPOP" => help::run(state, &call),
        "HISTORY" => history::run(state, &mut call),
        "INFO" => about::info(state, &call),
        "INVITE" => invite::run(state, &call),
        "ISON" => ison::run(state, &call),
        "JOIN" => join::run(state, &call),
        "KICK" => kick::run(state, &call),
        "KILL" => kill::run(state, &call),
        "LINKS" => about::links(state, &call),
        "LIST" => list::run(state, &call),
        "LUSERS" => lusers(state, call.id),
        "MARKREAD" => markread::run(state, &mut call),
        "MODE" => mode::run(state, &mut call),
        "MONITOR" => monitor::run(state, &call),
        "MOTD" => motd(state, call.id),
        "NAMES" => names::run(state, &call),
        "NICK" => nick::run(state, &mut call),
        "NOTICE" | "PRIVMSG" => privmsg::run(state, &mut call),
        "OPER" => oper::run(state, &call),
        "PART" => part::run(state, &call),
        "PASS" | "USER" => {
            state.numeric(call.id, n::ERR_ALREADYREGISTERED, &[], "You may not reregister");
        }
        "PING" => ping::run(state, &call),
        "PONG" => {}
        "QUIT" => quit::run(state, &call),
        "REDACT" => redact::run(state, &mut call),
        "SETNAME" => setname::run(state, &call),
        "STATS" => about::stats(state, &call),
        "TAGMSG" => tagmsg::run(state, &call),
        "TIME" => time::run(state, &call),
        "TOPIC" => topic::run(state, &mut call),
        "USERHOST" => userhost::run(state, &call),
        "VERSION" => version::run(state, &call),
        "WALLOPS" => wallops::run(state, &call),
        "WHO" => who::run(state, &call),
        "WHOIS" => whois::run(state, &call),
        "WHOWAS" => whowas::run(state, &call),
        unknown => state.numeric(call.id, n::ERR_UNKNOWNCOMMAND, &[unknown], "Unknown command"),
    }
}

fn before_registration(state: &mut State, call: &mut Call, command: &str) {
    match command {
        "AUTHENTICATE" => authenticate::run(state, call),
        "CAP" => cap::run(state, call),
        "NICK" => nick::run(state, call),
        "PASS" => pass::run(state, call),
        "PING" => ping::run(state, call),
        "PONG" => {}
        "QUIT" => quit::run(state, call),
        "USER" => user::run(state, call),
        _ => state.numeric(call.id, n::ERR_NOTREGISTERED, &[], "You have not registered"),
    }
}

/// Says that a request lacks something.
fn need_more(state: &mut State, call: &Call) {
    let words = [call.message.command.as_str()];
    state.numeric(call.id, n::ERR_NEEDMOREPARAMS, &words, "Not enough parameters");
}

fn no_such_channel(state: &mut State, id: ClientId, name: &str) {
    state.numeric(id, n::ERR_NOSUCHCHANNEL, &[name], "No such channel");
}

fn no_such_nick(state: &mut State, id: ClientId, name: &str) {
    state.numeric(id, n::ERR_NOSUCHNICK, &[name], "No such nick");
}

fn not_on_channel(state: &mut State, id: ClientId, name: &str) {
    state.numeric(id, n::ERR_NOTONCHANNEL, &[name], "You're not on that channel");
}

fn need_op(state: &mut State, id: ClientId, name: &str) {
    state.numeric(id, n::ERR_CHANOPRIVSNEEDED, &[name], "You're not channel operator");
}

/// Returns whether the client is an operator of the server; says so if it is none.
fn is_oper(state: &mut State, id: ClientId) -> bool {
    let is_oper = state.client(id).is_some_and(|client| client.oper);
    if !is_oper {
        let text = "Only an operator of this server may do that: log in as the owner, or /oper";
        state.numeric(id, n::ERR_NOPRIVILEGES, &[], text);
    }
    is_oper
}
