//! Commands as people and models write them, both ways.

use proptest::prelude::*;

use super::*;

fn taken_apart(script: &str) -> String {
    match commands(script) {
        Ok(commands) => {
            let shown = |word: &String| if word == "|" { "PIPE".to_owned() } else { word.clone() };
            let words = |words: &Vec<String>| words.iter().map(shown).collect::<Vec<_>>();
            commands.iter().map(|it| words(it).join("|")).collect::<Vec<_>>().join(" ; ")
        }
        Err(unclear) => format!("{unclear:?}"),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn a_list_of_commands_is_taken_apart() {
    for (script, parts) in [
        ("ls", "ls"),
        ("npm test", "npm|test"),
        ("  npm   test  ", "npm|test"),
        ("npm test\n", "npm|test"),
        ("cargo test --all-features -p x", "cargo|test|--all-features|-p|x"),
        ("git commit -m 'fix: the thing'", "git|commit|-m|fix: the thing"),
        ("git commit -m \"fix: the thing\"", "git|commit|-m|fix: the thing"),
        ("grep -rn 'a.*b' src", "grep|-rn|a.*b|src"),
        ("awk '{print $1}' f", "awk|{print $1}|f"),
        ("echo ''", "echo|"),
        ("echo a'b'\"c\"d", "echo|abcd"),
        ("echo 'a\nb'", "echo|a\nb"),
        ("git log --oneline -5", "git|log|--oneline|-5"),
        ("env CI=1 make", "env|CI=1|make"),
        ("timeout 60 npm test", "timeout|60|npm|test"),
        ("sudo apt-get update", "sudo|apt-get|update"),
        ("python3 x.py", "python3|x.py"),
        ("python3 -m pytest -q", "python3|-m|pytest|-q"),
        ("node --version", "node|--version"),
        ("python3 -u x.py", "python3|-u|x.py"),
        ("node -v", "node|-v"),
        ("printf '%s\\n' x", "printf|%s\\n|x"),
        ("echo 'caf\u{e9}'", "echo|caf\u{e9}"),
        ("echo '$HOME `x` *'", "echo|$HOME `x` *"),
        ("\"npm\" 'test'", "npm|test"),
        ("cd web && npm test\n", "cd|web|&&|npm|test"),
        ("make CC=gcc", "make|CC=gcc"),
        ("./run.sh --fast", "./run.sh|--fast"),
        ("bash build.sh", "bash|build.sh"),
        ("a && b", "a ; b"),
        ("a || b", "a ; b"),
        ("a; b", "a ; b"),
        ("a;", "a"),
        ("a\nb", "a ; b"),
        ("a | cat | wc -l", "a|PIPE|cat|PIPE|wc|-l"),
        ("a && b || c; d | cat", "a ; b ; c ; d|PIPE|cat"),
        ("(a; b)", "a ; b"),
        ("(a && (b | cat))", "a ; b|PIPE|cat"),
        ("{ a; b; }", "a ; b"),
        ("! a", "a"),
        ("a # a remark", "a"),
        ("a # it's $5 (or so)", "a"),
        ("a;# a remark\nb", "a ; b"),
        ("a # a remark \\\nb", "a ; b"),
        ("npm test 2>&1", "npm|test"),
        ("npm test 2>/dev/null", "npm|test"),
        ("npm test > /dev/null 2>&1", "npm|test"),
        ("npm test 2>&1 | tail -5", "npm|test|2>&1|PIPE|tail|-5"),
        ("npm test | tail -5 2>&1", "npm|test|PIPE|tail|-5"),
        ("npm test 2> /dev/null | tail -5 > /dev/null", "npm|test|2>/dev/null|PIPE|tail|-5"),
        ("sh -c 'npm test' | sh -c 'tail -5'", "npm|test|PIPE|tail|-5"),
        ("sh -c 'npm test'", "npm|test"),
        ("bash -c 'a && b'", "a ; b"),
        ("bash -lc 'npm test'", "npm|test"),
        ("/bin/zsh -lc 'npm test'", "npm|test"),
        ("sh -c \"bash -c 'a; b'\"", "a ; b"),
        ("a && sh -c 'b | cat'", "a ; b|PIPE|cat"),
        ("cd web && npm test", "cd|web|&&|npm|test"),
        ("cd web && a && b | cat", "cd|web|&&|a ; cd|web|&&|b|PIPE|cat"),
        ("sh -c 'cd web && a' && b", "cd|web|&&|a ; b"),
        ("cd web && sh -c 'cd sub && a'", "cd|web|&&|cd|sub|&&|a"),
        ("cd 'my web' && sh -c 'a; b'", "cd|my web|&&|a ; cd|my web|&&|b"),
    ] {
        assert_eq!(taken_apart(script), parts, "{script:?}");
    }
}

/// What could mean something else than it reads is asked about.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn what_is_not_sure_is_unclear() {
    use Unclear::{
        Assigns, Broken, ChangesRest, Compound, Empty, Expands, LikeOperator, Piped, Redirects,
        RunsUnseen, TooLong,
    };
    let long = format!("echo {}", "a".repeat(SCRIPT_MAX));
    for (script, unclear) in [
        ("", Empty),
        ("  \n", Empty),
        ("# only a remark", Empty),
        (long.as_str(), TooLong),
        ("echo $HOME", Expands),
        ("echo ${HOME}", Expands),
        ("echo \"$HOME\"", Expands),
        ("echo $(rm x)", Expands),
        ("echo `rm x`", Expands),
        ("echo \"`rm x`\"", Expands),
        ("$(rm x)", Expands),
        ("$CMD a", Expands),
        ("diff <(a) <(b)", Expands),
        ("echo $((1 + 1))", Expands),
        ("echo $'a\\nb'", Expands),
        ("echo $\"a\"", Expands),
        ("rm *", Expands),
        ("rm a?", Expands),
        ("rm [ab]", Expands),
        ("ls ~", Expands),
        ("ls ~root/x", Expands),
        ("echo {a,b}", Expands),
        ("find . -exec cat {} +", Expands),
        ("echo {1..3}", Expands),
        ("echo a\\ b", Expands),
        ("find . -exec rm {} \\;", Expands),
        ("echo \"a\\\"b\"", Expands),
        ("echo caf\u{e9}", Expands),
        ("echo a\u{a0}b", Expands),
        ("echo =ls", Expands),
        ("a > f", Redirects),
        ("a >> f", Redirects),
        ("a < f", Redirects),
        ("a 2> f", Redirects),
        ("a > /dev/nullx", Redirects),
        ("a << END\nx\nEND", Redirects),
        ("a <<< x", Redirects),
        ("> f a", Redirects),
        ("'A=b' c", Assigns),
        ("A=b", Assigns),
        ("A=b c", Assigns),
        ("PATH=. npm test", Assigns),
        ("export A=b", Assigns),
        ("a & b", Compound),
        ("a &", Compound),
        ("a |& b", Compound),
        ("if a; then b; fi", Compound),
        ("for i in a b; do c; done", Compound),
        ("while a; do b; done", Compound),
        ("case a in b) c;; esac", Compound),
        ("f() { a; }", Compound),
        ("f() { a; }; f", Compound),
        ("[ -f x ]", Compound),
        ("[[ -f x ]]", Compound),
        ("eval 'a'", RunsUnseen),
        (". ./a", RunsUnseen),
        ("source a", RunsUnseen),
        ("a | sh", RunsUnseen),
        ("a | bash -s", RunsUnseen),
        ("a | xargs rm", RunsUnseen),
        ("bash --rcfile f -c a", RunsUnseen),
        ("sh -c a b", RunsUnseen),
        ("/tmp/sh -c a", RunsUnseen),
        ("'eval' a", RunsUnseen),
        ("e'v'al a", RunsUnseen),
        ("a | env sh", RunsUnseen),
        ("a | sudo /bin/bash", RunsUnseen),
        ("nice sh -c 'a'", RunsUnseen),
        ("timeout 9 python3", RunsUnseen),
        ("time cd x", ChangesRest),
        ("a | b", Piped),
        ("a | (cat)", Piped),
        ("(a; b) | cat", Piped),
        ("{ a; b; } | cat", Piped),
        ("a | sh -c 'cat; b'", Piped),
        ("a | sh -c 'cat | wc'", Piped),
        ("a | sh -c 'cd x && cat'", Piped),
        ("a | while b; do c; done", Compound),
        ("a | python3 x.py", Piped),
        ("a | bash build.sh", Piped),
        ("a | ./cat", Piped),
        ("a | tee f", Piped),
        ("a | npm test", Piped),
        ("! a | cat", Piped),
        ("a | cat > f", Redirects),
        ("a | cat $X", Expands),
        ("a | python3", RunsUnseen),
        ("a | python3.12 -", RunsUnseen),
        ("a | /usr/bin/perl -w", RunsUnseen),
        ("a | python3 - x", RunsUnseen),
        ("a | python3 -u -", RunsUnseen),
        ("a | python3 -W ignore", RunsUnseen),
        ("a | python3 -v", RunsUnseen),
        ("a | node -r ./x", RunsUnseen),
        ("a | perl -c -", RunsUnseen),
        ("a | perl -c /dev/stdin", RunsUnseen),
        ("a | python3 /dev/stdin", RunsUnseen),
        ("a | python3 //dev//fd/0", RunsUnseen),
        ("a | bash /dev/stdin", RunsUnseen),
        ("a | sh /proc/self/fd/0", RunsUnseen),
        ("a | sh ../../dev/stdin", RunsUnseen),
        ("a | strace sh", RunsUnseen),
        ("a | at now", RunsUnseen),
        ("a | ssh host", RunsUnseen),
        ("a | /opt/bin/fish", RunsUnseen),
        ("sh", RunsUnseen),
        ("bash -i", RunsUnseen),
        ("exec a", RunsUnseen),
        ("command a", RunsUnseen),
        ("cd web", ChangesRest),
        ("cd web; a", ChangesRest),
        ("cd web '&&' a", LikeOperator),
        ("grep '|' f", LikeOperator),
        ("echo '2>&1'", LikeOperator),
        ("cd -P web && a", ChangesRest),
        ("cd && a", ChangesRest),
        ("cd web && a; b", ChangesRest),
        ("cd web > /dev/null && a", ChangesRest),
        ("cd web && a && cd ..", ChangesRest),
        ("printf -v PATH x", ChangesRest),
        ("unset -f a", Assigns),
        ("umask 0", ChangesRest),
        ("cd web || a", ChangesRest),
        ("a && cd web && b", ChangesRest),
        ("cd a && cd b && c", ChangesRest),
        ("cd a && b; c", ChangesRest),
        ("(cd a && b)", ChangesRest),
        ("cd - && a", ChangesRest),
        ("alias a=b", ChangesRest),
        ("hash -p /x npm", ChangesRest),
        ("set -e", ChangesRest),
        ("''", Empty),
        ("bin/", Empty),
        ("a 'b", Broken),
        ("a \"b", Broken),
        ("a && ", Broken),
        ("(a", Broken),
        ("a)", Broken),
        ("a\u{7}b", Broken),
        ("a\r\nb", Broken),
        ("a\u{0}b", Broken),
    ] {
        assert_eq!(commands(script), Err(unclear), "{script:?}");
    }
}

/// Inside of a word `#` begins no remark, so what follows runs.
#[test]
fn a_remark_in_the_middle_of_a_word_is_unclear() {
    for script in [
        "echo \"x\"#; a",
        "echo 'x'#y && a",
        "echo x#y; a",
        "a 2>&1#y",
        // The grammar takes what follows for a remark; a shell runs `{}#b`.
        "a && {}#b c",
        "'x'; {}#b",
    ] {
        assert!(commands(script).is_err(), "{script:?}: {:?}", commands(script));
    }
}

/// A shell within a shell is read by the same rules.
#[test]
fn what_is_unclear_within_a_shell_is_unclear() {
    for script in
        ["sh -c 'rm $X'", "bash -lc 'a > f'", "sh -c 'a; cd b; c'", "sh -c \"sh -c 'eval x'\""]
    {
        assert!(commands(script).is_err(), "{script:?}");
    }
}

/// Shells are opened four deep, and no deeper.
#[test]
fn shells_in_each_other_are_opened_to_a_bound() {
    let quoted = |script: &str| format!("'{}'", script.replace('\'', "'\"'\"'"));
    let nested = |depth: usize| {
        (0..depth).fold("a".to_owned(), |script, _| format!("sh -c {}", quoted(&script)))
    };
    assert_eq!(commands(&nested(DEPTH_MAX)), Ok(vec![vec!["a".to_owned()]]));
    assert_eq!(commands(&nested(DEPTH_MAX + 1)), Err(Unclear::TooDeep));
}

/// Each bound is held: bytes, nesting, the parser's work.
#[test]
fn what_is_too_much_is_unclear() {
    let full = format!("echo {}", "a".repeat(SCRIPT_MAX - "echo ".len()));
    assert_eq!(commands(&full).map(|it| it.len()), Ok(1));
    assert_eq!(commands(&format!("{full}a")), Err(Unclear::TooLong));
    let list = |count: usize| vec!["a"; count].join(" && ");
    assert!(commands(&list(NESTING_MAX / 2)).is_ok());
    assert_eq!(commands(&list(NESTING_MAX * 2)), Err(Unclear::TooDeep));
    let nested = |depth: usize| format!("{}a{}", "( ".repeat(depth), " )".repeat(depth));
    assert!(commands(&nested(NESTING_MAX / 2)).is_ok());
    assert!(commands(&nested(SCRIPT_MAX / 4 - 1)).is_err());
    assert_eq!(commands(&"a|".repeat(SCRIPT_MAX / 2)), Err(Unclear::TooHard));
    // Text that only a parser without bounds works on for long.
    for piece in ["(", "{ ", "$(", "<<a\n", "if ", "a|", "`", "case a in ", "sh -c '", "[[ ", "${"]
    {
        let hostile = piece.repeat(SCRIPT_MAX / piece.len());
        assert!(commands(&hostile).is_err(), "{piece:?}");
    }
}

/// Returns the kinds of all nodes of a script, as the grammar sees it.
fn kinds(script: &str) -> Vec<String> {
    let tree = parse(script).unwrap();
    let mut kinds = Vec::new();
    let mut waiting = vec![tree.root_node()];
    while let Some(node) = waiting.pop() {
        let mut cursor = node.walk();
        waiting.extend(node.children(&mut cursor));
        kinds.push(if node.is_missing() { "MISSING" } else { node.kind() }.to_owned());
    }
    kinds
}

/// What no node of a script that is taken apart may be.
const NEVER: &[&str] = &[
    "ERROR",
    "MISSING",
    "expansion",
    "simple_expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "brace_expression",
    "ansi_c_string",
    "translated_string",
    "extglob_pattern",
    "regex",
    "variable_assignment",
    "heredoc_redirect",
    "herestring_redirect",
    "function_definition",
    "if_statement",
    "for_statement",
    "while_statement",
    "case_statement",
    "test_command",
    "declaration_command",
    "unset_command",
    "&",
    "|&",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,3}",
        Just(" ".to_owned()),
        Just(" && ".to_owned()),
        Just(" | ".to_owned()),
        Just("; ".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("$".to_owned()),
        Just("$(".to_owned()),
        Just(")".to_owned()),
        Just("`".to_owned()),
        Just("(".to_owned()),
        Just(" > ".to_owned()),
        Just("<<E\n".to_owned()),
        Just("\n".to_owned()),
        Just("\\".to_owned()),
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("*".to_owned()),
        Just("sh -c '".to_owned()),
        Just("cd ".to_owned()),
        Just("=".to_owned()),
        Just("&".to_owned()),
        Just("#".to_owned()),
        "\\PC",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// What has an error in it, or could expand, is never taken apart, and quoted anew the words mean
    /// the same.
    #[test]
    fn nothing_with_an_error_or_an_expansion_in_it_is_taken_apart(script in pieces()) {
        let Ok(commands) = commands(&script) else { return Ok(()) };
        let kinds = kinds(&script);
        prop_assert!(!kinds.iter().any(|kind| NEVER.contains(&kind.as_str())), "{:?}: {:?}", script, kinds);
        for words in &commands {
            prop_assert!(words.first().is_some_and(|name| !name.is_empty()), "{:?}", script);
            let moved = words.len() > 3 && words[0] == "cd" && words[2] == "&&";
            let own = if moved { &words[3..] } else { &words[..] };
            // A quoted quote is escaped, which is never taken apart.
            if !own.iter().any(|word| word.contains(['\'', '\\', '!', '^']) || !word.is_ascii()) {
                let again = super::commands(&rule::line(own));
                prop_assert_eq!(again, Ok(vec![own.to_vec()]), "{:?}", script);
                prop_assert_eq!(still_holds(words), Ok(()), "{:?}", script);
            }
        }
    }
}

/// What a person reads in a rule is what runs: a program that runs its input or its arguments has none,
/// unless the parser has opened it. `npm test`, `make` and scripts may have one.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn a_program_that_runs_what_it_does_not_show_has_no_rule() {
    const MAY: bool = true;
    const NO: bool = false;
    for (script, may) in [
        // Well-known builders, and what they read.
        ("npm test", MAY),
        ("npm run build -- --watch=false", MAY),
        ("make", MAY),
        ("make -j8 -C web check CC=gcc", MAY),
        ("./run.sh --fast", MAY),
        ("cargo test -p x", MAY),
        ("go test ./...", MAY),
        ("python3 -m pytest -q", MAY),
        ("npx eslint src", MAY),
        ("uv run pytest -q", MAY),
        ("nice -n 5 make", MAY),
        ("timeout -k 5 60s npm test", MAY),
        ("env CI=1 NO_COLOR=1 npm test", MAY),
        ("sudo -n apt-get update", MAY),
        ("stdbuf -oL make", MAY),
        ("git -C web --no-pager log --oneline", MAY),
        ("git rebase main", MAY),
        ("find . -name x -type f", MAY),
        ("tar -xzf a.tgz -C out", MAY),
        ("sed -n 1,20p f", MAY),
        ("sed 's/a/b/g' f", MAY),
        ("awk -F: '{print $1}' f", MAY),
        ("docker ps -a", MAY),
        ("ls | sort | head -5", MAY),
        ("cat f | grep -c sh", MAY),
        ("echo sh", MAY),
        ("deno task build", MAY),
        ("bun test", MAY),
        // Programs that run their arguments in ways that are not opened.
        ("env '-Ssh -s'", NO),
        ("env -S 'sh -s'", NO),
        ("env -i sh", NO),
        ("env PATH=. make", NO),
        ("env LD_PRELOAD=./x.so make", NO),
        ("nice sh", NO),
        ("nice -n 5 bash x.sh", NO),
        ("timeout 9 xargs rm", NO),
        ("timeout --foreground=x make", NO),
        ("setsid make", NO),
        ("xargs rm", NO),
        ("find . -exec sh -s ';'", NO),
        ("find . -execdir ./x ';'", NO),
        ("find . -ok ./x ';'", NO),
        ("fd -x ./x", NO),
        ("rg --pre ./x y", NO),
        ("rg --pr=./x y", NO),
        ("sort --compress-prog=./x f", NO),
        ("git -c 'alias.zz=!sh' zz", NO),
        ("git zz", NO),
        ("git bisect run ./x", NO),
        ("git rebase -x ./x main", NO),
        ("git rebase --ex=./x main", NO),
        ("git submodule foreach ./x", NO),
        ("git fetch --upload-pack=./x o", NO),
        ("git clone 'ext::sh -c x' y", NO),
        ("git config alias.zz '!sh'", NO),
        ("git --exec-path=. status", NO),
        ("git difftool -x ./x", NO),
        ("git grep -O./x y", NO),
        ("make -f -", NO),
        ("make -f /dev/stdin", NO),
        ("make -sf -", NO),
        ("make --file=-", NO),
        ("make '--eval=x:;sh'", NO),
        ("make SHELL=./x", NO),
        ("make 'CC=sh -s'", NO),
        ("docker run -i x sh", NO),
        ("docker exec x ls", NO),
        ("kubectl exec x -- ls", NO),
        ("python3 -m code -q", NO),
        ("python3 -m pdb x.py", NO),
        ("python3 -c 'exec(input())'", NO),
        ("perl -e 'system <>'", NO),
        ("perl -ne 'eval' f", NO),
        ("ruby -e 'eval gets'", NO),
        ("node -e x", NO),
        ("node -i", NO),
        ("php -r x", NO),
        ("lua -i x.lua", NO),
        ("deno eval x", NO),
        ("deno run -", NO),
        ("bun repl", NO),
        ("awk 'BEGIN { system(\"x\") }'", NO),
        ("awk '{ print | \"sh\" }' f", NO),
        ("awk -f x f", NO),
        ("gawk --source=x", NO),
        ("sed '1e x' f", NO),
        ("sed 's/a/b/e' f", NO),
        ("sed -f x f", NO),
        ("tar -xf a --to-command=./x", NO),
        ("tar cf a --checkpoint-action=exec=./x b", NO),
        ("ssh h ls", NO),
        ("rsync -e ./x a b", NO),
        ("npx -c 'sh -s'", NO),
        ("npx sh", NO),
        ("npm exec -- sh -s", NO),
        ("npm --prefix x exec y", NO),
        ("npm --script-shell=./x test", NO),
        ("npm config set script-shell ./x", NO),
        ("poetry run python -", NO),
        ("cargo --config 'build.rustc-wrapper=\"./x\"' build", NO),
        ("go test -exec ./x ./...", NO),
        ("tmux new ./x", NO),
        ("vim -c '!x' f", NO),
        ("gdb -ex 'shell x'", NO),
        ("busybox sh", NO),
        ("nix-shell --run x", NO),
        ("unshare make", NO),
        ("socat - EXEC:sh", NO),
        ("sqlite3 a '.shell x'", NO),
        ("m4 f", NO),
        ("cmake -E env ./x", NO),
        // Behind a pipe only what takes data for data.
        ("cat f | make -f -", NO),
        ("cat f | docker run -i x cat", NO),
        ("cat f | git apply", NO),
        ("cat f | npx x", NO),
        ("cat f | env cat", NO),
        ("cat f | sed e", NO),
        ("cat f | awk -f -", NO),
        ("cat f | node", NO),
        ("cat f | sudo tee /etc/x", NO),
        ("cat f | ./x", NO),
        ("cat f | grep x | sh", NO),
        ("sh < f", NO),
        ("cat < f", NO),
    ] {
        let found = commands(script);
        assert_eq!(found.is_ok(), may, "{script:?}: {found:?}");
        if let Ok(found) = found {
            assert!(found.iter().all(|words| still_holds(words).is_ok()), "{script:?}");
        }
    }
}

