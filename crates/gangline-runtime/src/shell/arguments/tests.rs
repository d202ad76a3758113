//! What of a command may be hidden, and that what is announced is what runs.

use gangline_core::redact::{Decided, Maskable, Redactor};
use proptest::prelude::*;

use super::*;

mod bash;

const KEY: &str = "sk-ant-api03-0123456789abcdefghijklmnopqrst";

fn decided(script: &str) -> Decided {
    let words = arguments(script).unwrap_or_default();
    Redactor::default().decided(script, Maskable::Words(&words))
}

fn shown(script: &str) -> String {
    decided(script).text.into_string()
}

/// Puts what was hidden back, from what is shown alone and the hidden parts in order.
fn put_back(script: &str, decided: &Decided) -> String {
    let mut rest = decided.text.as_str();
    let mut out = String::new();
    for part in &decided.hidden {
        let part = &script[part.clone()];
        let at = rest.find('‹').unwrap();
        let end = at + rest[at..].find('›').unwrap() + '›'.len_utf8();
        let first =
            rest[..at].strip_suffix('…').filter(|it| it.ends_with(&part[..4.min(part.len())]));
        let before = first.map_or(&rest[..at], |it| &it[..it.len() - 4]);
        out.push_str(before);
        out.push_str(part);
        rest = &rest[end..];
    }
    out + rest
}

/// Commands of which the harness once hid a part that ran, and their like. All of it is shown.
const ALL_SHOWN: &[&str] = &[
    // As they were announced once with a part of them hidden.
    "git ls-remote https://ci:x;touch${IFS}pwn;@localhost:1/team/repo.git",
    "echo ok # -----BEGIN PRIVATE KEY-----\nid > PROOF\n# -----END PRIVATE KEY-----",
    ": -----BEGIN PRIVATE KEY-----; id > PROOF; : -----END PRIVATE KEY-----",
    // Quotes, expansions, escapes.
    "curl --password=a\"$(id)\"bcdefg",
    "curl --password='abc;id;def'",
    "curl --password=abc$IFS\\;id",
    "curl --token=$'abc\\x3bid'",
    "curl --token=`id`abcdef12",
    "curl --token=abc${X:-$(id)}def",
    "curl --token=abc*def12345 --secret=a?bcdef",
    "curl --token=~/abcdef12",
    "curl --token={abcdef12,id}",
    "echo \"password=hunter2hunter2\"; id",
    // Separators within a password.
    "curl https://a:b&&id&&:@h/",
    "curl https://a:b|id|@h/",
    "curl https://a:b&id&@h/ https://c:d>PROOF@h/",
    "curl https://a:b\nid\n@h/",
    "curl https://a:(id)@h/ https://a:b<(id)@h/",
    // Not arguments of a simple command.
    "TOKEN=abcdef1234 make",
    "export TOKEN=abcdef1234",
    "cat <<E\npassword=hunter2hunter2\nE",
    "cat <<'E' | sh\ntoken=abcdef12;id\nE",
    "cat <<< password=hunter2hunter2",
    "ls # token=abcdef1234",
    "diff <(curl x) token=abc;id",
    "tee >(sh -c token=abcdef12)",
    "[[ token=abcdef12 ]] && a=(token=abcdef12)",
    "for t in token=abcdef12; do id; done",
    "echo > token=abcdef1234",
    // A program that runs its arguments: one of them is a command's name.
    "env sk-ant-api03-0123456789abcdefghij",
    "sudo -u x token=abcdef12 id",
    "sh -c token=abcdef12",
    "eval token=abcdef12",
    "xargs sk-ant-api03-0123456789abcdefghij",
    "find . -exec sk-ant-api03-0123456789abcdefghij ;",
    "sk-ant-api03-0123456789abcdefghij x",
    "$X sk-ant-api03-0123456789abcdefghij",
    "\"e\"val sk-ant-api03-0123456789abcdefghij",
    // Another part of it runs what this one says.
    "echo --token=reboot1 | cut -d= -f2 | sh",
    "echo --token=reboot1 | tee >(cut -d= -f2 | sh)",
    "(a; echo --token=reboot1) | xargs -n1 echo",
    ": --token=reboot1; ${_#*=}",
    ": --token=reboot1; a \"$_\"; b",
    "f() { ${1#*=}; }; f --token=reboot1",
    "function f { $2; }; f --token=reboot1",
    "$(echo --token=reboot1 | cut -d= -f2)",
    "x=$(echo --token=reboot1); ${x#*=}",
    "echo --token=reboot1 > x; chmod +x x; ./x",
    "{ echo --token=reboot1; } > x; ./x",
    "eval \"$(echo --token=reboot1)\"",
    "touch -- --token=reboot1; ls | cut -d= -f2 | sh",
    "git -c alias.token=push token",
    "docker run --rm img token=abcdef12",
    // A word that goes on over a line is another one: this is `eval`.
    "ev\\\nal token=abcdef12",
    "e\\\n\\\nval token=abcdef12; run --token=abcdef12",
    // Something in the script may run what stands in another command of it.
    ": token=abcdef12; ${_#*=}",
    "f() { \"$1\"; }; f sk-ant-api03-0123456789abcdefghij",
    "echo password=poweroff1 | cut -d= -f2 | sh",
    "echo token=abcdef12 > x; . ./x",
    "echo token=abcdef12 | xargs x",
    "echo token=abcdef12 | ./x",
    "(a; echo token=abcdef12) | cat | x | wc -l",
    "touch -- token=abcdef12; sudo -u x sh *",
    "touch -- token=abcdef12; find . -exec sh {} \\;",
    "echo token=abcdef12 | sudo -u x bash",
    "echo token=abcdef12 | find . -exec sh {} \\;",
    "alias run='eval '\nrun token=abcdef12",
    "compgen -C token=abcdef12; jobs -x token=abcdef12",
    "PS4='$(${_#*=})'; set -x; run token=abcdef12",
    "x=\"\\$(\\$_)\"; run token=abcdef12; : ${x@P}",
    "python3 x.py < <(echo token=abcdef12)",
    // Paths.
    "cat --password=/etc/passwd1",
    "curl --token=../../x/y12345678",
    // Words that go on over a line, or are no words.
    "echo to\\\nken=abcdef12",
    "echo token=abc\\\ndef12",
    "echo a\\ token=abcdef12",
    "echo a'\n 'token=abcdef12",
];

