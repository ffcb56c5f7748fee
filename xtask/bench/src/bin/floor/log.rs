//! JSON lines on disk.
use std::fs::File;
use std::io::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

/// The log of one run.
pub(crate) struct Log {
    file: File,
    sync: bool,
    pending: bool,
}

impl Log {
    /// Creates it.
    pub(crate) fn open(path: &str, sync: bool) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("{path} cannot be created"))?;
        Ok(Self { file, sync, pending: false })
    }
    /// Writes one line.
    pub(crate) fn append(&mut self, line: &Value) -> Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.pending = true;
        Ok(())
    }
    /// Where the harness makes sure that all is on disk: before a request, before a tool, at the end.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        if std::mem::take(&mut self.pending) && self.sync {
            self.file.sync_data()?;
        }
        Ok(())
    }
}
