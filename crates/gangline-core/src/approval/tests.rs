//! Tables of decision lines.

use super::*;

fn line(decision: Decision, number: Option<i64>) -> Option<DecisionLine> {
    Some(DecisionLine { decision, reach: Reach::Once, number: number.map(ApprovalNumber) })
}

#[test]
fn decision_lines_are_read_only_if_they_are_the_whole_text() {
    use Decision::{Allow, Deny};
    for (text, expect) in [
        ("yes", line(Allow, None)),
        (" Y ", line(Allow, None)),
        ("ALLOW", line(Allow, None)),
        ("no.", line(Deny, None)),
        ("n", line(Deny, None)),
        ("deny", line(Deny, None)),
        ("yes 12", line(Allow, Some(12))),
        ("no 12", line(Deny, Some(12))),
        ("12 yes", line(Allow, Some(12))),
        ("allow #7", line(Allow, Some(7))),
        ("yes please", None),
        ("yes 12 please", None),
        ("12", None),
        ("yes -1", None),
        ("yes 99999999999999999999", None),
        ("yes no", None),
        ("", None),
        ("ok", None),
    ] {
        assert_eq!(parse(text), expect, "{text:?}");
    }
}

#[test]
fn always_needs_a_permission_with_a_number() {
    let always = DecisionLine {
        decision: Decision::Allow,
        reach: Reach::Always,
        number: Some(ApprovalNumber(5)),
    };
    for text in ["yes 5 always", "y #5 Always", "5 yes always.", "allow 5 ALWAYS!"] {
        assert_eq!(parse(text), Some(always), "{text:?}");
    }
    for text in
        ["yes always", "always", "yes always 5", "no 5 always", "yes 5 always please", "always 5"]
    {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

fn open(number: i64, announced: Option<&str>) -> OpenApproval {
    let announced = announced.map(|order| LineOrder(order.to_owned()));
    OpenApproval { number: ApprovalNumber(number), announced }
}

fn check(text: &str, to: Addressed, open: &[OpenApproval], at: Option<&str>, expect: Resolution) {
    let at = at.map(|order| LineOrder(order.to_owned()));
    assert_eq!(resolve(text, to, open, at.as_ref()), expect, "{text:?} at {at:?}");
}

fn allows(number: i64) -> Resolution {
    let (number, decision) = (ApprovalNumber(number), Decision::Allow);
    Resolution::Decided { number, decision, reach: Reach::Once }
}

fn needs(numbers: &[i64]) -> Resolution {
    Resolution::NeedsNumber { open: numbers.iter().copied().map(ApprovalNumber).collect() }
}

#[test]
fn a_bare_word_decides_the_one_approval_that_was_announced_before_it() {
    let one = [open(12, Some("b"))];
    check("yes", Addressed::One, &one, Some("c"), allows(12));
    check("yes", Addressed::One, &one, Some("b"), needs(&[12]));
    check("yes", Addressed::One, &one, Some("a"), needs(&[12]));
    check("yes", Addressed::One, &one, None, needs(&[12]));
    check("yes", Addressed::Several, &one, Some("c"), needs(&[12]));
    check("yes", Addressed::One, &[open(12, None)], Some("c"), needs(&[12]));
    let two = [open(12, Some("b")), open(3, Some("a"))];
    check("yes", Addressed::One, &two, Some("c"), needs(&[3, 12]));
}

#[test]
fn a_number_decides_wherever_the_line_stands() {
    let two = [open(12, None), open(13, None)];
    check("yes 12", Addressed::Several, &two, None, allows(12));
    check("yes 14", Addressed::One, &two, None, Resolution::Unknown(ApprovalNumber(14)));
    check("yes 14", Addressed::One, &[], None, Resolution::Unknown(ApprovalNumber(14)));
}

#[test]
fn talk_is_no_decision() {
    let one = [open(12, Some("b"))];
    check("yes, and run it again", Addressed::One, &one, Some("c"), Resolution::NotADecision);
    check("yes", Addressed::One, &[], Some("c"), Resolution::NotADecision);
}
