//! Waiting for a state of the world, bounded.
use std::time::{Duration, Instant};

/// Longer than anything should take: only a hang reaches it.
pub(crate) const HANG: Duration = Duration::from_mins(1);

/// Looks again and again until `look` gives a value.
///
/// # Panics
/// If it does not within a minute.
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(start.elapsed() < HANG, "this did not happen in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
