//! Packed chunk runs: many stream chunks in one event, without loss of text, boundary or arrival gap.
use harness_llm::{Block, BlockKind, Chunk, Finish, Usage};
use serde::{Deserialize, Serialize};

use crate::body::Step;
use crate::vlq;

/// Data of `assistant/chunks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "ChunkRunFields")]
pub struct ChunkRun {
    /// Where it happened.
    #[serde(flatten)]
    pub at: Step,
    /// The attempt within the step, counted from 1.
    pub attempt: u32,
    /// Arrival of the first chunk, milliseconds since the Unix epoch.
    pub started: i64,
    /// Gap before each chunk in milliseconds (0 for the first), as Base64 VLQ; negative when the clock stepped back.
    pub gaps: String,
    /// The chunks.
    pub items: Vec<PackedItem>,
}

/// As stored. A flattened field would make serde buffer the whole object first.
#[derive(Deserialize)]
struct ChunkRunFields {
    turn: u32,
    step: u32,
    attempt: u32,
    started: i64,
    gaps: String,
    items: Vec<PackedItem>,
}
impl From<ChunkRunFields> for ChunkRun {
    fn from(fields: ChunkRunFields) -> Self {
        let ChunkRunFields { turn, step, attempt, started, gaps, items } = fields;
        Self { at: Step { turn, step }, attempt, started, gaps, items }
    }
}

/// One or more chunks. Deltas of one block that follow each other share an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackedItem {
    /// A block start.
    Start(u32, BlockKind),
    /// Text deltas: block, joined text, byte length of each piece as Base64 VLQ.
    Text(u32, String, String),
    /// Reasoning deltas, likewise.
    Reasoning(u32, String, String),
    /// Tool argument deltas, likewise.
    Arguments(u32, String, String),
    /// A block end as streamed.
    End(u32),
    /// A block end with its own final block.
    EndWith(u32, Block),
    /// Usage.
    Usage(Usage),
    /// The finish.
    Finish(Finish),
}

/// A chunk with its arrival time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedChunk {
    /// Arrival, milliseconds since the Unix epoch.
    pub time: i64,
    /// The chunk.
    pub chunk: Chunk,
}

/// A run that does not unpack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The piece lengths do not add up to the text.
    #[error("piece lengths do not fit the text of block {0}")]
    Lengths(u32),
    /// The gaps do not match the number of chunks.
    #[error("arrival gaps do not fit the number of chunks")]
    Gaps,
}

impl ChunkRun {
    /// An empty run.
    pub(crate) fn new(at: Step, attempt: u32, started: i64) -> Self {
        Self { at, attempt, started, gaps: String::new(), items: Vec::new() }
    }

    /// Adds a chunk that arrived `gap` milliseconds after the one before.
    pub(crate) fn push(&mut self, gap: i64, chunk: &Chunk) {
        vlq::push(&mut self.gaps, gap);
        match (chunk, self.items.last_mut()) {
            (Chunk::TextDelta { index, text }, Some(PackedItem::Text(open, joined, lengths)))
            | (Chunk::ReasoningDelta { index, text }, Some(PackedItem::Reasoning(open, joined, lengths)))
            | (
                Chunk::ToolCallDelta { index, arguments: text },
                Some(PackedItem::Arguments(open, joined, lengths)),
            ) if open == index => {
                joined.push_str(text);
                vlq::push(lengths, length(text));
            }
            _ => self.items.push(item(chunk)),
        }
    }

