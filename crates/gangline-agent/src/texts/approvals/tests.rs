use super::*;

fn numbers(numbers: &[i64]) -> Vec<ApprovalNumber> {
    numbers.iter().copied().map(ApprovalNumber).collect()
}

#[test]
fn a_bare_word_that_decides_nothing_is_answered_with_the_exact_words() {
    let text = |open, decision, why| unclear("approve", &numbers(open), decision, why);
    assert_eq!(
        unclear("deny", &numbers(&[3, 12]), Decision::Deny, Unclear::Several),
        "2 approvals are open, so `deny` alone decides none: say `no 3` or `no 12`"
    );
    assert_eq!(
        text(&[5], Decision::Allow, Unclear::TooSoon),
        "approval 5 is still open: it was shown less than a second before your `approve`. `show 5` \
         shows it; say `yes 5` or `no 5 REASON`"
    );
    assert_eq!(
        text(&[5], Decision::Allow, Unclear::Cut),
        "approval 5 is still open: its line did not show it in full. `show 5` shows it; say `yes 5` \
         or `no 5 REASON`"
    );
    assert_eq!(no_page(&numbers(&[7, 9])), "there is no next page here; `show 7` shows approval 7");
    for why in [Unclear::Addressed, Unclear::Elsewhere, Unclear::TooSoon, Unclear::Old] {
        let text = text(&[5], Decision::Allow, why);
        assert!(text.contains("say `yes 5` or `no 5 REASON`"), "{text}");
    }
}
