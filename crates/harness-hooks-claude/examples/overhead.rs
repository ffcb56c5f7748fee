//! What configured hooks cost a tool call that they do not match: `cargo run --release -p harness-hooks-claude
//! --example overhead`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement"
)]

#[path = "../tests/support/still.rs"]
mod still;

use std::path::Path;
use std::time::Instant;

use harness_agent::AgentPlugin;
use harness_config::Paths;
use harness_hooks_claude::{HooksClaude, HooksConfig, HooksSettings};
use harness_http::HttpConfig;
use harness_kernel::App;
use harness_llm::Block;
use harness_session::{SessionPlugin, Step};
use harness_tools::{CallRequest, Tool, ToolFailure, ToolRun, Tools, ToolsPlugin};
use still::Still;
use tokio_util::sync::CancellationToken;

const CALLS: u32 = 5_000;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    file_path: String,
}
struct Read;
impl Tool for Read {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "read";
    fn description(&self) -> String {
        "Reads nothing.".to_owned()
    }
    async fn run(&self, input: Input, _: ToolRun) -> Result<String, ToolFailure> {
        Ok(input.file_path)
    }
    fn render(&self, output: &String) -> Vec<Block> {
        vec![Block::text(output)]
    }
}

async fn per_call(folder: &Path, enabled: bool) -> f64 {
    let settings = HooksSettings { enabled, ..HooksSettings::default() };
    let environment = vec![("HOME".into(), folder.into())];
    let paths = Paths::under(&folder.join("state"));
    let config =
        HooksConfig { settings, environment, paths, data: folder.join("data"), http: HttpConfig::default() };
    let app = App::default()
        .with(SessionPlugin::default())
        .with(AgentPlugin)
        .with(ToolsPlugin)
        .with(HooksClaude { config })
        .start()
        .await
        .unwrap();
    let tools = app.ctx().service::<Tools>().unwrap();
    tools.register(app.ctx(), Read).unwrap();
    let agent = Still::start(app.ctx(), folder);
    let begun = Instant::now();
    for number in 0..CALLS {
        let request = CallRequest {
            id: format!("c{number}"),
            name: "read".to_owned(),
            arguments: r#"{"file_path":"src/a.rs"}"#.to_owned(),
            session: Some(agent.id()),
            at: Step { turn: 1, step: 1 },
            position: 0,
            cwd: folder.into(),
            parent: None,
            cancel: CancellationToken::new(),
        };
        let sealed = tools.seal(agent.ctx(), request).await;
        let admitted = tools.admit(agent.ctx(), sealed).await;
        let dispatched = tools.dispatch(agent.ctx(), admitted).await;
        let outcome = tools.settle(agent.ctx(), dispatched).await;
        assert!(!outcome.is_error());
    }
    let elapsed = begun.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS);
    agent.dispose().await;
    app.shutdown().await.unwrap();
    elapsed
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let claude = folder.path().join(".claude");
    std::fs::create_dir(&claude).unwrap();
    let group = r#"[{"matcher":"Bash|Write","hooks":[{"type":"command","command":"exit 2"}]},
        {"matcher":"^mcp__.*","hooks":[{"type":"command","command":"exit 2"}]},
        {"hooks":[{"type":"command","command":"exit 2","if":"Edit(*.py)"}]}]"#;
    let text =
        format!(r#"{{"hooks":{{"PreToolUse":{group},"PostToolUse":{group},"PostToolUseFailure":{group}}}}}"#);
    std::fs::write(claude.join("settings.json"), text).unwrap();
    let without = per_call(folder.path(), false).await;
    let with = per_call(folder.path(), true).await;
    if std::env::args().nth(1).as_deref() == Some("--bare") {
        return println!("{:.2}", with - without);
    }
    println!(
        "per tool call: {without:.1} µs without hooks, {with:.1} µs with hooks that do not match: {:+.1} µs",
        with - without
    );
}
