use super::*;

fn around() -> Around<'static> {
    Around {
        agent: "vm-claude",
        asker: Some("ori"),
        folder: "/home/ori/proj",
        home: Some("/home/ori"),
    }
}

fn run(command: &str) -> Wanted {
    Wanted::Run { command: command.to_owned(), folder: None, more: None }
}

fn check(wanted: &Wanted, expect: &str, extent: Extent) {
    let told = announcement(wanted, around(), "5");
    assert_eq!(told.text, expect);
    assert_eq!(told.extent, extent);
    assert!(told.text.len() <= LINE_BYTES);
}

#[test]
fn a_short_command_is_shown_whole_with_the_words_that_decide_it() {
    check(
        &run("ls -la"),
        "vm-claude wants to run (for ori, in ~/proj): `ls -la`. \
         Owner: `@vm-claude yes 5` or `no 5 REASON`",
        Extent::Whole,
    );
}

#[test]
fn a_newline_is_shown_and_lines_are_counted() {
    check(
        &run("echo hi # just a greeting\nrm -rf ~/victim\n"),
        "vm-claude wants to run (for ori, in ~/proj): `echo hi # just a greeting⏎rm -rf ~/victim⏎` \
         (2 lines). Owner: `@vm-claude yes 5` or `no 5 REASON`",
        Extent::Whole,
    );
}

#[test]
fn nothing_in_a_command_is_hidden() {
    let text = announcement(&run("a\u{202e}b\u{200b}\u{1b}[2J\tc"), around(), "5").text;
    assert!(text.contains("`a<U+202E>b<U+200B><U+001B>[2J<U+0009>c`"), "{text}");
}

