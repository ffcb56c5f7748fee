//! One call: a request out, a stream back.
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use harness_http::{ResponseTimer, StreamTimeouts};
use harness_llm::{
    AdapterStream, CallConfig, Failure, LlmError, ModelInfo, PreparedCall, Request, RequestExtras,
};
use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::adapter::Route;
use crate::endpoint::Endpoint;
use crate::extras;
use crate::failure::{CallSite, ErrorResponse, http_failure, not_a_stream, request_id};
use crate::fault::Place;
use crate::site::StreamSite;
use crate::stream::chunks;

/// As much of an error body as is read, in bytes.
const ERROR_BODY: usize = 64 * 1024;
/// How long each piece of an error body is waited for.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);

/// A call bound to its route's settings.
pub(crate) struct Call {
    pub(crate) route: Arc<Route>,
    pub(crate) endpoint: Endpoint,
    /// All headers, the key included.
    pub(crate) headers: HeaderMap,
    pub(crate) config: CallConfig,
    pub(crate) model: ModelInfo,
}

#[async_trait]
impl PreparedCall for Call {
    fn config(&self) -> &CallConfig {
        &self.config
    }

    fn model(&self) -> &ModelInfo {
        &self.model
    }

    async fn stream(
        &self,
        request: Arc<Request>,
        cancel: CancellationToken,
    ) -> Result<AdapterStream, LlmError> {
        self.stream_with(request, RequestExtras::default(), cancel).await
    }

    fn payload_fields(&self, request: &Request) -> Map<String, Value> {
        let mut fields = self.route.protocol.fields(request);
        fields.extend(self.route.config.extra_body.clone());
        fields
    }

    async fn stream_with(
        &self,
        request: Arc<Request>,
        extras: RequestExtras,
        cancel: CancellationToken,
    ) -> Result<AdapterStream, LlmError> {
        let opened = cancel.run_until_cancelled(self.open(&request, &extras)).await;
        let (response, timer) = opened.unwrap_or_else(|| Err(Failure::aborted().into()))?;
        let id = request_id(&header_of(&response), &self.route.redactor);
        let site = StreamSite { redactor: self.route.redactor.clone(), request_id: id };
        let decoder = self.route.protocol.decoder(request, site);
        let place = self.place();
        let body = timer.body(response.bytes_stream());
        let body = body.map(move |piece| piece.map_err(|fault| place.body(fault)));
        Ok(chunks(body, decoder, cancel))
    }
}

impl Call {
    /// Sends the request and waits for the head of an event stream.
    async fn open(
        &self,
        request: &Request,
        extras: &RequestExtras,
    ) -> Result<(Response, ResponseTimer), LlmError> {
        let protocol = &*self.route.protocol;
        let fields = extras::body(protocol, &self.route.config.extra_body, request, extras)?;
        let headers = extras::headers(&self.headers, extras)?;
        let body = protocol.encode(request, &fields)?;
        let client = self.route.client()?;
        let post = client.post(self.endpoint.url().clone()).headers(headers).body(body);
        let timer = self.route.timeouts.start();
        let response = match timer.head(post.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.place().connection(&error.into()).into()),
            Err(timeout) => return Err(self.place().timeout(timeout).into()),
        };
        let status = response.status();
        let content_type = header_of(&response)(CONTENT_TYPE.as_str()).unwrap_or_default();
        if status.is_success() && !is_document(&content_type) {
            return Ok((response, timer));
        }
        let headers = response.headers().clone();
        let body = read_some(response, ERROR_BODY).await;
        let header = |name: &str| value_of(&headers, name);
        let url = self.endpoint.shown();
        let site = CallSite {
            provider: &self.route.config.name,
            model: &self.config.model,
            url: &url,
            key_source: &self.route.key_source(),
            redactor: &self.route.redactor,
        };
        if status.is_success() {
            let mut failure = not_a_stream(&content_type, &body, &site);
            failure.request_id = request_id(&header, &self.route.redactor);
            return Err(failure.into());
        }
        let response = ErrorResponse { status: status.as_u16(), header: &header, body: &body };
        Err(http_failure(&response, &site, Timestamp::now()).into())
    }

    fn place(&self) -> Place {
        Place {
            provider: self.route.config.name.clone(),
            address: self.endpoint.host_and_port(),
            redactor: self.route.redactor.clone(),
        }
    }
}

/// Whether a content type is that of a whole document. Servers that stream under an odd type exist; a document
/// where a stream belongs is a gateway's page or a server that does not stream.
fn is_document(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "application/json" | "text/html")
}

fn header_of(response: &Response) -> impl Fn(&str) -> Option<String> {
    move |name| value_of(response.headers(), name)
}

pub(crate) fn value_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The start of a body. What cannot be read is left out: the status says what matters.
pub(crate) async fn read_some(response: Response, most: usize) -> Vec<u8> {
    let patience = StreamTimeouts { first_byte: ERROR_BODY_WAIT, idle: ERROR_BODY_WAIT };
    let mut pieces = pin!(patience.start().body(response.bytes_stream()));
    let mut body = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        let room = most - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if body.len() == most {
            break;
        }
    }
    body
}
