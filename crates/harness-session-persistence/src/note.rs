//! What a load found and mended, for people.
use std::fmt;

use harness_session::Seq;

/// One thing that was not as a finished session leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairNote {
    /// The last record was cut in the middle of a write.
    TornTail {
        /// The file.
        location: String,
        /// Byte offset of the fragment.
        offset: u64,
        /// Size of the fragment in bytes.
        bytes: u64,
        /// Where the fragment was put; `None` when nothing was changed on disk.
        set_aside: Option<String>,
    },
    /// The last record is whole but its line feed was missing.
    MissingNewline {
        /// The file.
        location: String,
        /// Byte offset of the file's end.
        offset: u64,
    },
    /// Empty lines were skipped. They stay where they are.
    BlankLines {
        /// The file.
        location: String,
        /// Byte offset of the first.
        offset: u64,
        /// How many.
        lines: u64,
    },
    /// The last turn was open: its process ended in the middle.
    ClosedTurn {
        /// The turn.
        turn: u32,
        /// The first of the events that close it.
        from: Seq,
        /// How many tool calls had no result.
        unanswered: usize,
    },
}
impl fmt::Display for RepairNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail { location, offset, bytes, set_aside } => {
                write!(
                    f,
                    "{location}: the last record is cut off at byte {offset}; its {bytes} bytes were "
                )?;
                match set_aside {
                    Some(path) => write!(f, "moved to {path}"),
                    None => f.write_str("left out"),
                }
            }
            Self::MissingNewline { location, offset } => {
                write!(f, "{location}: the line feed at the end (byte {offset}) was missing")
            }
            Self::BlankLines { location, offset, lines } => {
                write!(f, "{location}: {lines} empty lines skipped, the first at byte {offset}")
            }
            Self::ClosedTurn { turn, from, unanswered } => write!(
                f,
                "turn {turn} was interrupted; closed from event {from} on, {unanswered} unanswered tool calls marked"
            ),
        }
    }
}
