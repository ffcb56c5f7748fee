//! Prints what building a client costs: `cargo run --release -p harness-http --example client_cost`.
#![expect(clippy::print_stdout, reason = "an example that reports a measurement")]

use std::time::Instant;

use harness_http::{HttpConfig, client};

fn main() {
    for round in 1..=3 {
        let started = Instant::now();
        let built = client(&HttpConfig::default());
        println!("client {round}: {:?}, ok: {}", started.elapsed(), built.is_ok());
    }
}
