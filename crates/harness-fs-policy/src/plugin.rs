//! The plugin.

use std::path::PathBuf;
use std::sync::Arc;

use harness_fs::{
    EditDecision, EditIntent, FileAccess, FileSystem, FsError, Observed, ReadDecision, ReadIntent,
    WriteDecision, WriteIntent,
};
use harness_kernel::{Ctx, Next, Plugin, PluginError};

use crate::confine::confine;
use crate::{FsPolicyConfig, Observations, Outside, read_first};

/// Why the policy does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FsPolicyError {
    /// A writable root is not absolute, so that it would mean another folder in each place.
    #[error("writable_roots of fs-policy: {path:?} is not an absolute path; write it out in full, from /")]
    RelativeRoot {
        /// The root as configured.
        path: PathBuf,
    },
}

impl FsPolicyError {
    /// A stable identifier for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RelativeRoot { .. } => "FS_POLICY_RELATIVE_ROOT",
        }
    }
}

/// Decides the `fs/*` events: confinement to the workspace, and read before change.
#[derive(Debug, Clone, Default)]
pub struct FsPolicy {
    config: Arc<FsPolicyConfig>,
    observations: Observations,
}

impl FsPolicy {
    /// A policy that has seen nothing yet.
    pub fn new(config: FsPolicyConfig) -> Self {
        Self { config: Arc::new(config), observations: Observations::default() }
    }

    /// What the policy knows to have been seen; it stays connected.
    pub fn observations(&self) -> Observations {
        self.observations.clone()
    }
}

impl Plugin for FsPolicy {
    type Deps = (Arc<dyn FileSystem>,);

    fn name(&self) -> &'static str {
        "fs-policy"
    }

    async fn apply(&self, ctx: Ctx, (files,): Self::Deps) -> Result<(), PluginError> {
        if let Some(path) = self.config.writable_roots.iter().find(|root| !root.is_absolute()) {
            return Err(FsPolicyError::RelativeRoot { path: path.clone() }.into());
        }
        let gate = Gate { config: Arc::clone(&self.config), observations: self.observations(), files };
        let own = gate.clone();
        ctx.around::<WriteIntent, _>(move |intent, next| own.clone().write(intent, next));
        let own = gate.clone();
        ctx.around::<EditIntent, _>(move |intent, next| own.clone().edit(intent, next));
        let own = gate.clone();
        ctx.around::<ReadIntent, _>(move |intent, next| own.clone().read(intent, next));
        ctx.on::<Observed>(move |Observed { owner, path, seen }| {
            gate.observations.record(owner, path, seen.clone());
        });
        Ok(())
    }
}

/// The decisions. Each asks the listeners behind it as well, unless it refuses itself.
#[derive(Clone)]
struct Gate {
    config: Arc<FsPolicyConfig>,
    observations: Observations,
    files: Arc<dyn FileSystem>,
}

impl Gate {
    async fn write(self, intent: WriteIntent, next: Next<WriteIntent>) -> Result<WriteDecision, FsError> {
        let access = intent.access();
        let own = match self.confine(access, self.config.write_outside, "written").await {
            Some(denial) => WriteDecision::Deny(denial),
            None if self.config.read_before_edit => read_first::write(access, self.seen(access)),
            None => WriteDecision::Allow,
        };
        match own {
            WriteDecision::Deny(_) => Ok(own),
            own => Ok(own.and(next.run(intent).await?)),
        }
    }

    async fn edit(self, intent: EditIntent, next: Next<EditIntent>) -> Result<EditDecision, FsError> {
        let access = intent.access();
        let own = match self.confine(access, self.config.write_outside, "edited").await {
            Some(denial) => EditDecision::Deny(denial),
            None if self.config.read_before_edit => read_first::edit(access, self.seen(access)),
            None => EditDecision::Allow,
        };
        match own {
            EditDecision::Deny(_) => Ok(own),
            own => Ok(own.and(next.run(intent).await?)),
        }
    }

    async fn read(self, intent: ReadIntent, next: Next<ReadIntent>) -> Result<ReadDecision, FsError> {
        match self.confine(intent.access(), self.config.read_outside, "read").await {
            Some(denial) => Ok(ReadDecision::Deny(denial)),
            None => next.run(intent).await,
        }
    }

    async fn confine(&self, access: &FileAccess, outside: Outside, verb: &str) -> Option<harness_fs::Denial> {
        confine(&*self.files, &self.config, outside, access, verb).await
    }

    fn seen(&self, access: &FileAccess) -> Option<harness_fs::Seen> {
        self.observations.seen(access.owner(), access.path().real())
    }
}
