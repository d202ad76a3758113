//! The matrix of approvals: who says which words where, and when. Only an owner decides, only what
//! the line names and was announced there, or was shown whole there; a refusal counts anywhere; nobody is met with silence, and what is open can still
//! be decided by an owner, whatever was said.

use super::*;

/// Somebody, as the server tells who that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Actor {
    /// How they came in.
    by: &'static str,
    pub(super) nick: &'static str,
    pub(super) account: &'static str,
    pub(super) tier: Tier,
}

const fn actor(by: &'static str, nick: &'static str, account: &'static str, tier: Tier) -> Actor {
    Actor { by, nick, account, tier }
}

/// An owner is known by password or SASL, under any nick; on a server that trusts nicks, by nick.
/// Who comes by the user id of the installation alone is a member.
pub(super) const ACTORS: [Actor; 7] = [
    actor("password", "ori", "owner", Tier::Owner),
    actor("SASL", "oriphone", "owner", Tier::Owner),
    actor("nick", "ori", "ori", Tier::Owner),
    actor("user id", "ori", "ori", Tier::Member),
    actor("account", "bob", "bob", Tier::Member),
    actor("nothing", "eve", "~eve", Tier::Stranger),
    actor("secret", "oak-bob", "oak-bob", Tier::Agent),
];

const PLACES: [&str; 4] = ["#lab", "oak-ada", "#den", CLI];
/// The command line, where only who can write the state folder gets to.
const CLI: &str = "the command line";

/// When the words come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// While it is open.
    Now,
    /// After an owner has allowed it.
    Late,
    /// Twice, two seconds apart.
    Twice,
}

