//! The scenarios that every adapter must survive, over real sockets.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]

use std::sync::Arc;
use std::time::Duration;

use harness_llm::CallConfig;
use harness_llm_chat_completions::conformance::{
    Bench, Close, KEY, Scenario, Script, Subject, chat_completions, run,
};
use harness_llm_mock::{End, MockServer, Options, Reply, Script as Replies, Step};
use harness_llm_openai::{OpenAi, OpenAiConfig};
use tokio::net::TcpListener;

/// Whether an orderly close leaves the body complete for HTTP or not: both mean the same to a model stream.
struct Wire {
    orderly: End,
}

impl Wire {
    fn reply(&self, script: Script) -> Reply {
        let mut reply = Reply::new();
        for (name, value) in script.headers {
            reply = reply.header(name, value);
        }
        let Some(status) = script.status else { return reply.step(Step::Stall) };
        if status != 200 {
            let body = script.pieces.concat();
            return Reply { status, body: Some(String::from_utf8(body).unwrap()), ..reply };
        }
        reply = reply.step(Step::Head);
        for piece in script.pieces {
            reply = reply.flush().bytes(piece);
        }
        match script.close {
            Close::Clean => reply.end(self.orderly),
            Close::Reset => reply.flush().end(End::Reset),
            Close::Never => reply.step(Step::Stall),
        }
    }
}

impl Bench for Wire {
    async fn subject(&self, scenario: Scenario) -> Subject {
        let (address, server) = match chat_completions(scenario) {
            Some(script) => {
                let replies = Replies::new([self.reply(script)]);
                let server = MockServer::start(replies, Options::default()).await.unwrap();
                (server.address(), Some(server))
            }
            None => (TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap(), None),
        };
        let limit =
            if scenario.wants_short_limits() { Duration::from_millis(200) } else { Duration::from_mins(5) };
        let adapter = OpenAi::new(OpenAiConfig {
            base_url: format!("http://{address}/v1"),
            api_key: Some(KEY.into()),
            first_byte_timeout: limit,
            idle_timeout: limit,
            ..OpenAiConfig::default()
        });
        let config = CallConfig { provider: "openai".into(), model: "m".into(), ..CallConfig::default() };
        Subject { adapter: Arc::new(adapter), config, server: Box::new(server) }
    }
}

#[tokio::test]
async fn every_scenario_with_bodies_that_end_well_for_http() {
    run(&Wire { orderly: End::Eof }).await;
}

#[tokio::test]
async fn every_scenario_with_bodies_that_end_too_early_for_http() {
    run(&Wire { orderly: End::Cut }).await;
}
