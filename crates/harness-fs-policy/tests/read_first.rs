//! A file is read before it is changed, by whoever changes it.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk behind the provider's back")]

mod agent;

use agent::{World, refused};
use harness_fs::{FileSystem, Observed, Owner, WriteDecision, WriteIntent};
use harness_fs_policy::{FsPolicy, FsPolicyConfig};
use harness_kernel::{App, Order};

#[tokio::test]
async fn an_unread_file_is_not_changed_and_the_remedy_works() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    let agent = world.agent("a");
    refused(agent.edit("file", "one", "two").await, "FS_NOT_OBSERVED", "read it first");
    refused(agent.write("file", "two").await, "FS_NOT_OBSERVED", "file has not been read in this session");
    assert_eq!(world.text("ws/file"), "one");
    agent.read("file").await.unwrap();
    agent.edit("file", "one", "two").await.unwrap();
    // What the agent wrote itself counts as read.
    agent.edit("file", "two", "three").await.unwrap();
    agent.write("file", "four").await.unwrap();
    agent.edit("file", "four", "five").await.unwrap();
    agent.write("new", "six").await.unwrap();
    agent.edit("new", "six", "seven").await.unwrap();
    assert_eq!((world.text("ws/file"), world.text("ws/new")), ("five".into(), "seven".into()));
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_file_that_changed_since_is_stale_until_it_is_read_again() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    let agent = world.agent("a");
    agent.read("file").await.unwrap();
    world.plant("ws/file", "two");
    refused(agent.write("file", "x").await, "FS_STALE", "read it again");
    refused(agent.edit("file", "two", "x").await, "FS_STALE", "read it again");
    assert_eq!(world.text("ws/file"), "two");
    agent.read("file").await.unwrap();
    agent.edit("file", "two", "three").await.unwrap();
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn one_owner_does_not_read_for_another() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    let (one, two) = (world.agent("1"), world.agent("2"));
    one.read("file").await.unwrap();
    two.read("file").await.unwrap();
    one.edit("file", "one", "two").await.unwrap();
    refused(two.edit("file", "two", "x").await, "FS_STALE", "read it again");
    refused(world.agent("3").edit("file", "two", "x").await, "FS_NOT_OBSERVED", "read it first");
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_read_through_one_name_counts_for_the_file() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    std::os::unix::fs::symlink("file", world.at("ws/link")).unwrap();
    let agent = world.agent("a");
    agent.read("link").await.unwrap();
    agent.edit("file", "one", "two").await.unwrap();
    agent.edit("./link", "two", "three").await.unwrap();
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn absent_files_are_created_but_never_overwritten() {
    let world = World::with_default_policy().await;
    let agent = world.agent("a");
    refused(agent.read("file").await, "FS_NOT_FOUND", "file does not exist");
    refused(agent.edit("file", "a", "b").await, "FS_NOT_FOUND", "file does not exist");
    world.plant("ws/file", "somebody else's");
    refused(agent.write("file", "x").await, "FS_NOT_OBSERVED", "read it first");
    // Seen once, gone now: there is nothing to lose.
    agent.read("file").await.unwrap();
    std::fs::rename(world.at("ws/file"), world.at("ws/moved")).unwrap();
    refused(agent.edit("file", "a", "b").await, "FS_NOT_FOUND", "file does not exist");
    assert!(agent.write("file", "x").await.unwrap().created);
    refused(agent.write(".", "x").await, "FS_IS_DIRECTORY", "is a directory");
    refused(agent.edit(".", "x", "y").await, "FS_IS_DIRECTORY", "is a directory");
    world.app.shutdown().await.unwrap();
}

/// The file appears between the decision and the write.
#[tokio::test]
async fn a_file_that_appears_meanwhile_is_spared() {
    let world = World::with_default_policy().await;
    let path = world.at("ws/file");
    world.app.ctx().around::<WriteIntent, _>(move |intent, next| {
        std::fs::write(&path, "somebody else's").unwrap();
        next.run(intent)
    });
    refused(world.agent("a").write("file", "x").await, "FS_ALREADY_EXISTS", "read it first");
    assert_eq!(world.text("ws/file"), "somebody else's");
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_was_read_can_be_fed_again() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    world.plant("ws/other", "one");
    let agent = world.agent("a");
    agent.read("file").await.unwrap();
    agent.read("other").await.unwrap();
    let seen = world.policy.observations().export(&agent.owner);
    world.plant("ws/other", "two");

    // A new process, twice: once over the handle, once over the event.
    for by_event in [false, true] {
        let policy = FsPolicy::default();
        let observations = policy.observations();
        let app = App::default().with(harness_fs_local::FsLocal).with(policy).start().await.unwrap();
        let resumed = agent::Agent { app: &app, owner: Owner::new("resumed"), root: world.at("ws") };
        if by_event {
            for (path, seen) in seen.clone() {
                app.ctx().emit(&Observed { owner: resumed.owner.clone(), path, seen });
            }
        } else {
            observations.import(&resumed.owner, seen.clone());
        }
        refused(resumed.edit("other", "two", "x").await, "FS_STALE", "read it again");
        let (old, new) = if by_event { ("two", "one") } else { ("one", "two") };
        if by_event {
            refused(resumed.edit("file", old, new).await, "FS_STALE", "read it again");
        } else {
            resumed.edit("file", old, new).await.unwrap();
        }
        app.shutdown().await.unwrap();
    }
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_rule_can_be_switched_off() {
    let world = World::new(|_| FsPolicyConfig { read_before_edit: false, ..FsPolicyConfig::default() }).await;
    world.plant("ws/file", "one");
    world.agent("a").edit("file", "one", "two").await.unwrap();
    world.agent("a").write("file", "three").await.unwrap();
    refused(world.agent("a").write("../x", "x").await, "FS_OUTSIDE_WORKSPACE", "resolves to");
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn other_policies_are_asked_as_well() {
    let world = World::with_default_policy().await;
    world.app.ctx().around_at::<WriteIntent, _>(Order::Append, |_, _| async {
        Ok(WriteDecision::Deny(harness_fs::Denial::new("frozen")))
    });
    refused(world.agent("a").write("new", "x").await, "FS_DENIED", "frozen");
    refused(world.agent("a").write("../new", "x").await, "FS_OUTSIDE_WORKSPACE", "resolves to");
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn tools_work_without_the_policy_and_after_it_is_removed() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    let agent = world.agent("a");
    refused(agent.edit("file", "one", "two").await, "FS_NOT_OBSERVED", "read it first");
    world.app.remove("fs-policy").await.unwrap();
    assert!(world.app.ctx().service::<dyn FileSystem>().is_some());
    agent.edit("file", "one", "two").await.unwrap();
    agent.write("file", "three").await.unwrap();
    agent.write("../outside", "x").await.unwrap();
    assert_eq!((world.text("ws/file"), world.text("outside")), ("three".into(), "x".into()));
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn observations_survive_a_reload() {
    let world = World::with_default_policy().await;
    world.plant("ws/file", "one");
    let agent = world.agent("a");
    agent.read("file").await.unwrap();
    world.app.reload("fs-local").await.unwrap();
    agent.edit("file", "one", "two").await.unwrap();
    refused(world.agent("b").edit("file", "two", "x").await, "FS_NOT_OBSERVED", "read it first");
    world.app.shutdown().await.unwrap();
}
