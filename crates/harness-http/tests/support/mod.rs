//! A listener that plays one scripted connection after another.
#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How a scripted connection ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    Close,
    Reset,
}

/// Serves `replies`, one a connection. Returns `host:port` and the request heads as they come.
pub(crate) async fn serve(replies: Vec<(String, Ending)>) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (seen, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for (reply, ending) in replies {
            let (mut connection, _) = listener.accept().await.unwrap();
            seen.send(read_head(&mut connection).await).unwrap();
            connection.write_all(reply.as_bytes()).await.unwrap();
            match ending {
                Ending::Close => connection.shutdown().await.unwrap(),
                Ending::Reset => connection.set_zero_linger().unwrap(),
            }
        }
    });
    (address, requests)
}

/// Reads up to the end of the request head; none of these requests has a body.
async fn read_head(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(connection.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}
