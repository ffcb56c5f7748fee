//! JSON bodies written piece by piece.
use serde::Serialize;

/// Appends the fields of an object that has at least one, each after a comma, to an object that is still open.
///
/// # Errors
/// For a value without a JSON form.
pub fn append_fields(fields: &impl Serialize, body: &mut Vec<u8>) -> serde_json::Result<()> {
    let brace = body.len();
    serde_json::to_writer(&mut *body, fields)?;
    body[brace] = b',';
    body.pop();
    Ok(())
}
