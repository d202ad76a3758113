//! Which files of a folder a text names, and the text with their copies' paths in place of theirs. Pure.

/// The variable by which settings name the project's folder.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// Returns the paths below the folder that a text may name: its words, without quotes and what stands
/// before a path. Whether there is such a file is for the caller to see.
pub(super) fn words<'a>(text: &'a str, folder: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for word in text.split(|character| !is_word(character)) {
        let inside = word.strip_prefix(folder).or_else(|| word.strip_prefix(PROJECT));
        let bare = inside.unwrap_or(word).trim_start_matches('/');
        let mut bare = bare;
        while let Some(rest) = bare.strip_prefix("./") {
            bare = rest;
        }
        if !bare.is_empty() && !bare.split('/').any(|part| part == "..") && !found.contains(&bare) {
            found.push(bare);
        }
    }
    found
}

/// What may be behind the path of an import.
pub(super) const ENDINGS: [&str; 9] =
    ["", ".js", ".ts", ".mjs", ".mts", ".cjs", ".json", "/index.js", "/index.ts"];

/// Returns the paths that code names from its own file: those that begin with `./` or `../`.
pub(super) fn imports(text: &str) -> Vec<&str> {
    let words = text.split(|character| !is_word(character));
    words.filter(|word| word.starts_with("./") || word.starts_with("../")).collect()
}

/// Returns whether a character may be a part of a path without being quoted.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || "_./@%+~-".contains(character)
}

/// Returns a text of settings with the copy's path wherever it names this file of the folder.
#[must_use]
pub fn respelled(text: &str, folder: &str, (path, copy): (&str, &str)) -> String {
    let spelled = [
        format!("\"${PROJECT}\"/{path}"),
        format!("\"${{{PROJECT}}}\"/{path}"),
        format!("${{{PROJECT}}}/{path}"),
        format!("${PROJECT}/{path}"),
        format!("{folder}/{path}"),
        format!("./{path}"),
        path.to_owned(),
    ];
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    let ends = |rest: &str| rest.chars().next().is_none_or(|next| !is_word(next));
    while let Some(next) = rest.chars().next() {
        let before = done.chars().next_back();
        let begins = before.is_none_or(|before| !is_word(before) && before != '$' && before != '}');
        let found =
            spelled.iter().find(|it| begins && rest.strip_prefix(it.as_str()).is_some_and(ends));
        let (put, taken) = match found {
            Some(spelling) => (copy, spelling.len()),
            None => (&rest[..next.len_utf8()], next.len_utf8()),
        };
        done.push_str(put);
        rest = &rest[taken..];
    }
    done
}
