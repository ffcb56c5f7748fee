//! The two programs and the folders that they run in.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::measure::{Sample, measure};
use crate::options::{Durability, Options};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// The harness.
    Ours,
    /// The floor.
    Floor,
}

/// A fresh home and working folder for one run.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    /// Makes one.
    pub(crate) fn new(durability: Durability) -> Result<Self> {
        let place = Self { root: tempfile::tempdir().context("no temporary folder")? };
        for folder in [place.home(), place.work()] {
            fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        let config = format!("[session]\ndurability = \"{}\"\n", durability.word());
        fs::write(place.home().join("config.toml"), config).context("the configuration cannot be written")?;
        Ok(place)
    }
    /// Makes one where sessions are compressed.
    pub(crate) fn compressing(durability: Durability) -> Result<Self> {
        let place = Self::new(durability)?;
        let path = place.home().join("config.toml");
        let config = fs::read_to_string(&path).context("the configuration cannot be read")?;
        fs::write(&path, config + "compression = \"zstd\"\n")
            .context("the configuration cannot be written")?;
        Ok(place)
    }
    /// What `HARNESS_HOME` is.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }
    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }
    /// The floor's log.
    pub(crate) fn floor_log(&self) -> PathBuf {
        self.root.path().join("floor.jsonl")
    }
}

impl Program {
    /// Its binary.
    pub(crate) fn binary(self, options: &Options) -> PathBuf {
        options.binaries.join(match self {
            Self::Ours => "harness",
            Self::Floor => "floor",
        })
    }
    /// Runs it with these arguments.
    pub(crate) fn run(self, options: &Options, place: &Place, arguments: &[&str]) -> Result<Sample> {
        let mut command = Command::new(self.binary(options));
        command.args(arguments).current_dir(place.work());
        command
            .env("HOME", place.root.path())
            .env("HARNESS_HOME", place.home())
            .env("OPENAI_API_KEY", "test");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        measure(&command, &place.root.path().join("stderr"))
    }
    /// Runs a task against the server.
    pub(crate) fn task(self, options: &Options, place: &Place, url: &str, more: &[&str]) -> Result<Sample> {
        let log = place.floor_log();
        let log = log.to_string_lossy();
        let model = ["--base-url", url, "--model", "bench"];
        let arguments: Vec<&str> = match self {
            Self::Ours => {
                [&["run", "do it"], &model[..], &["--provider", "openai", "--max-steps", "1000"], more]
                    .concat()
            }
            Self::Floor => {
                [&["do it"], &model[..], &["--log", &log, "--durability", options.durability.word()], more]
                    .concat()
            }
        };
        self.run(options, place, &arguments)
    }
}

/// Bytes of all files below a folder.
pub(crate) fn bytes_below(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_below(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}

/// Copies a folder with all that is below it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be listed", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.metadata()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            // What was there before a run is on the device; writing it there is no part of the run.
            fs::File::open(&target)?.sync_all()?;
        }
    }
    Ok(())
}
