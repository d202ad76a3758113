use std::cell::Cell;

use super::*;

/// A process that is just being replaced by another program has no environment to read.
#[tokio::test]
async fn one_empty_look_does_not_end_a_sweep() {
    let looks = Cell::new(0);
    // None has this pid.
    let hidden = Process { pid: u32::MAX, start_time: 1 };
    let look = || {
        looks.set(looks.get() + 1);
        if looks.get() == 2 { vec![hidden] } else { Vec::new() }
    };
    let mut met = BTreeMap::new();
    end_all(&look, Signal::Term, &mut met).await;
    assert_eq!((met.len(), looks.get()), (1, 4));
}
