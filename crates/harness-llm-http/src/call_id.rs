//! Ids of tool calls, unique within a session.
use harness_llm::Request;
use uuid::Uuid;

/// The id of a call that a server names `wire_id`: that one, or a new one if it is empty, is among the `earlier` ids
/// of the same response, or is in the request's history.
pub fn unused_call_id<'a>(
    wire_id: &str,
    request: &Request,
    mut earlier: impl Iterator<Item = &'a str>,
) -> String {
    let mut history = request.messages.iter().flat_map(|message| message.tool_calls());
    if wire_id.is_empty() || earlier.any(|id| id == wire_id) || history.any(|call| call.id == wire_id) {
        return format!("call_{}", Uuid::now_v7().simple());
    }
    wire_id.to_owned()
}
