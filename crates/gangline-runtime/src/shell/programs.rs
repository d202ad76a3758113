//! Which programs a rule may be made of: those that run nothing beside what their words say.
//!
//! A program that runs its arguments is opened here, or it has no rule. Where names decide, the list of
//! what may be is complete (behind a pipe, parts of `git`, scripts of `sed`), and the list of what may
//! not be never is. Start at [`check`] and [`takes_data`].

use std::path::{Component, Path};

use super::{
    Unclear,
    names::{
        BEFORE, CHANGE_REST, INTERPRETERS, MODULES, PROJECT, READERS, RUN_UNSEEN, SETTABLE,
        SHELL_NAMES, TELLERS, TELLING,
    },
    ways::{
        COMPILER_OPTIONS, COMPILERS, FIRST_RUNS, GIT_OPTIONS, PARTS, RUN_REST, RUNNING_OPTIONS,
        RUNNING_PARTS,
    },
};

/// How deep programs that run their arguments are opened.
const OPENED_MAX: usize = 4;

/// Looks whether a simple command runs only what it shows.
///
/// # Errors
/// Why no rule can be made of it.
pub(super) fn check(words: &[String]) -> Result<(), Unclear> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    plain(&words, 0)
}

/// Returns whether a program takes its input for data, and writes it to no file. It has passed [`check`].
pub(super) fn takes_data(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((name, rest)) = words.split_first() else { return false };
    let folder = name.rsplit_once('/').map(|(folder, _)| folder);
    // Nobody knows what another file of that name does.
    let is_usual = folder.is_none_or(|it| ["/bin", "/usr/bin"].contains(&it));
    is_usual && READERS.contains(&base(name)) && !writes(base(name), rest)
}

/// Returns whether a program that takes its input for data writes it to a file.
fn writes(base: &str, rest: &[&str]) -> bool {
    let operands = || rest.iter().filter(|word| **word == "-" || !word.starts_with('-')).count();
    match base {
        "sort" => {
            let short = |word: &&str| word.starts_with('-') && !word.starts_with("--");
            rest.iter().any(|word| short(word) && word.contains('o'))
                || has_option(&["--output"], rest)
        }
        "base64" => has_option(&["-o", "--output"], rest),
        "uniq" | "xxd" => operands() > 1,
        "awk" | "gawk" | "mawk" | "nawk" => rest
            .iter()
            .any(|word| word.split_once("print").is_some_and(|(_, behind)| behind.contains('>'))),
        _ => false,
    }
}

fn plain(words: &[&str], depth: usize) -> Result<(), Unclear> {
    let Some((name, rest)) = words.split_first() else { return Err(Unclear::Empty) };
    let base = base(name);
    if base.is_empty() {
        return Err(Unclear::Empty);
    }
    if name.contains('=') {
        return Err(Unclear::Assigns);
    }
    if depth > OPENED_MAX {
        return Err(Unclear::TooDeep);
    }
    // Shells at unusual paths too: nobody knows whose they are.
    if RUN_UNSEEN.contains(&base) || SHELL_NAMES.contains(&base) {
        return Err(Unclear::RunsUnseen);
    }
    if CHANGE_REST.contains(&base) || base == "printf" && rest.iter().any(|it| it.starts_with("-v"))
    {
        return Err(Unclear::ChangesRest);
    }
    let tells = TELLERS.contains(&base) || READERS.contains(&base);
    if !tells && rest.iter().any(|word| SHELL_NAMES.contains(&self::base(word))) {
        return Err(Unclear::RunsUnseen);
    }
    if !tells && base != "git" && rest.iter().any(|word| is_input(word)) {
        return Err(Unclear::RunsUnseen);
    }
    if !tells && rest.iter().any(|word| RUNNING_PARTS.iter().any(|part| word.contains(part))) {
        return Err(Unclear::RunsUnseen);
    }
    if runs_by_option(base, rest) {
        return Err(Unclear::RunsUnseen);
    }
    if let Some(inner) = opened(base, rest) {
        return inner.map_or(Err(Unclear::RunsUnseen), |inner| match inner {
            [] => Ok(()),
            inner => plain(inner, depth + 1),
        });
    }
    match by_its_own_ways(base, rest) {
        true => Ok(()),
        false => Err(Unclear::RunsUnseen),
    }
}

