//! The ordered end: every process is asked, waited for, hurried if asked again.

use std::time::Duration;

use gangline_os::signals::{Request, Requests};
use tracing::{info, warn};

use super::{HubError, Left, Listening, Progress, watch::Watch};

/// How often to look while the end of processes is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Watch<'_> {
    /// Drains everything that is kept. Asked to stop once more, it hurries them; a third time, it
    /// kills them; asked to leave them, it returns at once. Not cancel-safe.
    pub(super) async fn drain(
        &mut self,
        requests: &mut Requests,
        told: &impl Fn(&Listening, &Progress),
    ) -> Result<(), HubError> {
        self.reconciler.drain();
        self.draining = true;
        let mut said: Option<Vec<Left>> = None;
        let mut again = 0;
        loop {
            self.reconciler.look();
            self.publish();
            self.beat();
            let left = self.who_is_left().await;
            if said.as_ref() != Some(&left) {
                told(&self.listening, &Progress::Draining(left.clone()));
                said = Some(left.clone());
            }
            if left.is_empty() {
                return Ok(());
            }
            let request = tokio::select! {
                () = self.reconciler.child_ended() => None,
                () = tokio::time::sleep(LOOK_EVERY) => None,
                request = requests.next() => Some(request),
            };
            match request {
                Some(Request::Stop(_)) if again == 0 => {
                    info!("asked again: interrupting open turns");
                    self.reconciler.hurry();
                    again += 1;
                }
                Some(Request::Stop(_)) => {
                    warn!("asked again: killing");
                    self.reconciler.kill();
                }
                Some(Request::Leave) => return Ok(()),
                Some(Request::Reload | Request::HungUp) | None => {}
            }
        }
    }

    async fn who_is_left(&self) -> Vec<Left> {
        let rows = self.store.agents().await.unwrap_or_default();
        let in_turn = |agent| rows.iter().any(|row| Some(&row.agent) == agent && row.in_turn());
        let left = self.reconciler.left();
        left.map(|known| Left { name: known.name.to_owned(), in_turn: in_turn(known.agent) })
            .collect()
    }
}
