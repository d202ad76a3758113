//! Which rules allow a question, and how they are shown.

use super::*;

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
