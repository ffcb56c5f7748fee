//! Answers the requests of one connection.

use std::sync::{Arc, PoisonError};

use tokio::net::TcpStream;

use super::Shared;
use super::player::{After, Cue, play};
use super::stream_flag::asks_for_stream;
use crate::http::{Connection, ReadError, Request, whole};
use crate::plan::Plan;
use crate::unstreamed::unstreamed;
use crate::wire::{WireFormat, error, model_list};

const MODELS: [&str; 2] = ["/v1/models", "/models"];

pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut connection = Connection::new(stream);
    loop {
        let request = match connection.read_request(shared.limits).await {
            Ok(Some(request)) => request,
            Ok(None) | Err(ReadError::Gone) => return,
            Err(ReadError::Refused { status, reason }) => {
                let body = error("invalid_request_error", "refused", &reason).to_string();
                if connection.write(&whole(status, &body, false)).await.is_ok() {
                    connection.close_against_the_stream().await;
                }
                return;
            }
        };
        match answer(&mut connection, request, &shared).await {
            Ok(After::KeepAlive) => {}
            Ok(After::Close) => return connection.close().await,
            Ok(After::Reset) => return connection.reset(),
            Err(_) => {
                shared.disconnects.send_modify(|count| *count += 1);
                return;
            }
        }
    }
}

/// Answers one request.
///
/// # Errors
/// If the client goes away.
async fn answer(connection: &mut Connection, request: Request, shared: &Shared) -> std::io::Result<After> {
    let keep_alive = request.keeps_alive();
    let (status, body) = match (request.method.as_str(), request.path()) {
        ("POST", path) if let Some(format) = WireFormat::at(path) => {
            return reply(connection, request, format, shared).await;
        }
        ("GET", path) if MODELS.contains(&path) => (200, model_list(&shared.model).to_string()),
        (method, path) if WireFormat::at(path).is_some() || MODELS.contains(&path) => {
            let message = format!("method {method} is not served at {path}");
            (405, error("invalid_request_error", "method_not_allowed", &message).to_string())
        }
        (_, path) => {
            let message = format!(
                "nothing is served at {path}; try POST {} or GET {}",
                WireFormat::ChatCompletions.path(),
                MODELS[0]
            );
            (404, error("invalid_request_error", "not_found", &message).to_string())
        }
    };
    shared.other_requests.record(request);
    connection.write(&whole(status, &body, keep_alive)).await?;
    Ok(if keep_alive { After::KeepAlive } else { After::Close })
}

async fn reply(
    connection: &mut Connection,
    request: Request,
    format: WireFormat,
    shared: &Shared,
) -> std::io::Result<After> {
    let (is_http11, keep_alive) = (request.is_http11, request.keeps_alive());
    let streams = asks_for_stream(&request.body);
    let recorded = shared.model_requests.record(request);
    if let Some(window) = shared.context_window.filter(|window| recorded.tokens() > *window) {
        let message = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {} tokens. \
             Please reduce the length of the messages.",
            recorded.tokens()
        );
        let body = error("invalid_request_error", "context_length_exceeded", &message).to_string();
        connection.write(&whole(400, &body, keep_alive)).await?;
        return Ok(if keep_alive { After::KeepAlive } else { After::Close });
    }
    let plan = shared.queue.lock().unwrap_or_else(PoisonError::into_inner).next(&recorded, format);
    let cue = Cue {
        request: recorded.number(),
        prompt_bytes: recorded.body().len(),
        is_http11,
        keep_alive,
        gates: &shared.gates,
    };
    if streams || plan.whole.is_some() {
        return play(connection, &plan, cue).await;
    }
    if format != WireFormat::ChatCompletions {
        let text = format!("{} is served as a stream only; ask for one", format.path());
        let body = error("invalid_request_error", "stream_only", &text).to_string();
        connection.write(&whole(400, &body, keep_alive)).await?;
        return Ok(if keep_alive { After::KeepAlive } else { After::Close });
    }
    play(connection, &unstreamed(Plan::clone(&plan)), cue).await
}