#[test]
fn what_a_shell_changes_or_runs_is_shown_whole() {
    for script in ALL_SHOWN {
        assert_eq!(shown(script), *script);
    }
}

#[test]
fn what_does_not_parse_is_shown_whole() {
    for (script, why) in [
        ("echo \"token=abcdef12", Unclear::Broken),
        ("echo 'x --token=abcdef12", Unclear::Broken),
        ("curl --token=abcdef12\r\nid", Unclear::Broken),
        ("curl --token=abcdef12 \u{1b}[2J", Unclear::Broken),
        ("if true; then curl --token=abcdef12", Unclear::Broken),
        ("curl --token=abcdef12 )", Unclear::Broken),
        ("curl --token=abcdef12 $(", Unclear::Broken),
    ] {
        assert_eq!(arguments(script), Err(why), "{script}");
        assert_eq!(shown(script), script);
    }
    let long = "a --token=abcdef12;".repeat(ARGUMENTS_MAX / 8);
    assert_eq!(arguments(&long), Err(Unclear::TooLong));
}

#[test]
fn a_plain_argument_word_has_its_secret_hidden() {
    let key = format!("sk-a…‹{} characters›", KEY.len());
    for (script, expect) in [
        ("login KEY", "login #"),
        ("login KEY; id", "login #; id"),
        ("login KEY&& id", "login #&& id"),
        ("a | (b KEY)", "a | (b #)"),
        ("cd x && login KEY | grep a | head -1", "cd x && login # | grep a | head -1"),
        ("login KEY 2>&1 | tail -5; a", "login # 2>&1 | tail -5; a"),
        ("a $(b KEY) c", "a $(b #) c"),
        ("a \"$(b KEY)\" c", "a \"$(b #)\" c"),
        ("if a KEY; then b; fi", "if a #; then b; fi"),
        ("A=b login KEY > f 2>&1", "A=b login # > f 2>&1"),
        ("login --key KEY --x=KEY", "login --key # --x=#"),
        ("git clone https://ci:KEY@host/x.git", "git clone https://ci:#@host/x.git"),
        ("a https://u:KEY@h b https://u:KEY@h", "a https://u:#@h b https://u:#@h"),
        ("a 'KEY' \"KEY\" KEY", "a 'KEY' \"KEY\" #"),
        ("cd x && set -eu && login KEY", "cd x && set -eu && login #"),
        ("sudo make; login KEY", "sudo make; login #"),
        (
            "find . -exec rm {} \\; -o -print; login KEY",
            "find . -exec rm {} \\; -o -print; login #",
        ),
        ("command -v git && login KEY", "command -v git && login #"),
        ("login \\\n  --key \\\nKEY", "login \\\n  --key \\\nKEY"),
        ("login \\\n  --key KEY \\\n  --now", "login \\\n  --key # \\\n  --now"),
    ] {
        let (script, expect) = (script.replace("KEY", KEY), expect.replace('#', &key));
        assert_eq!(shown(&script), expect.replace("KEY", KEY), "{script}");
    }
}

