//! WHO, also in its WHOX form (`WHO #room %tcnuhraf,42`).

use super::{super::state::State, Call};
use crate::{
    server::{
        caps::Caps,
        channel::Member,
        client::{Client, ClientId},
        reply::RPL_WHOSPCRPL,
    },
    wire::numeric as n,
};

/// Rows of one answer.
const ROWS: usize = 1000;

pub(super) fn run(state: &mut State, call: &Call) {
    let mask = call.word(0).unwrap_or("*").to_owned();
    let fields = call.word(1).and_then(|word| word.split_once('%')).map(|(_, fields)| fields);
    let rows = found(state, call.id, &mask);
    let all = state.client(call.id).is_some_and(|client| client.caps.has(Caps::MULTI_PREFIX));
    let name = state.config.name.clone();
    let mut lines: Vec<(u16, Vec<String>, Option<String>)> = Vec::new();
    for (id, member) in rows.into_iter().take(ROWS) {
        let Some(client) = state.client(id) else { continue };
        let row = Row { client, member, all, mask: &mask, server: &name };
        lines.push(match fields {
            Some(fields) => row.chosen(fields),
            None => row.plain(),
        });
    }
    for (number, words, text) in lines {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match text {
            Some(text) => state.numeric(call.id, number, &words, &text),
            None => state.numeric_words(call.id, number, &words),
        }
    }
    state.numeric(call.id, n::RPL_ENDOFWHO, &[&mask], "End of WHO list");
}

/// Members of a channel, or one nick. There is no list of everybody.
fn found(state: &State, id: ClientId, mask: &str) -> Vec<(ClientId, Option<Member>)> {
    if let Some(channel) = state.channel(mask) {
        let members = channel.members.iter().map(|(id, member)| (*id, Some(*member)));
        return if state.sees(id, channel) { members.collect() } else { Vec::new() };
    }
    state.by_nick(mask).map(|client| (client.id, None)).into_iter().collect()
}

struct Row<'a> {
    client: &'a Client,
    member: Option<Member>,
    all: bool,
    mask: &'a str,
    server: &'a str,
}

impl Row<'_> {
    fn flags(&self) -> String {
        let here = if self.client.away.is_some() { "G" } else { "H" };
        let bot = if self.client.bot { "B" } else { "" };
        format!("{here}{}{bot}", self.member.map_or("", |member| member.prefix(self.all)))
    }

    fn channel(&self) -> &str {
        if self.member.is_some() { self.mask } else { "*" }
    }

    fn plain(&self) -> (u16, Vec<String>, Option<String>) {
        let client = self.client;
        let words = vec![
            self.channel().to_owned(),
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
        for letter in "tcuihsnfdlao".chars().filter(|letter| letters.contains(*letter)) {
            words.push(match letter {
                't' => token.to_owned(),
                'c' => self.channel().to_owned(),
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
