//! Long outputs (H03), in a size that a debug build runs in a moment and in the full size.

#[cfg(test)]
mod workbench;

use workbench::Workbench;

/// Runs the case with this many bytes of filling and checks everything but memory.
#[cfg(test)]
async fn h03(filling: u64) {
    let bench = Workbench::new();
    let command = format!(
        "echo HEAD-MARK; head -c {filling} /dev/zero | tr '\\0' 'x' | fold -w 200; echo TAIL-MARK >&2; exit 3"
    );
    let result = bench.run(&command).await;
    // The last line of the filling has no line break.
    let total = 10 + filling + (filling / 200 - 1) + 10;
    let output = &result.output;
    assert_eq!((result.exit_code, output.total_bytes), (Some(3), total));
    assert!(output.text.starts_with("HEAD-MARK\n") && output.text.ends_with("TAIL-MARK\n"));
    assert_eq!(output.omitted_bytes, total - 32 * 1024);
    let marker = format!("[... {} of {total} bytes omitted ...]\n", output.omitted_bytes);
    assert!(output.text.contains(&marker), "{marker}");
    assert!(output.text.len() <= 32 * 1024 + marker.len() + 1, "{}", output.text.len());
    let spill = output.spill.as_ref().unwrap();
    let file = spill.path.as_ref().unwrap();
    assert!(spill.complete && spill.error.is_none() && file.starts_with(bench.spill.path()));
    assert_eq!((spill.bytes, file.metadata().unwrap().len()), (total, total));
}

#[tokio::test]
async fn h03_huge_output_in_small() {
    h03(2_000_000).await;
}

#[tokio::test]
async fn h03_huge_output_in_full() {
    h03(300_000_000).await;
    #[cfg(target_os = "linux")]
    {
        #[expect(clippy::disallowed_methods, reason = "looks at this process")]
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < 64 * 1024, "peak memory {peak} KiB");
    }
}

#[tokio::test]
async fn ten_kilobytes_are_not_cut() {
    let result = Workbench::new().run("head -c 10240 /dev/zero | tr '\\0' x").await;
    assert_eq!(result.output.text, "x".repeat(10240));
    assert!(!result.output.truncated() && result.output.spill.is_none());
}

#[tokio::test]
async fn a_spill_folder_that_cannot_be_used_is_told_with_its_cause() {
    let blocked = tempfile::NamedTempFile::new().unwrap();
    let bench = Workbench::with(&[], |config| config.spill_directory = blocked.path().join("spill"));
    let result = bench.run("yes | head -c 100000; echo TAIL").await;
    assert!(result.success() && result.output.text.ends_with("TAIL\n"));
    let spill = result.output.spill.unwrap();
    assert!(spill.path.is_none() && !spill.complete);
    let error = spill.error.unwrap();
    assert!(error.contains(blocked.path().to_str().unwrap()) && error.contains(": "), "{error}");
}
