//! Every figure, with the limits of the design.
mod answers;
mod durability;
mod fixed;
mod hooks;
mod steps;

use anyhow::Result;

use crate::options::Options;
use crate::table::Row;

/// Measures one figure or a few that share their runs.
type Figure = fn(&Options) -> Result<Vec<Row>>;

/// All figures by the name that `--only` takes.
pub(crate) const ALL: &[(&str, Figure)] = &[
    ("version", fixed::version),
    ("one-shot", answers::one_shot),
    ("steps", steps::hundred),
    ("flatness", steps::five_hundred),
    ("chunks", answers::chunks),
    ("resume", steps::resume),
    ("size", fixed::size),
    ("log-append", fixed::log_append),
    ("durability", durability::both),
    ("hooks", hooks::not_matching),
];
