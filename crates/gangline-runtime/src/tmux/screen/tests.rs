//! Screens of real programs, and of none.

use proptest::prelude::*;

use super::*;

fn profile(name: &str) -> Profile {
    Profile::of(std::path::Path::new(name), None).unwrap()
}

fn screen(rows: &[&str], cursor: (usize, usize)) -> Screen {
    let rows = rows.iter().map(|row| (*row).to_owned()).collect();
    Screen { rows, cursor, ..Screen::default() }
}

const RULE: &str = "────────────────────";

#[test]
fn a_screen_is_read_as_tmux_tells_it() {
    let told = "1 7, , 0 2 1 40 /dev/pts/3\nhello  \n$ \n";
    let expect = Screen {
        rows: vec!["hello".into(), "$".into()],
        cursor: (2, 1),
        history: 40,
        in_mode: false,
        dead: Some(Death { code: Some(7), signal: None }),
        tty: "/dev/pts/3".into(),
        lent: false,
        line_mode: false,
    };
    assert_eq!(Screen::parse(told), Some(expect.clone()));
    assert_eq!(expect.cursor_line(), 41);
    let copying = Screen::parse("0 , , 1 0 0 0 /dev/pts/3\n").unwrap();
    assert!(copying.in_mode && copying.dead.is_none());
    for broken in ["", "0 , , 0 0 0 0 t", "0 , , 0 x 0 0 t\n", "no server\n"] {
        assert_eq!(Screen::parse(broken), None, "{broken}");
    }
    for far in ["70000 0 0", "0 70000 0", "0 0 18446744073709551615", "-1 0 0"] {
        assert_eq!(Screen::parse(&format!("0 , , 0 {far} t\n$ \n")), None, "{far}");
    }
}

#[test]
fn a_prompt_is_one_where_the_cursor_stands_behind_it() {
    let shell = profile("bash");
    for (row, x, ready) in [
        ("$", 2, true),
        ("ada@box:~/src$", 15, true),
        ("$ ls", 4, false),
        ("$ ls", 2, false),
        ("it costs 3 $", 12, false),
        ("", 0, false),
    ] {
        assert_eq!(screen(&[row], (x, 0)).ready(&shell), ready, "{row:?}");
    }
    let lent = Screen { lent: true, ..screen(&["$"], (2, 0)) };
    assert!(!lent.ready(&shell) && lent.busy(&shell));
}

#[test]
fn a_box_is_ready_and_a_dialog_is_not() {
    let claude = profile("claude");
    let idle = screen(&["● hi", "", RULE, "❯ Try something", RULE, "  ⏵⏵ auto mode"], (2, 3));
    assert!(idle.ready(&claude) && !idle.busy(&claude));
    assert_eq!(idle.input(&claude, None), "");
    let works = screen(&["✶ Thinking…", RULE, "❯", RULE, "  ⏵⏵ esc to interrupt"], (2, 2));
    assert!(works.busy(&claude));
    let typed = screen(&["❯ an old one", "", RULE, "❯ one", "  two", RULE], (5, 4));
    assert_eq!(typed.input(&claude, None), "onetwo");
    let dialog = screen(&[" ❯ No, exit", "   Yes, I trust this folder", " Esc to cancel"], (1, 0));
    assert!(!dialog.ready(&claude) && dialog.asks(&claude));
    let choice = screen(&["Do you want to proceed?", "❯ 1. Yes", "  2. No", ""], (2, 3));
    assert!(choice.asks(&claude), "wherever its cursor is");
    let answer = screen(&["● Do you want to see it?", "", RULE, "❯", RULE], (2, 3));
    assert!(!answer.asks(&claude), "the words are its answer's");
    // A hard space behind the sign, and a frame around it.
    let framed = screen(&["│ ❯\u{a0}hello        │"], (9, 0));
    assert_eq!(framed.input(&claude, None), "hello");
}

#[test]
fn only_the_bottom_tells_what_a_program_does() {
    let claude = profile("claude");
    let mut rows = vec!["press esc to interrupt me, he said"];
    rows.extend(["text"; 13]);
    rows.push("❯");
    assert!(!screen(&rows, (2, 14)).busy(&claude));
}

#[test]
fn last_words_are_those_of_the_program() {
    let dead = screen(&["oops", "", "Pane is dead (status 7, now)"], (0, 2));
    assert_eq!(before_death(&dead.rows), "oops");
    assert_eq!(screen(&["", RULE], (0, 0)).last_words(), "");
}

proptest! {
    /// Whatever stands on a screen and wherever the cursor is, reading it does not fail.
    #[test]
    fn any_screen_can_be_read(
        head in "[ -~]{0,40}",
        rows in proptest::collection::vec("[ -~❯›●─│日é]{0,30}", 0..12),
        cursor in (0usize..200, 0usize..200),
        line in proptest::option::of(0usize..300),
        history in 0usize..100,
        name in "claude|codex|bash|other",
    ) {
        let _ = Screen::parse(&format!("{head}\n{}", rows.join("\n")));
        let screen = Screen { rows, cursor, history, ..Screen::default() };
        let profile = profile(&name);
        let input = screen.input(&profile, line);
        prop_assert!(!input.contains(is_border));
        let _ = (screen.ready(&profile), screen.busy(&profile), screen.last_words());
    }

    /// What a head says is what is read.
    #[test]
    fn a_head_is_read_back(x in 0usize..300, y in 0usize..300, history in 0usize..100_000) {
        let read = Screen::parse(&format!("0 , , 0 {x} {y} {history} /dev/pts/1\n")).unwrap();
        prop_assert_eq!((read.cursor, read.history, read.dead), ((x, y), history, None));
    }
}
