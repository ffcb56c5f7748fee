//! Which requests have come, and who waits for them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::http::Request;
use crate::recorded::RecordedRequest;

/// A numbered list of requests that can be waited for.
#[derive(Debug)]
pub(crate) struct Ledger {
    kept: Mutex<VecDeque<RecordedRequest>>,
    limit: usize,
    count: watch::Sender<usize>,
}

impl Ledger {
    /// A ledger that keeps the last `limit` requests.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: Mutex::default(), limit, count: watch::Sender::new(0) }
    }

    pub(crate) fn record(&self, request: Request) -> RecordedRequest {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let request = RecordedRequest::new(*self.count.borrow() + 1, request);
        if self.limit > 0 {
            if kept.len() == self.limit {
                kept.pop_front();
            }
            kept.push_back(request.clone());
        }
        self.count.send_replace(request.number());
        request
    }

    pub(crate) fn all(&self) -> Vec<RecordedRequest> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) async fn wait_for(&self, count: usize) {
        reach(&self.count, count).await;
    }
}

/// Waits until the counter is at least `count`.
pub(crate) async fn reach(counter: &watch::Sender<usize>, count: usize) {
    // The sender is borrowed, so it cannot have been dropped: the wait cannot fail.
    let _ = counter.subscribe().wait_for(|now| *now >= count).await;
}
