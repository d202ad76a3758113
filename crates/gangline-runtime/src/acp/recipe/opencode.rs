//! OpenCode: its whole configuration comes by a variable, over the user's own.

use gangline_core::reading::Bounds;
use serde_json::{Map, Value, json};

use super::{
    ANSWER, By, Counts, Given, Introduction, Names, Recipe, Refused, Servers, Takes, Wanted,
    Withdrawn, settings,
};
use crate::folder::programs;

pub(in super::super) static OPENCODE: Recipe = Recipe {
    name: "opencode",
    any: false,
    command: &["opencode", "acp"],
    login: "run `opencode auth login` as the agent's user",
    counts: Counts::OfThePrompt,
    errors: &[],
    remarks: &[],
    guards: &[],
    asking: &[],
    refused: Refused::PromptEnds,
    withdrawn: Withdrawn::IsForgotten,
    servers: Servers { stdio: true, http: true, by: By::Session },
    compact: Some("compact"),
    lists: true,
    introduction: Introduction::Recipe,
    names: Names::WithProvider,
    takes: Takes::BOTH,
    brings: &programs::OPENCODE,
    words: &[],
    prepare,
};

const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
const QUIET: [&str; 4] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
];
/// The provider of a model that names none.
const PROVIDER: &str = "gangline";

/// By itself it runs everything unasked. Named one by one too, since a project's own settings may
/// name them.
const ASKS: [&str; 10] =
    ["*", "bash", "edit", "read", "glob", "grep", "list", "webfetch", "websearch", "task"];
/// Its own agents: the one that talks first, then those that it may call.
const AGENTS: [&str; 4] = ["build", "plan", "general", "explore"];
/// Its lists of things to do touch nothing.
const RUNS: [&str; 2] = ["todowrite", "todoread"];

/// Returns what it asks about a file outside of its folder, before it asks about what is done with the
/// file. That second question is enough for the agent's own folders.
fn outside(bounds: &Bounds) -> Value {
    let open = bounds.open.iter().map(|folder| format!("{}/*", folder.display()));
    let rules = open.map(|pattern| (pattern, "allow".into()));
    Value::Object(std::iter::once(("*".to_owned(), "ask".into())).chain(rules).collect())
}

fn prepare(wanted: &Wanted<'_>, given: &mut Given) -> Result<(), String> {
    let options = wanted.options;
    for name in QUIET {
        given.default(name, "1");
    }
    let mut config = match given.env.get(CONFIG) {
        Some(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| format!("{CONFIG} is no JSON object"))?,
        None => json!({}),
    };
    let permission = ASKS.map(|tool| (tool, "ask")).into_iter().chain(RUNS.map(|it| (it, "allow")));
    let mut permission: Map<String, Value> =
        permission.map(|(tool, what)| (tool.to_owned(), what.into())).collect();
    permission.insert("external_directory".to_owned(), outside(&options.bounds));
    // An agent of the program has rules of its own, which a project may have written.
    for agent in AGENTS {
        config["agent"][agent]["permission"] = permission.clone().into();
    }
    config["default_agent"] = AGENTS[0].into();
    config["permission"] = permission.into();
    config["autoupdate"] = false.into();
    config["share"] = "disabled".into();
    // A prompt that does not fit is an error then, and the daemon has the context shortened (R2-07, R2-08).
    // The program's own summary would be said as a part of the answer.
    let auto = options.extra.get("auto_compact").and_then(Value::as_bool).unwrap_or(false);
    config["compaction"]["auto"] = auto.into();
    if !options.system_prompt.is_empty() {
        let text = &options.system_prompt;
        let file = settings::write(options, "opencode-instructions.md", text)?;
        config["instructions"] = json!([file.display().to_string()]);
    }
    if let Some(url) = &options.base_url {
        let named = options.model.as_deref().unwrap_or("default");
        let (provider, model) = named.split_once('/').unwrap_or((PROVIDER, named));
        let others = options.extra.get("models").and_then(Value::as_array);
        let others = others.into_iter().flatten().filter_map(Value::as_str);
        let limit = json!({"context": wanted.context_window(), "output": ANSWER});
        let entry = |name: &str| (name.to_owned(), json!({"name": name, "limit": limit}));
        let models: Map<String, Value> = others.chain([model]).map(entry).collect();
        let key = wanted.key().unwrap_or("none");
        config["provider"][provider] = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": provider,
            "options": {"baseURL": url, "apiKey": key},
            "models": models,
        });
        config["enabled_providers"] = json!([provider]);
        let name = format!("{provider}/{model}");
        config["small_model"] = name.clone().into();
        config["model"] = name.into();
    } else if let Some(model) = &options.model {
        config["model"] = model.clone().into();
    }
    given.set(CONFIG, config.to_string());
    Ok(())
}
