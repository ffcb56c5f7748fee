//! `harness mock-llm`: the scripted model server, for trying things out and for tests of other programs.
use anyhow::{Context, Result};
use harness_llm_mock::{MockServer, Options, Script, txt};

use crate::args::MockArgs;
use crate::exit::Exit;
use crate::output::Output;
use crate::signals::Signals;

pub(crate) async fn run(args: MockArgs, output: &Output) -> Exit {
    output.exit(serve(&args, output).await)
}

async fn serve(args: &MockArgs, output: &Output) -> Result<Exit> {
    let script = match &args.script {
        Some(file) => Script::load(file)?,
        None => judge(),
    };
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("folder {} cannot be made", folder.display()))?;
    }
    let mut signals = Signals::listen()?;
    let server = MockServer::start(script, Options { port: args.port, ..Options::default() }).await?;
    output.data(&format!("{}\n", server.base_url()));
    let mut written = 0;
    loop {
        tokio::select! {
            asked = signals.next() => {
                server.shutdown().await;
                return Ok(asked.exit());
            }
            () = server.wait_for_requests(written + 1) => {
                for request in server.requests().iter().skip(written) {
                    written += 1;
                    output.talk(&format!("Q{written} {} {} ({} bytes)", request.method(), request.path(), request.body().len()));
                    if let Some(folder) = &args.record {
                        let path = folder.join(format!("Q{written}.json"));
                        std::fs::write(&path, request.body())
                            .with_context(|| format!("{} cannot be written", path.display()))?;
                    }
                }
            }
        }
    }
}

/// Answers prompt hooks for ever: no to a prompt with `DENY` in it, yes to all others.
fn judge() -> Script {
    let no = txt(r#"{"ok":false,"reason":"mock denied"}"#).when_last_message_contains("DENY");
    Script::new([no.times(u32::MAX), txt(r#"{"ok":true}"#).times(u32::MAX)])
}
