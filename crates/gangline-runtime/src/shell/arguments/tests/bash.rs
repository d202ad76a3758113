//! A real bash runs what is shown: every hidden word comes to a program as it stands, nothing else
//! depends on what is hidden, and nothing of it is the name of a command.
//!
//! No program runs, since none can be found: bash tells the words of each command before it looks for
//! it (`set -x`). Each script runs twice, the second time with other characters hidden. Many scripts
//! are run by one bash.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use gangline_os::process::{self, Group, Output, Spawn, Stdin};
use tokio::io::AsyncReadExt as _;

use super::*;

/// So long all scripts of one bash may take together.
const PATIENCE: Duration = Duration::from_secs(120);
/// Of a long hidden part so much is shown.
const FIRST: usize = 4;
const SHOWN_FROM: usize = 12;
/// What bash tells of beside commands with arguments.
const KEYWORDS: [&str; 5] = ["for", "select", "case", "[[", "(("];

/// A script, and the same with other characters hidden.
#[derive(Debug)]
struct Pair {
    script: String,
    other: String,
    /// The hidden parts, each as it is and as it is in the other one, without what is shown of them.
    parts: Vec<(String, String)>,
    /// The words that have them.
    words: BTreeSet<String>,
}

/// Returns nothing if nothing of the script is hidden.
fn pair(script: &str) -> Option<Pair> {
    let all = arguments(script).ok()?;
    let hidden = decided(script).hidden;
    let mut pair = Pair {
        script: script.to_owned(),
        other: script.to_owned(),
        parts: Vec::new(),
        words: BTreeSet::new(),
    };
    for part in &hidden {
        let from = if part.len() < SHOWN_FROM { part.start } else { part.start + FIRST };
        let text = &script[from..part.end];
        let other: String = text.bytes().map(other).collect();
        pair.other.replace_range(from..part.end, &other);
        pair.parts.push((text.to_owned(), other));
        let word = all.iter().find(|word| word.start <= part.start && part.end <= word.end);
        pair.words.insert(script[word.unwrap().clone()].to_owned());
    }
    (!hidden.is_empty()).then_some(pair)
}

/// Returns another plain character for one.
fn other(byte: u8) -> char {
    char::from(match byte {
        b'a'..=b'y' | b'A'..=b'Y' | b'0'..=b'8' => byte + 1,
        b'z' => b'a',
        b'Z' => b'A',
        _ => b'0',
    })
}

/// What bash told of a script.
#[derive(Debug, PartialEq)]
struct Ran {
    /// The lines of its trace, in the order of the alphabet: parts of a pipe run side by side.
    lines: Vec<String>,
    files: BTreeSet<String>,
}

/// Runs scripts and returns what was told of each.
fn run(scripts: &[&str]) -> Vec<Ran> {
    let room = tempfile::tempdir().unwrap();
    let mut driver = include_str!("driver.bash").to_owned();
    for (number, script) in scripts.iter().enumerate() {
        fs::create_dir(room.path().join(number.to_string())).unwrap();
        writeln!(driver, "( one {number} '{}' )", script.replace('\'', r"'\''")).unwrap();
    }
    fs::write(room.path().join("driver"), driver).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(bash(room.path()));
    (0..scripts.len()).map(|number| ran(room.path(), &number.to_string())).collect()
}

/// Runs the driver until nothing that it started is left.
async fn bash(room: &Path) {
    let mut child = process::spawn(Spawn {
        program: "bash".into(),
        args: ["--norc", "--noprofile", "driver"].map(Into::into).into(),
        cwd: room.to_owned(),
        env: process::base_env(),
        stdin: Stdin::Null,
        stdout: Output::Piped,
        stderr: Output::Null,
        group: Group::New,
    })
    .unwrap();
    let mut output = child.take_stdout().unwrap();
    let mut text = String::new();
    let end = tokio::time::timeout(PATIENCE, output.read_to_string(&mut text)).await;
    assert!(end.is_ok(), "a script hangs: {}", room.display());
    child.wait().await.unwrap();
}

fn ran(room: &Path, number: &str) -> Ran {
    let trace = fs::read(room.join(format!("{number}.trace"))).unwrap();
    let folder = format!("{}/{number}", room.display());
    let mut lines = whole_lines(&String::from_utf8_lossy(&trace).replace(&folder, "FOLDER"));
    lines.sort_unstable();
    let names = fs::read_dir(room.join(number)).unwrap();
    let files = names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
    Ran { lines, files }
}

