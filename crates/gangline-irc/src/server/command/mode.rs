//! MODE of users and channels.

use std::collections::BTreeSet;

use gangline_core::{Tier, name::fold};

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        channel::Modes,
        client::Client,
        client_id::ClientId,
        events::{self, Doing, Event, EventKind},
        flight::Asker,
        outgoing::Outgoing,
        rooms,
        store::{Ban, HistoryError, RoomRow},
    },
    wire::numeric as n,
};

/// Changes with a parameter that one line may make (005 `MODES`).
const WITH_PARAMETER: usize = 4;
const KEY_MAX: usize = 64;
/// Bans of a room (005 `MAXLIST`).
const BANS_MAX: usize = 100;

pub(super) fn run(state: &mut State, call: &mut Call) {
    match call.word(0).map(str::to_owned) {
        None => super::need_more(state, call),
        Some(name) if name.starts_with('#') => of_channel(state, call, &name),
        Some(nick) => of_user(state, call, &nick),
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
            'w' => &mut client.wallops,
            // It is only taken off here; OPER puts it on.
            'o' if !on => &mut client.oper,
            'o' => continue,
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
    let (bot, source) = (client.bot, client.source());
    let set = [
        ('+', true),
        ('B', bot),
        ('i', client.invisible),
        ('o', client.oper),
        ('w', client.wallops),
    ];
    if changes.is_empty() {
        let shown: String =
            set.into_iter().filter_map(|(letter, set)| set.then_some(letter)).collect();
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

fn of_channel(state: &mut State, call: &mut Call, name: &str) {
    let id = call.id;
    let Some(channel) = state.channel(name).filter(|channel| state.sees(id, channel)) else {
        return super::no_such_channel(state, id, name);
    };
    let member = channel.member(id).is_some();
    let shown_name = channel.name.to_string();
    let Some(changes) = call.word(1).map(str::to_owned) else {
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
    if matches!(&*changes, "b" | "+b") && call.word(2).is_none() {
        return show_bans(state, id, &shown_name);
    }
    let owner = state.client(id).is_some_and(|client| client.tier() == Tier::Owner);
    if !channel.is_op(id) && !owner {
        return super::need_op(state, id, &shown_name);
    }
    change(state, call, &shown_name, &changes);
}

/// One change of a channel's modes.
struct Change {
    on: bool,
    letter: char,
    word: Option<String>,
}

/// Takes the changes of one line: what members may do at once, the modes once they are kept.
fn change(state: &mut State, call: &mut Call, name: &str, letters: &str) {
    let id = call.id;
    let words = call.message.params.clone();
    let mut words = words.into_iter().skip(2).filter(|word| !word.is_empty());
    let (mut on, mut taken) = (true, 0);
    let mut made: Vec<Change> = Vec::new();
    let Some(before) = state.room_row(name) else { return };
    let (mut row, mut modes) = (before.clone(), Modes::of(&before));
    for letter in letters.chars() {
        let takes = matches!((letter, on), ('o' | 'v' | 'k' | 'b', _) | ('l', true));
        let word = if takes { words.next() } else { None };
        taken += usize::from(takes);
        let lacks = takes && word.is_none() && (on || letter != 'k');
        let change = Change { on, letter, word };
        match letter {
            '+' | '-' => on = letter == '+',
            'n' if on => {}
            'n' => locked(state, id, name),
            _ if lacks || taken > WITH_PARAMETER => refuse(state, id, name, &change),
            'o' | 'v' => made.extend(set_member(state, id, &mut row, change)),
            'b' => ban(state, id, (name, &mut modes), &change),
            'i' | 'm' | 's' | 't' | 'k' | 'l' => {
                if !set(&mut modes, &change) {
                    refuse(state, id, name, &change);
                }
            }
            _ => {
                let shown = letter.to_string();
                let text = "is unknown mode char to me";
                state.numeric(id, n::ERR_UNKNOWNMODE, &[&shown], text);
            }
        }
    }
    show(state, id, name, &made);
    let set = modes != Modes::of(&before);
    modes.put_into(&mut row);
    if set {
        row.agents = agents(state, name, row.agents);
        own(state, id, &mut row);
    }
    if row != before {
        keep(state, call, row);
    }
}

/// A room that is nobody's belongs to who sets its modes.
fn own(state: &mut State, id: ClientId, row: &mut RoomRow) {
    let room = row.channel.folded().to_owned();
    if state.has_founder(&room) || state.is_configured(&room) {
        return;
    }
    match state.client(id).and_then(Client::folded_account) {
        Some(account) => row.founder = Some(account),
        None => state.found(id, &room),
    }
}

/// Shows who is kept out.
fn show_bans(state: &mut State, id: ClientId, name: &str) {
    let bans = state.channel(name).map(|channel| channel.modes.bans.clone());
    for Ban { mask, by, at } in bans.unwrap_or_default() {
        let at = at.as_seconds().to_string();
        state.numeric_words(id, n::RPL_BANLIST, &[name, &mask, &by, &at]);
    }
    state.numeric(id, n::RPL_ENDOFBANLIST, &[name], "End of channel ban list");
}

/// Sets a ban or takes one away.
fn ban(state: &mut State, id: ClientId, (name, modes): (&str, &mut Modes), change: &Change) {
    let mask = change.word.as_deref().and_then(rooms::ban_mask);
    let Some(mask) = mask else { return refuse(state, id, name, change) };
    if !change.on {
        return modes.bans.retain(|ban| fold(&ban.mask) != fold(&mask));
    }
    if modes.bans(&mask) {
        return;
    }
    if modes.bans.len() >= BANS_MAX {
        let text = "The list of bans is full";
        return state.numeric(id, n::ERR_BANLISTFULL, &[name, "b"], text);
    }
    let at = state.now();
    let Some(by) = state.client(id).map(Client::source) else { return };
    modes.bans.push(Ban { mask, by, at });
}

/// Says that lines from outside are never taken.
fn locked(state: &mut State, id: ClientId, name: &str) {
    let text = "Rooms here never accept messages from outside, so +n cannot be unset";
    state.numeric(id, n::ERR_MLOCKRESTRICTED, &[name, "n", "n"], text);
}

/// Says that a parameter is missing, or is not legal.
fn refuse(state: &mut State, id: ClientId, name: &str, change: &Change) {
    let letter = change.letter.to_string();
    // A key is a secret, and may have blanks; neither belongs into an answer.
    let word = change.word.as_deref().filter(|_| change.letter != 'k').unwrap_or("*");
    let text = match (change.letter, &change.word) {
        (_, None) => "This mode needs a parameter",
        ('k', Some(_)) => "A key has at most 64 bytes, and no comma, colon or space",
        ('l', Some(_)) => "A limit is a number above 0",
        ('b', Some(_)) => "A ban is nick!user@host with * and ?, or ~a:ACCOUNT",
        (_, Some(_)) => "A line may have at most 4 modes with a parameter",
    };
    state.numeric(id, n::ERR_INVALIDMODEPARAM, &[name, &letter, word], text);
}

/// Makes a change; returns whether its parameter is legal.
fn set(modes: &mut Modes, change: &Change) -> bool {
    let word = change.word.as_deref().unwrap_or("");
    match (change.letter, change.on) {
        ('k', true) => {
            if word.len() > KEY_MAX || word.contains([',', ' ', ':']) {
                return false;
            }
            modes.key = Some(word.to_owned());
        }
        ('k', false) => modes.key = None,
        ('l', true) => match word.parse::<usize>() {
            Ok(limit) if limit > 0 => modes.limit = Some(limit),
            _ => return false,
        },
        ('l', false) => modes.limit = None,
        (flag, true) => {
            modes.flags.insert(flag);
        }
        (flag, false) => {
            modes.flags.remove(&flag);
        }
    }
    true
}

/// Sends a room to the store; its modes are shown when they are kept.
fn keep(state: &mut State, call: &mut Call, mut row: RoomRow) {
    row.at = state.now();
    let name = row.channel.to_string();
    let asker = call.asker(state);
    let (id, label) = (asker.id, asker.label.clone());
    if state.keep_room(Some(asker), row).is_err() {
        state.open_scope(id, label.as_deref());
        let words = ["MODE", "STORE_FAILED", &name];
        let text = "Modes of too many rooms are stored already; nothing was changed";
        state.fail(id, &words, text);
        state.close_scope(id);
        if let Some(client) = state.client_mut(id) {
            client.in_flight = client.in_flight.saturating_sub(1);
        }
    }
}

/// Returns the agents that belong to a room although its modes would keep them out: those in it, and
/// those that did before.
fn agents(state: &State, name: &str, mut agents: BTreeSet<String>) -> BTreeSet<String> {
    let members = state.channel(name).into_iter().flat_map(|channel| channel.members.keys());
    let members = members.filter_map(|id| state.client(*id));
    let members = members.filter(|client| client.tier() == Tier::Agent);
    agents.extend(members.filter_map(Client::folded_account));
    agents
}

/// Shows modes that are kept now, or says that they are not.
pub(in crate::server) fn finish(
    state: &mut State,
    asker: Option<Asker>,
    row: RoomRow,
    kept: Result<(), HistoryError>,
) {
    let (modes, shown) = (Modes::of(&row), row.channel.to_string());
    let is_kept = state.room_kept(row, &kept);
    let channel = state.channel_mut(&shown).filter(|_| is_kept);
    let before = channel.map(|it| std::mem::replace(&mut it.modes, modes.clone()));
    let changed = before.and_then(|before| modes.since(&before)).unwrap_or_default();
    let Some(asker) = asker else { return };
    state.open_scope(asker.id, asker.label.as_deref());
    match kept {
        Ok(()) => tell(state, asker.id, &shown, &changed),
        Err(error) => {
            let words = ["MODE", "STORE_FAILED", &shown];
            let text = format!("The modes could not be stored and were not changed: {}", error.why);
            state.fail(asker.id, &words, &text);
        }
    }
    state.close_scope(asker.id);
    state.landed(asker);
}

/// Gives a member powers or takes them; those of an account are stored too.
fn set_member(
    state: &mut State,
    id: ClientId,
    row: &mut RoomRow,
    change: Change,
) -> Option<Change> {
    let (name, nick) = (row.channel.as_str().to_owned(), change.word.clone()?);
    let name = name.as_str();
    let Some(member) = state.by_nick(&nick) else {
        super::no_such_nick(state, id, &nick);
        return None;
    };
    let (shown, guest, account) =
        (member.name().to_owned(), member.is_guest(), member.folded_account());
    let member = member.id;
    let found = state.channel_mut(name).and_then(|channel| channel.members.get_mut(&member));
    let Some(found) = found else {
        let words = [&*nick, name];
        state.numeric(id, n::ERR_USERNOTINCHANNEL, &words, "They aren't on that channel");
        return None;
    };
    // What an operator changes outlasts them, and nothing tells a guest from the next one.
    if guest && change.letter == 'o' && change.on {
        let text = format!("{shown} has no account, and guests cannot become operators");
        state.numeric(id, n::ERR_CHANOPRIVSNEEDED, &[name], &text);
        return None;
    }
    let power = if change.letter == 'o' { &mut found.op } else { &mut found.voice };
    let changed = *power != change.on;
    *power = change.on;
    let list = if change.letter == 'o' { &mut row.ops } else { &mut row.voices };
    match (account, change.on) {
        (Some(account), true) => drop(list.insert(account)),
        (Some(account), false) => drop(list.remove(&account)),
        (None, _) => {}
    }
    changed.then_some(Change { word: Some(shown), ..change })
}

fn show(state: &mut State, id: ClientId, name: &str, made: &[Change]) {
    let (mut letters, mut sign) = (String::new(), None);
    for change in made {
        if sign != Some(change.on) {
            letters.push(if change.on { '+' } else { '-' });
            sign = Some(change.on);
        }
        letters.push(change.letter);
    }
    if !letters.is_empty() {
        let words = made.iter().filter_map(|change| change.word.clone());
        let words: Vec<String> = std::iter::once(letters).chain(words).collect();
        tell(state, id, name, &words);
    }
}

/// Tells the members of a channel what has changed: letters and their parameters.
fn tell(state: &mut State, id: ClientId, name: &str, changed: &[String]) {
    let Some(client) = state.client(id).filter(|_| !changed.is_empty()) else { return };
    let Some(room) = state.channel(name).map(|channel| channel.name.clone()) else { return };
    let (source, account) = (client.source(), client.account().map(str::to_owned));
    let mut words = vec![name];
    words.extend(changed.iter().map(String::as_str));
    let event = state.event(&Doing {
        kind: EventKind::Mode,
        source: &source,
        account: account.as_deref(),
        words: &words,
        text: None,
    });
    let line = Outgoing::happened(&event, false);
    state.send_all(state.members(name, None), &line);
    let mut words = vec![name.to_owned()];
    words.extend(events::without_keys(changed));
    state.keep_event([room], Event { words, ..event });
}
