//! The argument words of a shell command of which a part may be hidden where people decide on it.
//!
//! Only what the grammar reads as an argument of a simple command whose name is plain, with a blank
//! before it and an end of a word behind it. A program that runs its arguments has none, since one of
//! them is the name of a command; neither has a command of which another one may run what it says. Start at
//! [`arguments`].

use std::{ops::ControlFlow, ops::Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::{
    Unclear,
    names::{CHANGE_REST, HARMLESS, INTERPRETERS, READERS, RUN_UNSEEN, SHELL_NAMES, SHELLS},
    programs::base,
    ways::{FIRST_RUNS, RUN_REST},
};

/// The longest command that is read for it, in bytes: no system takes a longer argument of a program.
pub const ARGUMENTS_MAX: usize = 128 * 1024;
/// Programs that run their arguments as a command, and of which a rule can be made ([`RUN_UNSEEN`] has the
/// others).
const RUN_ARGUMENTS: &[&str] =
    &["env", "nohup", "nice", "timeout", "gtimeout", "time", "stdbuf", "sudo", "doas"];
/// Programs that may run one of their arguments, and have it in no fixed place.
const RUN_ONE: &[&str] = &["find", "fd", "npx", "bunx", "pnpx", "uvx", "pipx"];
/// Programs that run something in a container, and the words by which they do.
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"];
const RUN_THERE: &[&str] = &["run", "exec", "create", "debug", "rsh"];
/// How often the parser may report progress. One that meets an error ends at once, so a step takes no
/// longer in a long text than in a short one.
const PROGRESS_MAX: usize = 4096;

/// Returns the byte ranges of argument words of which a part may be hidden, in order.
///
/// # Errors
/// [`Unclear::TooLong`], [`Unclear::TooHard`] and [`Unclear::Broken`]: nobody knows what of it is an
/// argument.
pub fn arguments(script: &str) -> Result<Vec<Range<usize>>, Unclear> {
    if script.len() > ARGUMENTS_MAX {
        return Err(Unclear::TooLong);
    }
    if script.chars().any(|c| c.is_control() && !['\n', '\t'].contains(&c)) {
        return Err(Unclear::Broken);
    }
    let tree = parse(script)?;
    if tree.root_node().has_error() {
        return Err(Unclear::Broken);
    }
    let mut nodes = Vec::new();
    each(&tree, |node| nodes.push(node));
    if runs_what_it_says(script, &nodes) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    // Both are in the order in which they begin.
    let (mut parts, mut read_up_to) = (read_by_others(script, &nodes).into_iter().peekable(), 0);
    for node in nodes.into_iter().filter(|it| it.kind() == "command") {
        while let Some(part) = parts.next_if(|part| part.start <= node.start_byte()) {
            read_up_to = read_up_to.max(part.end);
        }
        if node.start_byte() >= read_up_to {
            of_command(script, node, &mut found);
        }
    }
    // A command within a word of another one comes after the word.
    found.sort_by_key(|word: &Range<usize>| word.start);
    Ok(found)
}

/// Goes through the nodes of a tree, each before those within it.
fn each<'t>(tree: &'t Tree, mut take: impl FnMut(Node<'t>)) {
    const KINDS: &[&str] = &["command", "pipeline", "function_definition", "file_redirect"];
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if KINDS.contains(&node.kind()) {
            take(node);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns whether a part of a script may run what another part says or writes: a shell has many ways from an
/// argument to the name of a command.
fn runs_what_it_says(script: &str, nodes: &[Node<'_>]) -> bool {
    // The last argument of the command before.
    const BY_NAME: &[&str] = &["$_", "${_", "BASH_COMMAND", "BASH_ARGV"];
    let text = |node: &Node<'_>| script.get(node.byte_range()).unwrap_or_default();
    let commands = nodes.iter().filter(|it| it.kind() == "command").count();
    let runs = |node: &Node<'_>| match node.kind() {
        "command" => name_of(*node).is_some_and(|name| {
            let (name, base) = (text(&name), base(text(&name)));
            !is_plain_name(name)
                || [SHELLS, SHELL_NAMES, RUN_UNSEEN]
                    .iter()
                    .any(|names| names.contains(&base) || names.contains(&name))
        }),
        "file_redirect" => {
            commands > 1 && text(node).contains('>') && !HARMLESS.contains(&text(node))
        }
        "pipeline" => false,
        _ => true,
    };
    BY_NAME.iter().any(|it| script.contains(it)) || nodes.iter().any(runs)
}

fn name_of(command: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = command.walk();
    command.children(&mut cursor).find(|it| it.kind() == "command_name")
}

/// Returns the parts of pipelines, in order, of which another part may run what they say.
fn read_by_others(script: &str, nodes: &[Node<'_>]) -> Vec<Range<usize>> {
    let reads = |node: &Node<'_>| {
        let inner = if node.kind() == "redirected_statement" { node.child(0) } else { Some(*node) };
        let command = inner.filter(|it| it.kind() == "command");
        let name = command.and_then(name_of).and_then(|it| script.get(it.byte_range()));
        name.is_some_and(|name| is_plain_name(name) && READERS.contains(&base(name)))
    };
    let mut parts = Vec::new();
    for pipeline in nodes.iter().filter(|it| it.kind() == "pipeline") {
        let mut cursor = pipeline.walk();
        let stages: Vec<Node<'_>> = pipeline.named_children(&mut cursor).collect();
        let last = stages.iter().skip(1).rposition(|stage| !reads(stage));
        if let Some(last) = last {
            parts.push(pipeline.start_byte()..stages[last + 1].start_byte());
        }
    }
    parts
}

fn parse(script: &str) -> Result<Tree, Unclear> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| Unclear::Broken)?;
    let (mut reports, mut broken) = (0, false);
    let mut report = |state: &ParseState| {
        reports += 1;
        broken |= state.has_error();
        match broken || reports > PROGRESS_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut text = |at: usize, _| script.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut text, None, Some(options));
    tree.ok_or(if broken { Unclear::Broken } else { Unclear::TooHard })
}

fn of_command(script: &str, node: Node<'_>, found: &mut Vec<Range<usize>>) {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let Some(at) = children.iter().position(|it| it.kind() == "command_name") else { return };
    let name = script.get(children[at].byte_range()).unwrap_or_default();
    let text = |it: &Node<'_>| script.get(it.byte_range()).unwrap_or_default();
    let rest: Vec<&str> = children[at + 1..].iter().map(text).collect();
    if !is_plain_name(name) || runs_its_arguments(name, &rest) {
        return;
    }
    let is_word = |it: &&Node<'_>| matches!(it.kind(), "word" | "number" | "concatenation");
    let words = children[at + 1..].iter().filter(is_word).map(Node::byte_range);
    found.extend(words.filter(|word| stands_alone(script, word)));
}

/// Returns whether the name of a command means itself: an alias or a function may be called so too, but
/// no expansion.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c))
}

