//! From a connection to a user: the nick and the welcome. Credentials are in `login.rs`.

use std::sync::Arc;

use gangline_core::{Nick, Tier, name};

use super::{
    admission::looks_like_ours,
    claim::Claim,
    client::{Identity, Stage},
    client_id::ClientId,
    command,
    flight::Job,
    reading::PRIVATE,
    state::State,
    store::Account,
    trust::{Origin, Whose},
};
use crate::wire::numeric as n;

/// Why a nick cannot be had.
enum Taken {
    InUse,
    Reserved,
    Ours,
}

impl State {
    /// Registers the client if everything is there: a nick, a user, and no open negotiation.
    pub(super) fn try_register(&mut self, id: ClientId) {
        let Some(client) = self.client(id) else { return };
        let open = match &client.stage {
            Stage::Registering(stage) => stage.negotiating,
            Stage::Ready => return,
        };
        let (Some(nick), false, true) = (client.nick.clone(), open, client.user.is_some()) else {
            return;
        };
        if client.account().is_none() && client.failures > 0 {
            // Nobody is let in as less than they claimed to be.
            let text = "The login failed; connect again with the right password";
            self.numeric(id, n::ERR_PASSWDMISMATCH, &[], text);
            return self.doom(id, "The login failed");
        }
        if client.account().is_none() {
            let identity = match (client.origin, &client.whose) {
                (Origin::Own | Origin::Socket, Whose::Agents(agent)) => {
                    Identity::Shell(agent.clone())
                }
                (Origin::Own | Origin::Socket, Whose::Nobodys) => Identity::Peer(Tier::Member),
                (Origin::Own | Origin::Socket, Whose::Unknown)
                | (Origin::User(_) | Origin::Unknown(_), _) => Identity::Peer(Tier::Stranger),
            };
            self.identify(id, identity);
        }
        if self.refuse_guest(id) {
            return;
        }
        match self.claim(id, &nick) {
            Claim::Free => {}
            Claim::Held(holder) => return self.contest((id, holder), nick, None),
            Claim::Refused => {
                if let Some(client) = self.client_mut(id) {
                    client.nick = None;
                }
                return;
            }
        }
        let Some(client) = self.client(id) else { return };
        if let Err(why) = self.crowd.registers(client.origin, &self.config.limits) {
            return self.doom(id, &why);
        }
        let now = self.named_now();
        let Some(client) = self.clients.get_mut(id) else { return };
        client.stage = Stage::Ready;
        client.named_at = now;
        self.nicks.insert(nick.folded().to_owned(), id);
        self.peak = self.peak.max(self.nicks.len());
        self.remember_session(id);
        self.note_last_nick(id);
        self.welcome(id);
        self.report_trouble(id);
        self.catch_up(id, PRIVATE);
        let source = self.client(id).map(super::client::Client::source);
        self.notify_monitors(&nick, source.as_deref());
    }

    /// Looks whether the client may take this nick; says why not. Another connection of the same
    /// account that has it is to show first that it is alive.
    pub(super) fn claim(&mut self, id: ClientId, nick: &Nick) -> Claim {
        let text = match self.taken(id, nick) {
            Ok(None) => return Claim::Free,
            Ok(Some(holder)) => return Claim::Held(holder),
            Err(Taken::InUse) => "Nickname is already in use",
            Err(Taken::Reserved) => "Nickname is reserved for an account",
            Err(Taken::Ours) => "Nickname is reserved: it looks like one of the server's own",
        };
        self.numeric(id, n::ERR_NICKNAMEINUSE, &[nick.as_str()], text);
        Claim::Refused
    }

