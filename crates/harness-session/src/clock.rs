//! Time as a collaborator, so that tests and replays decide it.
use std::sync::atomic::{AtomicI64, Ordering};

/// Tells the wall-clock time.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> i64;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;
impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }
}

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);
impl ManualClock {
    /// A clock that stands at `ms` milliseconds since the Unix epoch.
    pub fn at(ms: i64) -> Self {
        Self(AtomicI64::new(ms))
    }
    /// Moves the clock by `ms` milliseconds, backwards if negative.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}
impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
