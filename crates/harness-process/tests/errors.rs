//! Each failure to run names what is wrong and what to do.
#![expect(clippy::disallowed_methods, reason = "tests use files")]

#[cfg(test)]
mod shell;

use std::os::unix::fs::PermissionsExt as _;

use harness_process::ProcessSpec;
use shell::{failure, sh};

#[tokio::test]
async fn a_missing_working_directory_is_named_and_works_again_once_recreated() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().join("a/b");
    let mut spec = sh("pwd");
    spec.cwd = cwd.clone();
    let error = failure(spec.clone()).await;
    assert_eq!(error.code(), "PROCESS_CWD_MISSING");
    let expected = format!("working directory {} does not exist; recreate it or pass another", cwd.display());
    assert_eq!(error.to_string(), expected);

    std::fs::create_dir_all(&cwd).unwrap();
    assert!(shell::run(spec).await.success());
}

#[tokio::test]
async fn a_working_directory_that_is_a_file_is_not_a_missing_program() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut spec = sh("pwd");
    spec.cwd = file.path().to_owned();
    assert_eq!(failure(spec).await.code(), "PROCESS_CWD_UNUSABLE");
}

#[tokio::test]
async fn a_missing_program_is_named() {
    for name in ["no-such-program", "/no/such/program"] {
        let error = failure(ProcessSpec::new(name, "/").env([("PATH", "/usr/bin:/bin")])).await;
        assert_eq!(error.code(), "PROCESS_PROGRAM_NOT_FOUND");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_program_is_told_from_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    assert_eq!(failure(ProcessSpec::new(&file, "/")).await.code(), "PROCESS_PROGRAM_NOT_EXECUTABLE");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(failure(ProcessSpec::new(&file, "/")).await.code(), "PROCESS_PROGRAM_NOT_EXECUTABLE");
}

#[tokio::test]
async fn arguments_too_long_for_the_system_are_told() {
    let error = failure(sh(&"x".repeat(10_000_000))).await;
    assert_eq!(error.code(), "PROCESS_ARGUMENTS_TOO_LONG");
    assert!(error.to_string().contains("10000002 bytes"), "{error}");
}

#[tokio::test]
async fn a_nul_byte_is_located() {
    assert!(failure(sh("echo \0")).await.to_string().contains("arguments"));
    assert!(failure(sh("env").env([("A", "\0")])).await.to_string().contains("environment"));
}
