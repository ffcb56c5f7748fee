//! Which tool a name means, by scope.
use harness_llm::Block;
use harness_tools::{CallRequest, RegisterError, Restriction, Tool, ToolFailure, ToolRun};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fixture::{Journal, Output, Probe, Rig, code, run, shown};

#[derive(Deserialize, JsonSchema)]
struct Anything {}

macro_rules! named {
    ($type:ident, $name:expr) => {
        struct $type;
        impl Tool for $type {
            type Input = Anything;
            type Output = ();
            const NAME: &'static str = $name;
            fn description(&self) -> String {
                String::new()
            }
            async fn run(&self, _: Anything, _: ToolRun) -> Result<(), ToolFailure> {
                Ok(())
            }
            fn render(&self, (): &()) -> Vec<Block> {
                vec![Block::text($name)]
            }
        }
    };
}
named!(Alpha, "alpha");
named!(Zulu, "zulu");
named!(Spaced, "has space");
named!(Empty, "");
named!(Long, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm");

fn names(rig: &Rig, ctx: &harness_kernel::Ctx) -> Vec<String> {
    rig.tools.specs(ctx).into_iter().map(|spec| spec.name).collect()
}

fn saying(journal: &Journal, what: &'static str) -> Probe {
    Probe::acting(journal, move |_, _| async move { Ok(Output { text: what.to_owned() }) })
}

#[tokio::test]
async fn specs_are_sorted_whatever_the_order_of_registration() {
    let rig = Rig::bare().await;
    rig.tools.register(&rig.agent, Zulu).unwrap();
    rig.tools.register(rig.app.ctx(), Probe::echo(&rig.journal)).unwrap();
    rig.tools.register(&rig.agent, Alpha).unwrap();
    assert_eq!(names(&rig, &rig.agent), ["alpha", "probe", "zulu"]);
    assert_eq!(names(&rig, rig.app.ctx()), ["probe"]);
    rig.end().await;
}

#[tokio::test]
async fn a_name_must_be_legal_and_new() {
    let rig = Rig::new().await;
    let root = rig.app.ctx();
    for result in
        [rig.tools.register(root, Spaced), rig.tools.register(root, Empty), rig.tools.register(root, Long)]
    {
        let error = result.unwrap_err();
        assert_eq!(error.code(), "tool-name-illegal", "{error}");
    }
    let again = rig.tools.register(root, Probe::echo(&rig.journal)).unwrap_err();
    assert_eq!(again, RegisterError::Duplicate("probe".to_owned()));
    assert_eq!(again.code(), "tool-already-registered");
    assert_eq!(names(&rig, root), ["probe"]);
    rig.end().await;
}

#[tokio::test]
async fn a_scopes_own_tool_takes_the_place_of_an_outer_one() {
    let rig = Rig::with(|journal| saying(journal, "outer")).await;
    let other = rig.app.ctx().scope("other");
    let plugin = rig.agent.fork("plugin");
    rig.tools.register(&plugin, saying(&rig.journal, "inner")).unwrap();
    assert_eq!(shown(&rig.call("a").await), "shown inner");
    assert_eq!(names(&rig, &rig.agent), ["probe"]);
    let elsewhere = run(&rig.tools, &other, rig.request(r#"{"text":"a"}"#)).await;
    assert_eq!(shown(&elsewhere), "shown outer");
    plugin.dispose().await.unwrap();
    assert_eq!(shown(&rig.call("a").await), "shown outer");
    rig.end().await;
}

#[tokio::test]
async fn a_tool_ends_with_its_context_and_its_name_is_free_again() {
    let rig = Rig::bare().await;
    let plugin = rig.app.ctx().fork("plugin");
    rig.tools.register(&plugin, Probe::echo(&rig.journal)).unwrap();
    assert_eq!(code(&rig.call("a").await), "ok");
    plugin.dispose().await.unwrap();
    assert_eq!(code(&rig.call("a").await), "UNKNOWN_TOOL");
    assert!(names(&rig, &rig.agent).is_empty());
    rig.tools.register(rig.app.ctx(), Probe::echo(&rig.journal)).unwrap();
    assert_eq!(code(&rig.call("a").await), "ok");
    rig.end().await;
}

#[tokio::test]
async fn a_restriction_hides_what_is_inherited_and_nothing_else() {
    let rig = Rig::new().await;
    rig.tools.register(rig.app.ctx(), Alpha).unwrap();
    rig.tools.register(&rig.agent, Zulu).unwrap();
    let plugin = rig.agent.fork("plugin");
    rig.tools.restrict(&plugin, Restriction { allow: Some(vec!["alpha".to_owned()]), deny: Vec::new() });
    assert_eq!(names(&rig, &rig.agent), ["alpha", "zulu"], "its own tool is not filtered");
    let hidden = rig.call("a").await;
    assert_eq!((code(&hidden).as_str(), rig.journal.count("body")), ("UNKNOWN_TOOL", 0));
    assert_eq!(
        shown(&hidden),
        "Error: there is no tool `probe`",
        "a hidden tool cannot be told from an absent one"
    );
    assert_eq!(names(&rig, rig.app.ctx()), ["alpha", "probe"]);
    let own = CallRequest { name: "zulu".to_owned(), ..rig.request("{}") };
    assert_eq!(code(&rig.run(own).await), "ok");
    plugin.dispose().await.unwrap();
    assert_eq!(code(&rig.call("a").await), "ok");
    rig.end().await;
}

#[tokio::test]
async fn restrictions_intersect_along_the_chain() {
    let rig = Rig::new().await;
    rig.tools.register(rig.app.ctx(), Alpha).unwrap();
    rig.tools.register(rig.app.ctx(), Zulu).unwrap();
    let child = rig.agent.scope("child");
    rig.tools.restrict(&rig.agent, Restriction { allow: None, deny: vec!["zulu".to_owned()] });
    let wants = vec!["zulu".to_owned(), "alpha".to_owned()];
    rig.tools.restrict(&child, Restriction { allow: Some(wants), deny: Vec::new() });
    assert_eq!(names(&rig, &child), ["alpha"], "a child cannot allow what its parent hides");
    assert_eq!(names(&rig, &rig.agent), ["alpha", "probe"]);
    rig.tools.register(&child, Zulu).unwrap();
    assert_eq!(names(&rig, &child), ["alpha", "zulu"], "unless it brings its own");
    rig.end().await;
}
