//! Exit codes: what scripts can rely on.
use std::process::ExitCode;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// It failed: configuration, model, storage.
    Failed,
    /// The command line is not legal.
    Usage,
    /// A hook said no: the code that hooks themselves use.
    Denied,
    /// The turn stopped before its task was done: blocked, a budget, the output limit.
    Stopped,
    /// A signal or a closed standard output: 128 and the signal's number.
    Signal(u8),
}
impl Exit {
    /// What the signal for a closed pipe would have made of it.
    pub(crate) const OUTPUT_CLOSED: Self = Self::Signal(13);

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage | Self::Denied => 2,
            Self::Stopped => 3,
            Self::Signal(number) => 128u8.saturating_add(number),
        }
    }
}
impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
