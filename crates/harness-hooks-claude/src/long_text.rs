//! A hook's text that is too long for the model goes to a file.
use std::io::Write as _;
use std::path::Path;

/// Most characters that reach the model or the person.
const CAP: usize = 10_000;
/// Characters of a preview.
const PREVIEW: usize = 2_000;

/// The text itself, or its beginning and the file that has all of it.
pub(crate) fn bounded(text: &str, folder: &Path) -> String {
    if text.chars().count() <= CAP {
        return text.to_owned();
    }
    let end = text.char_indices().nth(PREVIEW).map_or(text.len(), |(at, _)| at);
    let count = text.chars().count();
    let saved = save(text, folder);
    let whole = saved.unwrap_or_else(|error| format!("the rest could not be saved: {error}"));
    format!("{}\n[… {count} characters in all; {whole}]", &text[..end])
}

fn save(text: &str, folder: &Path) -> std::io::Result<String> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix("output-").suffix(".txt").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(format!("the whole text is in {}", path.display()))
}
