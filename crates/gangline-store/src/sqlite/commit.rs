//! One transaction of several writes, each undone alone when it fails by itself.

use gangline_os::failpoint;

use super::{
    Writer, degraded,
    fault::{self, Fault, Kind},
    job::Write,
    sql,
};
use crate::error::{StoreError, Written};

/// Writes that share a commit, and what became of it.
pub(super) struct Group {
    pub(super) jobs: Vec<Box<dyn Write>>,
    pub(super) result: Result<Outcome, StoreError>,
}

impl Group {
    pub(super) fn committed(&self) -> bool {
        self.result.as_ref().is_ok_and(|outcome| outcome.committed)
    }

    /// Tells those who want to know at once that theirs is committed. Returns whether there are any.
    pub(super) fn tell(&mut self) -> bool {
        let Ok(outcome) = &self.result else { return false };
        let done = self.jobs.iter_mut().zip(&outcome.failed).filter(|(_, failed)| failed.is_none());
        done.map(|(job, _)| job.tell()).filter(|told| *told).count() > 0
    }
}

/// What became of a commit.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) failed: Vec<Option<StoreError>>,
    pub(super) committed: bool,
    /// Whether the sync is to fail, by a failpoint.
    pub(super) broken: bool,
}

/// Why a whole group failed.
pub(super) struct Stop {
    pub(super) cause: Fault,
    pub(super) rolled_back: bool,
}

/// Makes one transaction of the writes.
pub(super) fn transaction(
    writer: &mut Writer,
    group: &mut [Box<dyn Write>],
) -> Result<Outcome, Stop> {
    let begun = sql::run(&writer.connection, "BEGIN IMMEDIATE", []);
    begun.map_err(|error| Stop {
        rolled_back: fault::kind(&error) != Kind::Storage,
        cause: error.into(),
    })?;
    let result = statements(writer, group);
    let cause = match result {
        Ok(outcome) if outcome.committed => match sql::run(&writer.connection, "COMMIT", []) {
            Ok(_) => {
                let mut outcome = outcome;
                for job in &*group {
                    outcome.broken |= failpoint::fails(job.op().after_commit);
                }
                return Ok(outcome);
            }
            Err(error) => Err(error.into()),
        },
        Ok(outcome) => Ok(outcome),
        Err(fault) => Err(fault),
    };
    let undone = sql::run(&writer.connection, "ROLLBACK", []);
    match cause {
        Ok(outcome) => match undone {
            Ok(_) => Ok(outcome),
            Err(error) => Err(Stop { cause: error.into(), rolled_back: false }),
        },
        // SQLite has rolled back by itself after some errors; ours then has nothing to do.
        Err(cause) => Err(Stop { rolled_back: undone.is_ok() || idle(writer), cause }),
    }
}

/// Returns whether no transaction is open.
fn idle(writer: &mut Writer) -> bool {
    sql::run(&writer.connection, "BEGIN", []).is_ok()
        && sql::run(&writer.connection, "ROLLBACK", []).is_ok()
}

/// Runs each write's statements; one that fails by itself is undone by itself.
fn statements(writer: &mut Writer, group: &mut [Box<dyn Write>]) -> Result<Outcome, Fault> {
    let several = group.len() > 1;
    let mut outcome = Outcome::default();
    for job in group.iter_mut() {
        if several {
            sql::run(&writer.connection, "SAVEPOINT one", [])?;
        }
        let failed = match job.run(writer) {
            Ok(()) => None,
            Err(Fault::Said(error)) => Some(error),
            Err(Fault::Sql(error)) if fault::kind(&error) == Kind::Statement => {
                Some(StoreError::Engine { op: job.op().name, source: error.into() })
            }
            Err(fault) => return Err(fault),
        };
        if several {
            if failed.is_some() {
                sql::run(&writer.connection, "ROLLBACK TO one", [])?;
            }
            sql::run(&writer.connection, "RELEASE one", [])?;
        }
        if failed.is_none() && failpoint::fails(job.op().before_commit) {
            let cause = "input/output error, made on purpose";
            return Err(Fault::Said(degraded(job.op().name, cause, Written::No)));
        }
        outcome.committed |= failed.is_none();
        outcome.failed.push(failed);
    }
    Ok(outcome)
}
