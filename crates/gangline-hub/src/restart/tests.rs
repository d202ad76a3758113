use super::*;

const SHORT: Duration = Duration::from_secs(1);

#[test]
fn waits_double_up_to_a_minute_and_begin_anew_after_a_healthy_life() {
    let mut deaths = Deaths::new(LONGEST_DELAY);
    let waits: Vec<After> = (0..8).map(|_| deaths.ended(Some(1), SHORT)).collect();
    let seconds = [1, 2, 4, 8, 16, 32, 60, 60].map(|s| After::Restart(Duration::from_secs(s)));
    assert_eq!(waits, seconds);
    assert_eq!(deaths.ended(None, HEALTHY_AFTER), After::Restart(FIRST_DELAY));
}

/// Exit code 78 is an end that no restart mends.
#[test]
fn a_broken_configuration_is_not_tried_again() {
    assert_eq!(Deaths::new(LONGEST_DELAY).ended(Some(EXIT_CONFIG), SHORT), After::GiveUp(78));
}
