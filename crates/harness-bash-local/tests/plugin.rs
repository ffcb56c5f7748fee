//! The plugin on the kernel.

#[cfg(test)]
mod workbench;

use std::sync::Arc;

use harness_bash::{BashExecutor, RunRequest};
use harness_bash_local::{BashLimits, BashLocal, BashLocalConfig};
use harness_kernel::App;
use tokio_util::sync::CancellationToken;
use workbench::{alive, eventually};

#[tokio::test]
async fn when_the_plugin_goes_its_commands_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let config = BashLocalConfig::new([("PATH".into(), "/usr/bin:/bin".into())], folder.path().join("spill"));
    let app = App::default().with(BashLocal { config }).start().await.unwrap();
    let bash = app.service::<dyn BashExecutor>().unwrap();

    let request = RunRequest::new("echo $$ > new; mv new pid; sleep 300", folder.path());
    let long = tokio::spawn({
        let (bash, request) = (Arc::clone(&bash), request.clone());
        async move { bash.run(request, CancellationToken::new()).await }
    });
    let pid_file = folder.path().join("pid");
    eventually("the command starts", || pid_file.exists()).await;
    let read = RunRequest::new("cat pid", folder.path());
    let pid = bash.run(read, CancellationToken::new()).await.unwrap().output.text;
    assert!(alive(pid.trim()));

    app.shutdown().await.unwrap();
    assert!(!alive(pid.trim()), "the command outlived the plugin");
    assert!(long.await.unwrap().unwrap().cancelled);
    let late = bash.run(request, CancellationToken::new()).await.unwrap_err();
    assert_eq!(late.code(), "BASH_CANCELLED_BEFORE_START");
}

#[tokio::test]
async fn a_senseless_limit_keeps_the_plugin_from_starting() {
    let mut config = BashLocalConfig::new([], "/nowhere");
    config.limits = BashLimits { output_cap_bytes: 1, ..BashLimits::default() };
    let error = App::default().with(BashLocal { config }).start().await.err().unwrap();
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "bash.output_cap_bytes is 1; use at least 1024");
}
