//! Operations of one kind that wait together and run as one set of statements.

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::error::SharedCause;
use super::writer::{Deliver, Tx};
use super::{Result, StoreError};

/// An operation and where its answer goes.
pub(super) struct Pending<I, O> {
    pub input: I,
    pub reply: oneshot::Sender<Result<O>>,
}

/// An operation that can run together with others of its kind.
pub(super) trait Batched<O>: Sized + Send + Sync + 'static {
    /// What is being done, for errors.
    const DOING: &'static str;

    /// Answers in the order of `inputs`. An `Err` inside means that this one wrote nothing; an `Err` outside, that
    /// the statements failed and everything is to be undone.
    fn run<'a>(tx: &'a mut Tx, inputs: &'a [&'a Self]) -> BoxFuture<'a, Result<Vec<Result<O>>>>;
}

/// A group, whatever its kind.
pub(super) trait Group: Send {
    /// `alone`: nothing else is in the round, so the round itself can be begun again. An error means that the
    /// transaction is gone.
    fn run<'a>(
        &'a mut self,
        tx: &'a mut Tx,
        alone: bool,
    ) -> BoxFuture<'a, std::result::Result<(), sqlx::Error>>;

    /// After [`Group::run`], or instead of it.
    fn deliveries(&mut self) -> Vec<Deliver>;
}

struct Waiting<I, O> {
    pending: Vec<Pending<I, O>>,
    answers: Vec<Result<O>>,
}

/// `None` when there is nothing to do.
pub(super) fn of<I: Batched<O>, O: Send + 'static>(pending: Vec<Pending<I, O>>) -> Option<Box<dyn Group>> {
    if pending.is_empty() {
        return None;
    }
    Some(Box::new(Waiting { answers: Vec::with_capacity(pending.len()), pending }))
}

impl<I: Batched<O>, O: Send + 'static> Waiting<I, O> {
    async fn together(&mut self, tx: &mut Tx, alone: bool) -> std::result::Result<(), sqlx::Error> {
        if !alone {
            tx.mark().await?;
        }
        let inputs: Vec<&I> = self.pending.iter().map(|one| &one.input).collect();
        let single = inputs.len() == 1;
        match I::run(tx, &inputs).await {
            Ok(answers) => {
                self.answers = answers;
                return if alone { Ok(()) } else { tx.keep().await };
            }
            Err(error) => {
                if alone {
                    tx.restart().await?;
                } else {
                    tx.undo().await?;
                }
                if single {
                    self.answers = vec![Err(error)];
                    return Ok(());
                }
            }
        }
        // One of them broke the statements of all: now each by itself, so that it fails alone.
        for one in &self.pending {
            tx.mark().await?;
            match I::run(tx, &[&one.input]).await {
                Ok(mut answers) => {
                    let lost = StoreError::refused("an operation got no answer");
                    self.answers.push(answers.pop().unwrap_or(Err(lost)));
                    tx.keep().await?;
                }
                Err(error) => {
                    self.answers.push(Err(error));
                    tx.undo().await?;
                }
            }
        }
        Ok(())
    }
}

impl<I: Batched<O>, O: Send + 'static> Group for Waiting<I, O> {
    fn run<'a>(
        &'a mut self,
        tx: &'a mut Tx,
        alone: bool,
    ) -> BoxFuture<'a, std::result::Result<(), sqlx::Error>> {
        Box::pin(self.together(tx, alone))
    }

    fn deliveries(&mut self) -> Vec<Deliver> {
        let mut answers = std::mem::take(&mut self.answers).into_iter();
        std::mem::take(&mut self.pending)
            .into_iter()
            .map(|one| deliver(I::DOING, answers.next(), one.reply))
            .collect()
    }
}

/// The answer, unless the round failed.
pub(super) fn deliver<O: Send + 'static>(
    doing: &'static str,
    answer: Option<Result<O>>,
    reply: oneshot::Sender<Result<O>>,
) -> Deliver {
    Box::new(move |round: std::result::Result<(), &SharedCause>| {
        let told = match (round, answer) {
            // Its own error says more than that of the round.
            (_, Some(Err(error))) => Err(error),
            (Err(cause), _) => Err(cause.error(doing)),
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Ok(()), None) => Err(StoreError::Closed),
        };
        // Nobody waits any more: what was written stays written.
        let _ = reply.send(told);
    })
}