/// Returns the lines of a trace; one goes on as long as a quotation in it is open.
fn whole_lines(trace: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in trace.lines() {
        open.push_str(line);
        match shlex::split(&open) {
            Some(_) => lines.push(std::mem::take(&mut open)),
            None => open.push('\n'),
        }
    }
    lines.extend((!open.is_empty()).then_some(open));
    lines
}

/// Returns how many of the words came to a program.
fn check(pair: &Pair, first: &Ran, second: &Ran) -> Result<usize, TestCaseError> {
    let mut seen = BTreeSet::new();
    for (part, _) in &pair.parts {
        for line in first.lines.iter().filter(|line| line.contains(part.as_str())) {
            let words = shlex::split(line.trim_start_matches('+')).unwrap_or_default();
            let Some((name, rest)) = words.split_first() else {
                return Err(TestCaseError::fail(format!("{line:?} of {pair:?}")));
            };
            prop_assert!(!name.contains(part.as_str()), "a name: {line:?} of {pair:?}");
            prop_assert!(!KEYWORDS.contains(&name.as_str()), "no argument: {line:?} of {pair:?}");
            // `$_` may be a part of another argument, and is one then.
            let passed_on = pair.script.contains("$_");
            for word in rest.iter().filter(|word| word.contains(part.as_str())) {
                let is_one = passed_on || pair.words.contains(word);
                prop_assert!(is_one, "changed: {line:?} of {pair:?}");
                seen.insert(word.clone());
            }
        }
    }
    let replaced = |text: &String| {
        pair.parts.iter().fold(text.clone(), |text, (part, other)| text.replace(part, other))
    };
    let mut lines: Vec<String> = first.lines.iter().map(replaced).collect();
    lines.sort_unstable();
    prop_assert_eq!(&lines, &second.lines, "something else depends on it: {:?}", pair);
    let files: BTreeSet<String> = first.files.iter().map(replaced).collect();
    prop_assert_eq!(&files, &second.files, "{:?}", pair);
    Ok(seen.len())
}

fn check_all(scripts: &[String]) -> Result<(usize, usize), TestCaseError> {
    let pairs: Vec<Pair> = scripts.iter().filter_map(|script| pair(script)).collect();
    let both: Vec<&str> =
        pairs.iter().flat_map(|pair| [pair.script.as_str(), pair.other.as_str()]).collect();
    let ran = run(&both);
    let mut seen = 0;
    for (pair, ran) in pairs.iter().zip(ran.chunks(2)) {
        seen += check(pair, &ran[0], &ran[1])?;
    }
    Ok((pairs.iter().map(|pair| pair.words.len()).sum(), seen))
}

/// A secret by its form, each another one.
fn secret() -> impl Strategy<Value = String> {
    let signs = "[a-z]{3}[0-9][a-z]{4}[0-9]{2}[a-z]{2}";
    (signs, 0..4_usize).prop_map(|(signs, form)| match form {
        0 => format!("sk-ant-api03-{signs}{signs}"),
        1 => format!("--token={signs}"),
        2 => format!("https://ci:{signs}@host/x"),
        _ => format!("password={}", &signs[..9]),
    })
}

/// Two of them, so that it is known which one is seen.
fn two() -> impl Strategy<Value = (String, String)> {
    (secret(), secret())
}

