use super::{By, EndedBy, Outcome, OutcomeRecord, OutcomeWord};
use crate::{time::WallMicros, word::Stored};

/// Turns that ended under older programs have these texts.
#[test]
fn the_stored_texts_of_outcomes_stay_as_they_are() {
    let all = [
        (Outcome::Completed, "completed"),
        (Outcome::Failed("api_error".to_owned()), "failed:api_error"),
        (Outcome::RateLimited(WallMicros(5)), "rate_limited"),
        (Outcome::NeedsLogin, "needs_login"),
        (Outcome::Interrupted(By::Operator), "interrupted:operator"),
        (Outcome::Interrupted(By::Drain), "interrupted:drain"),
        (Outcome::TimedOut, "timed_out"),
        (Outcome::Lost(EndedBy::Us), "lost"),
    ];
    for (outcome, text) in all {
        assert_eq!(outcome.to_string(), text);
        let record = OutcomeRecord::from(text.to_owned());
        assert_eq!((&record, record.word.clone()), (&(&outcome).into(), outcome.word().into()));
    }
}

#[test]
fn a_record_of_a_newer_program_is_written_as_it_was_read() {
    for text in ["galloped", "galloped:far:away", "failed:", ":", ""] {
        assert_eq!(OutcomeRecord::from(text.to_owned()).to_string(), text);
    }
    let failed = OutcomeRecord::from("failed:a:b".to_owned());
    assert_eq!(failed.word, Stored::Known(OutcomeWord::Failed));
    assert_eq!(failed.detail.as_deref(), Some("a:b"));
}
