//! Copies of the output for observers, without ever holding the reader up.

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::outcome::OutputStream;

/// Output as it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// Where it came from.
    pub stream: OutputStream,
    /// The bytes, cut anywhere (also inside a character).
    pub bytes: Bytes,
    /// Bytes of this stream skipped just before this chunk because the channel was full.
    pub missed_bytes: u64,
}

/// The sending side of one stream.
#[derive(Debug)]
pub(crate) struct LiveOutput {
    stream: OutputStream,
    channel: Option<mpsc::Sender<OutputChunk>>,
    missed: u64,
}

impl LiveOutput {
    pub(crate) fn new(stream: OutputStream, channel: Option<mpsc::Sender<OutputChunk>>) -> Self {
        Self { stream, channel, missed: 0 }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let Some(channel) = &self.channel else { return };
        let mut closed = false;
        match channel.try_reserve() {
            Ok(permit) => {
                let missed_bytes = std::mem::take(&mut self.missed);
                permit.send(OutputChunk {
                    stream: self.stream,
                    bytes: Bytes::copy_from_slice(bytes),
                    missed_bytes,
                });
            }
            Err(mpsc::error::TrySendError::Full(())) => self.missed += bytes.len() as u64,
            // The observer went away: there is nobody left to tell.
            Err(mpsc::error::TrySendError::Closed(())) => closed = true,
        }
        if closed {
            self.channel = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_channel_skips_and_the_next_chunk_says_how_much() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut live = LiveOutput::new(OutputStream::Merged, Some(sender));
        live.send(b"one");
        live.send(b"skipped");
        live.send(b"also");
        assert_eq!(receiver.try_recv().unwrap().bytes, "one");
        live.send(b"two");
        let chunk = receiver.try_recv().unwrap();
        assert_eq!((chunk.bytes, chunk.missed_bytes), (Bytes::from("two"), 11));
    }

    #[test]
    fn an_observer_that_left_is_forgotten() {
        let (sender, receiver) = mpsc::channel(1);
        drop(receiver);
        let mut live = LiveOutput::new(OutputStream::Stdout, Some(sender));
        live.send(b"one");
        assert!(live.channel.is_none());
    }
}
