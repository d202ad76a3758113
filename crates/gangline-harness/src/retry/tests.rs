//! The retry budget is bounded in number and in time.

use super::*;
use crate::client::error::ApiErrorKind;

fn policy() -> RetryPolicy {
    RetryPolicy { max_retries: 5, max_total_wait: Duration::from_secs(60), ..Default::default() }
}

fn error(kind: ApiErrorKind) -> ApiError {
    ApiError::new(kind, "x")
}

#[test]
fn pauses_double_within_their_jitter_and_end_after_five() {
    let mut budget = Budget::new(policy());
    for number in 1..=5u32 {
        let (attempt, wait) = budget.next(&error(ApiErrorKind::Connect)).unwrap();
        assert_eq!(attempt, number);
        let middle = 0.5 * f64::from(2u32.pow(number - 1));
        let wait = wait.as_secs_f64();
        assert!(wait >= middle * 0.75 && wait <= middle * 1.25, "{number}: {wait}");
    }
    assert_eq!(budget.next(&error(ApiErrorKind::Connect)), None);
}

#[test]
fn the_wait_that_the_api_asks_for_is_taken_unless_it_is_beyond_the_budget() {
    let limited = |seconds| {
        error(ApiErrorKind::RateLimited { retry_after: Some(Duration::from_secs(seconds)) })
    };
    let mut budget = Budget::new(policy());
    assert_eq!(budget.next(&limited(40)), Some((1, Duration::from_secs(40))));
    assert_eq!(budget.next(&limited(21)), None);
    assert_eq!(budget.next(&limited(20)), Some((2, Duration::from_secs(20))));
    assert_eq!(budget.next(&limited(u64::MAX)), None);
}

#[test]
fn what_will_not_pass_is_not_repeated() {
    for kind in [
        ApiErrorKind::Auth,
        ApiErrorKind::ContextOverflow,
        ApiErrorKind::ModelNotFound,
        ApiErrorKind::TooLarge,
        ApiErrorKind::Invalid,
    ] {
        assert_eq!(Budget::new(policy()).next(&error(kind)), None, "{kind:?}");
    }
}
