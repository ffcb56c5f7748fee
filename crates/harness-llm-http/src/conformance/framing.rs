//! The same stream in other bytes.
use bytes::Bytes;

use super::Script;

/// How a stream is written and how its body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// As scripted; the body is complete for HTTP.
    Plain,
    /// As scripted; the connection closes before the body is complete for HTTP.
    CutOff,
    /// In pieces of this many bytes, which splits events, lines and characters.
    Pieces(usize),
    /// Lines end with CR LF.
    CrLf,
    /// Lines end with CR.
    Cr,
    /// No space after the colon of a field.
    NoSpace,
    /// Comments, ids and retry fields between and within events.
    Comments,
}

impl Framing {
    /// Those that good streams must survive.
    pub(super) const ODD: [Self; 7] = [
        Self::Pieces(1),
        Self::Pieces(3),
        Self::Pieces(7),
        Self::CrLf,
        Self::Cr,
        Self::NoSpace,
        Self::Comments,
    ];

    /// The script in this framing.
    pub(super) fn applied(self, mut script: Script) -> Script {
        let whole = || script.pieces.concat();
        let text = || String::from_utf8_lossy(&whole()).into_owned();
        script.pieces = match self {
            Self::Plain | Self::CutOff => return script,
            Self::Pieces(size) => {
                let whole = Bytes::from(whole());
                (0..whole.len()).step_by(size).map(|at| whole.slice(at..whole.len().min(at + size))).collect()
            }
            Self::CrLf => vec![text().replace('\n', "\r\n").into()],
            Self::Cr => vec![text().replace('\n', "\r").into()],
            Self::NoSpace => vec![text().replace("data: ", "data:").replace("event: ", "event:").into()],
            Self::Comments => {
                let text = text().replace("data: ", ": within an event\nid: 7\nretry: 1000\ndata: ");
                vec![": keep-alive\n\n".into(), text.replace("\n\n", "\n\n: between\n\n:\n\n").into()]
            }
        };
        script
    }
}
