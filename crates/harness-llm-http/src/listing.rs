//! What a server says of its models.
use harness_llm::{Failure, FailureCode, LlmError};
use jiff::Timestamp;
use serde::Deserialize;

use crate::adapter::{HttpAdapter, Route};
use crate::call::{read_some, value_of};
use crate::failure::{CallSite, ErrorResponse, http_failure, not_a_stream};
use crate::fault::Place;

/// As much of a list as is read, in bytes.
const LIST: usize = 4 * 1024 * 1024;

/// One model of a server's list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListedModel {
    /// Its name.
    pub id: String,
    /// Context window in tokens, where the server says it: `context_length`, `max_model_len`, `context_window` or
    /// `max_input_tokens`.
    #[serde(default, alias = "max_model_len", alias = "context_window", alias = "max_input_tokens")]
    pub context_length: Option<u64>,
}

#[derive(Deserialize)]
struct List {
    data: Vec<ListedModel>,
}

impl HttpAdapter {
    /// Asks the server which models it serves: `GET` to `models` beside the operation, as OpenAI, Anthropic and most
    /// compatible servers answer it.
    ///
    /// # Errors
    /// As a call: for a key that is missing or refused, a server that is not there, an answer that is no list.
    pub async fn list_models(&self) -> Result<Vec<ListedModel>, LlmError> {
        self.route().list_models().await
    }
}

impl Route {
    async fn list_models(&self) -> Result<Vec<ListedModel>, LlmError> {
        let endpoint = self.endpoint.clone()?;
        let mut headers = self.headers(&endpoint)?;
        headers.remove(reqwest::header::CONTENT_TYPE);
        headers
            .insert(reqwest::header::ACCEPT, reqwest::header::HeaderValue::from_static("application/json"));
        let place = Place {
            provider: self.config.name.clone(),
            address: endpoint.host_and_port(),
            redactor: self.redactor.clone(),
        };
        let url = endpoint.models_url();
        let timer = self.timeouts.start();
        let response = match timer.head(self.client()?.get(url.clone()).headers(headers).send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(place.connection(&error.into()).into()),
            Err(timeout) => return Err(place.timeout(timeout).into()),
        };
        let status = response.status();
        let headers = response.headers().clone();
        let body = read_some(response, LIST).await;
        let header = |name: &str| value_of(&headers, name);
        let mut shown = url;
        shown.set_query(None);
        let site = CallSite {
            provider: &self.config.name,
            model: "",
            url: shown.as_str(),
            key_source: &self.key_source(),
            redactor: &self.redactor,
        };
        if !status.is_success() {
            let response = ErrorResponse { status: status.as_u16(), header: &header, body: &body };
            return Err(http_failure(&response, &site, Timestamp::now()).into());
        }
        let list: Result<List, _> = serde_json::from_slice(&body);
        list.map(|list| list.data).map_err(|fault| {
            let said = not_a_stream(&header("content-type").unwrap_or_default(), &body, &site);
            let text = format!("the list of models at {} cannot be read ({fault})", site.url);
            let text = if said.code == FailureCode::MALFORMED_RESPONSE { text } else { said.message };
            LlmError(Failure::new(FailureCode::MALFORMED_RESPONSE, text))
        })
    }
}
