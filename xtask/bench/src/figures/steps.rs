//! Figures of many tool steps.
use std::process::Command;

use anyhow::Result;

use crate::measure::{Sample, measure, to_f64};
use crate::options::Options;
use crate::program::{Place, Program, copy_folder};
use crate::run::{interleaved, once};
use crate::script::Script;
use crate::stats::{flatness, median};
use crate::table::{Limit, Row};

const HUNDRED: usize = 100;
const FIVE_HUNDRED: usize = 500;

/// What a step costs beyond its shell.
pub(super) fn hundred(options: &Options) -> Result<Vec<Row>> {
    let times = options.long_runs(2);
    let shell = shell(options)?;
    let many = interleaved(options, Script::Steps(HUNDRED), times)?;
    let one = interleaved(options, Script::Steps(1), times)?;
    let row = |figure: &str, value: fn(&Sample) -> f64, limit| {
        let (many, one) = (many.medians(|run| value(&run.sample)), one.medians(|run| value(&run.sample)));
        let shell = median(&shell.iter().map(value).collect::<Vec<_>>());
        let each = |many: f64, one: f64| (many - one) / to_f64(HUNDRED as u64 - 1) - shell;
        Row {
            figure: figure.into(),
            ours: each(many.ours, one.ours),
            floor: Some(each(many.floor, one.floor)),
            unit: "ms",
            limit,
        }
    };
    let peak = many.medians(|run| run.sample.peak_mib());
    let shell_wall = median(&shell.iter().map(Sample::wall_ms).collect::<Vec<_>>());
    Ok(vec![
        row("tool step beyond the shell (gap)", Sample::wall_ms, Limit::TimesFloor(2.0)),
        row("tool step beyond the shell, CPU", Sample::cpu_ms, Limit::TimesFloor(2.0)),
        Row {
            figure: "the shell itself".into(),
            ours: shell_wall,
            floor: None,
            unit: "ms",
            limit: Limit::None,
        },
        Row {
            figure: "peak memory, 100 steps".into(),
            ours: peak.ours,
            floor: Some(peak.floor),
            unit: "MiB",
            limit: Limit::AtMost(20.0),
        },
    ])
}

/// The command of a step, without anybody around it.
fn shell(options: &Options) -> Result<Vec<Sample>> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("bash");
    command.args(["-c", "true"]);
    (0..options.runs * 2).map(|_| measure(&command, &folder.path().join("stderr"))).collect()
}

/// Whether a step costs the same at the end of a long turn.
pub(super) fn five_hundred(options: &Options) -> Result<Vec<Row>> {
    let runs = interleaved(options, Script::Steps(FIVE_HUNDRED), options.long_runs(3))?;
    let flat = runs.medians(|run| flatness(&run.arrivals));
    Ok(vec![Row {
        figure: "500 steps: last/first tenth".into(),
        ours: flat.ours,
        floor: Some(flat.floor),
        unit: "",
        limit: Limit::AtMost(1.15),
    }])
}

/// One more turn on a long session, beside the floor's one-shot answer.
pub(super) fn resume(options: &Options) -> Result<Vec<Row>> {
    let old = Place::new(options.durability)?;
    once(options, Program::Ours, &old, Script::Steps(FIVE_HUNDRED), &[])?;
    let kept = tempfile::tempdir()?;
    copy_folder(&old.home(), kept.path())?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        std::fs::remove_dir_all(old.home())?;
        copy_folder(kept.path(), &old.home())?;
        ours.push(once(options, Program::Ours, &old, Script::Words(10), &["--continue"])?.sample.wall_ms());
        let place = Place::new(options.durability)?;
        floor.push(once(options, Program::Floor, &place, Script::Words(10), &[])?.sample.wall_ms());
    }
    Ok(vec![Row {
        figure: "resume of 500 steps plus one turn (floor: one-shot)".into(),
        ours: median(&ours),
        floor: Some(median(&floor)),
        unit: "ms",
        limit: Limit::TimesFloor(5.0),
    }])
}
