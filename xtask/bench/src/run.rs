//! Runs of both programs in turns, so that a slow minute of the machine hits both.
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::measure::Sample;
use crate::options::Options;
use crate::program::{Place, Program};
use crate::script::Script;
use crate::server::Server;
use crate::stats::median;

/// Both programs' values of one thing.
pub(crate) struct Both {
    /// The harness.
    pub(crate) ours: f64,
    /// The floor.
    pub(crate) floor: f64,
}

/// Runs of a script by both programs.
#[derive(Default)]
pub(crate) struct Runs {
    ours: Vec<Run>,
    floor: Vec<Run>,
}

/// One run.
pub(crate) struct Run {
    /// What it cost.
    pub(crate) sample: Sample,
    /// When the server had each of its requests.
    pub(crate) arrivals: Vec<Instant>,
}

impl Runs {
    /// Runs the script once by each program.
    pub(crate) fn add_pair(&mut self, options: &Options, script: Script) -> Result<()> {
        for (program, list) in [(Program::Ours, &mut self.ours), (Program::Floor, &mut self.floor)] {
            list.push(once(options, program, &Place::new(options.durability)?, script, &[])?);
        }
        Ok(())
    }
    /// The medians of a value of each run.
    pub(crate) fn medians(&self, value: impl Fn(&Run) -> f64) -> Both {
        let of = |runs: &[Run]| median(&runs.iter().map(&value).collect::<Vec<_>>());
        Both { ours: of(&self.ours), floor: of(&self.floor) }
    }
    /// A value that is made from all runs together.
    pub(crate) fn pooled(&self, value: impl Fn(&[Run]) -> f64) -> Both {
        Both { ours: value(&self.ours), floor: value(&self.floor) }
    }
}

/// Runs the script so many times, ours and floor in turns.
pub(crate) fn interleaved(options: &Options, script: Script, times: usize) -> Result<Runs> {
    let mut runs = Runs::default();
    for _ in 0..times {
        runs.add_pair(options, script)?;
    }
    Ok(runs)
}

/// Runs the script once in a given place.
pub(crate) fn once(
    options: &Options,
    program: Program,
    place: &Place,
    script: Script,
    more: &[&str],
) -> Result<Run> {
    let server = Server::start(script)?;
    let sample = program.task(options, place, &server.url, more)?;
    let arrivals = server.arrivals();
    let (expected, seen) = (script.requests(), arrivals.len());
    ensure!(seen == expected, "{program:?} made {seen} requests where the script has {expected}");
    Ok(Run { sample, arrivals })
}
