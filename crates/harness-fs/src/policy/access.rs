//! One owner's access to one file, and the questions that it must ask.

use std::fmt;
use std::sync::Arc;

use harness_kernel::{Around, Ctx, Event, contain};

use super::{
    EditDecision, EditIntent, Observed, Owner, ReadDecision, ReadIntent, Seen, Workspace, WriteDecision,
    WriteIntent,
};
use crate::{FsError, Precondition, ResolvedPath, Version};

/// One owner's access to one resolved path. A tool makes it, asks with `may_…`, passes the answer on to the
/// [`FileSystem`](crate::FileSystem), and reports what was seen with [`FileAccess::observed`].
///
/// The questions are asked on the events of the given context, which should be the agent's own. Without a listener
/// everything is allowed. A listener that fails or panics refuses the operation with `FS_POLICY_FAILED`.
#[derive(Clone)]
pub struct FileAccess(Arc<Facts>);

struct Facts {
    owner: Owner,
    workspace: Workspace,
    path: ResolvedPath,
}

impl FileAccess {
    /// The access of `owner`, working in `workspace`, to `path`.
    pub fn new(owner: Owner, workspace: Workspace, path: ResolvedPath) -> Self {
        Self(Arc::new(Facts { owner, workspace, path }))
    }

    /// Who wants it.
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// Where the owner works.
    pub fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    /// What it is about.
    pub fn path(&self) -> &ResolvedPath {
        &self.0.path
    }

    /// Asks on `fs/write-intent`; the answer is the precondition for the write.
    ///
    /// # Errors
    /// [`FsError::Denied`] or [`FsError::PolicyFailed`].
    pub async fn may_write(&self, ctx: &Ctx) -> Result<Precondition, FsError> {
        let asked = self.clone();
        let answer =
            ask(ctx, WriteIntent(self.clone()), move |intent| asked.verify(&intent.0, WriteDecision::Allow));
        match answer.await? {
            WriteDecision::Allow => Ok(Precondition::Any),
            WriteDecision::AllowIf(version) => Ok(Precondition::ReplaceVersion(version)),
            WriteDecision::CreateOnly => Ok(Precondition::CreateOnly),
            WriteDecision::Deny(denial) => Err(FsError::Denied(denial)),
        }
    }

    /// Asks on `fs/edit-intent`; the answer is the version guard for the edit.
    ///
    /// # Errors
    /// [`FsError::Denied`] or [`FsError::PolicyFailed`].
    pub async fn may_edit(&self, ctx: &Ctx) -> Result<Option<Version>, FsError> {
        let asked = self.clone();
        let answer =
            ask(ctx, EditIntent(self.clone()), move |intent| asked.verify(&intent.0, EditDecision::Allow));
        match answer.await? {
            EditDecision::Allow => Ok(None),
            EditDecision::AllowIf(version) => Ok(Some(version)),
            EditDecision::Deny(denial) => Err(FsError::Denied(denial)),
        }
    }

    /// Asks on `fs/read-intent`.
    ///
    /// # Errors
    /// [`FsError::Denied`] or [`FsError::PolicyFailed`].
    pub async fn may_read(&self, ctx: &Ctx) -> Result<(), FsError> {
        let asked = self.clone();
        let answer =
            ask(ctx, ReadIntent(self.clone()), move |intent| asked.verify(&intent.0, ReadDecision::Allow));
        match answer.await? {
            ReadDecision::Allow => Ok(()),
            ReadDecision::Deny(denial) => Err(FsError::Denied(denial)),
        }
    }

    /// Reports on `fs/observed` what the owner saw at the path.
    pub fn observed(&self, ctx: &Ctx, seen: Seen) {
        ctx.emit(&Observed { owner: self.owner().clone(), path: self.path().real().to_owned(), seen });
    }

    /// The last word behind all listeners: allowed, if they were shown the access that is asked for. A listener could
    /// keep the intent of an earlier, harmless access and pass it on in place of this one.
    fn verify<D>(&self, shown: &Self, allow: D) -> Result<D, &'static str> {
        if Arc::ptr_eq(&self.0, &shown.0) {
            Ok(allow)
        } else {
            Err("it put another access in the place of this one")
        }
    }
}

impl fmt::Debug for FileAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { owner, workspace, path } = &*self.0;
        formatter
            .debug_struct("FileAccess")
            .field("owner", owner)
            .field("workspace", workspace)
            .field("path", path)
            .finish()
    }
}

async fn ask<E, D>(
    ctx: &Ctx,
    intent: E,
    core: impl Fn(E) -> Result<D, &'static str> + Send + Sync + 'static,
) -> Result<D, FsError>
where
    E: Around<Output = Result<D, FsError>>,
    D: Send + 'static,
{
    let failed = |reason: String| FsError::PolicyFailed { event: <E as Event>::NAME, reason };
    let core = move |intent| std::future::ready(core(intent).map_err(|reason| failed(reason.to_owned())));
    match contain(ctx.waterfall(intent, core)).await {
        Ok(answer) => answer,
        Err(panic) => Err(failed(panic.to_string())),
    }
}
