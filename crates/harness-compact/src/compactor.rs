//! The service.
use std::sync::Arc;

use async_trait::async_trait;
use harness_agent::Agent;
use harness_kernel::Service;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::error::CompactError;

/// The plugin name in the source of a message that replaces older history.
pub const SOURCE: &str = "compact";

/// Why history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trigger {
    /// The next request would come close to the window.
    Pressure,
    /// The provider refused a request as too long.
    Overflow,
    /// Somebody asked.
    Manual,
}

/// What a compaction came to, in estimated tokens of the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// Replaces older history by a summary.
///
/// ```
/// use std::sync::Arc;
/// use harness_compact::{CompactError, Compacted, Compactor, Trigger};
/// struct Never;
/// #[async_trait::async_trait]
/// impl Compactor for Never {
///     async fn compact(
///         &self,
///         _: &Arc<dyn harness_agent::Agent>,
///         _: Trigger,
///         _: tokio_util::sync::CancellationToken,
///     ) -> Result<Compacted, CompactError> {
///         Err(CompactError::Nothing)
///     }
/// }
/// ```
#[async_trait]
pub trait Compactor: Send + Sync {
    /// Compacts once. With [`Trigger::Manual`] the agent must be idle.
    ///
    /// # Errors
    /// If nothing was replaced; the history is then as it was.
    async fn compact(
        &self,
        agent: &Arc<dyn Agent>,
        trigger: Trigger,
        cancel: CancellationToken,
    ) -> Result<Compacted, CompactError>;
}
impl Service for dyn Compactor {
    const NAME: &'static str = "compactor";
}
