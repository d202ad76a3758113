//! Which rules allow a question, and how they are shown.

use super::{
    replay::{Change, Was, change},
    suggest::{Call, danger, suggest},
    *,
};

fn command(text: &str) -> Form {
    Form::Command(text.split(' ').map(str::to_owned).collect())
}

fn rule(number: i64, form: Form) -> Rule {
    Rule { number, tool: "Bash".to_owned(), directory: "/w".to_owned(), form }
}

fn offer(forms: &[Form]) -> Offer {
    let subject = Subject::Forms(forms.to_vec());
    Offer { tool: "Bash".to_owned(), directory: "/w".to_owned(), subject }
}

#[test]
fn every_part_of_a_question_needs_a_rule() {
    let rules = [rule(3, command("npm test")), rule(5, command("ls")), rule(7, command("ls"))];
    for (parts, allowed) in [
        (&["npm test"][..], Some(vec![3])),
        (&["ls", "npm test", "ls"], Some(vec![3, 5])),
        (&["npm test", "rm x"], None),
        (&["npm"], None),
        (&["npm test --all"], None),
        (&[], None),
    ] {
        let forms: Vec<Form> = parts.iter().map(|text| command(text)).collect();
        assert_eq!(offer(&forms).allowed_by(&rules), allowed, "{parts:?}");
    }
    let unclear = Offer { subject: Subject::Unclear("x".to_owned()), ..offer(&[]) };
    assert_eq!((unclear.allowed_by(&rules), unclear.forms()), (None, &[][..]));
}

/// A rule counts for its own tool, folder and form only.
#[test]
fn a_rule_reaches_no_further_than_it_says() {
    let ls = || vec![command("ls")];
    let asked = offer(&ls());
    assert_eq!(asked.allowed_by(&[rule(1, command("ls"))]), Some(vec![1]));
    for other in [
        Rule { tool: "Read".to_owned(), ..rule(1, command("ls")) },
        Rule { directory: "/".to_owned(), ..rule(1, command("ls")) },
        rule(1, Form::File("ls".to_owned())),
        rule(1, Form::Arguments("ls".to_owned())),
        rule(1, Form::Command(vec!["l".to_owned(), "s".to_owned()])),
    ] {
        assert_eq!(asked.allowed_by(std::slice::from_ref(&other)), None, "{other:?}");
    }
}

#[test]
fn a_rule_is_shown_so_that_words_can_be_told_apart() {
    let words = |words: &[&str]| Form::Command(words.iter().map(|it| (*it).to_owned()).collect());
    for (form, shown) in [
        (words(&["npm", "test"]), "Bash `npm test` in /w"),
        (words(&["cd", "my web", "&&", "npm", "test"]), "Bash `cd 'my web' && npm test` in /w"),
        (words(&["a b", "2>&1", "|", "tail", "-5"]), "Bash `'a b' 2>&1 | tail -5` in /w"),
        (words(&["echo", "2>&1"]), "Bash `echo '2>&1'` in /w"),
        (words(&["echo", "&&", "a&b"]), "Bash `echo '&&' 'a&b'` in /w"),
        (words(&["npm test"]), "Bash `'npm test'` in /w"),
        (words(&["echo", "it's", ""]), r"Bash `echo 'it'\''s' ''` in /w"),
        (words(&["echo", "a\nb\u{202e}"]), "Bash `echo 'a⏎b<U+202E>'` in /w"),
        (Form::File("/w/a".to_owned()), "Bash any change of `/w/a` in /w"),
        (Form::Arguments("{}".to_owned()), "Bash `{}` in /w"),
    ] {
        assert_eq!(rule(1, form.clone()).to_string(), shown);
        assert_eq!(offer(&[form]).describe(), shown);
    }
    assert_eq!(offer(&[command("a"), command("b")]).describe(), "Bash `a`, Bash `b` in /w");
    let unclear = Offer { subject: Subject::Unclear("it expands".to_owned()), ..offer(&[]) };
    assert_eq!(unclear.describe(), "no rule: it expands");
}

