//! Three hundred megabytes of output in constant memory (H03). Alone in its file: it measures its own process.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests use files")]

#[cfg(test)]
mod shell;

use harness_process::{OutputLimits, SpillPolicy};
use shell::{run, sh};

#[tokio::test]
async fn three_hundred_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo HEAD-MARK; head -c 300000000 /dev/zero | tr '\\0' 'x' | fold -w 200; echo TAIL-MARK >&2; exit 3";
    let mut spec = sh(script).merge_stderr();
    spec.spill = Some(SpillPolicy::new(folder.path()));
    let peak_memory_kib = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let before = peak_memory_kib();
    let outcome = run(spec).await;
    let grown = peak_memory_kib() - before;

    // 200 characters a line; the last line has no line break, so TAIL-MARK follows it directly.
    let expected = 10 + 300_000_000 + (300_000_000 / 200 - 1) + 10;
    let text = outcome.stdout.text();
    assert_eq!(outcome.exit_code, Some(3));
    assert_eq!(outcome.stdout.total_bytes(), expected);
    assert!(text.starts_with("HEAD-MARK\n") && text.ends_with("TAIL-MARK\n"));
    assert!(text.len() <= OutputLimits::default().cap() + 100);
    let spill = outcome.stdout.spill.unwrap();
    assert!(spill.complete);
    assert_eq!((spill.bytes, spill.path.unwrap().metadata().unwrap().len()), (expected, expected));
    assert!(grown < 8 * 1024, "grew by {grown} KiB");
}