/// Returns whether a program that can run something else does not here.
fn by_its_own_ways(base: &str, rest: &[&str]) -> bool {
    let family = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match family {
        "deno" | "bun" => match rest {
            [only] if TELLING.contains(only) => true,
            ["run", file, ..] | [file, ..] if file.contains('.') && !file.contains(':') => {
                is_file(file)
            }
            [part, ..] => PROJECT.contains(part) || family == "bun" && *part == "run",
            [] => false,
        },
        family if INTERPRETERS.contains(&family) => !reads_input(family, rest),
        "make" | "gmake" | "bmake" => makes(rest),
        "sed" | "gsed" => edits(rest),
        "awk" | "gawk" | "mawk" | "nawk" => prints(rest),
        "tar" | "gtar" | "bsdtar" => packs(rest),
        "git" => is_known_to_git(rest),
        // What it hands on to `git`.
        "gh" if rest.contains(&"--") => false,
        "sbt" => rest.iter().all(|word| is_task(word)),
        base if runs_by_first_word(base, rest) => false,
        _ => match PARTS.iter().find(|(name, _)| *name == base) {
            Some((_, parts)) => rest.first().is_none_or(|part| {
                parts.contains(part) || TELLING.contains(part) && rest.len() == 1
            }),
            None => true,
        },
    }
}

/// Returns whether the first word of a program lets it run the rest.
fn runs_by_first_word(base: &str, rest: &[&str]) -> bool {
    let of = FIRST_RUNS.iter().find(|(name, _)| *name == base);
    let first = rest.iter().find(|word| !word.starts_with('-'));
    of.zip(first).is_some_and(|((_, words), first)| words.contains(first))
}

/// Returns whether a word is a task of `sbt`, and no text that it runs.
fn is_task(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-/:".contains(c);
    word.chars().all(plain) && !["eval", "set", "console", "shell"].contains(&word)
}

/// Returns the command that a program runs, if it is one that runs its arguments; `None` within if it
/// cannot be told, and no words if it then runs nothing.
fn opened<'a, 'b>(base: &str, rest: &'a [&'b str]) -> Option<Option<&'a [&'b str]>> {
    let command = |words: &'a [&'b str]| {
        words.first().is_some_and(|name| !name.starts_with('-')).then_some(words)
    };
    if let Some((_, parts)) = RUN_REST.iter().find(|(name, _)| *name == base) {
        let runs = |word: &&str| parts.contains(word);
        match rest {
            [first, "--", inner @ ..] | [first, inner @ ..] if runs(first) => {
                return Some(command(inner));
            }
            // Behind an option it may be the option's value, or what is done.
            rest if rest.iter().any(runs) && rest[0].starts_with('-') => return Some(None),
            _ => {}
        }
    }
    let inner = match (base, rest) {
        ("yarn" | "pnpm", rest) if rest.iter().any(|word| ["exec", "dlx"].contains(word)) => None,
        // A script of the project, or a program.
        ("yarn" | "pnpm" | "bun", ["run", inner @ ..]) => command(inner),
        ("yarn" | "pnpm", [first, ..])
            if !first.starts_with('-') && !runs_by_first_word(base, rest) =>
        {
            command(rest)
        }
        ("nohup" | "time", inner) => command(inner),
        ("sudo" | "doas", ["-n", inner @ ..] | inner) => command(inner),
        ("nice", ["-n", much, inner @ ..]) if is_number(much) => command(inner),
        ("nice", [much, inner @ ..])
            if much
                .strip_prefix('-')
                .map(|it| it.trim_start_matches('n'))
                .is_some_and(is_number) =>
        {
            command(inner)
        }
        ("nice", inner) => command(inner),
        ("timeout" | "gtimeout", rest) => timed(rest).and_then(command),
        ("stdbuf", rest) => {
            let options = |word: &&&str| {
                ["-o", "-e", "-i"].iter().any(|it| word.starts_with(it) && word.len() == 3)
            };
            command(&rest[rest.iter().take_while(options).count()..])
        }
        ("env", []) => Some(rest),
        ("env", rest) => {
            let sets = rest.iter().take_while(|word| is_harmless_setting(word)).count();
            command(&rest[sets..])
        }
        (
            "npx" | "bunx" | "pnpx" | "uvx",
            ["-y" | "--yes" | "--no-install", inner @ ..] | inner,
        ) => command(inner),
        _ => return None,
    };
    Some(inner)
}

