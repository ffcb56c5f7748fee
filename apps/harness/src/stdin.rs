//! What is piped in beside the prompt.
use std::io::{IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long an idle pipe is waited for when there is a prompt, and when there is none.
const WITH_PROMPT: Duration = Duration::from_millis(250);
const WITHOUT_PROMPT: Duration = Duration::from_secs(2);
/// Most bytes that are taken.
const LIMIT: usize = 1024 * 1024;

/// Text from standard input, if there is any.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piped {
    /// A terminal or nothing.
    Nothing,
    /// A pipe that nobody closed and nobody wrote to.
    Silent,
    /// The text.
    Text(String),
    /// Too much, or not text.
    Bad(String),
}

/// Reads what is piped in. A pipe that never says anything is left alone after a short wait: scripts and schedulers
/// often leave one open.
pub(crate) fn piped(has_prompt: bool) -> Piped {
    if std::io::stdin().is_terminal() {
        return Piped::Nothing;
    }
    let (sender, receiver) = channel();
    // The thread may stay in its read for ever; the process does not wait for it.
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut buffer = [0; 8192];
        loop {
            let piece = stdin.read(&mut buffer).map(|count| buffer[..count].to_vec());
            let last = piece.as_ref().map_or(true, Vec::is_empty);
            if sender.send(piece).is_err() || last {
                break;
            }
        }
    });
    let mut bytes = Vec::new();
    let patience = if has_prompt { WITH_PROMPT } else { WITHOUT_PROMPT };
    let mut next = match receiver.recv_timeout(patience) {
        Err(RecvTimeoutError::Timeout) => return Piped::Silent,
        Err(RecvTimeoutError::Disconnected) => None,
        Ok(piece) => Some(piece),
    };
    // Whoever has begun to speak is heard to the end.
    while let Some(piece) = next {
        match piece {
            Ok(piece) if piece.is_empty() => break,
            Ok(piece) => bytes.extend(piece),
            Err(error) => return Piped::Bad(format!("standard input cannot be read: {error}")),
        }
        next = receiver.recv().ok();
        if bytes.len() > LIMIT {
            return Piped::Bad(format!(
                "standard input has more than {LIMIT} bytes; put it in a file instead"
            ));
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Piped::Nothing,
        Ok(text) => Piped::Text(text),
        Err(_) => Piped::Bad("standard input is not UTF-8 text".to_owned()),
    }
}
