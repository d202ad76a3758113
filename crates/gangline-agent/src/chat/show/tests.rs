//! Pages of an approval.

use super::part;

fn lines(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

#[test]
fn pages_follow_each_other_to_the_end() {
    let all = lines(90);
    assert_eq!(part(&all, (0, 40)), (all[..40].to_vec(), 40));
    assert_eq!(part(&all, (40, 40)), (all[40..80].to_vec(), 80));
    assert_eq!(part(&all, (80, 40)), (all[80..].to_vec(), 90));
}

/// The agent said less before it asked the same again.
#[test]
fn a_next_page_that_is_gone_is_the_first_one() {
    let all = lines(5);
    assert_eq!(part(&all, (40, 40)), (all, 5));
    assert_eq!(part(&[], (40, 40)), (Vec::new(), 0));
}
