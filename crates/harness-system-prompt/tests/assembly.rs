//! The prompt is the same bytes however it was put together, and belongs to its scope.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use harness_kernel::{App, Ctx, Running};
use harness_llm::ToolSpec;
use harness_system_prompt::{Assemble, AssembleError, Order, Section, SystemPrompt, SystemPromptPlugin};
use serde_json::json;

async fn start() -> (Running, Arc<SystemPrompt>) {
    let app = App::default().with(SystemPromptPlugin::default()).start().await.unwrap();
    let prompt = app.ctx().service::<SystemPrompt>().unwrap();
    (app, prompt)
}
fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({ "type": "object" }),
    }
}
async fn text(prompt: &SystemPrompt, ctx: &Ctx) -> Option<String> {
    prompt.assemble(ctx, Vec::new()).await.unwrap().text().map(|text| text.to_string())
}

fn sections() -> Vec<Section> {
    vec![
        Section::new("project", Order::PROJECT, "Use tabs."),
        Section::new("identity", Order::IDENTITY, "You are a coding agent."),
        Section::new("b-tools", Order::TOOLS, "Prefer edit."),
        Section::new("a-tools", Order::TOOLS, "Read first.\n"),
        Section::new("empty", Order::PERSONA, " \n"),
        Section::new("persona", Order::PERSONA, "Be brief."),
    ]
}

/// All orders of a list.
fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |at: usize| {
        let mut rest = items.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |tail| [vec![first.clone()], tail].concat()).collect::<Vec<_>>()
    };
    (0..items.len()).flat_map(with_first).collect()
}

#[tokio::test]
async fn the_order_of_registration_does_not_change_a_byte() {
    let expected = "You are a coding agent.\n\nBe brief.\n\nRead first.\n\nPrefer edit.\n\nUse tabs.";
    let tools = [tool("write"), tool("bash"), tool("read")];
    for (sections, at) in orders(&sections()).into_iter().zip(0..) {
        let (app, prompt) = start().await;
        for section in sections {
            prompt.section(app.ctx(), section).unwrap();
        }
        let tools = orders(&tools).swap_remove(at % 6);
        let assembly = prompt.assemble(app.ctx(), tools).await.unwrap();
        assert_eq!(assembly.text().as_deref(), Some(expected));
        let names: Vec<&str> = assembly.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["bash", "read", "write"]);
        app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn without_a_word_there_is_no_prompt() {
    let (app, prompt) = start().await;
    assert_eq!(text(&prompt, app.ctx()).await, None);
    prompt.section(app.ctx(), Section::new("empty", Order::PERSONA, "\n")).unwrap();
    assert_eq!(text(&prompt, app.ctx()).await, None);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_scopes_section_takes_the_place_of_an_outer_one() {
    let (app, prompt) = start().await;
    let root = app.ctx();
    let (agent, other) = (root.scope("agent"), root.scope("other"));
    prompt.section(root, Section::new("identity", Order::IDENTITY, "You are an agent.")).unwrap();
    prompt.section(root, Section::new("persona", Order::PERSONA, "Be brief.")).unwrap();
    let plugin = agent.fork("plugin");
    // It brings its own place as well.
    prompt.section(&plugin, Section::new("identity", Order(500), "You are a reviewer.")).unwrap();
    assert_eq!(text(&prompt, &agent).await.unwrap(), "Be brief.\n\nYou are a reviewer.");
    let outer = "You are an agent.\n\nBe brief.";
    assert_eq!(text(&prompt, &other).await.unwrap(), outer);
    assert_eq!(text(&prompt, root).await.unwrap(), outer);
    plugin.dispose().await.unwrap();
    assert_eq!(text(&prompt, &agent).await.unwrap(), outer);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_section_ends_with_its_context_and_its_name_is_free_again() {
    let (app, prompt) = start().await;
    let plugin = app.ctx().fork("plugin");
    prompt.section(&plugin, Section::new("persona", Order::PERSONA, "Be brief.")).unwrap();
    let again = || prompt.section(app.ctx(), Section::new("persona", Order::PERSONA, "Be verbose."));
    let error = again().unwrap_err();
    assert_eq!(error.code(), "prompt-section-already-registered");
    assert_eq!(error.to_string(), "prompt section `persona` is already registered in this scope");
    assert_eq!(text(&prompt, app.ctx()).await.unwrap(), "Be brief.", "the first one stays");
    plugin.dispose().await.unwrap();
    assert_eq!(text(&prompt, app.ctx()).await, None);
    again().unwrap();
    assert_eq!(text(&prompt, app.ctx()).await.unwrap(), "Be verbose.");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_plugin_brings_the_sections_of_the_app_and_brings_them_again_after_a_reload() {
    let sections = vec![Section::new("identity", Order::IDENTITY, "You are an agent.")];
    let app = App::default().with(SystemPromptPlugin { sections }).start().await.unwrap();
    let prompt = app.ctx().service::<SystemPrompt>().unwrap();
    assert_eq!(text(&prompt, app.ctx()).await.unwrap(), "You are an agent.");
    app.reload("system-prompt").await.unwrap();
    let prompt = app.ctx().service::<SystemPrompt>().unwrap();
    assert_eq!(text(&prompt, app.ctx()).await.unwrap(), "You are an agent.");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_listener_may_change_what_goes_in_and_what_comes_out() {
    let (app, prompt) = start().await;
    prompt.section(app.ctx(), Section::new("persona", Order::PERSONA, "Be brief.")).unwrap();
    app.ctx().around::<Assemble, _>(|Assemble(mut assembly), next| async move {
        assembly.tools.retain(|tool| tool.name != "bash");
        let mut assembly = next.run(Assemble(assembly)).await?;
        assembly.sections.push(Section::new("last", Order(0), "Goodbye."));
        Ok(assembly)
    });
    let assembly = prompt.assemble(app.ctx(), vec![tool("bash"), tool("read")]).await.unwrap();
    assert_eq!(assembly.text().as_deref(), Some("Be brief.\n\nGoodbye."));
    assert_eq!(assembly.tools, [tool("read")]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_listener_that_fails_is_an_error_and_never_half_a_prompt() {
    let (app, prompt) = start().await;
    let refuses = app.ctx().around::<Assemble, _>(|_, _| async { Err(AssembleError("no AGENTS.md".into())) });
    let error = prompt.assemble(app.ctx(), Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "the system prompt could not be assembled: no AGENTS.md");
    refuses.dispose();
    for early in [false, true] {
        let explodes = app.ctx().around::<Assemble, _>(move |_, _| {
            assert!(!early, "the listener exploded");
            async { panic!("the listener exploded") }
        });
        let error = prompt.assemble(app.ctx(), Vec::new()).await.unwrap_err();
        assert_eq!(error.code(), "system-prompt-not-assembled");
        assert!(error.to_string().contains("the listener exploded"), "{error}");
        explodes.dispose();
    }
    assert!(prompt.assemble(app.ctx(), Vec::new()).await.is_ok());
    app.shutdown().await.unwrap();
}
