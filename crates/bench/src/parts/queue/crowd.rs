//! Those who use a bare queue: as many callers and workers as use ours, each with one thing at a time.

use std::collections::VecDeque;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::flow::{CALLERS, TASKS};
use crate::error::{Error, Result, Told as _};

const BATCH_MAX: usize = 512;

/// What somebody wants of a bare queue.
pub(super) enum Op {
    Add {
        tier: i64,
        spec: String,
        reply: oneshot::Sender<()>,
    },
    Claim {
        reply: oneshot::Sender<Uuid>,
    },
    /// It is done, and the next one is wanted, if there is one to come.
    End {
        id: Uuid,
        reply: oneshot::Sender<()>,
        next: Option<oneshot::Sender<Uuid>>,
    },
}

/// Those who wait for a task.
pub(super) type Parked = VecDeque<oneshot::Sender<Uuid>>;

/// Opens a bare queue and lets everybody in.
pub(super) fn enter() -> (Crowd, mpsc::Receiver<Op>) {
    let (send, receive) = mpsc::channel::<Op>(1_024);
    let mut crowd: JoinSet<Result<()>> = JoinSet::new();
    for caller in 0..CALLERS {
        let (adds, takes) = (send.clone(), send.clone());
        crowd.spawn(async move {
            for number in (caller..TASKS).step_by(CALLERS) {
                let tier = i64::try_from(number % 4).unwrap_or(0);
                let add = |reply| Op::Add { tier, spec: "x".repeat(450), reply };
                ask(&adds, add).await?;
            }
            Ok(())
        });
        crowd.spawn(async move {
            let mut left = (caller..TASKS).step_by(CALLERS).count();
            let mut id = ask(&takes, |reply| Op::Claim { reply }).await?;
            while left > 1 {
                let (next, given) = oneshot::channel();
                ask(&takes, |reply| Op::End { id, reply, next: Some(next) }).await?;
                id = given.await.told("use the bare queue")?;
                left -= 1;
            }
            ask(&takes, |reply| Op::End { id, reply, next: None }).await
        });
    }
    (Crowd(crowd), receive)
}

/// Those who are in a bare queue.
pub(super) struct Crowd(JoinSet<Result<()>>);

impl Crowd {
    /// Waits until all have gone.
    pub(super) async fn leave(mut self) -> Result<()> {
        while let Some(done) = self.0.join_next().await {
            done.map_err(|_| Error::new("a caller panicked"))??;
        }
        Ok(())
    }
}

async fn ask<T>(to: &mpsc::Sender<Op>, op: impl FnOnce(oneshot::Sender<T>) -> Op) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    to.send(op(reply)).await.map_err(|_| Error::new("the bare queue is gone"))?;
    answer.await.told("use the bare queue")
}

/// Takes what has arrived.
pub(super) fn gather(first: Op, ops: &mut mpsc::Receiver<Op>) -> Vec<Op> {
    let mut batch = vec![first];
    while batch.len() < BATCH_MAX
        && let Ok(next) = ops.try_recv()
    {
        batch.push(next);
    }
    batch
}
