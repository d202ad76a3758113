//! Tests of how a reply is read.

use super::*;

fn check(reply: &str, expected: Result<(Verdict, &str), Unreadable>) {
    let expected = expected.map(|(verdict, message)| (verdict, message.to_owned()));
    assert_eq!(parse_verdict(reply), expected, "{reply}");
}

/// R1-36.
#[test]
fn exactly_one_line_begins_with_a_verdict() {
    check("OK", Ok((Verdict::Ok, "")));
    check("OK — agent is productive", Ok((Verdict::Ok, "agent is productive")));
    check("CORRECTION ask #llama-cpp", Ok((Verdict::Correction, "ask #llama-cpp")));
    check("\n  - THINK_DEEPER: why two?\n", Ok((Verdict::ThinkDeeper, "why two?")));
    check("**ESCALATION** it is stuck", Ok((Verdict::Escalation, "it is stuck")));
    check("It works well.\n\nOK", Ok((Verdict::Ok, "")));
}

/// R1-36: what is no verdict does nothing.
#[test]
fn verdict_words_elsewhere_do_not_count() {
    check("", Err(Unreadable::Missing));
    check("I would say ESCALATION here", Err(Unreadable::Missing));
    check("correction take care", Err(Unreadable::Missing));
    check("CORRECTIONS are not needed", Err(Unreadable::Missing));
    check("OKAY", Err(Unreadable::Missing));
    check("OKay, I see", Err(Unreadable::Missing));
    check("CORRECTIONs are not due", Err(Unreadable::Missing));
    check("> ESCALATION stop\n| CORRECTION x", Err(Unreadable::Missing));
    check("```\nESCALATION stop\n```\nOK", Ok((Verdict::Ok, "")));
    check("OK\nCORRECTION but wait", Err(Unreadable::Several));
    check("ESCALATION", Err(Unreadable::NoMessage));
    check(&"x".repeat(REPLY_MOST + 1), Err(Unreadable::TooLong));
}