/// Nobody has seen what is hidden, so a bare word does not decide it; how much it is, is said.
#[test]
fn a_line_with_something_hidden_does_not_show_all() {
    check(
        &run("login sk-a…‹44 characters› ‹DEPLOY_KEY›"),
        "vm-claude wants to run (for ori, in ~/proj): `login sk-a…‹44 characters› ‹DEPLOY_KEY›` (40 \
         characters are hidden; 1 known value is shown by its name). Owner: `@vm-claude yes 5` or \
         `no 5 REASON`",
        Extent::Cut,
    );
    check(
        &run("TOKEN=[masked] make"),
        "vm-claude wants to run (for ori, in ~/proj): `TOKEN=[masked] make` (a part is masked). \
         Owner: `@vm-claude yes 5` or `no 5 REASON`",
        Extent::Cut,
    );
    let tool = "mcp__db__run".to_owned();
    let wanted = Wanted::Use { tool, arguments: r#"{"password":"x"}"#.to_owned() };
    let told = announcement(&wanted, around(), "5");
    assert_eq!(told.extent, Extent::Whole);
    let said = Redacted::from_store(told.text.replace("\"x\"", "\"‹KEY›\""));
    assert_eq!(told.extent_of(&said), Extent::Cut, "hidden only as a line");
}

/// What passes for something else is named, in the line and in the whole view.
#[test]
fn look_alikes_and_what_shows_nothing_are_pointed_out() {
    let command = "\u{440}m -rf x\u{202e}";
    let text = announcement(&run(command), around(), "5").text;
    let note = "characters that show nothing are written as `<U+…>`; in `\u{440}m` stands `\u{440}` \
                (U+0440), which looks like `p`";
    assert!(text.contains(&format!("x<U+202E>` ({note})")), "{text}");
    assert_eq!(whole(&run(command), around())[2], format!("note: {note}"));
    let change = Change::to("a");
    let path = "/home/ori/.\u{440}rofile".to_owned();
    let files = vec![FileChange { path, leads_to: None, extent: FileExtent::Whole, change }];
    let text = announcement(&Wanted::Write { files, more: None }, around(), "5").text;
    assert!(text.contains("(U+0440), which looks like `p`"), "{text}");
}

#[test]
fn a_command_that_owners_alone_are_shown_is_announced_without_it() {
    let told = withheld(around(), "5");
    assert_eq!(
        told.text,
        "vm-claude wants to run (for ori): a command that cannot be taken apart; owners are shown it \
         in private. Owner: `/msg vm-claude show 5` or `gangline approvals 5` shows it; decide there \
         with `yes 5` or `no 5 REASON`"
    );
    assert_eq!(told.extent, Extent::Cut);
    let asker = "x".repeat(500);
    let around = Around { asker: Some(&asker), ..around() };
    assert!(withheld(around, "12345678").text.len() <= LINE_BYTES);
}

/// A call that names its folder does something else in another one; the agent's own folder is known.
#[test]
fn a_folder_of_the_call_that_is_cut_is_not_shown_whole() {
    let folder = format!("/srv/{}/data", "deep/".repeat(20));
    let wanted =
        Wanted::Run { command: "rm -rf .".to_owned(), folder: Some(folder.clone()), more: None };
    assert_eq!(announcement(&wanted, around(), "5").extent, Extent::Cut);
    let own = Around { folder: &folder, ..around() };
    assert_eq!(announcement(&run("ls"), own, "5").extent, Extent::Whole);
}

#[test]
fn a_long_command_shows_both_ends_and_says_where_the_rest_is() {
    let command = format!("echo {}; rm -rf build", "A".repeat(500));
    let told = announcement(&run(&command), around(), "5");
    assert_eq!(told.extent, Extent::Cut);
    assert!(told.text.len() <= LINE_BYTES, "{}", told.text.len());
    assert!(told.text.contains("`echo AAAA"), "{}", told.text);
    assert!(
        told.text.contains("rm -rf build` (cut; all of it: `@vm-claude show 5`"),
        "{}",
        told.text
    );
    assert!(told.text.contains("`gangline approvals 5`)"), "{}", told.text);
    assert!(told.text.ends_with("Owner: `@vm-claude yes 5` or `no 5 REASON`"), "{}", told.text);
    let left = told.text.split("…[").nth(1).and_then(|it| it.split(' ').next());
    let left: usize = left.unwrap().parse().unwrap();
    let kept = told.text.matches('A').count();
    assert!(left + kept >= 500 && left < 510, "{left} left out, {kept} kept");
}

#[test]
fn every_length_of_a_command_fits_one_line_and_a_cut_one_says_so() {
    for length in 0..600 {
        for unit in ["x", "é", "⏎", "\n"] {
            let told = announcement(&run(&unit.repeat(length)), around(), "12345678");
            assert!(told.text.len() <= LINE_BYTES, "{length} {unit:?}");
            let points = told.text.contains("show 12345678");
            assert_eq!(points, told.extent == Extent::Cut, "{length} {unit:?}: {}", told.text);
            assert!(told.text.ends_with("REASON`"), "{length} {unit:?}: {}", told.text);
        }
    }
}

#[test]
fn a_file_is_named_with_its_counts_and_never_whole() {
    let edit = Wanted::Write {
        files: vec![FileChange {
            path: "/home/ori/x.py".to_owned(),
            leads_to: None,
            extent: FileExtent::Parts,
            change: Change::between("a\nb", "a\nc\nd"),
        }],
        more: None,
    };
    check(
        &edit,
        "vm-claude wants to write (for ori): `~/x.py` (+2 −1 lines; all of it: `@vm-claude show 5` \
         or `gangline approvals 5`). Owner: `@vm-claude yes 5` or `no 5 REASON`",
        Extent::Cut,
    );
    assert_eq!(summary(&edit), "/home/ori/x.py (+2 −1 lines)");
    let write = Wanted::Write {
        files: vec![FileChange {
            path: "/etc/x".to_owned(),
            leads_to: Some("/home/ori/.profile, a link".to_owned()),
            extent: FileExtent::Whole,
            change: Change::to("a\n"),
        }],
        more: Some("{\"also\":1}".to_owned()),
    };
    assert_eq!(
        summary(&write),
        "/etc/x → /home/ori/.profile, a link with {\"also\":1} (+1 line, the whole file)"
    );
}

#[test]
fn another_tool_is_named_with_its_arguments() {
    let wanted =
        Wanted::Use { tool: "WebFetch".to_owned(), arguments: "{\"url\":\"x\"}".to_owned() };
    check(
        &wanted,
        "vm-claude wants to use WebFetch (for ori): `{\"url\":\"x\"}`. \
         Owner: `@vm-claude yes 5` or `no 5 REASON`",
        Extent::Whole,
    );
}

#[test]
fn what_changes_a_command_is_shown_with_it() {
    let wanted = Wanted::Run {
        command: "make".to_owned(),
        folder: Some("/srv".to_owned()),
        more: Some("{\"sandbox\":false}".to_owned()),
    };
    let text = announcement(&wanted, around(), "5").text;
    assert!(text.contains("(for ori, in /srv): `make with {\"sandbox\":false}`."), "{text}");
}

#[test]
fn an_owner_reads_in_private_where_it_was_asked_and_how_long_it_waits() {
    let told = owners_notice(&run("id"), around(), ("7", "in private"), None);
    assert_eq!(
        told.text,
        "vm-claude wants to run (for ori in private, in ~/proj): `id`. Say `yes 7` or `no 7 REASON` \
         here"
    );
    let again = owners_notice(&run("id"), around(), ("7", "in #ops"), Some("30 min"));
    assert!(again.text.ends_with("here; it has waited for 30 min"), "{}", again.text);
    assert_eq!(again.extent, Extent::Whole);
}

#[test]
fn the_whole_view_leaves_nothing_out() {
    let long = "x".repeat(5000);
    let command = format!("cat <<E\n{long}\nE\n");
    assert_eq!(
        whole(&run(&command), around()),
        [
            "folder: /home/ori/proj".to_owned(),
            "command (3 lines):".to_owned(),
            "  cat <<E".to_owned(),
            format!("  {long}"),
            "  E".to_owned()
        ]
    );
    let change = Change::between("a\n", "b\n");
    let files = vec![FileChange {
        path: "/x".to_owned(),
        leads_to: Some("/y, a link".to_owned()),
        extent: FileExtent::Parts,
        change,
    }];
    let wanted = Wanted::Write { files, more: None };
    let expect =
        ["folder: /home/ori/proj", "file: /x → /y, a link (+1 −1 lines)", "  - a", "  + b"];
    assert_eq!(whole(&wanted, around()), expect);
}

#[test]
fn the_card_tells_who_asked_where_and_what_was_said_before() {
    let facts = Facts {
        title: "approval 4 of vm-claude (open)",
        before: Some("ori allowed this at 12:03; it may have run"),
        asked: Some("bob, in #ops (m12)"),
        tool: "Bash",
        said_before: "I clean up first.\n",
        always: Some("Bash `make clean` in /home/ori/proj"),
    };
    assert_eq!(
        card(facts, &run("make clean"), around()),
        [
            "approval 4 of vm-claude (open)",
            "before: ori allowed this at 12:03; it may have run",
            "for: bob, in #ops (m12)",
            "tool: Bash",
            "folder: /home/ori/proj",
            "command: make clean",
            "said before: I clean up first.",
            "always: Bash `make clean` in /home/ori/proj",
        ]
    );
}

#[test]
fn a_decision_is_told_with_its_maker_and_reason() {
    assert_eq!(decided("5", Decision::Allow, "ori", None), "approval 5: allowed by ori");
    let denied = decided("5", Decision::Deny, "ori (owner)", Some("use\nmake"));
    assert_eq!(denied, "approval 5: denied by ori (owner): use⏎make");
    assert!(decided("5", Decision::Deny, "ori", Some(&"x".repeat(999))).len() <= LINE_BYTES);
}