/// A long list of commands is read to its end; malformed text of any length ends soon.
#[test]
fn long_commands_are_read() {
    let list = format!("login {KEY}\n").repeat(400);
    assert_eq!(arguments(&list).map(|words| words.len()), Ok(400));
    let body = "a line of a file;\n".repeat(4000);
    let script = format!("cat <<'E'\n{body}E\nlogin {KEY}");
    assert_eq!(arguments(&script).map(|words| words.len()), Ok(1));
    for piece in ["a|", "((", "$(", "\"", "a<<E\n", "{ ", "if a; then "] {
        let _ = arguments(&piece.repeat(ARGUMENTS_MAX / piece.len()));
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(KEY.to_owned()),
        3 => Just("--token=abcdef123456".to_owned()),
        2 => Just("https://ci:hunter2hunter2@host/x".to_owned()),
        2 => "[a-z]{1,5}".prop_map(|it| it),
        1 => "[a-z]{1,3}".prop_map(|it| format!("'{it} token=abcdef12'")),
        1 => "[a-z]{1,3}".prop_map(|it| format!("\"{it} $(b --token=abcdef12)\"")),
        1 => Just("${IFS}".to_owned()),
        1 => Just("$'a\\nb'".to_owned()),
        1 => Just("`b --token=abcdef12`".to_owned()),
        1 => Just("<(b --token=abcdef12)".to_owned()),
        1 => Just("a\\\n".to_owned()),
    ]
}

fn script() -> impl Strategy<Value = String> {
    let simple = (
        prop::option::of(Just("A=abcdef12 ")),
        prop_oneof![Just("run"), Just("git"), Just("env"), Just("./x"), Just("echo")],
        prop::collection::vec(word(), 0..4),
        prop_oneof![
            5 => Just(""), 1 => Just(" > f"), 1 => Just(" 2>&1"), 1 => Just(" <<< token=abcdef12"),
            1 => Just(" # token=abcdef12"), 1 => Just(" <<E\ntoken=abcdef12 x\nE\n"),
        ],
    );
    let simple = simple.prop_map(|(set, name, words, tail)| {
        let words: String = words.iter().map(|word| format!(" {word}")).collect();
        format!("{}{name}{words}{tail}", set.unwrap_or_default())
    });
    simple.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (
                inner.clone(),
                prop_oneof![Just("\n"), Just(" && "), Just(" | "), Just("; ")],
                inner.clone()
            )
                .prop_map(|(a, sign, b)| format!("{a}{sign}{b}")),
            inner.clone().prop_map(|it| format!("(\n{it}\n)")),
            inner.clone().prop_map(|it| format!("if true\nthen {it}\nfi")),
            inner.clone().prop_map(|it| format!("for x in a token=abcdef12; do\n{it}\ndone")),
            inner.clone().prop_map(|it| format!("case x in\n*) {it}\n;; esac")),
            inner.clone().prop_map(|it| format!("f() {{\n{it}\n}}")),
            inner.prop_map(|it| format!("x=$({it}\n)")),
        ]
    })
}

/// Signs by which a shell makes something else of a word.
const CHANGED: &str = "\"'\\$`*?[]{}()<>|&;!~#^";
/// What may stand behind a word.
const ENDS: [char; 8] = [' ', '\t', '\n', ';', '|', '&', ')', '`'];

/// A change of a text: at a place, in place of so many characters, these.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    let sign = "[ \n;|&\"'`$(){}<>#\\\\=:@a]{0,2}";
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, sign), 0..3)
}

fn changed(script: &str, changes: &[(prop::sample::Index, usize, String)]) -> String {
    let mut signs: Vec<char> = script.chars().collect();
    for (at, gone, comes) in changes {
        let at = at.index(signs.len() + 1);
        let to = (at + gone).min(signs.len());
        signs.splice(at..to, comes.chars());
    }
    signs.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn the_shown_text_with_the_hidden_parts_put_back_is_what_runs(
        script in script(), changes in changes(),
    ) {
        let script = changed(&script, &changes);
        let words = arguments(&script).unwrap_or_default();
        let decided = decided(&script);
        prop_assert_eq!(put_back(&script, &decided), script.clone());
        for part in &decided.hidden {
            let of = |word: &&Range<usize>| word.start <= part.start && part.end <= word.end;
            let [word] = words.iter().filter(of).collect::<Vec<_>>()[..] else {
                panic!("{part:?} is in no one word of {words:?}: {script:?}");
            };
            // One word of a shell, and a plain one: what it says is what the program gets.
            let text = &script[word.clone()];
            prop_assert_eq!(shlex::split(text), Some(vec![text.to_owned()]));
            let changes = |c: char| !c.is_ascii_graphic() || CHANGED.contains(c);
            prop_assert!(!text.contains(changes), "{}", text);
            let before = &script[..word.start];
            let after = &script[word.end..];
            let name = before.trim_end_matches([' ', '\t']);
            let name = name.strip_suffix("\\\n").unwrap_or(name);
            prop_assert!(name.len() < before.len() && !name.ends_with(['\n', ';', '|', '&', '(']));
            prop_assert!(after.is_empty() || after.starts_with(ENDS), "{}", after);
            prop_assert!(!script[part.clone()].contains('/'));
        }
    }
}
