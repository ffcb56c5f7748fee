//! Figures of one streamed answer.
use anyhow::Result;

use crate::measure::to_f64;
use crate::options::{Durability, Options};
use crate::program::{Place, Program, bytes_below};
use crate::run::{interleaved, once};
use crate::script::{Script, WORD_BYTES};
use crate::stats::median;
use crate::table::{Limit, Row};

/// Chunks of the long answer.
const CHUNKS: usize = 20_000;

/// Start, one short answer, end.
pub(super) fn one_shot(options: &Options) -> Result<Vec<Row>> {
    let runs = interleaved(options, Script::Words(10), options.runs)?;
    let wall = runs.medians(|run| run.sample.wall_ms());
    let cpu = runs.medians(|run| run.sample.cpu_ms());
    let peak = runs.medians(|run| run.sample.peak_mib());
    Ok(vec![
        Row {
            figure: "one-shot answer".into(),
            ours: wall.ours,
            floor: Some(wall.floor),
            unit: "ms",
            limit: Limit::TimesFloor(3.0),
        },
        Row {
            figure: "one-shot answer, CPU".into(),
            ours: cpu.ours,
            floor: Some(cpu.floor),
            unit: "ms",
            limit: Limit::None,
        },
        Row {
            figure: "peak memory, one-shot".into(),
            ours: peak.ours,
            floor: Some(peak.floor),
            unit: "MiB",
            limit: Limit::AtMost(20.0),
        },
    ])
}

/// What a chunk costs, and what its text takes on disk.
pub(super) fn chunks(options: &Options) -> Result<Vec<Row>> {
    let times = options.long_runs(2);
    let long = interleaved(options, Script::Words(CHUNKS), times)?.medians(|run| run.sample.cpu_ms());
    let short = interleaved(options, Script::Words(1), times)?.medians(|run| run.sample.cpu_ms());
    let each = |long: f64, short: f64| (long - short) * 1e3 / to_f64(CHUNKS as u64 - 1);
    let bytes = |figure: &str, place: fn(Durability) -> Result<Place>, limit| -> Result<Row> {
        let figure = format!("{figure} per byte of text, 20k chunks");
        let ours = stored(options, place)?;
        Ok(Row { figure, ours, floor: None, unit: "", limit: Limit::AtMost(limit) })
    };
    Ok(vec![
        Row {
            figure: "CPU per streamed chunk, persisted".into(),
            ours: each(long.ours, short.ours),
            floor: Some(each(long.floor, short.floor)),
            unit: "us",
            limit: Limit::TimesFloor(4.0),
        },
        bytes("stored bytes", Place::new, 1.8)?,
        bytes("stored bytes, compressed,", Place::compressing, 0.5)?,
    ])
}

/// Bytes on disk for each byte of a long answer.
fn stored(options: &Options, place: fn(Durability) -> Result<Place>) -> Result<f64> {
    let bytes = |chunks| -> Result<f64> {
        let place = place(options.durability)?;
        let before = bytes_below(&place.home())?;
        once(options, Program::Ours, &place, Script::Words(chunks), &[])?;
        Ok(to_f64(bytes_below(&place.home())? - before))
    };
    let mut stored = Vec::new();
    for _ in 0..3 {
        stored.push((bytes(CHUNKS)? - bytes(1)?) / to_f64(((CHUNKS - 1) * WORD_BYTES) as u64));
    }
    Ok(median(&stored))
}
