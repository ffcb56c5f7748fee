//! What a dispatch costs: `cargo run --release -p harness-kernel --example bench`.
#![expect(clippy::print_stdout, reason = "it prints its figures")]
use std::hint::black_box;
use std::time::Instant;

use harness_kernel::{App, Around, Ctx, Event, Notice, PluginError};

struct Wrapped(u64);
impl Event for Wrapped {
    const NAME: &'static str = "bench/wrapped";
}
impl Around for Wrapped {
    type Output = u64;
}
struct Noted(u64);
impl Event for Noted {
    const NAME: &'static str = "bench/noted";
}
impl Notice for Noted {}

const RUNS: u64 = 300_000;

fn emit(ctx: &Ctx) -> u128 {
    let start = Instant::now();
    for run in 0..RUNS {
        ctx.emit(&Noted(run));
    }
    start.elapsed().as_nanos() / u128::from(RUNS)
}
async fn waterfall(ctx: &Ctx) -> u128 {
    let start = Instant::now();
    for run in 0..RUNS {
        black_box(ctx.waterfall(Wrapped(run), |event| async move { event.0 }).await);
    }
    start.elapsed().as_nanos() / u128::from(RUNS)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), PluginError> {
    for listeners in [0, 1, 5, 20] {
        let app = App::default().start().await?;
        let turn = app.scope("agent").scope("turn");
        for _ in 0..listeners {
            app.around::<Wrapped, _>(|event, next| async move { next.run(event).await + 1 });
            app.on::<Noted>(|noted| {
                black_box(noted.0);
            });
        }
        let (root, nested) = (emit(&app), emit(&turn));
        let wrapped = waterfall(&app).await;
        println!(
            "{listeners:2} listeners: waterfall {wrapped} ns, emit {root} ns, emit two scopes below {nested} ns"
        );
        app.shutdown().await?;
    }
    // Neither dispatch nor removal may grow with the number of agents.
    for agents in [10_u32, 1_000, 10_000] {
        let app = App::default().start().await?;
        let all: Vec<_> = (0..agents).map(|_| app.scope("agent")).collect();
        for agent in &all {
            agent.on::<Noted>(|noted| {
                black_box(noted.0);
            });
        }
        let emitted = emit(&all[0]);
        let start = Instant::now();
        for _ in 0..1_000 {
            let turn = all[0].scope("turn");
            turn.on::<Noted>(|_| ());
            turn.dispose().await?;
        }
        let turn = start.elapsed().as_nanos() / 1_000;
        let start = Instant::now();
        for agent in &all {
            agent.dispose().await?;
        }
        let ended = start.elapsed().as_nanos() / u128::from(agents);
        println!(
            "{agents:5} agents: emit {emitted} ns, a turn scope {turn} ns, the end of an agent {ended} ns"
        );
        app.shutdown().await?;
    }
    Ok(())
}