    fn taken(&self, id: ClientId, nick: &Nick) -> Result<Option<ClientId>, Taken> {
        let Some(client) = self.client(id) else { return Err(Taken::InUse) };
        let mine = client.account().map(name::fold);
        let accounts = self.accounts.borrow();
        let reserved = accounts.get(nick.as_str()).map(|account| account.name.folded());
        if reserved.is_some() && reserved != mine.as_deref() {
            return Err(Taken::Reserved);
        }
        if reserved.is_none() && looks_like_ours(&self.config.name, client, nick) {
            return Err(Taken::Ours);
        }
        let Some(holder) = self.by_nick(nick.as_str()).filter(|holder| holder.id != id) else {
            return Ok(None);
        };
        let same = mine.is_some() && holder.account().map(name::fold) == mine;
        if same { Ok(Some(holder.id)) } else { Err(Taken::InUse) }
    }

    /// Closes those who hold a nick that has become an account's.
    pub(super) fn evict_from_reserved_nicks(&mut self) {
        let accounts = Arc::clone(&self.accounts.borrow_and_update());
        let foreign = |id: &ClientId| {
            let Some(client) = self.client(*id) else { return false };
            let reserved = accounts.get(client.name());
            let mine = client.account().map(name::fold);
            reserved.is_some_and(|account| mine.as_deref() != Some(account.name.folded()))
        };
        let evicted: Vec<ClientId> = self.nicks.values().copied().filter(foreign).collect();
        for id in evicted {
            self.doom(id, "This nick now belongs to an account");
        }
    }

    /// Keeps under which nick a person's account is spoken to, for answers while it is away.
    pub(super) fn note_last_nick(&mut self, id: ClientId) {
        let Some(client) = self.client(id) else { return };
        let (Some(account), Some(nick)) = (client.account(), &client.nick) else { return };
        let known = self.accounts.borrow().get(account).cloned();
        let Some(known) = known.filter(|known| known.tier != Tier::Agent) else { return };
        let nick = nick.folded().to_owned();
        if known.name.folded() != nick && known.last_nick.as_ref() != Some(&nick) {
            self.flights.push(Job::Account(Account { last_nick: Some(nick), ..known }));
        }
    }

    fn welcome(&mut self, id: ClientId) {
        let Some(client) = self.client(id) else { return };
        let (name, version) = (self.config.name.clone(), self.config.version.clone());
        let welcome =
            format!("Welcome to the {} network, {}", self.config.network, client.source());
        let host = format!("Your host is {name}, running {version}");
        let created =
            format!("This server was started {}", gangline_os::clock::rfc3339(self.started_at));
        self.numeric(id, n::RPL_WELCOME, &[], &welcome);
        self.numeric(id, n::RPL_YOURHOST, &[], &host);
        self.numeric(id, n::RPL_CREATED, &[], &created);
        self.numeric_words(id, n::RPL_MYINFO, &[&name, &version, "Biow", "biklmnostv"]);
        self.isupport(id);
        command::lusers(self, id);
        command::motd(self, id);
    }

    /// Sends 005.
    pub(super) fn isupport(&mut self, id: ClientId) {
        let network = format!("NETWORK={}", self.config.network);
        let channels = format!("CHANLIMIT=#:{}", self.config.limits.channels);
        let first = [
            network.as_str(),
            "CASEMAPPING=rfc1459",
            "CHANTYPES=#",
            "PREFIX=(ov)@+",
            "CHANMODES=b,k,l,imnst",
            channels.as_str(),
            "NICKLEN=63",
            "CHANNELLEN=64",
            "TOPICLEN=300",
            "AWAYLEN=200",
            "KICKLEN=200",
            "MODES=4",
            "MAXLIST=b:100",
        ];
        let second = [
            "TARGMAX=PRIVMSG:1,NOTICE:1,TAGMSG:1,JOIN:,PART:,KICK:1,NAMES:,WHOIS:1",
            "CHATHISTORY=100",
            "MSGREFTYPES=msgid,timestamp",
            "MONITOR=100",
            "WHOX",
            "BOT=B",
            "UTF8ONLY",
            "SAFELIST",
            "EXTBAN=~,a",
            "ACCOUNTEXTBAN=a,account",
            "GANGLINE",
        ];
        for words in [&first[..], &second[..]] {
            self.numeric(id, n::RPL_ISUPPORT, words, "are supported by this server");
        }
    }
}
