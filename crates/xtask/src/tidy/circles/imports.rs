//! What a file imports: `use` trees and paths in its code that begin with `crate`, `super` or `self`.

/// The parts of a path.
pub(super) type Path = Vec<String>;

/// One import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Path,
    /// The name that a `use` gives it; none for a path in the code.
    pub(super) name: Option<String>,
}

/// Returns the imports of a file, without those of tests that stand in it.
pub(super) fn read(text: &str) -> Vec<Import> {
    const TESTS: &str = "#[cfg(test)]\nmod tests {";
    let text = text.split_once(TESTS).map_or(text, |(before, _)| before);
    let tokens = tokens(text);
    let mut imports = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let behind_path = at > 0 && tokens[at - 1] == "::";
        at += 1;
        match token.as_str() {
            "use" if tokens.get(at).is_some_and(|next| is_name(next) || next == "{") => {
                let end = tokens[at..].iter().position(|token| token == ";");
                let end = end.map_or(tokens.len(), |length| at + length);
                tree(&tokens[at..end], &mut Vec::new(), &mut imports);
                at = end;
            }
            "crate" | "super" | "self" if !behind_path => {
                let mut path = vec![token.clone()];
                while tokens.get(at).is_some_and(|token| token == "::")
                    && let Some(part) = tokens.get(at + 1).filter(|token| is_name(token))
                {
                    path.push(part.clone());
                    at += 2;
                }
                if path.len() > 1 {
                    imports.push(Import { path, name: None });
                }
            }
            _ => {}
        }
    }
    imports
}

/// Reads a `use` tree, or a list of some; `before` is what stands in front of it.
fn tree(tokens: &[String], before: &mut Path, imports: &mut Vec<Import>) {
    let length = before.len();
    let mut depth = 0_usize;
    let mut begin = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                one(&tokens[begin..at], before, imports);
                before.truncate(length);
                begin = at + 1;
            }
            _ => {}
        }
    }
    one(&tokens[begin..], before, imports);
    before.truncate(length);
}

fn one(tokens: &[String], before: &mut Path, imports: &mut Vec<Import>) {
    let mut renamed = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "::" | "*" => {}
            "{" => {
                let inner = &tokens[at + 1..tokens.len() - 1];
                return tree(inner, before, imports);
            }
            "as" => {
                renamed = tokens.get(at + 1).cloned();
                break;
            }
            part => before.push(part.to_owned()),
        }
    }
    if tokens.is_empty() {
        return; // behind the last comma
    }
    let is_glob = tokens.last().is_some_and(|token| token == "*");
    let last = before.iter().rfind(|part| *part != "self").cloned();
    let name = renamed.or(last).filter(|_| !is_glob);
    imports.push(Import { path: before.clone(), name });
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits code into names, `::` and single other characters, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| literal(rest));
        let length = match skipped {
            Some(length) => length,
            None if first.is_alphanumeric() || first == '_' => {
                let in_name = |c: char| c.is_alphanumeric() || c == '_';
                let length = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                tokens.push(rest[..length].to_owned());
                length
            }
            None if rest.starts_with("::") => {
                tokens.push("::".to_owned());
                2
            }
            None => {
                if !first.is_whitespace() {
                    tokens.push(first.to_string());
                }
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the comment that a text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |end| end + 4))
}

/// Returns the length of the string or character that a text begins with.
fn literal(text: &str) -> Option<usize> {
    if let Some(behind) = text.strip_prefix('r') {
        let marks = behind.len() - behind.trim_start_matches('#').len();
        if let Some(inner) = behind[marks..].strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(marks));
            let begin = text.len() - inner.len();
            return Some(inner.find(&end).map_or(text.len(), |at| begin + at + end.len()));
        }
        return None;
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    // A lifetime has no second quote.
    if quote == '\'' && !text[1..].starts_with('\\') {
        let second = text[1..].chars().next()?.len_utf8() + 1;
        return text[second..].starts_with('\'').then_some(second + 1);
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}
