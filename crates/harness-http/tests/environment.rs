//! Proxies from the environment. The variables are read when a client is built, so each case runs
//! in a process of its own: this test program again, with one test selected.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::disallowed_methods, reason = "starts itself with other variables")]

mod support;

use std::collections::BTreeMap;
use std::process::Command;

use harness_http::{HttpConfig, client};
use support::{Ending, serve};

const TARGET: &str = "HARNESS_HTTP_TEST_TARGET";
const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The other process: sends one request to the target and fails unless the answer is 200.
#[tokio::test]
#[ignore = "started by the other tests with proxy variables"]
async fn request_the_target() {
    let Ok(target) = std::env::var(TARGET) else { return };
    let response = client(&HttpConfig::default()).unwrap().get(target).send().await.unwrap();
    assert_eq!(response.status(), 200);
}

/// Runs the request with these variables and no other proxy variable; true if it was answered.
async fn request(variables: BTreeMap<&'static str, String>) -> bool {
    let child = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        command.args(["--exact", "request_the_target", "--ignored"]).envs(variables).output().unwrap()
    });
    let output = child.await.unwrap();
    String::from_utf8_lossy(&output.stdout).contains("1 passed")
}

#[tokio::test]
async fn a_loopback_target_ignores_the_proxy_variables() {
    let (proxy, mut proxied) = serve(vec![(REPLY.into(), Ending::Close)]).await;
    let (target, mut direct) = serve(vec![(REPLY.into(), Ending::Close)]).await;
    let proxy = format!("http://{proxy}");
    let variables = [
        ("HTTP_PROXY", proxy.clone()),
        ("http_proxy", proxy.clone()),
        ("ALL_PROXY", proxy),
        (TARGET, format!("http://{target}/straight")),
    ];
    assert!(request(variables.into()).await);
    assert!(direct.try_recv().unwrap().starts_with("GET /straight HTTP/1.1"));
    assert!(proxied.try_recv().is_err(), "the request went through the proxy");
}

#[tokio::test]
async fn another_target_goes_through_the_proxy_with_its_credentials() {
    let (proxy, mut proxied) = serve(vec![(REPLY.into(), Ending::Close)]).await;
    let variables =
        [("HTTP_PROXY", format!("http://me:pass@{proxy}")), (TARGET, "http://model.test/through".into())];
    assert!(request(variables.into()).await);
    let head = proxied.try_recv().unwrap();
    assert!(head.starts_with("GET http://model.test/through HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("proxy-authorization: basic bwu6cgfzcw=="), "{head}");
}

#[tokio::test]
async fn the_bypass_list_of_the_environment_holds() {
    let (proxy, mut proxied) = serve(vec![(REPLY.into(), Ending::Close)]).await;
    let variables = [
        ("HTTP_PROXY", format!("http://{proxy}")),
        ("NO_PROXY", "model.test".into()),
        (TARGET, "http://model.test/".into()),
    ];
    assert!(!request(variables.into()).await, "model.test cannot be reached directly");
    assert!(proxied.try_recv().is_err(), "the request went through the proxy");
}
