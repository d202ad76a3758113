//! MODE of users and channels.

use gangline_core::Tier;

use super::{super::state::State, Call};
use crate::{
    server::{channel::Channel, client::ClientId, outgoing::Outgoing},
    wire::numeric as n,
};

/// Changes with a parameter that one line may make (005 `MODES`).
const WITH_PARAMETER: usize = 4;
const KEY_MAX: usize = 64;

pub(super) fn run(state: &mut State, call: &Call) {
    match call.word(0) {
        None => super::need_more(state, call),
        Some(name) if name.starts_with('#') => of_channel(state, call, name),
        Some(nick) => of_user(state, call, nick),
    }
}

fn of_user(state: &mut State, call: &Call, nick: &str) {
    let id = call.id;
    let me = state.by_nick(nick).is_some_and(|client| client.id == id);
    if !me {
        return match state.by_nick(nick) {
            Some(_) => {
                let text = "Cannot change or view modes of other users";
                state.numeric(id, n::ERR_USERSDONTMATCH, &[], text);
            }
            None => super::no_such_nick(state, id, nick),
        };
    }
    let changes = call.word(1).unwrap_or("");
    let (mut on, mut unknown, mut made) = (true, false, String::new());
    let Some(client) = state.client_mut(id) else { return };
    for letter in changes.chars() {
        let flag = match letter {
            '+' | '-' => {
                on = letter == '+';
                continue;
            }
            'B' => &mut client.bot,
            'i' => &mut client.invisible,
            _ => {
                unknown = true;
                continue;
            }
        };
        if *flag != on {
            *flag = on;
            made.extend([if on { '+' } else { '-' }, letter]);
        }
    }
    let (bot, invisible, source) = (client.bot, client.invisible, client.source());
    if changes.is_empty() {
        let shown: String = [('+', true), ('B', bot), ('i', invisible)]
            .into_iter()
            .filter_map(|(letter, set)| set.then_some(letter))
            .collect();
        return state.numeric_words(id, n::RPL_UMODEIS, &[&shown]);
    }
    if unknown {
        state.numeric(id, n::ERR_UMODEUNKNOWNFLAG, &[], "Unknown mode flag");
    }
    if bot && made.contains('B') {
        state.forget_marks(id);
    }
    if !made.is_empty() {
        state.tell(id, Outgoing::new(&source, "MODE", &[nick, &made], None));
    }
}

fn of_channel(state: &mut State, call: &Call, name: &str) {
    let id = call.id;
    let Some(channel) = state.channel(name) else {
        return super::no_such_channel(state, id, name);
    };
    let member = channel.member(id).is_some();
    let shown_name = channel.name.to_string();
    let Some(changes) = call.word(1) else {
        let created = channel.created_at.as_seconds().to_string();
        let modes = state
            .closed_room(name)
            .map_or_else(|| channel.modes.clone(), |rule| channel.modes.clone().under(&rule));
        let shown = modes.shown(member);
        let mut words = vec![shown_name.as_str()];
        words.extend(shown.iter().map(String::as_str));
        state.numeric_words(id, n::RPL_CHANNELMODEIS, &words);
        return state.numeric_words(id, n::RPL_CREATIONTIME, &[&shown_name, &created]);
    };
    if matches!(changes, "b" | "+b") && call.word(2).is_none() {
        // There are no bans here; clients ask after every JOIN.
        return state.numeric(id, n::RPL_ENDOFBANLIST, &[&shown_name], "End of channel ban list");
    }
    let owner = state.client(id).is_some_and(|client| client.tier() == Tier::Owner);
    if !channel.is_op(id) && !owner {
        return super::need_op(state, id, &shown_name);
    }
    change(state, call, &shown_name, changes);
}

/// One change of a channel's modes.
struct Change {
    on: bool,
    letter: char,
    word: Option<String>,
}

fn change(state: &mut State, call: &Call, name: &str, letters: &str) {
    let id = call.id;
    let mut words = call.message.params.iter().skip(2).filter(|word| !word.is_empty());
    let (mut on, mut taken) = (true, 0);
    let mut made: Vec<Change> = Vec::new();
    for letter in letters.chars() {
        let takes = matches!((letter, on), ('o' | 'v' | 'k', _) | ('l', true));
        let word = if takes { words.next().cloned() } else { None };
        taken += usize::from(takes);
        let lacks = takes && word.is_none() && letter != 'k';
        let change = Change { on, letter, word };
        match letter {
            '+' | '-' => on = letter == '+',
            'n' => {}
            _ if lacks || taken > WITH_PARAMETER => {}
            'o' | 'v' => made.extend(set_member(state, id, name, change)),
            'i' | 'm' | 's' | 't' | 'k' | 'l' => {
                let channel = state.channel_mut(name);
                made.extend(channel.and_then(|channel| set(channel, change)));
            }
            _ => {
                let shown = letter.to_string();
                let text = "is unknown mode char to me";
                state.numeric(id, n::ERR_UNKNOWNMODE, &[&shown], text);
            }
        }
    }
    show(state, id, name, &made);
}

fn set(channel: &mut Channel, change: Change) -> Option<Change> {
    let modes = &mut channel.modes;
    let before = modes.clone();
    match (change.letter, change.on) {
        ('k', true) => {
            let legal = |key: &&String| {
                key.len() <= KEY_MAX && !key.contains([',', ' ', ':']) && !key.is_empty()
            };
            modes.key = Some(change.word.as_ref().filter(legal)?.clone());
        }
        ('k', false) => modes.key = None,
        ('l', true) => {
            let limit = change.word.as_ref()?.parse::<usize>().ok().filter(|limit| *limit > 0)?;
            modes.limit = Some(limit);
        }
        ('l', false) => modes.limit = None,
        (flag, true) => {
            modes.flags.insert(flag);
        }
        (flag, false) => {
            modes.flags.remove(&flag);
        }
    }
    let changed = *modes != before;
    let word = if change.letter == 'k' && !change.on { Some("*".to_owned()) } else { change.word };
    changed.then_some(Change { word, ..change })
}

fn set_member(state: &mut State, id: ClientId, name: &str, change: Change) -> Option<Change> {
    let nick = change.word.clone()?;
    let Some(member) = state.by_nick(&nick) else {
        super::no_such_nick(state, id, &nick);
        return None;
    };
    let (member, shown) = (member.id, member.name().to_owned());
    let found = state.channel_mut(name).and_then(|channel| channel.members.get_mut(&member));
    let Some(found) = found else {
        let words = [&*nick, name];
        state.numeric(id, n::ERR_USERNOTINCHANNEL, &words, "They aren't on that channel");
        return None;
    };
    let power = if change.letter == 'o' { &mut found.op } else { &mut found.voice };
    let changed = *power != change.on;
    *power = change.on;
    changed.then_some(Change { word: Some(shown), ..change })
}

fn show(state: &mut State, id: ClientId, name: &str, made: &[Change]) {
    if made.is_empty() {
        return;
    }
    let (mut letters, mut sign) = (String::new(), None);
    for change in made {
        if sign != Some(change.on) {
            letters.push(if change.on { '+' } else { '-' });
            sign = Some(change.on);
        }
        letters.push(change.letter);
    }
    let mut words = vec![name, &letters];
    words.extend(made.iter().filter_map(|change| change.word.as_deref()));
    let now = state.now();
    let source = state.client(id).map(crate::server::client::Client::source).unwrap_or_default();
    let line = Outgoing::new(&source, "MODE", &words, None).at(now);
    state.send_all(state.members(name, None), &line);
}
