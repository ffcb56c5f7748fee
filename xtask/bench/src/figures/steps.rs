//! Figures of many tool steps.
use std::process::Command;

use anyhow::Result;

use crate::measure::{Sample, measure_repeated, to_f64};
use crate::options::Options;
use crate::program::{Place, Program, copy_folder};
use crate::run::{Runs, interleaved, once};
use crate::script::Script;
use crate::stats::{flatness, intervals, median};
use crate::table::{Limit, Row};

const HUNDRED: usize = 100;
const FIVE_HUNDRED: usize = 500;

/// Runs of the bare shell for each run of a program: as many as that makes.
const SHELLS: u32 = 100;

/// What a step costs beyond its shell. Everything is measured in turns: the shell is a large part of a step, so the
/// machine must be as busy for the one as for the other.
pub(super) fn hundred(options: &Options) -> Result<Vec<Row>> {
    let (mut many, mut one, mut shell) = (Runs::default(), Runs::default(), Vec::new());
    for _ in 0..options.long_runs(2) {
        shell.push(bare_shells()?);
        many.add_pair(options, Script::Steps(HUNDRED))?;
        one.add_pair(options, Script::Steps(1))?;
    }
    // A step's value, and the shell's share in it.
    let row = |figure: &str, value: fn(&Sample) -> f64, without_shell: bool, limit| {
        let (many, one) = (many.medians(|run| value(&run.sample)), one.medians(|run| value(&run.sample)));
        let shell = median(&shell.iter().map(value).collect::<Vec<_>>()) / f64::from(SHELLS);
        let each = |many: f64, one: f64| {
            (many - one) / to_f64(HUNDRED as u64 - 1) - if without_shell { shell } else { 0.0 }
        };
        Row {
            figure: figure.into(),
            ours: each(many.ours, one.ours),
            floor: Some(each(many.floor, one.floor)),
            unit: "ms",
            limit,
        }
    };
    let peak = many.medians(|run| run.sample.peak_mib());
    let shell_wall = median(&shell.iter().map(Sample::wall_ms).collect::<Vec<_>>()) / f64::from(SHELLS);
    Ok(vec![
        row("tool step beyond the shell (gap)", Sample::wall_ms, true, Limit::TimesFloor(2.0)),
        row("tool step with its shell, CPU", Sample::cpu_ms, false, Limit::TimesFloor(2.0)),
        row("tool step with its shell", Sample::wall_ms, false, Limit::None),
        row("tool step beyond the shell, CPU", Sample::cpu_ms, true, Limit::None),
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

/// The command of a step without anybody around it, one after the other.
fn bare_shells() -> Result<Sample> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("bash");
    command.args(["-c", "true"]);
    measure_repeated(&command, &folder.path().join("stderr"), SHELLS)
}

/// Whether a step costs the same at the end of a long turn.
pub(super) fn five_hundred(options: &Options) -> Result<Vec<Row>> {
    let runs = interleaved(options, Script::Steps(FIVE_HUNDRED), options.long_runs(3))?;
    let flat =
        runs.pooled(|runs| flatness(&runs.iter().map(|run| intervals(&run.arrivals)).collect::<Vec<_>>()));
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
