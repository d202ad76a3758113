//! A shell command, taken apart into its simple commands for the rules of permission.
//!
//! A command that could do something else than it says is [`Unclear`], and a person is asked:
//! anything that expands, redirects, assigns or defines, what the grammar does not know, and
//! commands that run something else. The grammar and `shlex` must agree on each word. A pipeline stays
//! whole. Each command gets a parser of its own, so a daemon that is asked nothing has none. Start at
//! [`commands`]; which programs run what they do not show is in `programs`.

use std::ops::ControlFlow;

use gangline_core::rule::{self, OPERATORS};
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use self::{
    names::{HARMLESS, SHELLS},
    programs::is_file,
};

mod arguments;
mod names;
mod programs;
mod ways;

pub use arguments::{ARGUMENTS_MAX, arguments, is_shell, runs_its_arguments};

/// The longest command that is taken apart, in bytes.
pub const SCRIPT_MAX: usize = 4 * 1024;
/// How deep shells within shells are opened.
pub const DEPTH_MAX: usize = 4;
/// How deep lists, pipes and subshells of one shell may be nested. Each command of a list is one
/// level.
pub const NESTING_MAX: usize = 64;
/// How often the parser may report progress, which it does every 100 steps. The longest list of
/// commands takes half of it; the time for some malformed text grows with the square of its length.
const PROGRESS_MAX: usize = 256;

/// Why a command is not taken apart, in words for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// It is longer than [`SCRIPT_MAX`].
    #[error("it is too long")]
    TooLong,
    /// The grammar does not know it.
    #[error("it cannot be parsed")]
    Broken,
    /// The parser gave up, after `PROGRESS_MAX` steps.
    #[error("it takes too long to parse")]
    TooHard,
    /// It holds no command.
    #[error("it is empty")]
    Empty,
    /// A variable, a substitution, a pattern, a brace, a tilde.
    #[error("it expands something when it runs")]
    Expands,
    /// Input or output goes somewhere.
    #[error("it reads or writes a file by redirection")]
    Redirects,
    /// A variable is set.
    #[error("it sets a variable")]
    Assigns,
    /// A loop, a condition, a function, a job in the background.
    #[error("it is more than a list of commands")]
    Compound,
    /// `eval`, a shell that reads its input, `xargs` and their like.
    #[error("it runs commands that it does not show")]
    RunsUnseen,
    /// A list, or a program that may do what it reads, behind a pipe.
    #[error("it pipes into something that may run its input")]
    Piped,
    /// A quoted `|`, `&&` or redirection, which a rule could not tell from the operator.
    #[error("one of its words looks like an operator of the shell")]
    LikeOperator,
    /// A change of folder in the middle, or of what commands mean.
    #[error("it changes what later commands do")]
    ChangesRest,
    /// Deeper than [`DEPTH_MAX`] or [`NESTING_MAX`].
    #[error("it is nested too deeply")]
    TooDeep,
}

/// Returns the simple commands of a shell command, each as its words, in order. A pipeline is one of
/// them, with its operators as words. If it begins with `cd FOLDER &&`, these three words precede the
/// words of every other command.
///
/// # Errors
/// [`Unclear`] if a person must be asked.
pub fn commands(script: &str) -> Result<Vec<Vec<String>>, Unclear> {
    read(script, 0)
}

/// Returns whether a rule of these words would still be made today of the command that they say.
///
/// # Errors
/// Why it would not.
pub fn still_holds(words: &[String]) -> Result<(), Unclear> {
    let again = commands(&rule::line(words))?;
    if again == [words] { Ok(()) } else { Err(Unclear::LikeOperator) }
}

