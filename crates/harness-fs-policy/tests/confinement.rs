//! Writes stay in the workspace, by the path that they resolve to.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk behind the provider's back")]

mod agent;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use agent::{World, refused};
use harness_fs_policy::{FsPolicyConfig, Outside};

fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(root).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn arrange(world: &World) {
    world.plant("outside/v.txt", "orig");
    world.plant("ws/in/file", "inside");
    symlink(world.at("outside"), world.at("ws/out")).unwrap();
    symlink("in", world.at("ws/stay")).unwrap();
    symlink("../outside/new", world.at("ws/dangling")).unwrap();
}

/// The ways out are closed for the agent, whatever its working directory is called.
async fn nothing_gets_out(world: &World, agent: &agent::Agent<'_>) {
    let top = fs::canonicalize(world.directory.path()).unwrap();
    let real = |name: &str| format!("resolves to {},", top.join(name).display());
    let before = tree(&world.at("outside"));
    let code = "FS_OUTSIDE_WORKSPACE";
    // The documented read rule: reads are free.
    assert_eq!(agent.read("out/v.txt").await.unwrap().slice.lines[0].text, "orig");
    refused(agent.write("out/new.txt", "x").await, code, &real("outside/new.txt"));
    refused(agent.write("out/v.txt", "x").await, code, &real("outside/v.txt"));
    refused(agent.edit("out/v.txt", "orig", "x").await, code, &real("outside/v.txt"));
    refused(agent.write("dangling", "x").await, code, &real("outside/new"));
    refused(agent.write("../outside/x", "x").await, code, &real("outside/x"));
    refused(agent.write(world.at("outside/x").to_str().unwrap(), "x").await, code, &real("outside/x"));
    // `out/..` is the parent of the directory that the link leads to.
    refused(agent.write("out/../outside/x", "x").await, code, &real("outside/x"));
    let above = top.parent().unwrap().join("outside/x");
    refused(
        agent.write("out/../../outside/x", "x").await,
        code,
        &format!("resolves to {},", above.display()),
    );
    assert!(!above.exists());
    // A sibling whose name starts like the workspace is outside, too.
    refused(agent.write("../ws2/x", "x").await, code, &real("ws2/x"));
    assert_eq!(tree(&world.at("outside")), before);
    assert!(!world.at("ws2").exists());
    // Links that stay inside work.
    agent.read("stay/file").await.unwrap();
    agent.edit("stay/file", "inside", "edited").await.unwrap();
    agent.write("stay/new", "made").await.unwrap();
    assert_eq!((world.text("ws/in/file"), world.text("ws/in/new")), ("edited".into(), "made".into()));
}

#[tokio::test]
async fn links_lead_nowhere_outside() {
    let world = World::with_default_policy().await;
    arrange(&world);
    nothing_gets_out(&world, &world.agent("a")).await;
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_same_holds_in_a_workspace_behind_a_link() {
    let world = World::with_default_policy().await;
    arrange(&world);
    symlink("ws", world.at("linked")).unwrap();
    let mut agent = world.agent("a");
    agent.root = world.at("linked");
    nothing_gets_out(&world, &agent).await;
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_writable_root_is_like_the_workspace() {
    let world = World::new(|top| FsPolicyConfig {
        // Given through a link that does not exist at the start.
        writable_roots: vec![top.join("missing"), top.join("extra")],
        ..FsPolicyConfig::default()
    })
    .await;
    fs::create_dir(world.at("real")).unwrap();
    symlink("real", world.at("extra")).unwrap();
    let agent = world.agent("a");
    agent.write("../real/a", "x").await.unwrap();
    agent.edit("../extra/a", "x", "y").await.unwrap();
    assert_eq!(world.text("real/a"), "y");
    refused(agent.write("../other", "x").await, "FS_OUTSIDE_WORKSPACE", "/real; use a path inside");
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn reads_can_be_confined_and_writes_set_free() {
    let deny = |_: &Path| FsPolicyConfig { read_outside: Outside::Deny, ..FsPolicyConfig::default() };
    let world = World::new(deny).await;
    arrange(&world);
    let agent = world.agent("a");
    refused(agent.read("out/v.txt").await, "FS_OUTSIDE_WORKSPACE", "v.txt may not be read: it resolves to");
    agent.read("stay/file").await.unwrap();
    world.app.shutdown().await.unwrap();

    let free = |_: &Path| FsPolicyConfig { write_outside: Outside::Allow, ..FsPolicyConfig::default() };
    let world = World::new(free).await;
    arrange(&world);
    world.agent("a").write("out/new.txt", "x").await.unwrap();
    assert_eq!(world.text("outside/new.txt"), "x");
    world.app.shutdown().await.unwrap();
}
