//! Requests to the two threads: a closure, and the place for its answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    Writer,
    fault::{self, Fault, Kind},
};
use crate::{error::StoreError, op::Op};

/// Whether a write waits, has begun, or was given up by its caller while it waited. What has
/// begun is never given up.
#[derive(Clone)]
pub(crate) struct Stage(Arc<AtomicU8>);

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const EXPIRED: u8 = 2;

impl Stage {
    pub(crate) fn waiting() -> Self {
        Self(Arc::new(AtomicU8::new(WAITING)))
    }

    fn leave(&self, to: u8) -> bool {
        self.0.compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Returns whether the write may be done: its caller still waits. Writes that are made together
    /// have one stage: all begin or none.
    pub(crate) fn begin(&self) -> bool {
        self.leave(BEGUN) || self.0.load(Ordering::Acquire) == BEGUN
    }

    /// Returns whether the write will never be done.
    pub(crate) fn expire(&self) -> bool {
        self.leave(EXPIRED)
    }
}

/// A write whose types are forgotten.
pub(crate) trait Write: Send {
    fn op(&self) -> &'static Op;
    fn begin(&self) -> bool;
    /// Runs the statements; keeps the result until [`Write::answer`].
    fn run(&mut self, writer: &mut Writer) -> Result<(), Fault>;
    /// Tells the result, if somebody wants to know that it is committed before that is synced.
    /// Returns whether somebody does.
    fn tell(&mut self) -> bool;
    /// Tells the caller: the result, if the commit has been synced.
    fn answer(self: Box<Self>, commit: Result<(), StoreError>);
}

/// What is told of a write between its commit and its sync.
pub(crate) type OnDone<T> = Box<dyn FnOnce(&mut T) + Send>;

pub(crate) struct WriteJob<T, F> {
    op: &'static Op,
    stage: Stage,
    work: Option<F>,
    result: Option<T>,
    tell: Option<OnDone<T>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteJob<T, F> {
    pub(crate) fn new(
        op: &'static Op,
        stage: Stage,
        (work, tell): (F, Option<OnDone<T>>),
    ) -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { op, stage, work: Some(work), result: None, tell, answer }, receiver)
    }
}

impl<T, F> Write for WriteJob<T, F>
where
    T: Send + 'static,
    F: FnOnce(&mut Writer) -> Result<T, Fault> + Send + 'static,
{
    fn op(&self) -> &'static Op {
        self.op
    }

    fn begin(&self) -> bool {
        self.stage.begin()
    }

    fn run(&mut self, writer: &mut Writer) -> Result<(), Fault> {
        let Some(work) = self.work.take() else { return Ok(()) };
        self.result = Some(work(writer)?);
        Ok(())
    }

    fn tell(&mut self) -> bool {
        match (self.tell.take(), &mut self.result) {
            (Some(tell), Some(result)) => {
                tell(result);
                true
            }
            (Some(_), None) | (None, _) => false,
        }
    }

    fn answer(self: Box<Self>, commit: Result<(), StoreError>) {
        let answer = match (commit, self.result) {
            (Ok(()), Some(result)) => Ok(result),
            (Ok(()), None) => Err(StoreError::Closed),
            (Err(error), _) => Err(error),
        };
        // The caller may have gone; the write stands all the same.
        drop(self.answer.send(answer));
    }
}

/// A read whose types are forgotten.
pub(crate) trait Read: Send {
    /// Runs the statements and tells the caller. Returns what the storage said.
    fn run(self: Box<Self>, connection: &Connection, busy: Duration) -> Kind;
    /// Tells the caller that there is no connection.
    fn refuse(self: Box<Self>, cause: &str);
}

pub(crate) struct ReadJob<T, F> {
    op: &'static str,
    work: F,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> ReadJob<T, F> {
    pub(crate) fn new(
        op: &'static str,
        work: F,
    ) -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { op, work, answer }, receiver)
    }
}

impl<T, F> Read for ReadJob<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
{
    fn run(self: Box<Self>, connection: &Connection, busy: Duration) -> Kind {
        let Self { op, work, answer } = *self;
        let (kind, result) = match work(connection) {
            Ok(result) => (Kind::Statement, Ok(result)),
            Err(Fault::Said(error)) => (Kind::Statement, Err(error)),
            Err(Fault::Sql(error)) => {
                (fault::kind(&error), Err(fault::store_error(op, error, busy)))
            }
        };
        drop(answer.send(result));
        kind
    }

    fn refuse(self: Box<Self>, cause: &str) {
        let error = super::degraded(self.op, cause, crate::error::Written::No);
        drop(self.answer.send(Err(error)));
    }
}