    /// The chunks with their arrival times.
    pub fn unpack(&self) -> Result<Vec<TimedChunk>, UnpackError> {
        let mut chunks = Vec::new();
        self.visit(|chunk| chunks.push(chunk))?;
        let mut time = self.started;
        let mut gaps = vlq::read(&self.gaps);
        let mut timed = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let gap = gaps.next().flatten().ok_or(UnpackError::Gaps)?;
            time = time.saturating_add(gap);
            timed.push(TimedChunk { time, chunk });
        }
        if gaps.next().is_some() { Err(UnpackError::Gaps) } else { Ok(timed) }
    }

    /// Calls `f` with each chunk, without times.
    pub fn visit(&self, mut f: impl FnMut(Chunk)) -> Result<(), UnpackError> {
        for item in &self.items {
            match item {
                PackedItem::Start(index, kind) => f(Chunk::BlockStart { index: *index, kind: kind.clone() }),
                PackedItem::Text(index, text, lengths) => pieces(*index, text, lengths, |text| {
                    f(Chunk::TextDelta { index: *index, text });
                })?,
                PackedItem::Reasoning(index, text, lengths) => pieces(*index, text, lengths, |text| {
                    f(Chunk::ReasoningDelta { index: *index, text });
                })?,
                PackedItem::Arguments(index, text, lengths) => pieces(*index, text, lengths, |arguments| {
                    f(Chunk::ToolCallDelta { index: *index, arguments });
                })?,
                PackedItem::End(index) => f(Chunk::BlockEnd { index: *index, block: None }),
                PackedItem::EndWith(index, block) => {
                    f(Chunk::BlockEnd { index: *index, block: Some(block.clone()) });
                }
                PackedItem::Usage(usage) => f(Chunk::Usage(*usage)),
                PackedItem::Finish(finish) => f(Chunk::Finish(finish.clone())),
            }
        }
        Ok(())
    }

    /// Feeds the run to an assembler; whole joined pieces at a time, which adds up to the same.
    pub(crate) fn assemble(&self, assembler: &mut harness_llm::Assembler) {
        for item in &self.items {
            let chunk = match item {
                PackedItem::Start(index, kind) => Chunk::BlockStart { index: *index, kind: kind.clone() },
                PackedItem::Text(index, text, _) => Chunk::TextDelta { index: *index, text: text.clone() },
                PackedItem::Reasoning(index, text, _) => {
                    Chunk::ReasoningDelta { index: *index, text: text.clone() }
                }
                PackedItem::Arguments(index, text, _) => {
                    Chunk::ToolCallDelta { index: *index, arguments: text.clone() }
                }
                PackedItem::End(index) => Chunk::BlockEnd { index: *index, block: None },
                PackedItem::EndWith(index, block) => {
                    Chunk::BlockEnd { index: *index, block: Some(block.clone()) }
                }
                PackedItem::Usage(usage) => Chunk::Usage(*usage),
                PackedItem::Finish(finish) => Chunk::Finish(finish.clone()),
            };
            assembler.push(&chunk);
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

fn item(chunk: &Chunk) -> PackedItem {
    let lengths = |text: &str| {
        let mut lengths = String::new();
        vlq::push(&mut lengths, length(text));
        lengths
    };
    match chunk {
        Chunk::BlockStart { index, kind } => PackedItem::Start(*index, kind.clone()),
        Chunk::TextDelta { index, text } => PackedItem::Text(*index, text.clone(), lengths(text)),
        Chunk::ReasoningDelta { index, text } => PackedItem::Reasoning(*index, text.clone(), lengths(text)),
        Chunk::ToolCallDelta { index, arguments } => {
            PackedItem::Arguments(*index, arguments.clone(), lengths(arguments))
        }
        Chunk::BlockEnd { index, block: None } => PackedItem::End(*index),
        Chunk::BlockEnd { index, block: Some(block) } => PackedItem::EndWith(*index, block.clone()),
        Chunk::Usage(usage) => PackedItem::Usage(*usage),
        Chunk::Finish(finish) => PackedItem::Finish(finish.clone()),
    }
}

fn pieces(index: u32, text: &str, lengths: &str, mut f: impl FnMut(String)) -> Result<(), UnpackError> {
    let mut rest = text;
    for length in vlq::read(lengths) {
        let length = length.and_then(|n| usize::try_from(n).ok()).ok_or(UnpackError::Lengths(index))?;
        let (piece, after) = rest.split_at_checked(length).ok_or(UnpackError::Lengths(index))?;
        f(piece.to_owned());
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err(UnpackError::Lengths(index)) }
}
