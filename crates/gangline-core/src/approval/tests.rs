//! Tables of decision lines.

use super::*;

fn line(decision: Decision, number: Option<i64>) -> Option<DecisionLine> {
    Some(DecisionLine {
        decision,
        reach: Reach::Once,
        number: number.map(ApprovalNumber),
        reason: None,
    })
}

fn refuses(number: i64, reason: &str) -> Option<DecisionLine> {
    let (number, reach) = (Some(ApprovalNumber(number)), Reach::Once);
    let reason = Some(reason.to_owned());
    Some(DecisionLine { decision: Decision::Deny, reach, number, reason })
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
        ("yes  12!", line(Allow, Some(12))),
        ("no 12", line(Deny, Some(12))),
        ("12 yes", line(Allow, Some(12))),
        ("allow #7", line(Allow, Some(7))),
        ("no 5 use the trash", refuses(5, "use the trash")),
        ("No #5: use `trash`, not rm!", refuses(5, "use `trash`, not rm!")),
        ("5 no, really", refuses(5, "really")),
        ("5 deny  not  now.", refuses(5, "not  now.")),
        ("no, 5 use make", None),
        ("yes please", None),
        ("yes 12 please", None),
        ("12", None),
        ("yes -1", None),
        ("yes 99999999999999999999", None),
        ("yes no", None),
        ("no no", None),
        ("", None),
        (".", None),
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
        reason: None,
    };
    for text in ["yes 5 always", "y #5 Always", "5 yes always.", "allow 5 ALWAYS!"] {
        assert_eq!(parse(text), Some(always.clone()), "{text:?}");
    }
    for text in
        ["yes always", "always", "yes always 5", "no 5 always", "yes 5 always please", "always 5"]
    {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn a_reason_is_bounded() {
    let long = format!("no 5 {}", "é".repeat(REASON_MAX));
    let reason = parse(&long).and_then(|line| line.reason).unwrap();
    assert!(reason.len() <= REASON_MAX && reason.len() > REASON_MAX - 2);
}

const SECOND: i64 = 1_000_000;

/// Announced at this second of the server's, heard a while later.
fn open(number: i64, announced: Option<(Extent, i64)>) -> OpenApproval {
    let announced = announced.map(|(extent, second)| Announced { extent, at: at(second) });
    OpenApproval { number: ApprovalNumber(number), announced }
}

fn at(second: i64) -> Moment {
    Moment { told: Some(second * SECOND), heard: 500 * SECOND }
}

fn check(
    text: &str,
    to: Addressed,
    open: &[OpenApproval],
    at: Option<Moment>,
    expect: &Resolution,
) {
    assert_eq!(resolve(text, to, open, at), *expect, "{text:?} at {at:?} with {open:?}");
}

fn allows(number: i64) -> Resolution {
    let number = ApprovalNumber(number);
    Resolution::Decided { number, decision: Decision::Allow, reach: Reach::Once, reason: None }
}

fn needs(numbers: &[i64], why: Unclear) -> Resolution {
    let open = numbers.iter().copied().map(ApprovalNumber).collect();
    Resolution::NeedsNumber { open, decision: Decision::Allow, why }
}

fn unknown(number: i64) -> Resolution {
    let number = ApprovalNumber(number);
    Resolution::Unknown { number, decision: Decision::Allow, reach: Reach::Once, reason: None }
}

#[test]
fn a_bare_word_decides_the_one_approval_that_was_announced_whole_a_second_before() {
    let one = [open(12, Some((Extent::Whole, 10)))];
    check("yes", Addressed::One, &one, Some(at(11)), &allows(12));
    check("yes", Addressed::One, &one, Some(at(10)), &needs(&[12], Unclear::TooSoon));
    check("yes", Addressed::One, &one, Some(at(9)), &needs(&[12], Unclear::TooSoon));
    check("yes", Addressed::One, &one, None, &needs(&[12], Unclear::Old));
    check("yes", Addressed::Several, &one, Some(at(11)), &needs(&[12], Unclear::Addressed));
    let elsewhere = [open(12, None)];
    check("yes", Addressed::One, &elsewhere, Some(at(11)), &needs(&[12], Unclear::Elsewhere));
    let cut = [open(12, Some((Extent::Cut, 10)))];
    check("yes", Addressed::One, &cut, Some(at(60)), &needs(&[12], Unclear::Cut));
    let two = [open(12, Some((Extent::Whole, 10))), open(3, Some((Extent::Whole, 2)))];
    check("yes", Addressed::One, &two, Some(at(60)), &needs(&[3, 12], Unclear::Several));
}

#[test]
fn the_second_is_the_servers_where_both_lines_have_its_time_and_ours_where_not() {
    let heard = |told: Option<i64>, heard: i64| Moment { told, heard };
    for (announced, said, decides) in [
        // Both came together after a stall; the server knows that the person had a minute.
        (heard(Some(0), 100), heard(Some(60 * SECOND), 100), true),
        // The announcement was slow to come back to us; the person was not slow.
        (heard(Some(60 * SECOND), 0), heard(Some(60 * SECOND + 1), 90 * SECOND), false),
        (heard(None, 0), heard(Some(0), SECOND), true),
        (heard(None, 0), heard(None, SECOND - 1), false),
        (heard(Some(0), 0), heard(None, SECOND), true),
    ] {
        let announced = Some(Announced { extent: Extent::Whole, at: announced });
        let open = [OpenApproval { number: ApprovalNumber(1), announced }];
        let expect = if decides { allows(1) } else { needs(&[1], Unclear::TooSoon) };
        check("yes", Addressed::One, &open, Some(said), &expect);
    }
}

#[test]
fn a_number_decides_wherever_the_line_stands() {
    let two = [open(12, None), open(13, Some((Extent::Cut, 99)))];
    check("yes 12", Addressed::Several, &two, None, &allows(12));
    check("yes 13", Addressed::One, &two, Some(at(0)), &allows(13));
    check("yes 14", Addressed::One, &two, None, &unknown(14));
    check("yes 14", Addressed::One, &[], None, &unknown(14));
}

#[test]
fn a_refusal_with_a_number_carries_its_reason() {
    let one = [open(5, None)];
    let number = ApprovalNumber(5);
    let reason = Some("use the trash".to_owned());
    let (decision, reach) = (Decision::Deny, Reach::Once);
    let expect = Resolution::Decided { number, decision, reach, reason };
    check("no 5 use the trash", Addressed::One, &one, None, &expect);
}

/// C5: `always` reaches further only with a number.
#[test]
fn a_permission_for_good_names_its_approval() {
    let one = [open(5, Some((Extent::Whole, 1)))];
    let (number, decision) = (ApprovalNumber(5), Decision::Allow);
    let (reach, reason) = (Reach::Always, None);
    let expect = Resolution::Decided { number, decision, reach, reason: reason.clone() };
    check("yes 5 always", Addressed::Several, &one, None, &expect);
    let expect = Resolution::Unknown { number, decision, reach, reason };
    check("yes 5 always", Addressed::One, &[], Some(at(9)), &expect);
    check("yes always", Addressed::One, &one, Some(at(9)), &Resolution::NotADecision);
}

#[test]
fn talk_is_no_decision() {
    let one = [open(12, Some((Extent::Whole, 1)))];
    let no = Resolution::NotADecision;
    check("yes, and run it again", Addressed::One, &one, Some(at(9)), &no);
    check("yes", Addressed::One, &[], Some(at(9)), &no);
}
