//! The body stream that fails when its server keeps it waiting.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::timeouts::{ResponseTimer, TimeoutError};

/// Why a [`TimedBody`] ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError<E> {
    /// A deadline passed.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// The body itself failed.
    #[error("{0}")]
    Transport(E),
}

#[derive(Debug, Clone, Copy)]
enum Waiting {
    ForFirstByte,
    /// A chunk came; nothing has been waited for since.
    No,
    /// The reader has been waiting; silence is too long at this time, if ever.
    Until(Option<Instant>),
}

pin_project! {
    /// A body stream with deadlines. After an error it is over.
    ///
    /// Only time spent waiting for the server counts, not time in which the reader was busy.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct TimedBody<S> {
        #[pin]
        body: S,
        timer: ResponseTimer,
        waiting: Waiting,
        // Armed at the first wait and moved only when it fires or is too late: moving it for each
        // chunk would cost more than the chunk.
        sleep: Option<Pin<Box<Sleep>>>,
        is_over: bool,
    }
}

impl<S> TimedBody<S> {
    pub(crate) fn new(body: S, timer: ResponseTimer) -> Self {
        Self { body, timer, waiting: Waiting::ForFirstByte, sleep: None, is_over: false }
    }
}

impl<S, T, E> Stream for TimedBody<S>
where
    S: Stream<Item = Result<T, E>>,
{
    type Item = Result<T, BodyError<E>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.is_over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(item) = this.body.poll_next(context) {
            *this.waiting = Waiting::No;
            *this.is_over = !matches!(item, Some(Ok(_)));
            return Poll::Ready(item.map(|item| item.map_err(BodyError::Transport)));
        }
        let timeouts = this.timer.timeouts;
        let deadline = match *this.waiting {
            Waiting::ForFirstByte => this.timer.first_byte_by,
            Waiting::Until(deadline) => deadline,
            Waiting::No => {
                let deadline = Instant::now().checked_add(timeouts.idle);
                *this.waiting = Waiting::Until(deadline);
                deadline
            }
        };
        let Some(deadline) = deadline else { return Poll::Pending };
        loop {
            let sleep = this.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            if sleep.deadline() > deadline {
                sleep.as_mut().reset(deadline);
            }
            ready!(sleep.as_mut().poll(context));
            if sleep.deadline() == deadline {
                break;
            }
            sleep.as_mut().reset(deadline);
        }
        *this.is_over = true;
        let fault = match *this.waiting {
            Waiting::ForFirstByte => TimeoutError::FirstByte { limit: timeouts.first_byte },
            Waiting::No | Waiting::Until(_) => TimeoutError::Idle { limit: timeouts.idle },
        };
        Poll::Ready(Some(Err(fault.into())))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::{StreamExt, stream};

    use super::*;
    use crate::timeouts::StreamTimeouts;

    const TIMEOUTS: StreamTimeouts =
        StreamTimeouts { first_byte: Duration::from_mins(1), idle: Duration::from_secs(10) };

    /// A body whose chunks come after the given waits, in seconds, and then never ends.
    fn body(waits: &'static [u64]) -> impl Stream<Item = Result<u64, &'static str>> {
        stream::iter(waits)
            .then(|wait| async move {
                tokio::time::sleep(Duration::from_secs(*wait)).await;
                Ok(*wait)
            })
            .chain(stream::pending())
    }

    async fn seconds_until_fault(waits: &'static [u64]) -> (u64, usize, BodyError<&'static str>) {
        let started = Instant::now();
        let items: Vec<_> = TIMEOUTS.start().body(Box::pin(body(waits))).collect().await;
        let (last, before) = items.split_last().unwrap();
        (started.elapsed().as_secs(), before.len(), last.clone().unwrap_err())
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_byte_has_its_own_deadline() {
        let fault = TimeoutError::FirstByte { limit: TIMEOUTS.first_byte }.into();
        assert_eq!(seconds_until_fault(&[]).await, (60, 0, fault));
        let fault = TimeoutError::Idle { limit: TIMEOUTS.idle }.into();
        assert_eq!(seconds_until_fault(&[59]).await, (69, 1, fault));
    }

    #[tokio::test(start_paused = true)]
    async fn every_chunk_restarts_the_idle_deadline() {
        let fault = TimeoutError::Idle { limit: TIMEOUTS.idle }.into();
        assert_eq!(seconds_until_fault(&[1, 9, 9, 9]).await, (38, 4, fault));
        let fault = TimeoutError::Idle { limit: TIMEOUTS.idle }.into();
        assert_eq!(seconds_until_fault(&[1, 9, 11]).await, (20, 2, fault));
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_the_head_counts_towards_the_first_byte() {
        let timer = TIMEOUTS.start();
        timer.head(tokio::time::sleep(Duration::from_secs(50))).await.unwrap();
        let started = Instant::now();
        let item = timer.body(Box::pin(body(&[11]))).next().await.unwrap();
        let fault = TimeoutError::FirstByte { limit: TIMEOUTS.first_byte };
        assert_eq!((item, started.elapsed().as_secs()), (Err(BodyError::Timeout(fault)), 10));

        let late = TIMEOUTS.start().head(std::future::pending::<()>()).await;
        assert_eq!(late, Err(fault));
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_reader_is_not_a_silent_server() {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<Result<u8, &str>>();
        let source = stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|item| (item, receiver))
        });
        let mut timed = Box::pin(TIMEOUTS.start().body(source));
        sender.send(Ok(1)).unwrap();
        assert_eq!(timed.next().await, Some(Ok(1)));
        tokio::time::advance(Duration::from_hours(1)).await;
        let delayed = async {
            tokio::time::sleep(Duration::from_secs(9)).await;
            sender.send(Ok(2)).unwrap();
        };
        assert_eq!(tokio::join!(timed.next(), delayed).0, Some(Ok(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_of_the_body_ends_it_and_no_limit_means_none() {
        let failing = stream::iter([Ok(1), Err("reset"), Ok(2)]);
        let items: Vec<_> = TIMEOUTS.start().body(failing).collect().await;
        assert_eq!(items, [Ok(1), Err(BodyError::Transport("reset"))]);

        let endless = StreamTimeouts { first_byte: Duration::MAX, idle: Duration::MAX };
        let unlimited = endless.start();
        assert_eq!(unlimited.head(std::future::ready(7)).await, Ok(7));
        let mut timed = Box::pin(unlimited.body(body(&[1_000_000, 1_000_000])).take(2));
        assert_eq!(timed.next().await, Some(Ok(1_000_000)));
        assert_eq!(timed.next().await, Some(Ok(1_000_000)));
    }
}
