//! What agents may read: their own folder unasked, other files if the owner allows it, the
//! installation never; and what of it they say is masked.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use gangline_testkit::{IrcPeer, Stage, World, database, eventually};

use crate::claude::Rig;

/// The model reads or searches whatever it is told to, and says what it got.
const READS: &str = "rules:
  - when: {tool: Read}
    reply: [text: 'got ${tool_result}']
  - when: {tool: Grep}
    reply: [text: 'got ${tool_result}']
  - when: {user: 'please read (\\S+)'}
    reply: [tool_use: {name: Read, input: {file_path: '$1'}}]
  - when: {user: 'please search (\\S+)'}
    reply: [tool_use: {name: Grep, input: {pattern: needle, path: '$1', output_mode: content}}]
  - reply: [text: '${user}']
";
/// By our rule, or by the program's own that was made of it.
const REFUSED: [&str; 2] =
    ["belongs to the Gangline installation", "denied by your permission settings"];

/// Who is asked, where what is to be read lies, and what the secrets are.
struct Case<'a> {
    world: &'a World,
    agent: &'a str,
    other: &'a str,
    work: PathBuf,
    /// Whether the program has a tool that searches.
    searches: bool,
}

impl Case<'_> {
    fn secret(&self, agent: &str) -> String {
        let file = self.world.state().join("agents").join(agent).join("irc.secret");
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// Everything that a person and the owner see.
    fn plays(&self, alice: &mut IrcPeer, boss: &mut IrcPeer) {
        let (agent, state) = (self.agent, self.world.state());
        fs::write(self.work.join("notes.txt"), "needle inside").unwrap();
        let outside = self.world.path("outside.txt");
        fs::write(&outside, "needle outside").unwrap();
        symlink(&state, self.work.join("link")).unwrap();
        let mut ask = |what: String| alice.say("#general", &format!("@{agent} please {what}"));
        let work = self.work.display();

        ask(format!("read {work}/notes.txt"));
        boss.hears(agent, "#general", "needle inside");
        if self.searches {
            ask(format!("search {work}/notes.txt"));
            boss.hears(agent, "#general", "needle inside");
        }

        let secret = format!("{}/agents/{}/irc.secret", state.display(), self.other);
        let mut closed = vec![
            format!("read {secret}"),
            format!("read {work}/link/owner.token"),
            format!("read {work}/link/agents/{agent}/lock"),
            format!("read {work}/../{}/hub.json", self.name(&state)),
        ];
        closed.extend(self.searches.then(|| format!("search {}", state.display())));
        for closed in closed {
            ask(closed.clone());
            let said = boss.hears(agent, "#general", "got");
            assert!(REFUSED.iter().any(|words| said.contains(words)), "{closed}: {said}");
        }

        ask(format!("read {}", outside.display()));
        boss.hears(agent, "#general", "outside.txt");
        boss.say("#general", &format!("@{agent} yes {}", self.open_approval()));
        boss.hears(agent, "#general", "needle outside");
        let mut asked = 1;
        if self.searches {
            ask(format!("search {}", outside.display()));
            boss.hears(agent, "#general", "outside.txt");
            boss.say("#general", &format!("@{agent} no {}", self.open_approval()));
            asked += 1;
        }
        let approvals = self.world.run(&["approvals", "--all", "--json"]).json();
        assert_eq!(approvals.as_array().map(Vec::len), Some(asked), "{approvals}");
        // What it was told or found otherwise is masked on its way out.
        for agent_of in [self.agent, self.other] {
            let secret = self.secret(agent_of);
            alice.say("#general", &format!("@{agent} it is {secret} of {agent_of}"));
            let said = boss.hears(agent, "#general", &format!("of {agent_of}"));
            assert!(said.contains("[masked]") && !said.contains(&secret), "{said}");
        }
    }

    fn name(&self, state: &Path) -> String {
        let below = state.strip_prefix(self.work.parent().unwrap()).unwrap();
        below.display().to_string()
    }

    fn open_approval(&self) -> String {
        let database = self.world.state().join("gangline.db");
        let open = "SELECT number FROM approvals WHERE state = 'open'";
        eventually("an open approval", || database::query(&database, open).into_iter().next())
    }
}

#[test]
fn the_native_backend_reads_its_folder_unasked_and_the_installation_never() {
    let agents = ["rd-ada", "rd-bob"];
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &agents, Some(READS), ("", ""));
    let _hub = stage.up();
    let work = stage.world.path("work");
    let case =
        Case { world: &stage.world, agent: agents[0], other: agents[1], work, searches: true };
    case.plays(&mut stage.member("alice"), &mut stage.owner("boss"));
}

/// It searches by commands.
#[test]
fn claude_reads_its_folder_unasked_and_the_installation_never() {
    let agents = ["lab-ada", "lab-bob"];
    let rig = Rig::new(&agents, Some(READS), "");
    let hub = rig.up();
    let work = rig.world.path(&format!("work-{}", agents[0]));
    let case =
        Case { world: &rig.world, agent: agents[0], other: agents[1], work, searches: false };
    case.plays(&mut rig.member("alice"), &mut rig.owner());
    rig.put_away(hub);
}

/// In a process for each turn, what may be read unasked is not on the program's own list, so that
/// it is asked about elsewhere.
#[test]
fn claude_for_one_turn_reads_its_folder_unasked_and_the_installation_never() {
    let agents = ["lab-ada", "lab-bob"];
    let rig = Rig::new(&agents, Some(READS), "process: per_turn");
    let hub = rig.up();
    let work = rig.world.path(&format!("work-{}", agents[0]));
    let case = Case { world: &rig.world, agent: agents[0], other: agents[1], work, searches: true };
    case.plays(&mut rig.member("alice"), &mut rig.owner());
    rig.put_away(hub);
}
