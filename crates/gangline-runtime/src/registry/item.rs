//! What files say, before it is known which adapter it means.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value, json};

use super::{ACP, Entry, Found, LAST_RESORT, Problem, Source, TERMINAL, built_in};

/// The name of a backend that somebody says is usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The name; there need be no such backend.
    pub name: String,
    /// Who says so.
    pub source: Source,
    /// Whether it is one of Gas Town's settings, which are the weakest.
    pub(super) by_town: bool,
}

impl Said {
    pub(super) fn last_resort() -> Self {
        Self { name: LAST_RESORT.to_owned(), source: Source::BuiltIn, by_town: false }
    }
}

/// How a program gets its text, in the words of R3-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Typed into its terminal.
    Tmux,
    /// Over its standard input, in a form that its own adapter knows.
    Stdin,
    /// By a protocol.
    Rpc,
}

/// When a program in a terminal takes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    /// Once its prompt is on the screen.
    Prompt,
    /// Some time after its start.
    Warmup,
}

/// The form of the file that an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    /// `runtimes.json`.
    #[default]
    Runtimes,
    /// Gas Town's `agents.json`, whose programs all run in terminals.
    Agents,
}

/// One entry of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) source: Option<Source>,
    pub(super) form: Form,
    pub(super) program: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) base_url: Option<String>,
    pub(super) api_key_env: Option<String>,
    pub(super) adapter: Option<String>,
    pub(super) delivery: Option<Delivery>,
    pub(super) ready: Option<Ready>,
    pub(super) ready_delay_ms: Option<u64>,
    pub(super) ready_prompt: Option<String>,
    /// What starts it as an ACP agent.
    pub(super) acp: Option<Vec<String>>,
}

/// What was read of several files.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) items: Vec<Item>,
    pub(super) defaults: Vec<Said>,
    pub(super) roles: Vec<(String, Said)>,
    pub(super) problems: Vec<Problem>,
    pub(super) ignored: Vec<Problem>,
}

