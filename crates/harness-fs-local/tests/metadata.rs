//! What surrounds the bytes of a file: links, mode, owner, attributes, names in the directory.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk behind the provider's back")]

mod sandbox;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use harness_fs::contract::Fixture;
use sandbox::Sandbox;

fn mode(path: &std::path::Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn link_and_mode_survive_an_edit_and_a_write() {
    let sandbox = Sandbox::default();
    sandbox.plant("real/run.sh", b"echo one\n").await;
    fs::set_permissions(sandbox.at("real/run.sh"), Permissions::from_mode(0o750)).unwrap();
    symlink("real/run.sh", sandbox.at("link.sh")).unwrap();
    sandbox.edit("link.sh", "one", "two").await.unwrap();
    assert_eq!(fs::read_to_string(sandbox.at("real/run.sh")).unwrap(), "echo two\n");
    sandbox.write("link.sh", "echo three\n").await.unwrap();
    assert_eq!(fs::read_to_string(sandbox.at("real/run.sh")).unwrap(), "echo three\n");
    assert!(fs::symlink_metadata(sandbox.at("link.sh")).unwrap().is_symlink());
    assert_eq!(mode(&sandbox.at("real/run.sh")), 0o750);
    assert_eq!(sandbox.names(), ["link.sh", "real", "run.sh"]);
}

#[tokio::test]
async fn both_names_of_a_hard_link_show_the_new_bytes() {
    let sandbox = Sandbox::default();
    sandbox.plant("h0", b"a longer old text\n").await;
    fs::hard_link(sandbox.at("h0"), sandbox.at("hl")).unwrap();
    fs::set_permissions(sandbox.at("h0"), Permissions::from_mode(0o640)).unwrap();
    let inode = fs::metadata(sandbox.at("h0")).unwrap().ino();
    for (name, content) in [("hl", "short"), ("h0", "and a much longer one again\n")] {
        let outcome = sandbox.write(name, content).await.unwrap();
        let stat = sandbox.files().stat(&sandbox.path(name).await).await.unwrap();
        assert_eq!((outcome.version, outcome.created), (stat.version, false));
        for name in ["h0", "hl"] {
            assert_eq!(fs::read_to_string(sandbox.at(name)).unwrap(), content);
            assert_eq!(fs::metadata(sandbox.at(name)).unwrap().ino(), inode);
        }
    }
    sandbox.edit("hl", "longer", "shorter").await.unwrap();
    assert_eq!(fs::read_to_string(sandbox.at("h0")).unwrap(), "and a much shorter one again\n");
    assert_eq!((mode(&sandbox.at("h0")), sandbox.names()), (0o640, vec!["h0".into(), "hl".into()]));
}

#[tokio::test]
async fn a_replaced_file_is_a_new_inode() {
    // What makes the write atomic: whoever has the old file open goes on reading the old bytes.
    let sandbox = Sandbox::default();
    sandbox.plant("file", b"old").await;
    let mut old = fs::File::open(sandbox.at("file")).unwrap();
    sandbox.write("file", "new").await.unwrap();
    let mut bytes = String::new();
    std::io::Read::read_to_string(&mut old, &mut bytes).unwrap();
    assert_eq!((bytes.as_str(), fs::read_to_string(sandbox.at("file")).unwrap().as_str()), ("old", "new"));
}

#[tokio::test]
async fn owner_and_special_bits_are_kept_when_that_is_possible() {
    let sandbox = Sandbox::default();
    sandbox.plant("file", b"one").await;
    if chown(sandbox.at("file"), Some(65_534), Some(65_534)).is_err() {
        eprintln!("skipped: only root can give files away");
        return;
    }
    fs::set_permissions(sandbox.at("file"), Permissions::from_mode(0o6751)).unwrap();
    sandbox.edit("file", "one", "two").await.unwrap();
    let metadata = fs::metadata(sandbox.at("file")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), mode(&sandbox.at("file"))), (65_534, 65_534, 0o6751));
}

#[tokio::test]
async fn user_attributes_are_kept() {
    let sandbox = Sandbox::default();
    sandbox.plant("file", b"one").await;
    let name = "user.harness";
    let flags = rustix::fs::XattrFlags::empty();
    if let Err(error) = rustix::fs::setxattr(sandbox.at("file"), name, &vec![7; 1_000], flags) {
        eprintln!("skipped: this file system keeps no attributes: {error}");
        return;
    }
    sandbox.edit("file", "one", "two").await.unwrap();
    let mut value = vec![0; 2_000];
    assert_eq!(rustix::fs::getxattr(sandbox.at("file"), name, &mut value[..]).unwrap(), 1_000);
    assert_eq!(value[999], 7);
}

#[tokio::test]
async fn a_refused_change_leaves_no_name_behind() {
    let sandbox = Sandbox::default();
    sandbox.plant("dir/file", b"one").await;
    sandbox.edit("dir/file", "absent", "x").await.unwrap_err();
    sandbox.write("dir", "x").await.unwrap_err();
    assert_eq!(sandbox.names(), ["dir", "file"]);
}
