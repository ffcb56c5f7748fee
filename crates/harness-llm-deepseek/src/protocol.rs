//! Chat completions with the rule of each model.
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use harness_llm::{CallConfig, LlmError, Request, RequestOptions};
use harness_llm_chat_completions::{ChatCompletions, Compat};
use harness_llm_http::{Decoder, Protocol, StreamSite};
use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::rules::{Pattern, built_in};

/// The format, one for each rule.
pub(crate) struct DeepSeek {
    compat: Option<Compat>,
    /// Made at the first use.
    rules: OnceLock<Vec<(Pattern, ChatCompletions)>>,
    /// For a model that no rule is for.
    common: ChatCompletions,
}

impl DeepSeek {
    /// `compat` takes the place of all rules.
    pub(crate) fn new(compat: Option<Compat>) -> Self {
        Self { compat, rules: OnceLock::new(), common: ChatCompletions::new(Compat::default()) }
    }

    fn rules(&self) -> &[(Pattern, ChatCompletions)] {
        self.rules.get_or_init(|| {
            let rules = match &self.compat {
                Some(compat) => vec![(Pattern::any(), compat.clone())],
                None => built_in().unwrap_or_default(),
            };
            rules.into_iter().map(|(pattern, compat)| (pattern, ChatCompletions::new(compat))).collect()
        })
    }

    fn of(&self, model: &str) -> &ChatCompletions {
        let rule = self.rules().iter().find(|(pattern, _)| pattern.fits(model));
        rule.map_or(&self.common, |(_, format)| format)
    }
}

impl Protocol for DeepSeek {
    fn operation(&self) -> &'static str {
        self.common.operation()
    }
    fn credential(&self, key: &SecretString) -> (HeaderName, SecretString) {
        self.common.credential(key)
    }
    fn own_fields(&self) -> &'static [&'static str] {
        self.common.own_fields()
    }
    fn check(&self, config: &CallConfig) -> Result<(), LlmError> {
        self.of(&config.model).check(config)
    }
    fn fields(&self, request: &Request) -> Map<String, Value> {
        self.of(&request.config.model).fields(request)
    }
    fn option_fields(&self, options: &RequestOptions) -> Result<Map<String, Value>, LlmError> {
        self.common.option_fields(options)
    }
    fn encode(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        self.of(&request.config.model).encode(request, extra)
    }
    fn decoder(&self, request: Arc<Request>, site: StreamSite) -> Box<dyn Decoder> {
        self.of(&request.config.model).decoder(Arc::clone(&request), site)
    }
}
