use super::*;

fn at(seen: Seen, seconds: u64) -> Option<u64> {
    round(seen, Duration::from_secs(seconds))
}

#[test]
fn owners_are_told_at_once_after_ten_and_thirty_minutes_and_then_hourly() {
    let minutes = 60;
    for (waited, expect) in [
        (0, 0),
        (10 * minutes - 1, 0),
        (10 * minutes, 1),
        (30 * minutes - 1, 1),
        (30 * minutes, 2),
        (90 * minutes - 1, 2),
        (90 * minutes, 3),
        (150 * minutes, 4),
        (24 * 60 * minutes, 25),
    ] {
        assert_eq!(at(Seen::Not, waited), Some(expect), "{waited} s");
    }
}

#[test]
fn an_owner_who_can_have_seen_it_is_not_told_twice_at_once() {
    assert_eq!(at(Seen::InRoom, 59), None);
    assert_eq!(at(Seen::InRoom, 60), Some(0), "the owner may not be in the room");
    assert_eq!(at(Seen::ByOwner, 599), None);
    for seen in [Seen::InRoom, Seen::ByOwner, Seen::Not] {
        assert_eq!(at(seen, 600), Some(1), "{seen:?}");
    }
}

#[test]
fn the_next_telling_is_known_to_the_second() {
    let second = Duration::from_secs(1);
    for seen in [Seen::InRoom, Seen::ByOwner, Seen::Not] {
        for waited in (0..4 * 3600).step_by(7).map(Duration::from_secs) {
            let (told, next) = (round(seen, waited), next_in(seen, waited));
            assert_eq!(round(seen, waited + next - second), told, "{seen:?} {waited:?}");
            assert_ne!(round(seen, waited + next), told, "{seen:?} {waited:?}");
        }
    }
    assert_eq!(next_in(Seen::InRoom, 59 * second), second);
}

#[test]
fn an_owner_is_not_told_of_what_is_on_the_screen_nor_by_many_lines_after_a_night() {
    for (round, owner, before, due) in [
        (0, Owner::InRoom, Before::Never, false),
        (0, Owner::Here, Before::Never, true),
        (0, Owner::Away, Before::Never, true),
        (1, Owner::InRoom, Before::Never, true),
        (1, Owner::InRoom, Before::Notified, true),
        (1, Owner::Away, Before::Never, true),
        (1, Owner::Away, Before::Notified, false),
        (9, Owner::Away, Before::Notified, false),
        (9, Owner::Here, Before::Notified, true),
    ] {
        assert_eq!(is_due(round, owner, before), due, "{round} {owner:?} {before:?}");
    }
}
