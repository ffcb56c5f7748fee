//! Keeps the beginning and the end of a byte stream, within fixed memory.

use std::collections::VecDeque;

/// How many bytes of one output stream stay in memory.
///
/// A stream of at most `head_bytes + tail_bytes` is kept whole; of a longer one the first `head_bytes`
/// and the last `tail_bytes` remain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes kept from the beginning.
    pub head_bytes: usize,
    /// Bytes kept from the end.
    pub tail_bytes: usize,
}

impl OutputLimits {
    /// The part of a cap that is spent on the beginning unless a caller decides otherwise: 8 KiB.
    pub const DEFAULT_HEAD: usize = 8 * 1024;

    /// Splits one cap: at most a quarter of it, and at most [`Self::DEFAULT_HEAD`], for the head; the rest for
    /// the tail, because the end of an output usually says how it went.
    pub fn with_cap(cap_bytes: usize) -> Self {
        let head_bytes = Self::DEFAULT_HEAD.min(cap_bytes / 4);
        Self { head_bytes, tail_bytes: cap_bytes - head_bytes }
    }

    /// The most bytes that are kept.
    pub fn cap(self) -> usize {
        self.head_bytes.saturating_add(self.tail_bytes)
    }
}

impl Default for OutputLimits {
    /// 32 KiB in all.
    fn default() -> Self {
        Self::with_cap(32 * 1024)
    }
}

/// Collects a stream chunk by chunk; what it keeps does not depend on how the stream was cut into chunks.
#[derive(Debug)]
pub struct Collector {
    limits: OutputLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Collector {
    /// An empty collector.
    pub fn new(limits: OutputLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let to_head = chunk.len().min(self.limits.head_bytes - self.head.len());
        let (head, rest) = chunk.split_at(to_head);
        self.head.extend_from_slice(head);
        let keep = rest.len().min(self.limits.tail_bytes);
        let rest = &rest[rest.len() - keep..];
        let excess = (self.tail.len() + keep).saturating_sub(self.limits.tail_bytes);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Bytes seen so far, kept or not.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Whether `more` further bytes would make the collector forget something.
    pub(crate) fn would_overflow(&self, more: usize) -> bool {
        self.total + more as u64 > self.limits.cap() as u64
    }

    /// Everything seen so far as two slices, provided nothing has been forgotten yet.
    pub(crate) fn whole(&mut self) -> Option<(&[u8], &[u8])> {
        (self.total <= self.limits.cap() as u64)
            .then(|| (self.head.as_slice(), &*self.tail.make_contiguous()))
    }

    /// Ends the collection.
    pub fn finish(self) -> Kept {
        Kept { head: self.head, tail: self.tail.into(), total_bytes: self.total }
    }
}

/// What a [`Collector`] kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// The first bytes of the stream.
    pub head: Vec<u8>,
    /// The last bytes of the stream, following `head` directly when nothing was omitted.
    pub tail: Vec<u8>,
    /// The true length of the stream.
    pub total_bytes: u64,
}

impl Kept {
    /// Bytes between head and tail that were not kept.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Whether anything is missing.
    pub fn truncated(&self) -> bool {
        self.omitted_bytes() > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect<'a>(limits: OutputLimits, chunks: impl IntoIterator<Item = &'a [u8]>) -> Kept {
        let mut collector = Collector::new(limits);
        chunks.into_iter().for_each(|chunk| collector.push(chunk));
        collector.finish()
    }

    #[test]
    fn a_cap_is_split_in_favour_of_the_tail() {
        assert_eq!(OutputLimits::with_cap(32 * 1024), OutputLimits { head_bytes: 8192, tail_bytes: 24_576 });
        assert_eq!(OutputLimits::with_cap(100), OutputLimits { head_bytes: 25, tail_bytes: 75 });
        assert_eq!(OutputLimits::with_cap(0).cap(), 0);
    }

    #[test]
    fn exactly_the_cap_is_kept_whole_and_one_byte_more_is_not() {
        let limits = OutputLimits { head_bytes: 2, tail_bytes: 3 };
        let kept = collect(limits, [b"abcde".as_slice()]);
        assert_eq!(
            (kept.head.as_slice(), kept.tail.as_slice(), kept.truncated()),
            (&b"ab"[..], &b"cde"[..], false)
        );
        let kept = collect(limits, [b"abcdef".as_slice()]);
        assert_eq!((kept.tail.as_slice(), kept.omitted_bytes()), (&b"def"[..], 1));
    }

    proptest! {
        #[test]
        fn any_chunking_keeps_the_same_head_tail_and_total(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            cuts in proptest::collection::vec(0usize..400, 0..20),
            head_bytes in 0usize..64,
            tail_bytes in 0usize..64,
        ) {
            let limits = OutputLimits { head_bytes, tail_bytes };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let kept = collect(limits, cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]));

            prop_assert_eq!(kept.total_bytes, bytes.len() as u64);
            let head = bytes.len().min(head_bytes);
            let tail = (bytes.len() - head).min(tail_bytes);
            prop_assert_eq!(&kept.head, &bytes[..head]);
            prop_assert_eq!(&kept.tail, &bytes[bytes.len() - tail..]);
        }
    }
}
