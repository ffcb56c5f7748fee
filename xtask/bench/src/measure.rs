//! What one run of a program costs.
//!
//! The kernel tells only of *all* ended children together. So each run has a parent of its own: this program again,
//! which starts the program, waits, and prints what its children cost.
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// First argument of a run as such a parent; then the file for the program's stderr, how often, and the program's own
/// line.
pub(crate) const COMMAND: &str = "measure-child";

/// The cost of one run, or of several one after the other.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// From start to end, in microseconds.
    wall_us: u64,
    /// Processor time of the program and all that it waited for, in microseconds.
    cpu_us: u64,
    /// Largest resident size of any of them, in KiB.
    peak_kib: u64,
    /// Exit code, or -1 for a signal.
    code: i32,
}
impl Sample {
    /// From start to end, in milliseconds.
    pub(crate) fn wall_ms(&self) -> f64 {
        Duration::from_micros(self.wall_us).as_secs_f64() * 1e3
    }
    /// Processor time, in milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        Duration::from_micros(self.cpu_us).as_secs_f64() * 1e3
    }
    /// Largest resident size, in MiB.
    pub(crate) fn peak_mib(&self) -> f64 {
        to_f64(self.peak_kib) / 1024.0
    }
}

/// A count as a number to calculate with.
pub(crate) fn to_f64(count: u64) -> f64 {
    // Counts of this program are far below 2^52.
    #[expect(clippy::cast_precision_loss, reason = "no count comes near the limit")]
    let number = count as f64;
    number
}

/// Runs a prepared command under such a parent; `errors` is where its stderr goes.
pub(crate) fn measure(command: &Command, errors: &Path) -> Result<Sample> {
    measure_repeated(command, errors, 1)
}

/// Runs it so many times under one parent; the sample is the sum.
pub(crate) fn measure_repeated(command: &Command, errors: &Path, times: u32) -> Result<Sample> {
    let mut parent = Command::new(std::env::current_exe().context("this program cannot find itself")?);
    parent
        .arg(COMMAND)
        .arg(errors)
        .arg(times.to_string())
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        parent.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => parent.env(name, value),
            None => parent.env_remove(name),
        };
    }
    let output =
        parent.stderr(Stdio::inherit()).output().context("the measuring parent could not be started")?;
    let sample: Sample = serde_json::from_slice(&output.stdout).context("the measuring parent failed")?;
    if sample.code != 0 {
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        bail!("`{}` ended with {}:\n{}", describe(command), sample.code, said.trim_end());
    }
    Ok(sample)
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The parent's side.
pub(crate) fn as_child(arguments: &[String]) -> ExitCode {
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let [errors, times, program, rest @ ..] = arguments else { bail!("no program to measure") };
    let errors = File::create(errors).context("no place for the program's stderr")?;
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let start = Instant::now();
    let mut code = 0;
    for _ in 0..times.parse::<u32>().context("how often is not a number")? {
        let status = command.status().with_context(|| format!("{program} could not be started"))?;
        code = status.code().unwrap_or(-1);
        if code != 0 {
            break;
        }
    }
    let wall = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = [usage.user_time(), usage.system_time()].map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
    // Linux counts in KiB, macOS in bytes.
    let peak = usage.max_rss() / if cfg!(target_os = "macos") { 1024 } else { 1 };
    let sample = Sample {
        wall_us: wall.as_micros().try_into()?,
        cpu_us: cpu.iter().sum::<i64>().try_into()?,
        peak_kib: peak.try_into()?,
        code,
    };
    println!("{}", serde_json::to_string(&sample)?);
    Ok(())
}