#[tokio::test]
async fn every_actor_place_wording_and_number_of_open_approvals() {
    let words =
        ["yes", "no", "yes 1", "yes 9", "yes 1 always", "no 1 use the trash", "no 9 use the trash"];
    let empty = EmptyStore::make().await;
    for who in ACTORS {
        for place in PLACES {
            for words in words {
                for open in 0..=2 {
                    Case { who, place, words, open, when: When::Now }.check(&empty).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn late_and_repeated_words_change_nothing_more() {
    let empty = EmptyStore::make().await;
    for who in ACTORS {
        for place in PLACES {
            for words in ["yes", "no", "yes 1", "yes 1 always", "no 1 use the trash"] {
                for when in [When::Late, When::Twice] {
                    Case { who, place, words, open: 1, when }.check(&empty).await;
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Case {
    who: Actor,
    place: &'static str,
    words: &'static str,
    open: usize,
    when: When,
}

impl Case {
    fn is_bare(&self) -> bool {
        ["yes", "no"].contains(&self.words)
    }

    fn is_always(&self) -> bool {
        self.words.ends_with(" always")
    }

    /// Returns whether it can be said at all: the command line is the owner's and names a number.
    fn exists(&self) -> bool {
        let at_cli = self.who.by == "nick" && !self.is_bare() && !self.is_always();
        self.place != CLI || at_cli
    }

    fn is_refusal(&self) -> bool {
        self.words.starts_with("no")
    }

    fn decides(&self) -> bool {
        let announced = [CLI, "#lab"].contains(&self.place);
        let named = self.names() && (announced || self.is_refusal());
        let shown = self.is_bare() && self.open == 1 && self.place == "#lab";
        self.when != When::Late && self.who.tier == Tier::Owner && (named || shown)
    }

    fn names(&self) -> bool {
        self.words.contains(" 1") && self.open > 0
    }

    /// Returns whether the second time decides what the first one had shown.
    fn decides_again(&self) -> bool {
        let shown = self.place == "oak-ada" && self.names() && self.who.tier == Tier::Owner;
        !self.decides() && self.when == When::Twice && shown
    }

    async fn check(self, empty: &EmptyStore) {
        if !self.exists() {
            return;
        }
        let mut room = Room::with(empty).await;
        let message = asked_in(&mut room, "#lab").await;
        for command in ["ls", "rm x"].iter().take(self.open) {
            wants(&mut room, (message, command), ("#lab", "#lab")).await;
        }
        room.rig.clock.forward(Duration::from_secs(2));
        if self.when == When::Late {
            room.says(ORI, "#lab", "@ada yes 1").await;
        }
        let before = room.prompts().await;
        let told = self.say(&mut room).await;
        self.first_is(&room, self.expected(), &told).await;
        self.is_answered(&room, &before, &told).await;
        if self.when == When::Twice {
            room.rig.clock.forward(Duration::from_secs(2));
            let again = self.say(&mut room).await;
            let expected =
                if self.decides_again() { ApprovalState::Allowed } else { self.expected() };
            self.first_is(&room, expected, &again).await;
            let already = again.iter().any(|line| line.contains(" already"));
            assert!(!self.decides() || already, "{self:?}: {again:?}");
        }
        if self.decides() {
            let word = if self.words.starts_with("yes") { "allowed" } else { "denied" };
            let said = format!("#lab approval 1: {word} by ");
            assert!(told.iter().any(|line| line.starts_with(&said)), "{self:?}: {told:?}");
        } else if self.open > 0 && self.when != When::Late && !self.decides_again() {
            room.says(ORI, "#lab", "@ada yes 1").await;
            self.first_is(&room, ApprovalState::Allowed, &told).await;
        }
        let rules = room.rig.chat.deps.store.rules(None).await.unwrap();
        let decides = self.decides() || self.decides_again();
        let stored = usize::from(decides && self.is_always());
        assert_eq!(rules.len(), stored, "{self:?}: {told:?}");
    }

    /// Says the words; returns what is said to that.
    async fn say(&self, room: &mut Room) -> Vec<String> {
        let Self { who, place, words, .. } = *self;
        let who = Principal { account: who.account.to_owned(), tier: who.tier };
        match place {
            CLI => self.rule(room, who).await,
            "oak-ada" => room.says_as((self.who.nick, who), place, words).await,
            _ => room.says_as((self.who.nick, who), place, &format!("@ada {words}")).await,
        }
    }

    /// Does what `gangline approve` and `gangline deny` do.
    async fn rule(&self, room: &mut Room, by: Principal) -> Vec<String> {
        let line = approval::parse(self.words).unwrap();
        let number = line.number.unwrap();
        let reason = line.reason.as_deref();
        let said = view::decided(&number.to_string(), line.decision, "ori", reason);
        let ruling = Ruling {
            decision: line.decision,
            by,
            known_as: "ori".to_owned(),
            note: None,
            say: Some(Redacted::from_store(said)),
        };
        let mut told = match room.rig.chat.deps.store.decide(number, ruling).await {
            Ok(_) => Vec::new(),
            Err(error @ (DecideError::Unknown(_) | DecideError::Closed { .. })) => {
                vec![error.to_string()]
            }
            Err(error) => panic!("{error}"),
        };
        told.extend(room.heard().await);
        told
    }

    fn expected(&self) -> ApprovalState {
        match (self.decides(), self.when, self.words.starts_with("yes")) {
            (false, When::Late, _) | (true, _, true) => ApprovalState::Allowed,
            (true, _, false) => ApprovalState::Denied,
            (false, When::Now | When::Twice, _) => ApprovalState::Open,
        }
    }

    /// The first approval is so, and the others wait.
    async fn first_is(&self, room: &Room, first: ApprovalState, told: &[String]) {
        let rows = room.rig.chat.deps.store.approvals(None, false).await.unwrap();
        let states: Vec<ApprovalState> = rows.iter().map(|row| row.state).collect();
        let expect = [first, ApprovalState::Open].into_iter().take(self.open);
        assert_eq!(states, expect.collect::<Vec<_>>(), "{self:?}: {told:?}");
    }

    /// A stranger is told once an hour that it may not prompt, and an agent's line may be refused.
    /// People's words that look like a decision are no prompts while one is open, or was.
    async fn is_answered(&self, room: &Room, before: &[String], told: &[String]) {
        let person = [Tier::Owner, Tier::Member].contains(&self.who.tier);
        let prompts = room.prompts().await;
        assert!(!person || !told.is_empty() || prompts != before, "{self:?}: met with silence");
        let no_prompt = person && (self.open > 0 || self.is_bare());
        assert!(!no_prompt || prompts == before, "{self:?}: {prompts:?}");
    }
}