/// Returns what follows the options and the duration of `timeout`.
fn timed<'a, 'b>(mut rest: &'a [&'b str]) -> Option<&'a [&'b str]> {
    loop {
        rest = match rest {
            ["-k" | "-s" | "--kill-after" | "--signal", _, more @ ..] => more,
            ["--foreground" | "--preserve-status" | "-v" | "--verbose", more @ ..] => more,
            [option, more @ ..]
                if option.starts_with("--kill-after=") || option.starts_with("--signal=") =>
            {
                more
            }
            [duration, more @ ..] => {
                let number = duration.trim_end_matches(['s', 'm', 'h', 'd']);
                let known =
                    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
                return known.then_some(more);
            }
            [] => return None,
        };
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

fn is_harmless_setting(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:,".contains(c);
    word.split_once('=')
        .is_some_and(|(name, value)| SETTABLE.contains(&name) && value.chars().all(plain))
}

/// Returns whether one of the options lets the program run something; a long one may be shortened.
fn runs_by_option(base: &str, rest: &[&str]) -> bool {
    let of = RUNNING_OPTIONS.iter().find(|(name, _)| *name == base);
    let unversioned = base.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
    let compiles = COMPILERS.contains(&unversioned.rsplit('-').next().unwrap_or(unversioned));
    of.is_some_and(|(_, options)| has_option(options, rest))
        || compiles && has_option(COMPILER_OPTIONS, rest)
}

fn has_option(options: &[&str], rest: &[&str]) -> bool {
    let is = |word: &&str, option: &&str| {
        let given = word.split_once('=').map_or(*word, |(name, _)| name);
        match option.starts_with("--") {
            true => given.len() > 2 && option.starts_with(given) || word.starts_with(*option),
            false => word.starts_with(*option),
        }
    };
    rest.iter().any(|word| options.iter().any(|option| is(word, option)))
}

/// Returns whether an interpreter may run its input, or a text that no parser of ours opens: the first
/// word that is more than an option without a value is no file.
fn reads_input(family: &str, rest: &[&str]) -> bool {
    let mut words = rest;
    while let [first, more @ ..] = words
        && BEFORE.contains(first)
    {
        words = more;
    }
    match words {
        [] => true,
        // Python's `-v` is no version.
        ["-v"] => ["python", "pypy", "ipython"].contains(&family),
        [only] if TELLING.contains(only) => false,
        ["-m", module, ..] if ["python", "pypy"].contains(&family) => !MODULES.contains(module),
        [file, ..] => !is_file(file),
    }
}

/// Returns whether `make` reads its rules from a file, and nothing else says what it runs.
fn makes(rest: &[&str]) -> bool {
    const LONG: &[&str] = &[
        "--silent",
        "--quiet",
        "--always-make",
        "--keep-going",
        "--dry-run",
        "--just-print",
        "--no-print-directory",
        "--print-directory",
        "--no-builtin-rules",
        "--version",
        "--help",
    ];
    const VALUED: &[&str] = &["--jobs", "--directory", "--load-average", "--file", "--makefile"];
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let known = match (word.split_once('='), *word) {
            (Some((option, value)), word) if word.starts_with("--") => {
                VALUED.contains(&option) && is_file(value)
            }
            (None, word) if word.starts_with("--") => LONG.contains(&word),
            (_, "-f" | "-C" | "-I" | "-o" | "-W") => words.next().is_some_and(|it| is_file(it)),
            (_, word) if word.starts_with("-C") => is_file(&word[2..]),
            (_, word) if word.starts_with('-') => {
                word[1..].chars().all(|c| c.is_ascii_digit() || "jBksnwrRqtidvl.".contains(c))
            }
            (Some((name, value)), _) => is_settable_for_make(name, value),
            (None, _) => true,
        };
        if !known {
            return false;
        }
    }
    true
}

fn is_settable_for_make(name: &str, value: &str) -> bool {
    const NEVER: &[&str] =
        &["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAKE", "PATH"];
    let name = name.trim_end_matches([':', '+', '?', '!']);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,+".contains(c);
    !NEVER.contains(&name) && value.chars().all(plain)
}

/// Returns whether a script of `sed` is one that only shows or replaces text: its `e` runs commands.
fn edits(rest: &[&str]) -> bool {
    let options = rest.iter().take_while(|word| word.starts_with('-')).count();
    let (options, words) = rest.split_at(options);
    let known = |word: &&str| word[1..].chars().all(|c| "nErisuz".contains(c)) && word.len() > 1;
    let files = words.iter().skip(1).all(|word| !word.starts_with('-') || *word == "-");
    words.first().is_some_and(|script| only_edits(script)) && options.iter().all(known) && files
}

fn only_edits(script: &str) -> bool {
    let command = script.trim_start_matches(|c: char| c.is_ascii_digit() || ",$".contains(c));
    if ["p", "d", "q", "="].contains(&command) {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(char::is_ascii_punctuation) else { return false };
    let parts: Vec<&str> = rest[mark.len_utf8()..].split(mark).collect();
    // What a backslash hides, and a line of its own, may end the text earlier than it seems.
    let [from, to, flags] = parts[..] else { return false };
    let plain = |text: &str| !text.contains(['\n', '\\']);
    mark != '\\' && plain(from) && plain(to) && flags.chars().all(|c| "gpiI0123456789".contains(c))
}

/// Returns whether a program of `awk` runs no command and reads no other program.
fn prints(mut rest: &[&str]) -> bool {
    loop {
        rest = match rest {
            ["-F", _, more @ ..] => more,
            [option, more @ ..] if option.starts_with("-F") => more,
            [program, files @ ..] => {
                let runs = ["system", "getline", "|", "@", "eval"];
                let option = program.starts_with('-') || files.iter().any(|it| it.starts_with('-'));
                return !option && !runs.iter().any(|it| program.contains(it));
            }
            [] => return false,
        };
    }
}

/// Returns whether `tar` is called with letters that pack and unpack alone.
fn packs(rest: &[&str]) -> bool {
    let Some((letters, words)) = rest.split_first() else { return false };
    let letters = letters.strip_prefix('-').unwrap_or(letters);
    let known = letters.chars().all(|c| "cxtvzjJpfrua".contains(c));
    let option = |word: &&&str| word.starts_with('-') && **word != "-C";
    known && !words.iter().any(|word| option(&word))
}

/// Returns whether `git` does something that is its own: an alias cannot take such a name.
fn is_known_to_git(rest: &[&str]) -> bool {
    let mut rest = rest;
    let part = loop {
        rest = match rest {
            ["-C", folder, more @ ..] if !folder.starts_with('-') => more,
            ["--no-pager", more @ ..] => more,
            ["--version" | "--help"] | [] => return true,
            [part, more @ ..] => break (*part, more),
        };
    };
    let (part, rest) = part;
    let parts = PARTS.iter().find(|(name, _)| *name == "git").map_or(&[][..], |(_, it)| *it);
    let options = GIT_OPTIONS.iter().find(|(name, _)| *name == part).map_or(&[][..], |(_, it)| *it);
    let transport = rest.iter().any(|word| word.contains("::"));
    parts.contains(&part) && !transport && !has_option(options, rest)
}

/// Returns whether a word names the input as if it were a file.
fn is_input(word: &str) -> bool {
    let named = word.rsplit('=').next().unwrap_or(word);
    word == "-" || named == "-" || named.starts_with('/') && !is_file(named)
}

/// Returns whether a word names a file, and not the input under some name.
pub(super) fn is_file(word: &str) -> bool {
    let path = Path::new(word);
    let input = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    let has = |name: &str| path.components().any(|it| it == Component::Normal(name.as_ref()));
    let led = path.components().any(|it| it == Component::ParentDir) && (has("dev") || has("proc"));
    !word.starts_with('-') && !input && !led
}

pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests;
