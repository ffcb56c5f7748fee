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
    /// The medians of a value of each run.
    pub(crate) fn medians(&self, value: impl Fn(&Run) -> f64) -> Both {
        let of = |runs: &[Run]| median(&runs.iter().map(&value).collect::<Vec<_>>());
        Both { ours: of(&self.ours), floor: of(&self.floor) }
    }
}

/// Runs the script so many times, ours and floor in turns.
pub(crate) fn interleaved(options: &Options, script: Script, times: usize) -> Result<Runs> {
    let mut runs = Runs { ours: Vec::new(), floor: Vec::new() };
    for _ in 0..times {
        for (program, list) in [(Program::Ours, &mut runs.ours), (Program::Floor, &mut runs.floor)] {
            let place = Place::new(options.durability)?;
            list.push(once(options, program, &place, script, &[])?);
        }
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