fn read(script: &str, depth: usize) -> Result<Vec<Vec<String>>, Unclear> {
    if script.len() > SCRIPT_MAX {
        return Err(Unclear::TooLong);
    }
    if depth > DEPTH_MAX {
        return Err(Unclear::TooDeep);
    }
    if script.chars().any(|c| c.is_control() && !['\n', '\t'].contains(&c)) {
        return Err(Unclear::Broken);
    }
    let script = script.trim_matches([' ', '\t', '\n']);
    let tree = parse(script)?;
    let root = tree.root_node();
    let mut reader = Reader { script, depth, found: Vec::new(), moved: None, level: 0 };
    let whole = [root.start_byte(), root.end_byte()];
    if root.has_error() || !reader.is_blank(0, whole[0]) || !reader.is_blank(whole[1], script.len())
    {
        return Err(Unclear::Broken);
    }
    reader.moves(root)?;
    reader.statement(root)?;
    match reader.found.is_empty() {
        true => Err(Unclear::Empty),
        false => Ok(reader.found),
    }
}

fn parse(script: &str) -> Result<Tree, Unclear> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| Unclear::Broken)?;
    let mut reports = 0;
    let mut report = |_: &ParseState| {
        reports += 1;
        if reports > PROGRESS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut text = |at: usize, _| script.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut text, None, Some(options)).ok_or(Unclear::TooHard)
}

struct Reader<'a> {
    script: &'a str,
    depth: usize,
    found: Vec<Vec<String>>,
    /// The place of a `cd FOLDER` that precedes everything else, and its words with the `&&`.
    moved: Option<(usize, Vec<String>)>,
    /// How deep the present statement is nested.
    level: usize,
}

