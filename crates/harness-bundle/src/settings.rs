//! The bundle's sections of the settings.
use std::collections::BTreeMap;

use harness_agent::QueueMode;
use harness_bash_local::BashLimits;
use harness_config::{ConfigBuilder, ProjectKeys, Section};
use harness_fs_policy::FsPolicyConfig;
use harness_hooks_claude::HooksSettings;
use harness_llm_chat_completions::Compat;
use harness_permissions::PermissionsConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Section `model`: which model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// Provider route: a key of `providers`, or one that is known (see `harness models`)
    pub provider: String,
    /// Model name, as the provider knows it
    pub name: Option<String>,
    /// Effort word, such as `low` or `high`
    pub reasoning_effort: Option<String>,
    /// Sampling temperature
    pub temperature: Option<f64>,
    /// Most answer tokens of one request
    pub max_tokens: Option<u64>,
}
impl Default for ModelSettings {
    fn default() -> Self {
        let provider = "deepseek".to_owned();
        Self { provider, name: None, reasoning_effort: None, temperature: None, max_tokens: None }
    }
}
impl Section for ModelSettings {
    const NAME: &'static str = "model";
    // Which endpoint gets the prompt, and whose key pays, is not for a cloned repository to say.
    const PROJECT: ProjectKeys = ProjectKeys::Only(&["reasoning_effort", "temperature", "max_tokens"]);
}

/// What is spoken at an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolSetting {
    /// OpenAI's chat completions, which most servers know
    #[default]
    ChatCompletions,
    /// OpenAI's responses
    Responses,
    /// Anthropic's messages
    Messages,
    /// Chat completions as DeepSeek has them
    #[serde(rename = "deepseek")]
    DeepSeek,
}
impl ProtocolSetting {
    /// The word for it in settings.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat-completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::DeepSeek => "deepseek",
        }
    }
    /// What a word stands for.
    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::ChatCompletions, Self::Responses, Self::Messages, Self::DeepSeek]
            .into_iter()
            .find(|protocol| protocol.word() == word)
    }
}

/// One entry of section `models`: what is known of a model beyond the catalog, or against it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelEntry {
    /// Context window in tokens
    pub context_window: Option<u64>,
    /// Most answer tokens
    pub max_output: Option<u64>,
}

/// Section `models`: models by `provider/model`. Never read from an untrusted project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ModelsSettings(pub BTreeMap<String, ModelEntry>);
impl Section for ModelsSettings {
    const NAME: &'static str = "models";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// One entry of section `providers`: an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// Address, such as `https://api.example.com/v1`
    pub base_url: Option<String>,
    /// What is spoken there [default: what is known of the provider, else chat completions]
    pub protocol: Option<ProtocolSetting>,
    /// How its chat completions depart from the common form
    pub compat: Option<Compat>,
    /// Responses only: ask for reasoning in a form that can go back to the model [default: true]
    pub encrypted_reasoning: Option<bool>,
    /// Headers to add to each request; not for keys
    pub headers: BTreeMap<String, String>,
    /// Fields to add to each request body, for what only this server knows
    pub extra_body: serde_json::Map<String, serde_json::Value>,
    /// Key; better kept in the environment
    pub api_key: Option<String>,
    /// Environment variable that holds the key
    pub api_key_env: Option<String>,
    /// Model to use when none is named
    pub default_model: Option<String>,
    /// Seconds to wait for the first byte of an answer
    pub first_byte_timeout: Option<u64>,
    /// Seconds a stream may be silent
    pub idle_timeout: Option<u64>,
}

/// Section `providers`: endpoints by route name. Never read from an untrusted project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ProvidersSettings(pub BTreeMap<String, ProviderSettings>);
impl Section for ProvidersSettings {
    const NAME: &'static str = "providers";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `http`: how endpoints are reached. Never read from an untrusted project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSettings {
    /// Seconds to wait for a connection
    pub connect_timeout: Option<u64>,
    /// Files with further certificate authorities, PEM
    pub extra_ca: Vec<String>,
    /// Proxy address, `none`, or `system`
    pub proxy: Option<String>,
}
impl Section for HttpSettings {
    const NAME: &'static str = "http";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `agent`: limits of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentSettings {
    /// Most steps (model requests) in one turn
    pub max_steps: u32,
    /// Most tool calls that overlap
    pub parallel_tools: usize,
    /// How much of what is said during a turn one step takes: `all` or `one-at-a-time`
    pub steering: QueueSetting,
    /// How many of the queued prompts one turn takes: `all` or `one-at-a-time`
    pub followups: QueueSetting,
}
impl Default for AgentSettings {
    fn default() -> Self {
        let (steering, followups) = (QueueSetting::All, QueueSetting::OneAtATime);
        Self { max_steps: 200, parallel_tools: 10, steering, followups }
    }
}
/// How much of a list of pending messages is taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSetting {
    /// Everything.
    All,
    /// The oldest.
    OneAtATime,
}
impl From<QueueSetting> for QueueMode {
    fn from(setting: QueueSetting) -> Self {
        match setting {
            QueueSetting::All => Self::All,
            QueueSetting::OneAtATime => Self::OneAtATime,
        }
    }
}
impl Section for AgentSettings {
    const NAME: &'static str = "agent";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&["parallel_tools"]);
}

/// Section `session`: how sessions are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// Where sessions are kept: `jsonl` (a folder with a text file for each) or `sqlite` (one database)
    pub backend: BackendSetting,
    /// What a barrier waits for: `sync` (the device has it) or `write` (the system has it)
    pub durability: DurabilitySetting,
    /// How new events are stored: `none` (lines that any program can read) or `zstd` (about a third of the bytes; other programs cannot read them)
    pub compression: CompressionSetting,
}
/// Where sessions are kept. Each backend sees its own sessions only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackendSetting {
    /// JSON lines, a folder for each session.
    #[default]
    Jsonl,
    /// Rows of one database.
    Sqlite,
}
/// How new events are stored. What is stored already is read either way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompressionSetting {
    /// As JSON lines.
    #[default]
    None,
    /// As lines compressed with zstd.
    Zstd,
}
/// What a durability barrier waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DurabilitySetting {
    /// The device has it: it survives a power cut.
    #[default]
    Sync,
    /// The system has it: it survives the end of the process.
    Write,
}
impl Section for SessionSettings {
    const NAME: &'static str = "session";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `permissions`: which tool calls run. An untrusted project may only deny.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PermissionSection(pub PermissionsConfig);
impl Section for PermissionSection {
    const NAME: &'static str = "permissions";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&["deny"]);
}

/// Section `bash`: limits of shell commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BashSection(pub BashLimits);
impl Section for BashSection {
    const NAME: &'static str = "bash";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Section `fs-policy`: where files may be touched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FsPolicySection(pub FsPolicyConfig);
impl Section for FsPolicySection {
    const NAME: &'static str = "fs-policy";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// Every section of the bundle.
pub fn sections(builder: ConfigBuilder) -> ConfigBuilder {
    let builder = builder
        .section::<ModelSettings>()
        .section::<ProvidersSettings>()
        .section::<ModelsSettings>()
        .section::<HttpSettings>()
        .section::<AgentSettings>()
        .section::<SessionSettings>()
        .section::<PermissionSection>()
        .section::<BashSection>()
        .section::<FsPolicySection>()
        .section::<HooksSettings>();
    crate::upkeep::sections(builder)
}
