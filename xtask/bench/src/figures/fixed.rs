//! Figures without a server.
use std::fs;

use anyhow::{Context, Result};

use crate::log_append;
use crate::measure::to_f64;
use crate::options::Options;
use crate::program::{Place, Program};
use crate::stats::{flatness, median};
use crate::table::{Limit, Row};

/// How long `--version` takes.
pub(super) fn version(options: &Options) -> Result<Vec<Row>> {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    let place = Place::new(options.durability)?;
    for _ in 0..options.runs * 2 {
        ours.push(Program::Ours.run(options, &place, &["--version"])?.wall_ms());
        floor.push(Program::Floor.run(options, &place, &["--version"])?.wall_ms());
    }
    Ok(vec![Row {
        figure: "--version".into(),
        ours: median(&ours),
        floor: Some(median(&floor)),
        unit: "ms",
        limit: Limit::TimesFloor(2.0),
    }])
}

/// How large the binary is.
pub(super) fn size(options: &Options) -> Result<Vec<Row>> {
    let megabytes = |program: Program| -> Result<f64> {
        let path = program.binary(options);
        let about = fs::metadata(&path).with_context(|| format!("{} cannot be found", path.display()))?;
        Ok(to_f64(about.len()) / 1e6)
    };
    Ok(vec![Row {
        figure: "release binary".into(),
        ours: megabytes(Program::Ours)?,
        floor: Some(megabytes(Program::Floor)?),
        unit: "MB",
        limit: Limit::AtMost(16.0),
    }])
}

/// How the cost of an append grows with the log.
pub(super) fn log_append(options: &Options) -> Result<Vec<Row>> {
    let runs = (0..options.long_runs(3)).map(|_| log_append::run()).collect::<Result<Vec<_>>>()?;
    let each = median(&runs.iter().map(|run| run.microseconds).collect::<Vec<_>>());
    let flat = flatness(&runs.into_iter().map(|run| run.turns).collect::<Vec<_>>());
    let row = |figure: &str, ours, unit, limit| Row { figure: figure.into(), ours, floor: None, unit, limit };
    Ok(vec![
        row("log append, 100k events: last/first tenth", flat, "", Limit::AtMost(1.25)),
        row("log append, per event", each, "us", Limit::None),
    ])
}