impl<'a> Reader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.script.get(node.byte_range()).unwrap_or_default()
    }

    fn is_blank(&self, from: usize, to: usize) -> bool {
        self.script.get(from..to).is_some_and(|gap| gap.chars().all(|c| " \t\n".contains(c)))
    }

    /// Recognises `cd FOLDER && …`, if only `&&` joins its parts.
    fn moves(&mut self, root: Node<'_>) -> Result<(), Unclear> {
        let mut node = root;
        let mut lists = 0;
        // Lists lean to the left: the first command is the deepest.
        loop {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            let plain = match (node.kind(), children.as_slice()) {
                ("program", [_]) => true,
                ("list", [_, and, _]) => {
                    lists += 1;
                    and.kind() == "&&"
                }
                _ => false,
            };
            match children.first() {
                Some(first) if plain => node = *first,
                Some(_) | None => break,
            }
        }
        if node.kind() != "command" || lists == 0 {
            return Ok(());
        }
        let words = self.words(node)?;
        if let [cd, folder] = &words[..]
            && cd == "cd"
            && !folder.starts_with('-')
        {
            let before = vec![cd.clone(), folder.clone(), "&&".to_owned()];
            self.moved = Some((node.start_byte(), before));
        }
        Ok(())
    }

    fn statement(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        if self.level > NESTING_MAX {
            return Err(Unclear::TooDeep);
        }
        self.level += 1;
        let done = self.statement_of_any_kind(node);
        self.level -= 1;
        done
    }

    fn statement_of_any_kind(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        match node.kind() {
            "program" | "list" | "subshell" | "compound_statement" | "negated_command" => {
                self.parts(node)
            }
            "pipeline" => self.pipeline(node),
            "redirected_statement" => self.redirected(node),
            "command" => self.command(node),
            "comment" if self.begins_a_word(node) => Ok(()),
            "variable_assignment"
            | "variable_assignments"
            | "declaration_command"
            | "unset_command" => Err(Unclear::Assigns),
            _ => Err(Unclear::Compound),
        }
    }

    /// A shell takes `#` for a remark only where a word may begin; the grammar does elsewhere too.
    fn begins_a_word(&self, node: Node<'_>) -> bool {
        let before = self.script.get(..node.start_byte()).unwrap_or_default();
        before.chars().next_back().is_none_or(|c| " \t\n;|&()".contains(c))
    }

    fn parts(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        const BETWEEN: &[&str] = &["&&", "||", ";", "\n", "(", ")", "{", "}", "!"];
        let mut cursor = node.walk();
        let mut reached = node.start_byte();
        for child in node.children(&mut cursor) {
            if !self.is_blank(reached, child.start_byte()) || child.is_missing() {
                return Err(Unclear::Broken);
            }
            reached = child.end_byte();
            if child.is_named() {
                self.statement(child)?;
            } else if !BETWEEN.contains(&child.kind()) {
                return Err(Unclear::Compound);
            }
        }
        match self.is_blank(reached, node.end_byte()) {
            true => Ok(()),
            false => Err(Unclear::Broken),
        }
    }

    fn redirected(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let (inner, _) = self.without_redirections(node)?;
        self.statement(inner)
    }

    /// Returns the statement that a redirection belongs to, and its harmless redirections as words.
    fn without_redirections<'t>(&self, node: Node<'t>) -> Result<(Node<'t>, Vec<String>), Unclear> {
        let mut cursor = node.walk();
        let mut reached = node.start_byte();
        let (mut inner, mut redirections) = (None, Vec::new());
        for child in node.children(&mut cursor) {
            if !self.is_blank(reached, child.start_byte()) {
                return Err(Unclear::Broken);
            }
            reached = child.end_byte();
            match child.kind() {
                "file_redirect" if HARMLESS.contains(&self.text(child)) => {
                    redirections.push(self.text(child).replace(' ', ""));
                }
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    return Err(Unclear::Redirects);
                }
                _ if inner.is_none() => inner = Some(child),
                _ => return Err(Unclear::Broken),
            }
        }
        match inner {
            Some(inner) if reached == node.end_byte() => Ok((inner, redirections)),
            Some(_) | None => Err(Unclear::Broken),
        }
    }

    /// A pipeline is one form: what a part reads depends on the parts before it.
    fn pipeline(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut cursor = node.walk();
        let mut reached = node.start_byte();
        let mut stages: Vec<Vec<String>> = Vec::new();
        for child in node.children(&mut cursor) {
            if !self.is_blank(reached, child.start_byte()) || child.is_missing() {
                return Err(Unclear::Broken);
            }
            reached = child.end_byte();
            if child.is_named() {
                self.stage(child, &mut stages)?;
            } else if child.kind() != "|" {
                return Err(Unclear::Compound);
            }
        }
        // Where the last one sends its errors changes nothing that another part reads.
        if let Some(last) = stages.last_mut() {
            let kept = last.iter().take_while(|word| !OPERATORS.contains(&word.as_str())).count();
            last.truncate(kept);
        }
        match reached == node.end_byte() && stages.len() > 1 {
            true => self.found.push(self.in_folder(stages.join(&"|".to_owned()))),
            false => return Err(Unclear::Broken),
        }
        Ok(())
    }

    /// Reads one part of a pipeline: a simple command, or a pipeline that the grammar nests in it.
    fn stage(&mut self, node: Node<'_>, stages: &mut Vec<Vec<String>>) -> Result<(), Unclear> {
        let (inner, redirections) = match node.kind() {
            "redirected_statement" => self.without_redirections(node)?,
            _ => (node, Vec::new()),
        };
        if inner.kind() != "command" {
            return Err(match inner.kind() {
                "list" | "subshell" | "compound_statement" | "pipeline" | "negated_command" => {
                    Unclear::Piped
                }
                "variable_assignment" | "declaration_command" | "unset_command" => Unclear::Assigns,
                _ => Unclear::Compound,
            });
        }
        let opened = self.unwrapped(self.words(inner)?)?;
        let [words] = &opened[..] else { return Err(Unclear::Piped) };
        let whole = words.iter().any(|word| OPERATORS.contains(&word.as_str()));
        if whole || !stages.is_empty() && !programs::takes_data(words) {
            return Err(Unclear::Piped);
        }
        stages.push(words.iter().cloned().chain(redirections).collect());
        Ok(())
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let words = self.words(node)?;
        match &self.moved {
            Some((at, _)) if *at == node.start_byte() => return Ok(()),
            Some(_) | None => {}
        }
        for words in self.unwrapped(words)? {
            let words = self.in_folder(words);
            self.found.push(words);
        }
        Ok(())
    }

    /// Returns the words with the `cd FOLDER &&` that precedes everything.
    fn in_folder(&self, words: Vec<String>) -> Vec<String> {
        let before = self.moved.iter().flat_map(|(_, words)| words.iter().cloned());
        before.chain(words).collect()
    }

    /// Returns the commands that a simple command runs: `sh -c` is opened.
    fn unwrapped(&self, words: Vec<String>) -> Result<Vec<Vec<String>>, Unclear> {
        let name = words.first().map(String::as_str).unwrap_or_default();
        let rest = words.get(1..).unwrap_or_default();
        if SHELLS.contains(&name) {
            return match rest {
                [option, script] if ["-c", "-lc"].contains(&option.as_str()) => {
                    read(script, self.depth + 1)
                }
                [script, ..] if !script.starts_with('+') && is_file(script) => Ok(vec![words]),
                _ => Err(Unclear::RunsUnseen),
            };
        }
        programs::check(&words)?;
        Ok(vec![words])
    }

    /// Returns the words of a simple command, on which both readers agree.
    fn words(&self, node: Node<'_>) -> Result<Vec<String>, Unclear> {
        let mut cursor = node.walk();
        let mut words = Vec::new();
        let mut reached = node.start_byte();
        for child in node.children(&mut cursor) {
            let gap = self.script.get(reached..child.start_byte()).unwrap_or("?");
            if !gap.chars().all(|c| c == ' ' || c == '\t') {
                return Err(Unclear::Broken);
            }
            reached = child.end_byte();
            words.push(match child.kind() {
                "command_name" => match child.child(0) {
                    Some(only) if child.child_count() == 1 => self.word(only)?,
                    Some(_) | None => return Err(Unclear::Expands),
                },
                "variable_assignment" => return Err(Unclear::Assigns),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    return Err(Unclear::Redirects);
                }
                _ => self.word(child)?,
            });
        }
        // No text is known that the two read otherwise (1.3 million were tried): a net below the grammar.
        let again = shlex::split(self.text(node)).ok_or(Unclear::Broken)?;
        if words.iter().any(|word| OPERATORS.contains(&word.as_str())) {
            return Err(Unclear::LikeOperator);
        }
        match again == words && reached == node.end_byte() {
            true => Ok(words),
            false => Err(Unclear::Broken),
        }
    }

    /// Returns what a word is when it runs.
    fn word(&self, node: Node<'_>) -> Result<String, Unclear> {
        let text = self.text(node);
        match node.kind() {
            "word" | "number" if node.named_child_count() == 0 => bare(text),
            "raw_string" => {
                inner(text, '\'').filter(|it| !it.contains('\'')).ok_or(Unclear::Broken)
            }
            "string" => {
                let inner = inner(text, '"').ok_or(Unclear::Broken)?;
                match inner.contains(['$', '`', '\\', '!', '"']) {
                    true => Err(Unclear::Expands),
                    false => Ok(inner),
                }
            }
            "concatenation" => {
                let mut cursor = node.walk();
                let (mut whole, mut reached) = (String::new(), node.start_byte());
                for part in node.children(&mut cursor) {
                    if !part.is_named() || part.start_byte() != reached {
                        return Err(Unclear::Expands);
                    }
                    reached = part.end_byte();
                    whole.push_str(&self.word(part)?);
                }
                Ok(whole)
            }
            _ => Err(Unclear::Expands),
        }
    }
}

/// Returns a word without quotes, if it means itself.
fn bare(text: &str) -> Result<String, Unclear> {
    let expands = |c: char| "*?[]$`\\!^#".contains(c) || !c.is_ascii_graphic();
    let braces = text.contains(['{', '}']) && text != "{}";
    let tilde = text.starts_with(['~', '=']) || text.contains("=~") || text.contains(":~");
    match text.is_empty() || text.chars().any(expands) || braces || tilde {
        true => Err(Unclear::Expands),
        false => Ok(text.to_owned()),
    }
}

/// Returns the text between two quotes.
fn inner(text: &str, quote: char) -> Option<String> {
    Some(text.strip_prefix(quote)?.strip_suffix(quote)?.to_owned())
}

#[cfg(test)]
mod tests;
