//! The executor keeps the contract of its seam, with bash and with sh.

use std::ffi::OsString;
use std::os::unix::fs::symlink;

use harness_bash::{BashExecutor as _, ShellKind};
use harness_bash_local::{BashLocalConfig, LocalBash};

fn environment(path: &str) -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), path.into())]
}

#[tokio::test]
async fn with_the_shell_of_this_machine() {
    let root = tempfile::tempdir().unwrap();
    let config = BashLocalConfig::new(environment("/usr/local/bin:/usr/bin:/bin"), root.path().join("spill"));
    let bash = LocalBash::new(&config).unwrap();
    let folder = tempfile::tempdir().unwrap();
    harness_bash::contract::check(&bash, folder.path()).await;
}

#[tokio::test]
async fn with_a_posix_shell_under_the_name_of_bash() {
    // The suite itself must not need anything that only GNU Bash has.
    let root = tempfile::tempdir().unwrap();
    symlink("/bin/sh", root.path().join("bash")).unwrap();
    let path = format!("{}:/usr/bin:/bin", root.path().display());
    let bash = LocalBash::new(&BashLocalConfig::new(environment(&path), root.path().join("spill"))).unwrap();
    assert_eq!(bash.describe().shell, ShellKind::Bash);
    let folder = tempfile::tempdir().unwrap();
    harness_bash::contract::check(&bash, folder.path()).await;
}
