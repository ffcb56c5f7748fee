//! K3, K14, K15: who runs when, and how the answers fold.
use harness_hooks::{Answer, Decision, HookEvent, HookFile, HookSet, Origin, Profile, Scope, fold};
use serde_json::{Value, json};

use crate::rig::{Rig, bash, command, on, set_of};

/// Two hooks that end only when the other one has started.
fn rendezvous(me: &str, other: &str) -> Value {
    command(&format!(
        "touch start-{me}; for i in $(seq 500); do [ -e start-{other} ] && exec touch met-{me}; sleep 0.01; done; exit 2"
    ))
}

#[tokio::test]
async fn k03_hooks_of_one_event_overlap_in_the_claude_profile() {
    let rig = Rig::new(Profile::Claude);
    let set = on(HookEvent::PreToolUse, &json!([rendezvous("a", "b"), rendezvous("b", "a")]));
    let report = rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(report.outcome.decision, None);
    assert!(rig.path().join("met-a").exists() && rig.path().join("met-b").exists());
}

#[tokio::test]
async fn k03_hooks_run_one_after_another_in_the_native_profile() {
    let rig = Rig::new(Profile::Native);
    let mark = |name: &str| command(&format!("echo start-{name} >> log; sleep 0.05; echo end-{name} >> log"));
    let set = on(HookEvent::PreToolUse, &json!([mark("a"), mark("b")]));
    rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(rig.read("log"), "start-a\nend-a\nstart-b\nend-b\n");
}

#[tokio::test]
async fn k03_a_sibling_runs_although_another_denies_and_each_has_its_own_stdin() {
    for profile in [Profile::Claude, Profile::Native] {
        let rig = Rig::new(profile);
        let hooks = json!([command("cat >/dev/null; echo no >&2; exit 2"), command("cat > seen")]);
        let report = rig.fire(&on(HookEvent::PreToolUse, &hooks), HookEvent::PreToolUse, bash("ls")).await;
        assert_eq!(report.outcome.decision, Some(Decision::Deny));
        let seen: Value = serde_json::from_str(&rig.read("seen")).unwrap();
        assert_eq!(seen["tool_input"]["command"], "ls");
        assert!(rig.read("seen").ends_with('\n'), "`read` needs a line end");
    }
}

#[tokio::test]
async fn k03_the_same_hook_in_several_files_runs_once_and_a_plugins_copy_again() {
    let rig = Rig::new(Profile::Claude);
    let text = json!({ "hooks": { "PreToolUse": [{ "hooks": [command("echo ran >> log")] }] } }).to_string();
    let mut plugin = Origin::of("hooks.json", Scope::Plugin).in_dialect(harness_hooks::Dialect::Claude);
    plugin.plugin_root = Some("/plugin".into());
    let origins =
        [Origin::of("a/settings.json", Scope::User), Origin::of("b/settings.json", Scope::Project), plugin];
    let set = HookSet::merge(origins.map(|origin| HookFile::parse(origin, &text)));
    rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(rig.read("log"), "ran\nran\n");
}

#[tokio::test]
async fn the_answers_fold_in_the_order_of_the_configuration_not_of_the_ends() {
    let rig = Rig::new(Profile::Claude);
    let say = |text: &str| {
        format!(
            "echo '{{\"systemMessage\":\"{text}\",\"hookSpecificOutput\":{{\"updatedInput\":{{\"command\":\"{text}\"}}}}}}'"
        )
    };
    // The first one ends last: it waits for the second one's mark.
    let first = format!("for i in $(seq 500); do [ -e done ] && break; sleep 0.01; done; {}", say("first"));
    let second = format!("{}; touch done", say("second"));
    let set = on(HookEvent::PreToolUse, &json!([command(&first), command(&second)]));
    let report = rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(report.outcome.messages, ["first", "second"]);
    assert_eq!(report.outcome.update_inputs.last().unwrap()["command"], "second");
}

fn answer(decision: Option<Decision>, reason: &str) -> Answer {
    Answer { decision, reason: Some(reason.to_owned()), ..Answer::default() }
}

#[test]
fn k15_deny_before_defer_before_ask_before_allow() {
    let all = [
        answer(Some(Decision::Allow), "a"),
        answer(Some(Decision::Ask), "b"),
        answer(Some(Decision::Deny), "c"),
        answer(None, "nobody asked"),
        answer(Some(Decision::Deny), "d"),
    ];
    let denied = fold(HookEvent::PreToolUse, Profile::Claude, &all);
    assert_eq!((denied.decision, denied.reason.as_deref()), (Some(Decision::Deny), Some("c\n\nd")));
    let asked = fold(HookEvent::PreToolUse, Profile::Claude, &all[..2]);
    assert_eq!((asked.decision, asked.reason.as_deref()), (Some(Decision::Ask), Some("b")));
    let deferred = [answer(Some(Decision::Ask), "b"), answer(Some(Decision::Defer), "e")];
    assert_eq!(fold(HookEvent::PreToolUse, Profile::Claude, &deferred).decision, Some(Decision::Defer));
}

#[test]
fn a_refusal_of_what_has_happened_is_kept_as_feedback() {
    let outcome =
        fold(HookEvent::PostToolUse, Profile::Claude, &[answer(Some(Decision::Deny), "look again")]);
    assert_eq!((outcome.decision, outcome.downgraded), (None, true));
    assert_eq!(
        (outcome.raw_decision, outcome.raw_reason.as_deref()),
        (Some(Decision::Deny), Some("look again"))
    );
}

#[tokio::test]
async fn k14_continue_false_halts_on_each_event_and_beats_allow() {
    for event in [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::UserPromptSubmit, HookEvent::Stop]
    {
        let rig = Rig::new(Profile::Claude);
        let hooks = json!([
            command(r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#),
            command(r#"echo '{"continue":false,"stopReason":"enough"}'"#),
            command(r#"echo '{"continue":false,"stopReason":"later"}'"#)
        ]);
        let report = rig.fire(&on(event, &hooks), event, bash("ls")).await;
        assert_eq!((report.outcome.stop, report.outcome.stop_reason.as_deref()), (true, Some("enough")));
    }
}

#[tokio::test]
async fn the_native_contract_reads_matchers_as_names() {
    for (profile, runs) in [(Profile::Claude, 1), (Profile::Native, 0)] {
        let rig = Rig::new(profile);
        let set = set_of(&json!({ "PreToolUse": [{ "matcher": "Ba.*", "hooks": [command("true")] }] }));
        assert_eq!(rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await.runs.len(), runs);
    }
}
