//! A server that sends a script.
use std::any::Any;

use harness_llm_mock::{End, MockServer, Options, Reply, Script as Replies, Step};
use tokio::net::TcpListener;

use super::framing::Framing;
use super::{Close, Script};

/// A running server.
pub(super) struct Server {
    /// With `/v1`.
    pub(super) base_url: String,
    /// Ends the server when dropped.
    pub(super) alive: Box<dyn Any + Send>,
}

/// Starts a server for one request; without a script there is an address that nobody listens at.
pub(super) async fn serve(script: Option<Script>, framing: Framing) -> Server {
    let Some(script) = script else {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let address = listener.and_then(|listener| listener.local_addr());
        let address = address.unwrap_or_else(|error| panic!("no port: {error}"));
        return Server { base_url: format!("http://{address}/v1"), alive: Box::new(()) };
    };
    let reply = reply(framing.applied(script), framing);
    let server = MockServer::start(Replies::new([reply]), Options::default()).await;
    let server = server.unwrap_or_else(|error| panic!("no server: {error}"));
    Server { base_url: format!("http://{}/v1", server.address()), alive: Box::new(server) }
}

fn reply(script: Script, framing: Framing) -> Reply {
    let mut reply = Reply::new();
    for (name, value) in script.headers {
        reply = reply.header(name, value);
    }
    let Some(status) = script.status else { return reply.step(Step::Stall) };
    if status != 200 {
        let body = String::from_utf8_lossy(&script.pieces.concat()).into_owned();
        return Reply { status, body: Some(body), ..reply };
    }
    reply = reply.step(Step::Head);
    // A write of its own for each piece; many small ones need no time apart.
    let between = if matches!(framing, Framing::Pieces(_)) { Step::PauseMs(0) } else { Step::PauseMs(20) };
    for piece in script.pieces {
        reply = reply.step(between.clone()).bytes(piece);
    }
    match script.close {
        Close::Clean if framing == Framing::CutOff => reply.end(End::Cut),
        Close::Clean => reply.end(End::Eof),
        Close::Reset => reply.flush().end(End::Reset),
        Close::Never => reply.step(Step::Stall),
    }
}
