//! WHO, also in its WHOX form (`WHO #room %tcnuhraf,42`).

use std::ops::Bound;

use gangline_core::name::fold;

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        caps::Caps, channel::Member, client::Client, client_id::ClientId, outgoing::Outgoing,
        paced::Rows, reply::RPL_WHOSPCRPL,
    },
    wire::{numeric as n, text},
};

/// The fields of WHOX that are known, in the order of their answer.
const FIELDS: &str = "tcuihsnfdlao";

pub(super) fn run(state: &mut State, call: &Call) {
    let asked = call.word(0).unwrap_or("*").to_owned();
    let fields = call.word(1).and_then(|word| word.split_once('%'));
    let fields = fields.map(|(_, fields)| fields.to_owned());
    let operators = call.word(1).is_some_and(|word| word.split('%').next() == Some("o"));
    let whom = match state.channel(&asked) {
        _ if operators => Whom::Operators,
        Some(channel) if state.sees(call.id, channel) => Whom::In(channel.name.to_string()),
        Some(_) => Whom::Nobody,
        None => match state.by_nick(&asked) {
            Some(client) => Whom::One(client.id),
            None if asked.starts_with('#') => Whom::Nobody,
            None => Whom::Like(fold(if asked == "0" { "*" } else { &asked })),
        },
    };
    let place = Place::Behind(ClientId(0));
    state.show_rows(call.id, Box::new(Who { asked, fields, whom, place }));
}

/// Who is asked about.
enum Whom {
    Nobody,
    One(ClientId),
    /// The operators of the server.
    Operators,
    /// The members of a channel.
    In(String),
    /// Everybody who fits a mask (folded) and is not invisible to the asker.
    Like(String),
}

/// How far the list has come.
enum Place {
    /// Behind this client.
    Behind(ClientId),
    End,
}

/// The list of those asked about.
struct Who {
    /// The mask as it was asked for.
    asked: String,
    fields: Option<String>,
    whom: Whom,
    place: Place,
}

impl Rows for Who {
    fn next(&mut self, state: &mut State, id: ClientId) -> Option<Outgoing> {
        let behind = match self.place {
            Place::Behind(client) => client,
            Place::End => return None,
        };
        let found = self.whom.behind(state, id, behind);
        let all = state.client(id).is_some_and(|client| client.caps.has(Caps::MULTI_PREFIX));
        let row = found.and_then(|(about, member)| {
            let channel = match &self.whom {
                Whom::In(name) => name,
                Whom::Nobody | Whom::One(_) | Whom::Operators | Whom::Like(_) => "*",
            };
            let client = state.client(about)?;
            let row = Row { client, member, all, channel, server: &state.config.name };
            Some((about, self.fields.as_deref().map_or_else(|| row.plain(), |f| row.chosen(f))))
        });
        let Some((about, (number, words, text))) = row else {
            self.place = Place::End;
            let text = Some("End of WHO list");
            return Some(state.numeric_line(id, n::RPL_ENDOFWHO, &[&self.asked], text));
        };
        self.place = Place::Behind(about);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(state.numeric_line(id, number, &words, text.as_deref()))
    }
}

impl Whom {
    /// Returns the next one behind a client.
    fn behind(
        &self,
        state: &State,
        id: ClientId,
        client: ClientId,
    ) -> Option<(ClientId, Option<Member>)> {
        let rest = (Bound::Excluded(client), Bound::Unbounded);
        match self {
            Self::Nobody => None,
            Self::One(one) => (client < *one).then_some((*one, None)),
            Self::Operators => {
                let mut clients = state.clients.behind(client);
                let found = clients.find(|client| client.oper && is_seen(state, id, client));
                found.map(|client| (client.id, None))
            }
            Self::In(name) => {
                let channel = state.channel(name).filter(|channel| state.sees(id, channel))?;
                channel.members.range(rest).next().map(|(id, member)| (*id, Some(*member)))
            }
            Self::Like(mask) => {
                let mut clients = state.clients.behind(client);
                let fits = |client: &&Client| is_seen(state, id, client) && fits(client, mask);
                clients.find(fits).map(|client| (client.id, None))
            }
        }
    }
}

/// Returns whether a client is shown to somebody who asks for everybody.
fn is_seen(state: &State, id: ClientId, client: &Client) -> bool {
    let shares =
        || state.client(id).is_some_and(|asker| !asker.channels.is_disjoint(&client.channels));
    client.is_ready() && (client.id == id || !client.invisible || shares())
}

fn fits(client: &Client, mask: &str) -> bool {
    let names = [client.name(), client.shown_user(), &client.host(), &client.realname];
    names.into_iter().any(|name| text::matches(&fold(name), mask))
}

struct Row<'a> {
    client: &'a Client,
    member: Option<Member>,
    all: bool,
    channel: &'a str,
    server: &'a str,
}

impl Row<'_> {
    fn flags(&self) -> String {
        let here = if self.client.away.is_some() { "G" } else { "H" };
        let bot = if self.client.bot { "B" } else { "" };
        let oper = if self.client.oper { "*" } else { "" };
        format!("{here}{oper}{}{bot}", self.member.map_or("", |member| member.prefix(self.all)))
    }

    fn plain(&self) -> (u16, Vec<String>, Option<String>) {
        let client = self.client;
        let words = vec![
            self.channel.to_owned(),
            client.shown_user().to_owned(),
            client.host(),
            self.server.to_owned(),
            client.name().to_owned(),
            self.flags(),
        ];
        (n::RPL_WHOREPLY, words, Some(format!("0 {}", client.realname)))
    }

    fn chosen(&self, fields: &str) -> (u16, Vec<String>, Option<String>) {
        let (letters, token) = fields.split_once(',').unwrap_or((fields, ""));
        let client = self.client;
        let mut words = Vec::new();
        for letter in FIELDS.chars().filter(|letter| letters.contains(*letter)) {
            words.push(match letter {
                't' => token.to_owned(),
                'c' => self.channel.to_owned(),
                'u' => client.shown_user().to_owned(),
                'i' => "255.255.255.255".to_owned(),
                'h' => client.host(),
                's' => self.server.to_owned(),
                'n' => client.name().to_owned(),
                'f' => self.flags(),
                'a' => client.account().unwrap_or("0").to_owned(),
                'o' => "n/a".to_owned(),
                _ => "0".to_owned(),
            });
        }
        let realname = letters.contains('r').then(|| client.realname.clone());
        (RPL_WHOSPCRPL, words, realname)
    }
}