impl Item {
    /// Returns the built-in backend whose adapter drives it.
    pub(super) fn base(&self) -> Result<&'static Entry, String> {
        if let Some(adapter) = &self.adapter {
            let known = || super::ENTRIES.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
            return built_in(adapter)
                .ok_or_else(|| format!("there is no adapter `{adapter}`; there is: {}", known()));
        }
        let by_delivery = match self.delivery {
            Some(Delivery::Tmux) => Some(TERMINAL),
            Some(Delivery::Rpc) => Some(ACP),
            Some(Delivery::Stdin) | None => None,
        };
        let by_acp = || self.acp.as_ref().map(|_| ACP);
        let by_form = || (self.form == Form::Agents).then_some(TERMINAL);
        let by_word = |word: &str| built_in(word);
        by_word(&self.name)
            .or_else(|| by_acp().or(by_delivery).and_then(by_word))
            .or_else(|| self.by_program())
            .or_else(|| by_form().and_then(by_word))
            .ok_or_else(|| {
                "nothing says how it is driven: write `adapter`, or `delivery`: tmux for a \
                 terminal program, rpc for an ACP agent"
                    .to_owned()
            })
    }

    /// Returns the built-in backend whose program this is.
    fn by_program(&self) -> Option<&'static Entry> {
        let file = Path::new(self.program.as_ref()?).file_name()?.to_str()?;
        super::ENTRIES.iter().find(|entry| entry.program == Some(file))
    }

    /// Returns the command, if it is another one than the adapter's usual one. `program` is the file
    /// name of a built-in backend's program, for an entry that names none.
    fn command(
        &self,
        (entry, program): (&Entry, Option<&str>),
        home: Option<&Path>,
    ) -> Result<Option<Vec<String>>, String> {
        let (usual, acp) = (program.map(str::to_owned), self.acp.clone());
        let mut words = match (acp, entry.name) {
            (Some(acp), ACP) => acp,
            _ => match self.program.clone().or(usual) {
                None if entry.name == TERMINAL || entry.takes_acp_command => {
                    return Err("no program is configured".to_owned());
                }
                None => return Ok(None),
                Some(program) => {
                    // Those of Gas Town are for the program in its terminal.
                    let passed = self.form == Form::Runtimes || entry.name == TERMINAL;
                    let args = if passed { self.args.as_slice() } else { &[] };
                    let args = args.iter().cloned();
                    let usual = entry.command.iter().skip(1).map(|word| (*word).to_owned());
                    std::iter::once(program).chain(usual).chain(args).collect()
                }
            },
        };
        if let Some(first) = words.first_mut() {
            *first = resolved(first, home)?;
        }
        let is_usual = entry.command.is_empty() && words.len() == 1;
        let is_usual = is_usual && words.first().map(String::as_str) == entry.program;
        Ok((!is_usual).then_some(words))
    }

    /// Returns the backend that it is.
    ///
    /// # Errors
    /// One line that says what is wrong with it.
    pub(super) fn found(&self, home: Option<&Path>) -> Result<Found, String> {
        let base = self.base()?;
        // A built-in backend that the file drives through a terminal. `adapter` is the stronger word.
        let typed = self.adapter.is_none() && self.delivery == Some(Delivery::Tmux);
        let terminal = built_in(TERMINAL).filter(|it| typed && it.name != base.name);
        let (entry, beneath) = match terminal {
            Some(terminal) => (terminal, Some(base)),
            None => (base, None),
        };
        let mut extra = BTreeMap::new();
        if entry.name == TERMINAL
            && let Some(screen) = self.screen()
        {
            extra.insert("screen".to_owned(), screen);
        }
        Ok(Found {
            name: self.name.clone(),
            entry,
            source: self.source.clone().unwrap_or(Source::BuiltIn),
            command: self.command((entry, base.program), home)?,
            env: self.env.clone(),
            extra,
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            beneath,
        })
    }

    /// Returns what is said about its screen.
    fn screen(&self) -> Option<Value> {
        let mut screen = Map::new();
        if let Some(delay) = self.ready_delay_ms {
            screen.insert("warm_up_ms".to_owned(), json!(delay));
        }
        match (self.ready, &self.ready_prompt) {
            (Some(Ready::Warmup), _) => {
                screen.insert("ready".to_owned(), json!([]));
            }
            (Some(Ready::Prompt) | None, Some(prompt)) => {
                screen.insert("ready".to_owned(), json!([prompt.trim_end()]));
            }
            (Some(Ready::Prompt) | None, None) => {}
        }
        (!screen.is_empty()).then_some(Value::Object(screen))
    }

    /// Returns the fields that are known and have no effect with this adapter.
    pub(super) fn idle(&self, entry: &Entry) -> Vec<&'static str> {
        let terminal = entry.name == TERMINAL;
        let said = [
            ("args", self.form == Form::Agents && !terminal && !self.args.is_empty()),
            ("delivery", !terminal && self.delivery == Some(Delivery::Tmux)),
            ("ready", !terminal && self.ready.is_some()),
            ("ready_delay_ms", !terminal && self.ready_delay_ms.is_some()),
            ("ready_prompt_prefix", !terminal && self.ready_prompt.is_some()),
            ("acp", self.acp.is_some() && entry.name != ACP),
        ];
        said.into_iter().filter_map(|(name, idle)| idle.then_some(name)).collect()
    }
}

/// Returns the program with `~/` resolved. A path that depends on the working folder is refused:
/// there it would be the agent's workspace that says which program is started.
fn resolved(program: &str, home: Option<&Path>) -> Result<String, String> {
    if let Some(rest) = program.strip_prefix("~/") {
        let path = home.map(|home| home.join(rest));
        let text = path.as_deref().and_then(Path::to_str).map(str::to_owned);
        return text.ok_or_else(|| format!("there is no home for `{program}`"));
    }
    if program.contains('/') && !program.starts_with('/') {
        return Err(format!(
            "`{program}` depends on the working folder: write a whole path, or a name on the PATH"
        ));
    }
    Ok(program.to_owned())
}
