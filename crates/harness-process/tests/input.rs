//! Stdin, environment and what else a process is given.

#[cfg(test)]
mod shell;

use harness_process::ProcessSpec;
use shell::{run, sh};

/// More than a pipe holds.
const LARGE: usize = 1_000_000;

#[tokio::test]
async fn a_large_input_is_echoed_while_it_is_written() {
    let outcome = run(sh("cat").stdin(vec![b'x'; LARGE])).await;
    assert_eq!(outcome.stdout.total_bytes(), LARGE as u64);
    assert_eq!((outcome.stdin.written_bytes, outcome.stdin.closed_early), (LARGE as u64, false));
}

#[tokio::test]
async fn an_input_that_nobody_reads_does_not_hold_the_result() {
    let outcome = run(sh("echo done; exit 6").stdin(vec![b'x'; LARGE])).await;
    assert_eq!((outcome.exit_code, outcome.stdout.text().as_str()), (Some(6), "done\n"));
    assert!(outcome.stdin.written_bytes < LARGE as u64);
    assert_eq!(outcome.stdin.total_bytes, LARGE as u64);
}

#[tokio::test]
async fn an_input_closed_by_the_process_is_a_fact() {
    let outcome = run(sh("exec <&-; echo closed; sleep 0.3; echo done").stdin(vec![b'x'; LARGE])).await;
    assert_eq!(outcome.stdout.text(), "closed\ndone\n");
    assert!(outcome.stdin.closed_early);
}

#[tokio::test]
async fn no_input_means_end_of_file() {
    for spec in [sh("cat; echo end"), sh("cat; echo end").stdin("")] {
        assert_eq!(run(spec).await.stdout.text(), "end\n");
    }
}

#[tokio::test]
async fn the_environment_is_exactly_the_given_one() {
    let spec = ProcessSpec::new("env", "/").env([("PATH", "/usr/bin:/bin"), ("A", "1"), ("A", "2")]);
    let text = run(spec).await.stdout.text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=2", "PATH=/usr/bin:/bin"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_leads_its_own_session_without_a_terminal() {
    let text = run(ProcessSpec::new("/bin/cat", "/").args(["/proc/self/stat"])).await.stdout.text();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let (pid, group, session, terminal) = (text.split(' ').next().unwrap(), fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), (pid, pid, "0"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "an open file to be inherited")]
async fn no_file_descriptor_of_this_program_is_inherited() {
    let folder = tempfile::tempdir().unwrap();
    let _open = std::fs::File::create(folder.path().join("held-open")).unwrap();
    let text = run(ProcessSpec::new("/bin/ls", "/").args(["-l", "/proc/self/fd"])).await.stdout.text();
    assert!(text.contains("/dev/null") && text.contains("pipe:["), "{text}");
    assert!(!text.contains("held-open") && !text.contains("eventpoll"), "{text}");
}
