//! What a command sees of the program's environment.

#[cfg(test)]
mod workbench;

use secrecy::SecretString;
use workbench::Workbench;

#[tokio::test]
async fn no_key_reaches_a_command() {
    const KEY: &str = "sk-very-secret-value";
    let environment = [
        ("OPENAI_API_KEY", KEY),
        ("UNSUSPICIOUS", KEY),
        ("QUIRKY_PROVIDER", "another"),
        ("HARNESS_HOME", "/home/x"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("EDITOR", "vi"),
        ("TERM", "xterm-256color"),
    ];
    let bench = Workbench::with(&environment, |config| {
        config.secret_values = vec![SecretString::from(KEY)];
        config.secret_names = vec!["QUIRKY_PROVIDER".into()];
    });
    let text = bench.run("/usr/bin/env").await.output.text;
    for hidden in [KEY, "OPENAI_API_KEY", "UNSUSPICIOUS", "QUIRKY_PROVIDER", "HARNESS_", "xterm"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    for shown in [
        "SSH_AUTH_SOCK=/run/agent\n",
        "EDITOR=vi\n",
        "TERM=dumb\n",
        "NO_COLOR=1\n",
        "GIT_TERMINAL_PROMPT=0\n",
    ] {
        assert!(text.contains(shown), "{shown} not in {text}");
    }
}

#[tokio::test]
async fn no_start_up_file_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("start-up");
    let prepare = Workbench::new();
    prepare.run(&format!("echo 'echo started up; export DEPLOY_KEY=back' > {}", file.display())).await;
    let file = file.to_str().unwrap();
    let bench = Workbench::with(&[("BASH_ENV", file), ("ENV", file)], |_| {});
    assert_eq!(bench.run("echo \"[$DEPLOY_KEY]\"").await.output.text, "[]\n");
}
