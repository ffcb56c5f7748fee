//! The ordered list of replies, from code or from a file.
#![expect(clippy::disallowed_methods, reason = "a script file is this crate's own input")]

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::MockError;
use crate::reply::Reply;

/// What the model will say. Each request to the chat endpoint takes the next reply that fits it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The model name in answers and in the model list.
    pub model: String,
    /// The context window in tokens, four bytes of a request's body each. A larger request is refused as an
    /// OpenAI-style server refuses it, and takes no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The replies, in the order of use.
    pub replies: Vec<Reply>,
    /// What a request gets when no reply is left for it.
    pub when_exhausted: WhenExhausted,
}

/// What happens after the last reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenExhausted {
    /// Status 500 with a message that says how many replies there were.
    #[default]
    Error,
    /// The last reply of the script again.
    RepeatLast,
    /// The text of the request's last message.
    Echo,
}

/// How a script is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            model: "mock-model".to_owned(),
            context_window: None,
            replies: Vec::new(),
            when_exhausted: WhenExhausted::default(),
        }
    }
}

impl Script {
    /// A script of these replies, answering with an error after the last.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: replies.into_iter().collect(), ..Self::default() }
    }

    /// Sets what happens after the last reply.
    #[must_use]
    pub fn when_exhausted(self, when_exhausted: WhenExhausted) -> Self {
        Self { when_exhausted, ..self }
    }

    /// Sets the context window, in tokens.
    #[must_use]
    pub fn context_window(self, tokens: u64) -> Self {
        Self { context_window: Some(tokens), ..self }
    }

    /// Reads a script.
    ///
    /// # Errors
    /// [`MockError::Syntax`] with the place in the text, [`MockError::Reply`] for a reply that
    /// cannot be sent.
    pub fn parse(text: &str, format: ScriptFormat) -> Result<Self, MockError> {
        let script: Self = match format {
            ScriptFormat::Json => {
                let mut source = serde_json::Deserializer::from_str(text);
                let script = serde_path_to_error::deserialize(&mut source).map_err(|fault| syntax(&fault))?;
                source
                    .end()
                    .map_err(|fault| MockError::Syntax { at: "end".to_owned(), reason: fault.to_string() })?;
                script
            }
            ScriptFormat::Toml => {
                let source = toml::Deserializer::parse(text).map_err(|fault| MockError::Syntax {
                    at: "toml".to_owned(),
                    reason: fault.to_string(),
                })?;
                serde_path_to_error::deserialize(source).map_err(|fault| syntax(&fault))?
            }
        };
        script.check()?;
        Ok(script)
    }

    /// Reads a script file; its name ends in `.json` or `.toml`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if the file cannot be read or its name tells no format.
    pub fn load(path: &Path) -> Result<Self, MockError> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => ScriptFormat::Json,
            Some("toml") => ScriptFormat::Toml,
            _ => return Err(MockError::UnknownFormat { path: path.to_owned() }),
        };
        let text = std::fs::read_to_string(path)
            .map_err(|source| MockError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, format)
    }

    /// The JSON schema of a script file.
    pub fn schema() -> Value {
        schemars::schema_for!(Self).into()
    }

    pub(crate) fn check(&self) -> Result<(), MockError> {
        let mut faults = self.replies.iter().map(Reply::fault).enumerate();
        match faults.find_map(|(index, fault)| Some((index + 1, fault?))) {
            Some((reply, reason)) => Err(MockError::Reply { reply, reason }),
            None => Ok(()),
        }
    }
}

fn syntax<E: std::fmt::Display>(fault: &serde_path_to_error::Error<E>) -> MockError {
    MockError::Syntax { at: fault.path().to_string(), reason: fault.inner().to_string() }
}
