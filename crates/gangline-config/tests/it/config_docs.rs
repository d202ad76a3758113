//! docs/config.md and the keys are in step: it shows every key of a section, no other, with its
//! default and its words. What the keys are is asked of the schema, which comes from their
//! declaration. Begin at [`the_documentation_shows_every_key_and_no_other`].

use gangline_config::{AgentConfig, Backend, CLAUDE_MODEL, Config, parse, schema};
use serde_json::Value;

const PATH: &str = "docs/config.md";
const HEADING: &str = "## Everything, with its defaults";
/// Keys of an agent in the example that are its backend's.
const FOREIGN: [&str; 2] = ["background_tasks", "screen"];

/// Sections whose keys are names that a user gives.
const BY_NAME: [&str; 1] = ["prices"];

/// One key as the example shows it.
struct Shown {
    section: String,
    key: String,
    line: String,
}

fn document() -> String {
    let path = format!("{}/../../{PATH}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// Returns the example that shows all keys.
fn example(document: &str) -> &str {
    let rest = document.split_once(HEADING).unwrap().1;
    rest.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap()
}

/// Returns the column and the name of a line's key, also of one that is commented out.
fn key(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start();
    let bare = bare.strip_prefix("# ").map_or(bare, str::trim_start);
    let marks = if line.trim_start().starts_with('#') { 2 } else { 0 };
    let item = bare.strip_prefix("- ");
    let name = item.unwrap_or(bare).split_once(':')?.0;
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let column = line.len() - bare.len() - marks + if item.is_some() { 2 } else { 0 };
    plain.then_some((column, name))
}

fn shown(example: &str) -> Vec<Shown> {
    let mut section = String::new();
    let mut all = Vec::new();
    for line in example.lines() {
        let Some((column, key)) = key(line) else { continue };
        if column == 0 {
            section.clear();
        }
        let of = section.clone();
        all.push(Shown { section: of, key: key.to_owned(), line: line.to_owned() });
        if column == 0 {
            section = key.to_owned();
        }
    }
    all
}

/// Returns the definition of a property's value, of its items or of its entries; else the property.
fn definition<'a>(schema: &'a Value, property: &'a Value) -> &'a Value {
    let nested = [&property["items"], &property["additionalProperties"], &property["anyOf"][0]];
    let named = std::iter::once(property).chain(nested).find_map(|it| it["$ref"].as_str());
    named.and_then(|name| name.rsplit('/').next()).map_or(property, |name| &schema["$defs"][name])
}

/// Returns the words of a closed set.
fn words<'a>(schema: &'a Value, property: &'a Value) -> Vec<&'a str> {
    let set = definition(schema, property)["oneOf"].as_array();
    set.into_iter().flatten().filter_map(|word| word["const"].as_str()).collect()
}

/// Compares the keys of one section; below it, those of its own sections, which need only be named.
fn compare(schema: &Value, of: &Value, section: &str, shown: &[Shown], faults: &mut Vec<String>) {
    let Some(properties) = of["properties"].as_object() else { return };
    let here: Vec<&Shown> = shown.iter().filter(|it| it.section == section).collect();
    for (key, property) in properties {
        let name = format!("{section}.{key}");
        let name = name.trim_start_matches('.');
        let Some(shown) = here.iter().find(|it| it.key == *key) else {
            faults.push(format!("the example lacks `{name}`"));
            continue;
        };
        let between = if property["items"].is_null() { " | " } else { ", " };
        let words = words(schema, property).join(between);
        if !shown.line.contains(&words) {
            faults.push(format!("the example's line of `{name}` does not say `{words}`"));
        }
    }
    let foreign = |key: &str| section == "agents" && FOREIGN.contains(&key);
    for shown in here {
        if !properties.contains_key(&shown.key) && !foreign(&shown.key) {
            faults.push(format!("the example has `{section}.{}`: no such key", shown.key));
        }
    }
}

#[test]
fn the_documentation_shows_every_key_and_no_other() {
    let (schema, document) = (schema(), document());
    let shown = shown(example(&document));
    let mut faults = Vec::new();
    compare(&schema, &schema, "", &shown, &mut faults);
    for (section, property) in schema["properties"].as_object().unwrap() {
        let section_of = definition(&schema, property);
        if !BY_NAME.contains(&section.as_str()) {
            compare(&schema, section_of, section, &shown, &mut faults);
        }
        for (key, property) in section_of["properties"].as_object().into_iter().flatten() {
            let inner = definition(&schema, property)["properties"].as_object();
            for name in inner.into_iter().flat_map(serde_json::Map::keys) {
                let mut parts = document.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                if !parts.any(|part| part == name) {
                    faults.push(format!("nothing names `{section}.{key}.{name}`"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{PATH}:\n{}", faults.join("\n"));
}

#[test]
fn the_documentation_says_what_each_word_of_an_agent_means() {
    let (schema, document) = (schema(), document());
    let rest = document.split_once("## What the words mean").unwrap().1;
    let table = rest.split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| {
        let mut cells =
            line.strip_prefix('|')?.split('|').map(|cell| cell.trim().trim_matches('`'));
        Some((cells.next()?, cells.next()?))
    });
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, word) in rows.skip(2) {
        match said.last_mut() {
            Some((_, words)) if key.is_empty() => words.push(word),
            _ => said.push((key, vec![word])),
        }
    }
    said.sort();
    let properties = schema["$defs"]["AgentConfig"]["properties"].as_object().unwrap();
    let declared = properties.iter().map(|(key, it)| (key.as_str(), words(&schema, it)));
    let declared: Vec<_> = declared.filter(|(_, words)| !words.is_empty()).collect();
    assert_eq!(said, declared, "{PATH}, What the words mean");
}

/// Collects where two values differ.
fn differences(at: &str, said: &Value, holds: &Value, faults: &mut Vec<String>) {
    match (said, holds) {
        (Value::Object(all), Value::Object(others)) if all.keys().eq(others.keys()) => {
            all.keys().for_each(|key| {
                differences(&format!("{at}.{key}"), &said[key], &holds[key], faults);
            });
        }
        _ if said == holds => {}
        _ => faults.push(format!("`{}` is {holds}, not {said}", at.trim_start_matches('.'))),
    }
}

/// What the example says is what holds without it.
#[test]
fn the_documented_defaults_are_the_ones_that_hold() {
    let mut said = parse(example(&document()), PATH).unwrap();
    assert_eq!(said.agents[0].agent.take().unwrap().as_str(), Backend::SEEDS_DEFAULT);
    // Of a section; a file without one has rules alone.
    let supervisor = &mut said.supervisor;
    assert_eq!(std::mem::take(&mut supervisor.agent).as_str(), Backend::SEEDS_DEFAULT);
    assert_eq!(supervisor.model.take().unwrap(), CLAUDE_MODEL);
    let agent = said.agents.pop().unwrap();
    let usual = AgentConfig::new(agent.nick.clone(), agent.directory.clone());
    let json = |agent: &AgentConfig| serde_json::to_value(agent).unwrap();
    let mut faults = Vec::new();
    differences("agents", &json(&agent), &json(&usual), &mut faults);
    let json = |config: &Config| serde_json::to_value(config).unwrap();
    differences("", &json(&said), &json(&Config::default()), &mut faults);
    assert!(faults.is_empty(), "{PATH}:\n{}", faults.join("\n"));
}

/// With the schema's and the documentation's keys the same, every key is one that is read.
#[test]
fn every_documented_key_is_read_also_what_is_commented_out() {
    let document = document();
    let open = |line: &str| match key(line) {
        Some(_) => line.replacen("# ", "", 1),
        None => line.to_owned(),
    };
    let open =
        |line: &str| if line.trim_start().starts_with('#') { open(line) } else { line.into() };
    let text = example(&document).lines().map(open).collect::<Vec<_>>().join("\n");
    let read = parse(&text, PATH).unwrap_or_else(|error| panic!("{error}"));
    let passed: Vec<&str> = read.agents[0].extra.keys().map(String::as_str).collect();
    assert_eq!(passed, FOREIGN, "these went to the backend, as if nobody knew them");
    assert!(read.hooks.is_some() && read.network.sasl.is_some() && read.agents[0].hooks.is_some());
}
