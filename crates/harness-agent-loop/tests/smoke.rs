//! The loop's plain path, seen in the log.
mod rig;

use harness_llm::{Block, Message};
use harness_tools::{Tool, ToolFailure, ToolRun};
use rig::{Rig, calls, text};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    text: String,
}
struct Echo;
impl Tool for Echo {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "echo";
    fn description(&self) -> String {
        "Repeats.".into()
    }
    async fn run(&self, input: Input, _run: ToolRun) -> Result<String, ToolFailure> {
        Ok(input.text)
    }
    fn render(&self, output: &String) -> Vec<Block> {
        vec![Block::text(output)]
    }
}

#[tokio::test]
async fn one_tool_then_an_answer() {
    let replies = [calls(&[("c1", "echo", r#"{"text":"hi"}"#)]), text("done")];
    let rig = Rig::with(replies, |ctx, tools| tools.register(ctx, Echo).unwrap()).await;
    rig.agent.followup(Message::user("go")).unwrap();
    rig.agent.when_idle().await;
    assert_eq!(
        rig.log(),
        [
            "agent/inbox/spliced",
            "turn/start",
            "agent/inbox/spliced",
            "step/start",
            "user/message go",
            "request/header",
            "request/context",
            "assistant/chunks",
            "assistant/message c1",
            "tool/call c1",
            "tool/result c1 ok",
            "step/end",
            "step/start",
            "assistant/chunks",
            "assistant/message done",
            "step/end",
            "turn/end completed",
        ]
    );
    assert_eq!(rig.script.requests()[1].messages.len(), 3);
    rig.app.shutdown().await.unwrap();
}
