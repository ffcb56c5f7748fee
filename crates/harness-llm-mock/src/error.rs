//! Why a script cannot be used or a server cannot start.

use std::path::PathBuf;

/// A fault of the script or of the server's start. Faults of clients are HTTP answers instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// The script file cannot be read.
    #[error("cannot read the script {}: {source}", path.display())]
    Unreadable {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file name tells no format.
    #[error("the format of {} is unknown; name the script `.json` or `.toml`", path.display())]
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
    },
    /// The text is not a script.
    #[error("invalid script at `{at}`: {reason}")]
    Syntax {
        /// Path of the value that does not fit, such as `replies[0].steps[2]`.
        at: String,
        /// What is wrong with it, with the position in the text.
        reason: String,
    },
    /// A reply asks for something that cannot be sent.
    #[error("reply {reply} of the script cannot be sent: {reason}")]
    Reply {
        /// Number of the reply in the script, from 1.
        reply: usize,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// The port on loopback cannot be opened.
    #[error("cannot listen on 127.0.0.1:{port}: {source}; choose another port, or 0 for any free one")]
    Bind {
        /// The port asked for.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
}

impl MockError {
    /// A name for the fault that does not change between releases.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "MOCK_SCRIPT_UNREADABLE",
            Self::UnknownFormat { .. } => "MOCK_SCRIPT_FORMAT",
            Self::Syntax { .. } => "MOCK_SCRIPT_SYNTAX",
            Self::Reply { .. } => "MOCK_SCRIPT_REPLY",
            Self::Bind { .. } => "MOCK_BIND",
        }
    }
}
