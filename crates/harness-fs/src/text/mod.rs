//! Text as a file holds it: encoding, line endings, windows of lines.

mod collect;
mod decode;
mod ending;
mod page;
mod scan;

pub use decode::{BINARY_PROBE_BYTES, NotText, decode_text};
pub(crate) use ending::{BOM, to_crlf, to_lf};
pub use ending::{LineEnding, LineEndings};
pub use page::{TextLine, TextPage, TextSlice, TextWindow};
pub use scan::{ScanError, scan_text};
