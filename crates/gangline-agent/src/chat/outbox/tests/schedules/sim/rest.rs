//! What all comes to, once the connection holds.

use std::collections::BTreeMap;

use gangline_store::{OutboxState, PAGE_MAX};

use super::{CHOSEN, Sim, Step};
use crate::chat::tests::ada;

/// Rounds in which all must have come to rest.
const ROUNDS: usize = 3000;

impl Sim {
    /// Lets all come to rest, with a connection that holds.
    pub(in super::super) async fn rests(&mut self) {
        for round in 0..ROUNDS {
            for step in [Step::Connect, Step::Join, Step::Take, Step::Send, Step::Serve, Step::Read]
            {
                self.does(step).await;
            }
            self.does(Step::Hear).await;
            let moves = !self.events.is_empty() || !self.rig.link.is_empty();
            if !moves && self.sent.is_empty() && self.told.is_empty() && self.queue.is_empty() {
                self.does(Step::Tick).await;
                let is_quiet = self.rig.link.is_empty() || round > ROUNDS / 2;
                if is_quiet && self.wanted == self.inside && self.waiting().await.is_empty() {
                    return;
                }
            }
        }
        panic!("these wait for ever: {:?}", self.waiting().await);
    }

    async fn waiting(&self) -> Vec<String> {
        let store = &self.rig.chat.deps.store;
        let rows = store.outbox_pending(&ada(), PAGE_MAX).await.unwrap();
        rows.into_iter().map(|row| format!("{} {}", row.target, row.body)).collect()
    }

    /// What is wrong with what was said.
    pub(in super::super) async fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        // Each key's first place among the lines, and how often it is there.
        let mut there: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let keys =
            self.log.iter().enumerate().filter_map(|(at, it)| Some((at, it.key.as_deref()?)));
        for (at, key) in keys {
            there.entry(key).or_insert((at, 0)).1 += 1;
        }
        let mut newest: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for send in 1..=self.sends {
            let name = format!("s{send}");
            let store = &self.rig.chat.deps.store;
            for row in store.outbox_by_idem(&ada(), &name).await.unwrap() {
                let (part, whole) = (format!("{name}.{}", row.part), format!("{name}.all"));
                let said = there.get(part.as_str()).or_else(|| there.get(whole.as_str()));
                if row.state == OutboxState::Undeliverable && row.target == CHOSEN {
                    continue;
                }
                if row.state != OutboxState::Confirmed {
                    faults.push(format!("{part} is {}", row.state));
                }
                let Some((at, times)) = said else {
                    faults.push(format!("{part} was never said"));
                    continue;
                };
                if self.network.is_own() && *times > 1 {
                    faults.push(format!("{part} was said {times} times"));
                }
                let before = newest.entry(row.target.clone()).or_insert((*at, part.clone()));
                if before.0 > *at {
                    faults.push(format!("{part} was said before {}", before.1));
                }
                *before = (*at, part);
            }
        }
        faults
    }
}