/// Returns whether a program runs its arguments as a command or may, so that one of them is a command's
/// name.
#[must_use]
pub fn runs_its_arguments(name: &str, rest: &[&str]) -> bool {
    let base = base(name);
    SHELLS.contains(&name)
        || [SHELLS, SHELL_NAMES, RUN_ARGUMENTS, RUN_UNSEEN, CHANGE_REST, RUN_ONE]
            .iter()
            .any(|names| names.contains(&base))
        || RUN_REST.iter().any(|(name, _)| *name == base)
        || INTERPRETERS.contains(&base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        || runs_by_a_word(base, rest)
}

/// Returns whether a word lets a program run others of its words. A setting of `git` may be an alias, and
/// its value the name of a command.
fn runs_by_a_word(base: &str, rest: &[&str]) -> bool {
    let has = |words: &[&str]| rest.iter().any(|word| words.contains(word));
    let first_runs = FIRST_RUNS.iter().find(|(name, _)| *name == base);
    base == "git" && rest.iter().any(|word| word.starts_with("-c"))
        || CONTAINERS.contains(&base) && has(RUN_THERE)
        || first_runs.is_some_and(|(_, words)| has(words))
}

/// Returns whether a program is a shell, wherever it is.
#[must_use]
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name) || SHELL_NAMES.contains(&base(name))
}

/// Returns whether a shell reads the word by itself: a blank stands before it that is not escaped, and
/// behind it a blank, an operator or the end.
fn stands_alone(script: &str, word: &Range<usize>) -> bool {
    let bytes = script.as_bytes();
    let before = word.start.checked_sub(1).map(|at| bytes[at]);
    let blank = matches!(before, Some(b' ' | b'\t'));
    let escaped = word.start.checked_sub(2).is_some_and(|at| bytes[at] == b'\\');
    let ends = bytes.get(word.end).is_none_or(|c| b" \t\n;|&)`".contains(c));
    blank && !escaped && ends
}

#[cfg(test)]
mod tests;
