//! What safety on disk costs: both programs with and without fdatasync at the barriers.
use anyhow::Result;

use crate::measure::to_f64;
use crate::options::{Durability, Options};
use crate::run::interleaved;
use crate::script::Script;
use crate::table::{Limit, Row};

const STEPS: usize = 30;

/// One-shot and step times in both modes, side by side.
pub(super) fn both(options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for durability in [Durability::Sync, Durability::Write] {
        let options = Options {
            binaries: options.binaries.clone(),
            runs: options.long_runs(2),
            only: None,
            durability,
        };
        let shot =
            interleaved(&options, Script::Words(10), options.runs)?.medians(|run| run.sample.wall_ms());
        let many =
            interleaved(&options, Script::Steps(STEPS), options.runs)?.medians(|run| run.sample.wall_ms());
        let row = |what: &str, ours, floor| Row {
            figure: format!("{what}, durability {}", durability.word()),
            ours,
            floor: Some(floor),
            unit: "ms",
            limit: Limit::None,
        };
        let each = |many: f64, shot: f64| (many - shot) / to_f64(STEPS as u64);
        rows.push(row("one-shot", shot.ours, shot.floor));
        rows.push(row("tool step with its shell", each(many.ours, shot.ours), each(many.floor, shot.floor)));
    }
    Ok(rows)
}
