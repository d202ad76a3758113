//! Change notices from the store, and how the loop reacts to them.

use std::{path::PathBuf, sync::Arc};

use gangline_core::{effort::EffortLevel, model::ModelName};
use gangline_os::{CancellationToken, change_notice::ChangeNotice};
use tokio::sync::{Notify, watch};
use tracing::warn;

use super::AgentLoop;
use crate::{effort, journal::Single, model};

/// A change notice is a hint; the table is the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeNoticed {
    /// By another process.
    Outside,
    /// By a task of this daemon.
    Inside,
}

/// Where change notices come from, and what they concern beside messages.
pub(crate) struct ChangeNotices {
    pub(crate) outside: ChangeNotice,
    pub(crate) inside: Arc<Notify>,
    /// Told when another process may have put lines into the outbox.
    pub(crate) outbox: Arc<Notify>,
    /// Told when another process may have made something with a time.
    pub(crate) alarm: Arc<Notify>,
    /// Counts what may have been committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
    /// Nothing is taken in any more.
    pub(crate) intake: CancellationToken,
    /// Where a model is named that somebody chose, and which one that was.
    pub(crate) model_file: PathBuf,
    pub(crate) model_outside: Option<PathBuf>,
    pub(crate) model: Option<ModelName>,
    /// The same of the effort.
    pub(crate) effort_file: PathBuf,
    pub(crate) effort: Option<EffortLevel>,
}

impl ChangeNotices {
    /// Says whether nothing is taken in any more.
    pub(super) fn closed(&self) -> bool {
        self.intake.is_cancelled()
    }

    /// Waits for a notice. Cancel-safe: yes; a notice that was not returned is returned later.
    pub(super) async fn next(&mut self) -> ChangeNoticed {
        tokio::select! {
            () = self.outside.notified() => ChangeNoticed::Outside,
            () = self.inside.notified() => ChangeNoticed::Inside,
        }
    }
}

impl AgentLoop {
    pub(super) fn change_noticed(&mut self, noticed: ChangeNoticed) {
        if noticed == ChangeNoticed::Outside {
            self.change_notices.outbox.notify_one();
            self.change_notices.alarm.notify_one();
            self.look_at_orders();
        }
        self.look();
    }

    /// What every tick of the daemon does here: notices may have been missed.
    pub(super) fn tick(&mut self) {
        if self.change_notices.closed() {
            return;
        }
        match self.change_notices.outside.renew() {
            Ok(true) => warn!("the change notice's socket was gone; it was made again"),
            Ok(false) => {}
            Err(error) => warn!(%error, "the change notice's socket is gone"),
        }
        self.look_at_orders();
        self.look_at_the_clock();
        self.look();
    }

    fn look(&mut self) {
        self.change_notices.committed.send_modify(|count| *count += 1);
        self.looks.want();
    }

    /// Another process may have paused the agent, or chosen a model or an effort for it.
    fn look_at_orders(&mut self) {
        self.journal.push(Single::LookAtPause { words: self.words });
        let change_notices = &mut self.change_notices;
        let model =
            model::current(&change_notices.model_file, change_notices.model_outside.as_deref());
        if model != change_notices.model {
            change_notices.model.clone_from(&model);
            self.choose_model(model);
        }
        let effort = effort::read(&self.change_notices.effort_file);
        if effort != self.change_notices.effort {
            self.change_notices.effort = effort;
            self.choose_effort(effort);
        }
    }
}
