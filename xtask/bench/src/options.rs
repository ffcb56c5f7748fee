//! The command line.
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
usage: cargo xtask bench [--runs N] [--only NAME] [--durability sync|write]

  --runs N         runs of each short program; long ones run less often [default: 11]
  --only NAME      one figure: version, one-shot, steps, flatness, chunks, resume, size, log-append, durability
                   or hooks
  --durability D   what both programs do at a barrier [default: sync]
";

/// What to measure.
pub(crate) struct Options {
    /// Folder of the release binaries.
    pub(crate) binaries: PathBuf,
    /// Runs of each short program.
    pub(crate) runs: usize,
    /// One figure alone.
    pub(crate) only: Option<String>,
    /// What both programs do at a barrier.
    pub(crate) durability: Durability,
}

/// What a barrier does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Write and fdatasync.
    Sync,
    /// Write.
    Write,
}
impl Durability {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Write => "write",
        }
    }
}

impl Options {
    /// `None` when help was asked for, and given.
    pub(crate) fn parse(arguments: &[String]) -> Result<Option<Self>> {
        let mut options = Self {
            binaries: PathBuf::from("target/release"),
            runs: 11,
            only: None,
            durability: Durability::Sync,
        };
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match word {
                "--binaries" => options.binaries = value()?.into(),
                "--runs" => options.runs = value()?.parse().context("`--runs` needs a number")?,
                "--only" => options.only = Some(value()?.to_owned()),
                "--durability" => {
                    options.durability = match value()? {
                        "sync" => Durability::Sync,
                        "write" => Durability::Write,
                        other => bail!("`{other}` is neither `sync` nor `write`"),
                    }
                }
                "--help" | "-h" => {
                    print!("{HELP}");
                    return Ok(None);
                }
                other => bail!("unknown option `{other}`; `--help` lists them"),
            }
        }
        anyhow::ensure!(options.runs > 0, "`--runs` must be at least 1");
        Ok(Some(options))
    }
    /// Whether the figure is to be measured.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }
    /// Runs of a program that takes long: a share of the short ones, at least one.
    pub(crate) fn long_runs(&self, share: usize) -> usize {
        (self.runs / share).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--runs 4 --only steps --durability write").unwrap().unwrap();
        assert_eq!((options.runs, options.durability), (4, Durability::Write));
        assert!(options.wants("steps") && !options.wants("size"));
        assert_eq!((options.long_runs(2), options.long_runs(9)), (2, 1));
    }

    #[test]
    fn bad_options_are_refused() {
        for line in ["--runs", "--runs x", "--runs 0", "--fast", "--durability never"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
