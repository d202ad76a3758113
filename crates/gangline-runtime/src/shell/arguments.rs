//! The argument words of a shell command of which a part may be hidden where people decide on it.
//!
//! Only what the grammar reads as an argument of a simple command whose name is plain, with a blank
//! before it and an end of a word behind it. A program that runs its arguments has none, since one of
//! them is the name of a command. A script has none if something in it may run what stands in another
//! of its commands: `: token=x; ${_#*=}` runs `x`. Start at [`arguments`].

use std::{ops::ControlFlow, ops::Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::{
    Unclear,
    names::{CHANGE_REST, INTERPRETERS, RUN_REST, RUN_UNSEEN, SHELL_NAMES, SHELLS},
    programs::base,
};

/// The longest command that is read for it, in bytes: no system takes a longer argument of a program.
pub const ARGUMENTS_MAX: usize = 128 * 1024;
/// Programs that run their arguments as a command, and of which a rule can be made ([`RUN_UNSEEN`] has the
/// others).
const RUN_ARGUMENTS: &[&str] =
    &["env", "nohup", "nice", "timeout", "gtimeout", "time", "stdbuf", "sudo", "doas"];
/// Programs that may run one of their arguments, and have it in no fixed place.
const RUN_ONE: &[&str] = &["find", "fd", "npx", "bunx", "pnpx", "uvx", "pipx"];
/// Of these, programs that run one of their arguments and nothing else.
const RUN_ONLY_ARGUMENTS: &[&str] = &["command", "builtin", "exec"];
/// Commands of the shell that run what they were told, at once or later.
const RUN_LATER: &[&str] =
    &["alias", "hash", "enable", "bind", "mapfile", "readarray", "complete", "compgen", "jobs"];
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
    if joins_words(script) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let runs_others = match cursor.node().kind() {
            "command" => of_command(script, cursor.node(), &mut found) == Runs::Others,
            "raw_string" | "ansi_c_string" | "string" => {
                holds_code(script.get(cursor.node().byte_range()).unwrap_or_default())
            }
            _ => false,
        };
        if runs_others {
            return Ok(Vec::new());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                // A command within a word of another one comes after the word.
                found.sort_by_key(|word: &Range<usize>| word.start);
                return Ok(found);
            }
        }
    }
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

/// Returns whether two parts of one word may stand on two lines: of `ev\⏎al` the grammar makes
/// two words, and bash one.
fn joins_words(script: &str) -> bool {
    let is_blank = |c: &u8| matches!(c, b' ' | b'\t' | b'\n');
    let bytes = script.as_bytes();
    let mut pairs = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\\\n");
    pairs.any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let behind = bytes.get(at + 2);
        before.is_some_and(|c| !is_blank(&c)) && behind.is_some_and(|c| !is_blank(c))
    })
}

/// What a command runs beside the program that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// Nothing, or what its own words say.
    Itself,
    /// Perhaps what other commands of the script say.
    Others,
}

fn of_command(script: &str, node: Node<'_>, found: &mut Vec<Range<usize>>) -> Runs {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let Some(at) = children.iter().position(|it| it.kind() == "command_name") else {
        return Runs::Itself;
    };
    let text = |node: &Node<'_>| script.get(node.byte_range()).unwrap_or_default();
    let (name, rest) = (text(&children[at]), &children[at + 1..]);
    if !is_plain_name(name) || runs_others(name) {
        return Runs::Others;
    }
    if runs_its_arguments(name) {
        // One of them may be a program that does, or an expansion.
        let is_one = |word: &Node<'_>| match text(word) {
            // Here they are a folder and an option.
            "." | "-" => false,
            word => !is_plain_word(word) || runs_others(word),
        };
        let runs = !CHANGE_REST.contains(&base(name)) && rest.iter().any(is_one);
        return if runs { Runs::Others } else { Runs::Itself };
    }
    let is_word = |it: &&Node<'_>| matches!(it.kind(), "word" | "number" | "concatenation");
    let words = rest.iter().filter(is_word).map(Node::byte_range);
    found.extend(words.filter(|word| stands_alone(script, word)));
    Runs::Itself
}

/// Returns whether a program may run what it reads, or what the shell was told before.
fn runs_others(name: &str) -> bool {
    let base = base(name);
    let version = |c: char| c.is_ascii_digit() || c == '.';
    let runs = [SHELL_NAMES, RUN_UNSEEN, RUN_LATER].iter().any(|names| names.contains(&base))
        || INTERPRETERS.contains(&base.trim_end_matches(version));
    runs && !RUN_ONLY_ARGUMENTS.contains(&base)
}

/// Returns whether a quoted text has an expansion in it that the shell may make later, such as in `PS4`.
fn holds_code(quoted: &str) -> bool {
    let later = match quoted.chars().next() {
        Some('\'') => ["$(", "`", "${"].as_slice(),
        // Any sign may be written as a number here.
        Some('$') => ["$", "`", "\\x", "\\u", "\\U", "\\0", "\\1", "\\2"].as_slice(),
        _ => ["\\$(", "\\`", "\\${"].as_slice(),
    };
    let inner = quoted.get(1..).unwrap_or_default();
    later.iter().any(|sign| inner.contains(sign))
}

fn is_plain_word(word: &str) -> bool {
    matches!(word, "{}" | "\\;")
        || word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.=+:@%,/<>&".contains(c))
}

/// Returns whether the name of a command means itself: an alias or a function may be called so too, but
/// no expansion.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c))
}

fn runs_its_arguments(name: &str) -> bool {
    let base = base(name);
    SHELLS.contains(&name)
        || [SHELLS, SHELL_NAMES, RUN_ARGUMENTS, RUN_UNSEEN, CHANGE_REST, RUN_ONE]
            .iter()
            .any(|names| names.contains(&base))
        || RUN_REST.iter().any(|(name, _)| *name == base)
        || INTERPRETERS.contains(&base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
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