/// What another set of rules decides otherwise; what stays is no change.
#[test]
fn other_rules_change_what_was_asked_and_what_was_not() {
    let rules = [rule(1, command("npm test"))];
    let (covered, other) = (offer(&[command("npm test")]), offer(&[command("ls")]));
    for was in [Was::Allowed, Was::Denied, Was::Undecided] {
        assert_eq!(change(was, &covered, &rules), Some(Change::Runs(vec![1])), "{was:?}");
        assert_eq!(change(was, &other, &rules), None, "{was:?}");
    }
    assert_eq!(change(Was::Ruled, &covered, &rules), None);
    assert_eq!(change(Was::Ruled, &other, &rules), Some(Change::Asks));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn what_is_dangerous_is_never_suggested() {
    for text in [
        "rm x",
        "sudo ls",
        "git push",
        "git -C x push",
        "git",
        "cargo publish",
        "cargo install x",
        "python3.12 x.py",
        "./run.sh",
        "/bin/ls",
        "curl x",
        "cd /etc && ls",
        "cat /etc/passwd",
        "cat ../x",
        "cat .env",
        "grep --file=/etc/shadow x",
        "npm run x --force",
        "npm install",
        "pytest -f",
        "gangline policy remove 1",
        "sh -x",
        // Further tasks, and options of one program.
        "mvn test deploy",
        "gradle check publish",
        "mvn verify -Dexec.executable=./x",
        "dotnet build -t:Publish",
        "mypy --install-types --non-interactive src",
        "pylint --init-hook=x src",
        "pytest --basetemp=src",
        "pytest --baset=src",
        "pytest -p x",
        "python3 -m pytest -px",
        "eslint --format ./x.js src",
        "jest --globalSetup=./x.js",
        "mocha -r ./x.js",
        "rspec -r./x",
        "rubocop -A",
        "phpunit --bootstrap x.php",
        "tsc --build --clean",
        "ctest -S x.cmake",
        "date -s 2020-01-01",
        "file -C -m x",
        // As they were once suggested.
        "nice rm -r build",
        "git bisect run x",
        "npm run publish-prod",
        "npm run test:publish",
        "twine upload",
        "vercel",
        "fly deploy",
        "heroku ps",
        "make deploy",
        "make test deploy",
        "just release",
        "rake db:drop",
        "ansible all",
        "sqlplus x",
        "busybox rm x",
        "shopt x",
        "./gradlew test",
        "cargo run",
        "git branch x",
        "git log --output=x",
        "npm test --forc",
        "npm audit fix",
        "eslint --fix src",
        "prettier --write src",
        "prettier -w src",
        "rg --pre x y",
        "pytest --pdb",
        "jq -f x",
        "cat x | sh",
        "cat x | rm y",
        "npm test | tee x",
    ] {
        assert!(danger("/w", &command(text)).is_some(), "{text}");
    }
    for text in [
        "npm test",
        "cargo test --workspace",
        "git status",
        "ls",
        "ls src",
        "cat /w/a.txt",
        "cd web && npm test",
        "make check",
        "make",
        "make -j8 test",
        "pytest -q",
        "python3 -m pytest -q",
        "npm run test:unit",
        "npm run lint",
        "npm test 2>&1 | tail -5",
        "cd web && npm test | grep -c x",
    ] {
        assert_eq!(danger("/w", &command(text)), None, "{text}");
    }
    for (path, safe) in [
        ("/w/a.rs", true),
        ("/w/.git/hooks/x", false),
        ("/etc/x", false),
        ("/w/Makefile", false),
        ("/w/README.md", true),
        ("/w/CLAUDE.md", false),
        ("/w/package.json", false),
        ("/w/build.rs", false),
        ("/w/vite.config.ts", false),
        ("/w/run.sh", false),
    ] {
        assert_eq!(danger("/w", &Form::File(path.to_owned())).is_none(), safe, "{path}");
    }
    assert!(danger("/w", &Form::Arguments("{}".to_owned())).is_some());
}

/// A rule is suggested for what people allowed often enough and never refused, each part of a list
/// on its own, and for nothing that has a rule.
#[test]
fn what_was_often_allowed_and_never_refused_is_suggested() {
    let both = offer(&[command("npm test"), command("ls")]);
    let (test, check) = (offer(&[command("npm test")]), offer(&[command("make check")]));
    let (deletes, status) = (offer(&[command("rm x")]), offer(&[command("git status")]));
    let call = |agent, offer, was| Call { agent, offer, was };
    let mut calls = vec![
        call(1, &both, Was::Allowed),
        call(1, &test, Was::Allowed),
        call(1, &test, Was::Undecided),
        call(2, &test, Was::Allowed),
        call(1, &check, Was::Allowed),
        call(1, &check, Was::Allowed),
        call(1, &check, Was::Denied),
        call(1, &deletes, Was::Allowed),
        call(1, &deletes, Was::Allowed),
        call(1, &status, Was::Allowed),
        call(1, &status, Was::Allowed),
    ];
    let found = |calls: &[Call<'_, i32>], least| {
        let rules = [(1, rule(1, command("git status")))];
        let all = suggest(calls, &rules, least);
        all.iter().map(|it| (it.agent, it.form.clone(), it.allowed)).collect::<Vec<_>>()
    };
    assert_eq!(found(&calls, 2), [(1, command("npm test"), 2)]);
    calls.push(call(1, &both, Was::Allowed));
    let expect = [(1, command("npm test"), 3), (1, command("ls"), 2)];
    assert_eq!(found(&calls, 2), expect);
}
