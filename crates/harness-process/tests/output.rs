//! Collected, spilled and live output.
#![expect(clippy::disallowed_methods, reason = "tests use files")]

#[cfg(test)]
mod shell;

use std::os::unix::fs::PermissionsExt as _;

use harness_process::{OutputLimits, OutputStream, SpillPolicy};
use shell::{run, sh};
use tokio::sync::mpsc;

#[tokio::test]
async fn merged_streams_keep_the_order_in_which_they_were_written() {
    let script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let outcome = run(sh(script).merge_stderr()).await;
    let expected = (0..200).map(|i| format!("out {i}\nerr {i}\n")).collect::<Vec<_>>().concat();
    assert_eq!(outcome.stdout.text(), expected);
    assert!(outcome.stderr.is_none() && outcome.stdout.ended);
}

#[tokio::test]
async fn separate_streams_do_not_block_each_other() {
    // Each is longer than a pipe, written one after the other.
    let outcome = run(sh("head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; exit 4")).await;
    assert_eq!(outcome.exit_code, Some(4));
    assert_eq!(outcome.stdout.total_bytes(), 200_000);
    assert_eq!(outcome.stderr.unwrap().total_bytes(), 300_000);
}

#[tokio::test]
async fn ten_kilobytes_are_not_cut_and_not_spilled() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = sh("head -c 10240 /dev/zero | tr '\\0' x");
    spec.spill = Some(SpillPolicy::new(folder.path()));
    let outcome = run(spec).await;
    assert_eq!(outcome.stdout.text(), "x".repeat(10240));
    assert!(!outcome.stdout.truncated() && outcome.stdout.spill.is_none());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn a_long_output_keeps_both_ends_in_memory_and_everything_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = sh("echo HEAD; yes 0123456789 | head -n 300000; echo TAIL >&2; exit 3").merge_stderr();
    spec.spill = Some(SpillPolicy::new(folder.path().join("spill")));
    let outcome = run(spec).await;
    let expected = format!("HEAD\n{}TAIL\n", "0123456789\n".repeat(300_000));
    let output = &outcome.stdout;
    assert_eq!(outcome.exit_code, Some(3));
    assert_eq!(output.total_bytes(), expected.len() as u64);
    assert!(output.text().starts_with("HEAD\n0123456789\n") && output.text().ends_with("0123456789\nTAIL\n"));
    let omitted = expected.len() - OutputLimits::default().cap();
    let marker = format!("[... {omitted} of {} bytes omitted ...]\n", expected.len());
    assert!(output.text().contains(&marker), "{marker}");

    let spill = output.spill.as_ref().unwrap();
    let path = spill.path.as_ref().unwrap();
    assert!(spill.complete && spill.error.is_none());
    assert!(std::fs::read_to_string(path).unwrap() == expected, "the file differs from the output");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_spill_that_fails_is_reported_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("a file, not a folder");
    std::fs::write(&blocked, "").unwrap();
    let mut spec = sh("yes 0123456789 | head -n 100000; echo TAIL");
    spec.spill = Some(SpillPolicy::new(&blocked));
    let outcome = run(spec).await;
    let spill = outcome.stdout.spill.as_ref().unwrap();
    assert!(outcome.success() && outcome.stdout.text().ends_with("TAIL\n"));
    assert!(spill.path.is_none() && !spill.complete);
    assert_eq!(spill.error.as_ref().unwrap().code(), "SPILL_FAILED");
}

#[tokio::test]
async fn a_megabyte_of_multi_byte_text_is_never_cut_inside_a_character() {
    // The reads and both caps fall anywhere inside the three bytes of each character.
    for cap in [4096, 4097, 4098] {
        let mut spec = sh("yes '€€€€€€€€€€' | tr -d '\\n' | head -c 1048575");
        spec.limits = OutputLimits::with_cap(cap);
        let outcome = run(spec).await;
        let text = outcome.stdout.text();
        assert_eq!(outcome.stdout.total_bytes(), 1_048_575);
        assert!(!text.contains('\u{fffd}'), "{text}");
        let shown = text.chars().filter(|character| *character == '€').count() * 3;
        assert!(
            text.contains(&format!("[... {} of 1048575 bytes omitted ...]", 1_048_575 - shown)),
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_observer_gets_every_chunk_with_its_stream() {
    let (live, mut chunks) = mpsc::channel(64);
    let mut spec = sh("echo one; echo two >&2");
    spec.live = Some(live);
    run(spec).await;
    let mut seen = (Vec::new(), Vec::new());
    while let Ok(chunk) = chunks.try_recv() {
        assert_eq!(chunk.missed_bytes, 0);
        match chunk.stream {
            OutputStream::Stdout => seen.0.extend(chunk.bytes),
            OutputStream::Stderr => seen.1.extend(chunk.bytes),
            OutputStream::Merged => panic!("nothing was merged"),
        }
    }
    assert_eq!(seen, (b"one\n".to_vec(), b"two\n".to_vec()));
}

#[tokio::test]
async fn an_observer_that_never_reads_does_not_slow_the_run() {
    let (live, _kept_but_never_read) = mpsc::channel(1);
    let mut spec = sh("head -c 3000000 /dev/zero");
    spec.live = Some(live);
    assert_eq!(run(spec).await.stdout.total_bytes(), 3_000_000);
}
