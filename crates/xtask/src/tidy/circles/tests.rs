use super::imports::read;
use super::{Accepted, circles, compare};
use crate::tidy::{Repo, repo_of, said};

/// The members of each circle, with the parent's file.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let circles = circles(&repo_of(files));
    circles.iter().map(|it| format!("{}: {}", it.parent, it.members.join(" "))).collect()
}

/// A crate whose top module is `top` and which has the modules `a`, `b` and `c`.
fn of_three(top: &str, [a, b, c]: [&str; 3]) -> Vec<String> {
    found(&[
        ("crates/x/src/lib.rs", top),
        ("crates/x/src/a.rs", a),
        ("crates/x/src/b.rs", b),
        ("crates/x/src/c.rs", c),
    ])
}

const ALL: [&str; 1] = ["crates/x/src/lib.rs: a b c"];
const NONE: [&str; 0] = [];

#[test]
fn modules_that_import_one_another_are_a_circle_whatever_the_form_of_the_import() {
    for a in [
        "use crate::b::B;",
        "use super::b;",
        "pub(crate) use crate::{c::{self, C}, b::{B as Other, x}};",
        "use super::{\n    // a remark, with a comma\n    b::*,\n};",
        "fn f() -> u8 { let x = '\"'; crate::b::f(x) }",
        "impl super::b::B for u8 {}",
        "fn f<'a>(x: &'a u8) -> impl Sized + use<'a> { super::b::g(x) }",
    ] {
        let found = of_three("", [a, "use super::c;", "use super::a::A;"]);
        assert_eq!(found, ALL, "{a}");
    }
}

#[test]
fn what_is_no_import_makes_no_circle() {
    for a in [
        "use crate::c::C;",
        "use std::fmt;\nuse other::b::B;",
        "// use super::b;\n/* use super::b; */\n/// [`super::b::B`]",
        "const A: &str = \"use super::b;\";",
        "const A: &str = r#\"\"use super::b;\"#;",
        "const A: &str = \"\\\"\"; // super::b::x",
        "#[cfg(test)]\nmod tests {\n    use super::super::b;\n}",
    ] {
        assert_eq!(of_three("", [a, "use super::a;", ""]), NONE, "{a}");
    }
}

#[test]
fn a_parent_and_its_children_may_import_one_another() {
    let top = "mod a;\nuse a::A;\npub struct Top;";
    assert_eq!(of_three(top, ["use super::Top;", "use super::Top;", ""]), NONE);
    let files = [
        ("crates/x/src/a.rs", "use self::in_a::B;\nfn f() { in_a::g() }"),
        ("crates/x/src/a/in_a.rs", "use super::A;\nuse crate::a::A;"),
    ];
    assert_eq!(found(&files), NONE);
}

#[test]
fn a_re_export_hides_no_circle() {
    let top = "pub use self::b::{B as Renamed, x};\nuse c::C;";
    let circle = ["use super::Renamed;", "use crate::C;", "use super::a;"];
    assert_eq!(of_three(top, circle), ALL);
    assert_eq!(of_three("use b::B;", circle), NONE);
}

#[test]
fn children_of_different_parents_make_a_circle_of_their_parents() {
    let files = [
        ("crates/x/src/main.rs", ""),
        ("crates/x/src/a.rs", ""),
        ("crates/x/src/a/in_a.rs", "use crate::b::in_b::B;"),
        ("crates/x/src/b.rs", ""),
        ("crates/x/src/b/in_b.rs", "use crate::a::other::A;"),
        ("crates/x/src/a/other.rs", "use super::in_a::C;"),
    ];
    assert_eq!(found(&files), ["crates/x/src/main.rs: a b"]);
}

#[test]
fn tests_and_other_crates_are_left_out() {
    let files = [
        ("crates/x/src/a.rs", "use super::b;"),
        ("crates/x/src/b.rs", ""),
        ("crates/x/src/b/tests.rs", "use crate::a;"),
        ("crates/x/src/b/tests/more.rs", "use crate::a;"),
        ("crates/x/tests/it/b.rs", "use crate::a;"),
        ("crates/y/src/b.rs", "use crate::a;"),
        ("crates/y/src/a.rs", ""),
    ];
    assert_eq!(found(&files), NONE);
}

fn pair() -> Repo {
    repo_of(&[
        ("crates/x/src/lib.rs", ""),
        ("crates/x/src/a.rs", "use super::b::B;"),
        ("crates/x/src/b.rs", "use super::a::A;"),
    ])
}

#[test]
fn a_circle_is_told_with_its_imports_unless_it_is_accepted() {
    let told = "crates/x/src/lib.rs: fail: a, b import one another: give what they share a module \
                of its own, or pass it in (a → b by super::b::B; b → a by super::a::A)";
    let one = |members| Accepted { parent: "crates/x/src/lib.rs", members, reason: "one thing" };
    let circles = circles(&pair());
    assert_eq!(said(&compare(&circles, &[])), [told]);
    assert_eq!(said(&compare(&circles, &[one(&["a", "b"])])), NONE);
    let gone = "crates/x/src/lib.rs: fail: a, c are no circle any more: take them out of the \
                accepted ones (\"one thing\")";
    assert_eq!(said(&compare(&circles, &[one(&["a", "c"])])), [told, gone]);
    assert_eq!(said(&compare(&[], &[one(&["a", "c"])])), [gone]);
}

#[test]
fn a_use_tree_is_read_to_its_leaves() {
    let text = "use super::{a::{self, A as B, c::*}, d};\npub use self::e;";
    let shown = |it: &super::imports::Import| {
        format!("{} {}", it.path.join("::"), it.name.as_deref().unwrap_or("-"))
    };
    let read: Vec<String> = read(text).iter().map(shown).collect();
    let leaves = ["super::a::self a", "super::a::A B", "super::a::c -", "super::d d", "self::e e"];
    assert_eq!(read, leaves);
}
