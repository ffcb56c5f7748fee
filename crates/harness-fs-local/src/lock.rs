//! Writers of one file wait for each other.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

const STRIPES: usize = 64;

/// A fixed number of locks over all paths: nothing grows, and two files that share one only wait in vain.
pub(crate) struct Locks {
    hasher: RandomState,
    stripes: [Arc<Mutex<()>>; STRIPES],
}

impl Default for Locks {
    fn default() -> Self {
        Self { hasher: RandomState::new(), stripes: std::array::from_fn(|_| Arc::default()) }
    }
}

impl Locks {
    /// Waits for the lock of a resolved path. The guard moves into the operation, so that an operation whose caller
    /// is gone keeps it to its end.
    pub(crate) async fn acquire(&self, path: &Path) -> OwnedMutexGuard<()> {
        let stripe = usize::try_from(self.hasher.hash_one(path) % STRIPES as u64).unwrap_or_default();
        Arc::clone(&self.stripes[stripe]).lock_owned().await
    }
}
