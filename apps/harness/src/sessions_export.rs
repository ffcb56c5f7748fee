//! `harness sessions export`: one session as a document.
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use harness_bundle::Harness;
use harness_session::SessionId;
use harness_session_export::{Transcript, html, markdown};

use crate::exit::Exit;
use crate::output::Output;
use crate::sessions::inspect;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session
    id: SessionId,
    /// The form [default: by the file's name, else Markdown]
    #[arg(long)]
    format: Option<Format>,
    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// One HTML page that needs nothing but itself
    Html,
}

impl Format {
    /// What a file of this name holds.
    fn of(path: &Path) -> Self {
        let html = |extension: &std::ffi::OsStr| {
            extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
        };
        if path.extension().is_some_and(html) { Self::Html } else { Self::Md }
    }
}

pub(crate) async fn export(harness: &Harness, args: &ExportArgs, output: &Output) -> Result<Exit> {
    let snapshot = inspect(harness, args.id, output).await?;
    let transcript = Transcript::of(&snapshot.header, snapshot.events.iter().map(AsRef::as_ref));
    let document = match args.format.unwrap_or_else(|| Format::of(&args.output)) {
        Format::Md => markdown(&transcript),
        Format::Html => html(&transcript),
    };
    if args.output.as_os_str() == "-" {
        output.data(&document);
    } else {
        write(&args.output, document.as_bytes(), args.force)?;
        output.talk(&format!("harness: session {} was written to {}", args.id, args.output.display()));
    }
    Ok(Exit::Done)
}

/// Writes a new file, whole or not at all; in the place of another one only if that is asked for.
fn write(path: &Path, content: &[u8], force: bool) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let written = || format!("{} could not be written", path.display());
    if force && path.is_dir() {
        bail!("{} is a folder", path.display());
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(written)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).with_context(written)?;
    readable(file.as_file(), path).with_context(written)?;
    let persisted = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match persisted {
        Ok(_) => Ok(()),
        Err(error) if !force && error.error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists already; name another file, or replace it with --force", path.display())
        }
        Err(error) => Err(error.error).with_context(written),
    }
}

/// A temporary file is for its owner's eyes only. A session may hold what the person would not share, so the document
/// stays that way, unless it takes the place of a file with a mode of its own.
fn readable(file: &File, path: &Path) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_file() => file.set_permissions(old.permissions()),
        _ => Ok(()),
    }
}
