//! Composes the default harness and prints what only it knows, for `cargo xtask catalog`.
//!
//! An example and not part of `xtask` itself: so `cargo xtask` need not build the whole harness to run, and the
//! builds of the test run already contain this.
#![expect(clippy::print_stdout, reason = "what it prints is its result")]

mod describe;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    println!("{}", describe::describe().await?);
    Ok(())
}