fn word() -> impl Strategy<Value = String> {
    let plain = "[xyz]{1,3}";
    prop_oneof![
        8 => secret(),
        3 => plain,
        1 => secret().prop_map(|it| format!("'{it}'")),
        1 => two().prop_map(|(it, other)| format!("\"x {it} $(b {other})\"")),
        1 => secret().prop_map(|it| format!("$'x\\n{it}\\''")),
        1 => secret().prop_map(|it| format!("`b {it}`")),
        1 => secret().prop_map(|it| format!("<(b {it})")),
        1 => secret().prop_map(|it| format!("a\\\n{it}")),
        1 => secret().prop_map(|it| format!("\\\n{it}")),
        1 => secret().prop_map(|it| format!("{{{it},x}}")),
        1 => secret().prop_map(|it| format!("\u{2003}{it}\u{a0}")),
        1 => secret().prop_map(|it| format!("${{IFS}}{it}")),
        1 => Just("$_".to_owned()),
        1 => Just("$((1 + 2))".to_owned()),
        1 => Just("[a-z]* ? !! !$ ^a^b".to_owned()),
        1 => Just("\\".to_owned()),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        12 => prop::sample::select(vec!["run", "git", "./x", "echo", ":", "test", "login"]),
        1 => prop::sample::select(vec![
            "env", "eval", "command", "builtin", "exec", "coproc", "time", "!", "set", "alias", "cd",
            "$_", "\"$1\"", "${_#*=}", "r\"un\"", "ev\\\nal", "\\eval", "x=1 eval", "'eval'", "run\u{a0}",
            "trap", ".", "jobs -x", "compgen -C", "read", "printf -v", "export", "declare", "[", "hash",
        ]),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let tail = prop_oneof![
        8 => Just(String::new()),
        1 => Just(" > f".to_owned()),
        1 => Just(" 2>&1".to_owned()),
        1 => secret().prop_map(|it| format!(" <<< {it}")),
        1 => secret().prop_map(|it| format!(" # {it}")),
        1 => two().prop_map(|(it, other)| format!(" <<E\n{it} $(b {other})\nE\n")),
        1 => two().prop_map(|(it, other)| format!(" <<'E'\n{it} $(b {other})\nE\n")),
        1 => secret().prop_map(|it| format!(" <<-\\E\n\t{it}\n\tE\n")),
        1 => secret().prop_map(|it| format!(" >{it}")),
        1 => secret().prop_map(|it| format!(" 2>f {it}")),
    ];
    (prop::option::of(secret()), name(), prop::collection::vec(word(), 0..4), tail).prop_map(
        |(set, name, words, tail)| {
            let set = set.map_or(String::new(), |it| format!("A={it} "));
            let words: String = words.iter().map(|word| format!(" {word}")).collect();
            format!("{set}{name}{words}{tail}")
        },
    )
}

fn any_script() -> impl Strategy<Value = String> {
    line().prop_recursive(3, 12, 3, |inner| {
        let sign = prop::sample::select(vec!["\n", " && ", " | ", "; ", " & ", " || ", "|&"]);
        prop_oneof![
            3 => (inner.clone(), sign, inner.clone())
                .prop_map(|(a, sign, b)| format!("{a}{sign}{b}")),
            1 => inner.clone().prop_map(|it| format!("(\n{it}\n)")),
            1 => inner.clone().prop_map(|it| format!("{{ {it}\n}}")),
            1 => inner.clone().prop_map(|it| format!("if run\nthen {it}\nfi")),
            1 => (secret(), inner.clone())
                .prop_map(|(secret, it)| format!("for x in a {secret}; do\n{it}\ndone")),
            1 => inner.clone().prop_map(|it| format!("case x in\n*) {it}\n;; esac")),
            1 => (inner.clone(), word())
                .prop_map(|(it, word)| format!("f() {{\n{it}\n}}\nf {word}")),
            1 => inner.clone().prop_map(|it| format!("x=$({it}\n)")),
            1 => inner.prop_map(|it| format!("(( x = 1 )); [[ -n x ]] && {it}")),
        ]
    })
}

/// A few at a time: one bash runs them all.
fn scripts() -> impl Strategy<Value = Vec<String>> {
    let one = (any_script(), changes()).prop_map(|(script, changes)| changed(&script, &changes));
    prop::collection::vec(one, 100)
}

proptest! {
    // It says which script it is; to make a hundred of them smaller would take minutes.
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::with_cases(3)
    })]
    #[test]
    fn a_real_bash_gives_each_hidden_word_to_a_program_and_runs_nothing_of_it(
        scripts in scripts(),
    ) {
        let (hidden, seen) = check_all(&scripts)?;
        prop_assert!(seen * 4 >= hidden, "bash was seen to pass on {seen} of {hidden} words");
    }
}

/// Every command of bash itself that may have a word hidden, with every option of one letter.
#[test]
fn no_command_of_bash_runs_a_word_that_is_hidden() {
    let builtins = ". : [ alias bg bind break builtin caller cd command compgen complete compopt \
        continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help \
        history jobs let local logout mapfile popd printf pushd pwd read readarray readonly return \
        set shift shopt source test times trap true type typeset ulimit umask unalias unset wait";
    let mut scripts = Vec::new();
    for name in builtins.split_whitespace() {
        let (first, second) = ("token=abc4defg56hi", "token=xyz4uvws56tu");
        scripts.push(format!("{name} {first}"));
        for letter in ('a'..='z').chain('A'..='Z') {
            scripts.push(format!("{name} -{letter} {first}\n{name} -{letter} x {second}"));
        }
    }
    let (hidden, _) = check_all(&scripts).unwrap();
    assert!(hidden > 1000, "{hidden}");
}