/// Rules that older programs made of a part, or of a word that looks like an operator.
#[test]
fn a_rule_that_would_not_be_made_today_does_not_hold() {
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (rule, why) in [
        (&["npm", "test"][..], Ok(())),
        (&["cd", "my web", "&&", "npm", "test"], Ok(())),
        (&["npm", "test", "2>&1", "|", "tail", "-5"], Ok(())),
        (&["env", "-Ssh -s"], Err(Unclear::RunsUnseen)),
        (&["make", "-f", "-"], Err(Unclear::RunsUnseen)),
        (&["echo", "a", "&&", "b"], Err(Unclear::LikeOperator)),
        (&["grep", "|", "f"], Err(Unclear::Piped)),
        (&["echo", "2>&1"], Err(Unclear::LikeOperator)),
        (&["echo", "it's"], Err(Unclear::Expands)),
        (&[], Err(Unclear::Empty)),
    ] {
        assert_eq!(still_holds(&words(rule)), why, "{rule:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A rule that is made of one command never matches another, unless both are taken apart into the
    /// same words, in the same pipelines.
    #[test]
    fn a_rule_matches_nothing_that_is_taken_apart_otherwise(one in pieces(), other in pieces()) {
        let (Ok(one), Ok(other)) = (commands(&one), commands(&other)) else { return Ok(()) };
        let parts = |all: &[Vec<String>]| all.iter().map(|it| stages(it)).collect::<Vec<_>>();
        for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
            prop_assert_eq!(a == b, stages(a) == stages(b));
        }
        prop_assert_eq!(one == other, parts(&one) == parts(&other));
    }
}

/// Returns a form as its commands.
fn stages(words: &[String]) -> Vec<Vec<String>> {
    words.split(|word| word == "|").map(<[String]>::to_vec).collect()
}
