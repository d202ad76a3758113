//! Opening a session: greeting, the kept one or a new one, its model, logins.

use serde_json::{Value, json};

use super::{
    Action, Session,
    state::{Can, Order, Sent, Stage, Way, When},
};
use crate::{
    McpPlace, McpServer, RuntimeEvent, SessionId, TurnResult,
    acp::{
        calls::Calls,
        recipe::By,
        turn_result,
        update::{self, Choice, Context},
        wire::{AUTH_REQUIRED, Refusal},
    },
};

/// The one version that we speak.
const VERSION: u64 = 1;
/// The protocol's word for what chooses the model.
const MODEL: &str = "model";

impl Session {
    pub(super) fn greet(&mut self) {
        let params = json!({
            "protocolVersion": VERSION,
            // What is false here is the program's own affair then: it has files and shells itself.
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {
                "name": "gangline",
                "title": "Gangline",
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        self.request(Sent::Greeting, "initialize", &params);
    }

    pub(super) fn greeted(&mut self, outcome: Result<Value, Refusal>) {
        let name = self.setup.recipe.name;
        let answer = match outcome {
            Ok(answer) => answer,
            Err(refusal) => {
                let why = turn_result::one_line(&refusal.words());
                self.notice(format!("{name} cannot be driven: {why}"));
                return self.out.push(Action::GiveUp);
            }
        };
        let version = answer["protocolVersion"].as_u64();
        if version != Some(VERSION) {
            let version = version.map_or("none".to_owned(), |it| it.to_string());
            self.notice(format!(
                "{name} speaks version {version} of the Agent Client Protocol, and {VERSION} is \
                 needed"
            ));
            return self.out.push(Action::GiveUp);
        }
        let can = &answer["agentCapabilities"];
        self.can = Can {
            load: can["loadSession"] == json!(true),
            resume: can["sessionCapabilities"]["resume"].is_object(),
            http: can["mcpCapabilities"]["http"] == json!(true),
        };
        self.login = login(&answer["authMethods"], self.setup.recipe.login);
        self.open();
    }

    /// Asks for the kept session, or for a new one.
    pub(super) fn open(&mut self) {
        let kept = self.setup.resume.as_ref().filter(|id| id.is_session());
        match (kept, self.can) {
            (None, _) => self.ask_for(Way::New),
            (Some(_), Can { resume: true, .. }) => self.ask_for(Way::Resume),
            (Some(_), Can { load: true, .. }) => self.ask_for(Way::Load),
            (Some(id), _) => {
                let name = self.setup.recipe.name;
                let text = format!("{name} cannot continue session {id}; a new one begins");
                self.notice(text);
                self.ask_for(Way::New);
            }
        }
    }

    pub(super) fn ask_for(&mut self, way: Way) {
        self.stage = Stage::Opening;
        self.id = None;
        let mut params = json!({"cwd": self.setup.folder, "mcpServers": self.servers()});
        if way != Way::New
            && let Some(id) = &self.setup.resume
        {
            params["sessionId"] = id.0.clone().into();
        }
        let method = match way {
            Way::New => "session/new",
            Way::Load => "session/load",
            Way::Resume => "session/resume",
        };
        self.request(Sent::Open(way), method, &params);
    }

    fn servers(&mut self) -> Vec<Value> {
        if self.setup.recipe.servers.by == By::Recipe {
            return Vec::new();
        }
        let http = self.can.http;
        let own = &self.setup.own;
        let own = if http { own.http.as_ref().or(own.stdio.as_ref()) } else { own.stdio.as_ref() };
        let mut given: Vec<Value> = own.map(server).into_iter().collect();
        let mut left = Vec::new();
        if own.is_none() && self.setup.own.http.is_some() {
            left.push(self.setup.gate.server().to_owned());
        }
        for offered in &self.setup.servers {
            match offered.place {
                McpPlace::Http { .. } if !http => left.push(offered.key.clone()),
                McpPlace::Http { .. } | McpPlace::Stdio { .. } => given.push(server(offered)),
            }
        }
        for key in left {
            let name = self.setup.recipe.name;
            self.notice(format!("{name} takes no tool server over HTTP; it goes without {key}"));
        }
        given
    }

    pub(super) fn opened(&mut self, way: Way, outcome: Result<Value, Refusal>) {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(refusal) => return self.not_opened(way, &refusal),
        };
        let kept = self.setup.resume.as_ref().map(|id| id.0.clone());
        let told = answer["sessionId"].as_str().map(str::to_owned);
        let Some(id) = told.or(kept.filter(|_| way != Way::New)) else {
            self.notice(format!("{} opened a session without an id", self.setup.recipe.name));
            return self.out.push(Action::GiveUp);
        };
        self.introduce = way == Way::New;
        if way == Way::New {
            self.context = Context::default();
            self.counted.cost_micros = 0;
        }
        self.loaded(way);
        self.setup.resume = Some(SessionId(id.clone()));
        self.id = Some(id);
        self.calls = Calls::default();
        self.choices = choices(&answer);
        self.guards = 0;
        self.modes_are(&answer);
        self.stage = Stage::Choosing;
        self.guard();
    }

    fn not_opened(&mut self, way: Way, refusal: &Refusal) {
        let name = self.setup.recipe.name;
        let why = turn_result::one_line(&refusal.words());
        if refusal.code == AUTH_REQUIRED {
            return self.logged_out(&why);
        }
        match way {
            Way::Resume if self.can.load => self.ask_for(Way::Load),
            Way::Resume | Way::Load => {
                let id = self.setup.resume.as_ref().map(ToString::to_string).unwrap_or_default();
                self.notice(format!(
                    "{name} cannot continue session {id} ({why}); a new one begins"
                ));
                self.setup.resume = None;
                self.ask_for(Way::New);
            }
            Way::New => {
                self.notice(format!("{name} opened no session: {why}"));
                self.out.push(Action::GiveUp);
            }
        }
    }

    /// Nothing can be opened before a human has logged in (R2-43): it waits, and each prompt is
    /// told so.
    fn logged_out(&mut self, why: &str) {
        self.stage = Stage::LoggedOut;
        self.out.push(Action::WatchLogin);
        if !self.ready {
            self.ready = true;
            // Told first: whoever waits until it is ready sees both.
            self.missed = true;
            self.tell(RuntimeEvent::NeedsLogin { hint: turn_result::hint(why, &self.login) });
            let kept = self.setup.resume.clone();
            let session = kept.unwrap_or_else(|| SessionId(SessionId::NO_SESSION.to_owned()));
            self.tell(RuntimeEvent::Ready { session });
        }
        if let Some(prompt) = self.waiting.take() {
            self.missed = true;
            self.out.push(Action::Free);
            let result = TurnResult::NeedsLogin { hint: turn_result::hint(why, &self.login) };
            self.tell(RuntimeEvent::Finished { turn: prompt.turn, result });
        }
    }

    /// Sets the model that is wanted, where it is another.
    pub(super) fn choose_model(&mut self) {
        let current = self.model_choice().and_then(|it| it.current_value.as_str());
        let current = current.map(str::to_owned);
        match (self.setup.model.clone(), current) {
            (Some(wanted), Some(current)) if wanted != current => {
                self.ask_for_model(wanted, When::AtTheStart);
            }
            (_, current) => {
                if let Some(current) = current {
                    self.model = current;
                }
                self.is_open();
            }
        }
    }

    fn model_choice(&self) -> Option<&Choice> {
        let of_kind = |it: &&Choice| it.category.as_deref() == Some(MODEL);
        // One program files its provider under the same category.
        let named = self.choices.iter().find(|it| it.id == MODEL);
        named.or_else(|| self.choices.iter().find(of_kind))
    }

    /// Sets a model by a choice of the session, or, where there is none, as it was done before
    /// there were choices.
    pub(super) fn ask_for_model(&mut self, model: String, first: When) {
        let choice = self.model_choice().map(|choice| choice.id.clone());
        let sent = Sent::Model { model: model.clone(), first };
        match choice.filter(|id| id != LEGACY) {
            Some(id) => {
                let params = json!({"sessionId": self.id, "configId": id, "value": model});
                self.request(sent, "session/set_config_option", &params);
            }
            None => {
                let params = json!({"sessionId": self.id, "modelId": model});
                self.request(sent, "session/set_model", &params);
            }
        }
    }

    pub(super) fn model_set(&mut self, model: &str, first: When, outcome: Result<Value, Refusal>) {
        match outcome {
            Ok(answer) => {
                self.model = model.to_owned();
                self.setup.model = Some(model.to_owned());
                let choices = update::choices(&answer);
                if !choices.is_empty() {
                    self.choices = choices;
                }
            }
            Err(refusal) => {
                let why = turn_result::one_line(&refusal.words());
                self.notice(format!("the model was not changed to {model}: {why}"));
            }
        }
        match first {
            When::AtTheStart => self.is_open(),
            When::Ordered => self.order_done(),
        }
    }

    pub(super) fn chosen(&mut self, choices: Vec<Choice>) {
        self.choices = choices;
        if let Some(model) = self.model_choice().and_then(|it| it.current_value.as_str()) {
            self.model = model.to_owned();
        }
        self.guard_again();
        self.ask_again();
    }

    fn is_open(&mut self) {
        self.stage = Stage::Open;
        let session = SessionId(self.id.clone().unwrap_or_default());
        if self.ready {
            self.tell(RuntimeEvent::Session { session });
        } else {
            self.ready = true;
            self.tell(RuntimeEvent::Ready { session });
        }
        if std::mem::take(&mut self.missed) {
            self.tell(RuntimeEvent::LoggedIn);
        }
        if self.order == Some(Order::Clear) {
            self.order = None;
        }
        self.go_on();
    }

    /// Begins an empty session in the place of the open one.
    pub(super) fn begin_anew(&mut self) {
        self.setup.resume = None;
        self.ask_for(Way::New);
    }
}

/// The id of the choice that stands for the list of models of older programs.
const LEGACY: &str = "";

/// Returns what can be chosen: the choices of the session, and the model of older programs.
fn choices(answer: &Value) -> Vec<Choice> {
    let mut choices = update::choices(answer);
    let has_model =
        choices.iter().any(|it| it.id == MODEL || it.category.as_deref() == Some(MODEL));
    if !has_model && answer["models"].is_object() {
        choices.push(Choice {
            id: LEGACY.to_owned(),
            category: Some(MODEL.to_owned()),
            current_value: answer["models"]["currentModelId"].clone(),
            options: Vec::new(),
        });
    }
    choices
}

/// Returns what a human does to log in, by what the program says about it.
fn login(methods: &Value, usual: &str) -> String {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = |method: &Value| {
        let text = method["description"].as_str().or_else(|| method["name"].as_str())?;
        Some(turn_result::one_line(text))
    };
    let named: Vec<String> = methods.iter().filter_map(shown).collect();
    if named.is_empty() { usual.to_owned() } else { format!("{usual} ({})", named.join("; ")) }
}

/// Returns a server as the protocol writes it.
fn server(server: &McpServer) -> Value {
    let pairs = |pairs: &std::collections::BTreeMap<String, String>| -> Vec<Value> {
        pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    match &server.place {
        McpPlace::Stdio { command, env } => {
            let (program, args) = command.split_first().unzip();
            json!({
                "name": server.key,
                "command": program.cloned().unwrap_or_default(),
                "args": args.unwrap_or_default(),
                "env": pairs(env),
            })
        }
        McpPlace::Http { url, headers } => {
            json!({"type": "http", "name": server.key, "url": url, "headers": pairs(headers)})
        }
    }
}
