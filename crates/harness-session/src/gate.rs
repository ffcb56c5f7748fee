//! The gate: what leaves is what the log derives.
use std::sync::Arc;

use harness_llm::{GateRefusal, Request, RequestGate};

use crate::session::Session;

/// Compares a request with the session's derivation, message by message and field by field.
pub struct SessionGate(pub Arc<Session>);

impl RequestGate for SessionGate {
    fn check(&self, request: &Request) -> Result<(), GateRefusal> {
        let refuse = |what: &str| Err(GateRefusal(what.to_owned()));
        self.0.with_derivation(|derived| {
            let Some(header) = derived.header() else { return refuse("no request header was logged") };
            if header.config != request.config {
                return refuse("the call configuration");
            }
            if header.system != request.system {
                return refuse("the system prompt");
            }
            if !Arc::ptr_eq(&header.tools, &request.tools) && header.tools != request.tools {
                return refuse("the tools");
            }
            let mut sent = request.messages.iter();
            for (at, message) in derived.messages().enumerate() {
                // Equal pointers are the rule; a deep comparison covers messages that were rebuilt.
                if !sent.next().is_some_and(|other| Arc::ptr_eq(other, message) || other == message) {
                    return refuse(&format!("message {at}"));
                }
            }
            if sent.next().is_some() { refuse("a message that was never logged") } else { Ok(()) }
        })
    }
}
