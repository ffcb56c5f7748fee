//! Why the bundle did not start or a session did not open.
use harness_agent::AgentError;
use harness_config::ConfigError;
use harness_kernel::StartError;
use harness_permissions::RuleError;
use harness_session_persistence::{ForkError, PersistenceError, RecordedError};

/// Everything that composing can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A setting is not usable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
    /// A permission rule is not legal.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// No model is named.
    #[error("no model is named for provider `{0}`: pass --model, or set model.name in the settings")]
    NoModel(String),
    /// Nothing is known of the provider.
    #[error(
        "provider `{0}` is not known (`harness models` lists those that are): pass --base-url, or add [providers.{0}] \
         with a base_url to the settings"
    )]
    UnknownProvider(String),
    /// A plugin did not start.
    #[error("{0}")]
    Start(#[from] StartError),
    /// A service is missing from the composition.
    #[error("the composition has no `{0}` service")]
    Missing(&'static str),
    /// A session did not open.
    #[error(transparent)]
    Session(#[from] RecordedError),
    /// No fork was made.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// Storage refused.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// A replay could not be made.
    #[error(transparent)]
    Replay(#[from] harness_session_replay::ReplayError),
    /// There is no session to go on with.
    #[error("there is no stored session for {0}")]
    NothingToContinue(String),
    /// The agent was not made.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The project's instructions could not be read.
    #[error("the instructions in {path} could not be read: {detail}")]
    Instructions {
        /// The file.
        path: String,
        /// Why.
        detail: String,
    },
    /// A model's server could not be asked.
    #[error("{}", .0.0.message)]
    Model(harness_llm::LlmError),
    /// The composition did not come down cleanly.
    #[error("shutdown: {0}")]
    Shutdown(String),
}

impl BundleError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Setting(_) => "SETTING",
            Self::Rule(_) => "PERMISSION_RULE",
            Self::NoModel(_) => "NO_MODEL",
            Self::UnknownProvider(_) => "UNKNOWN_PROVIDER",
            Self::Start(_) => "START",
            Self::Missing(_) => "MISSING_SERVICE",
            Self::Session(error) => error.code(),
            Self::Fork(error) => error.code(),
            Self::Persistence(error) => error.code(),
            Self::Replay(error) => error.code(),
            Self::NothingToContinue(_) => "NOTHING_TO_CONTINUE",
            Self::Agent(error) => error.code(),
            Self::Instructions { .. } => "INSTRUCTIONS",
            Self::Model(_) => "MODEL_SERVER",
            Self::Shutdown(_) => "SHUTDOWN",
        }
    }
}
