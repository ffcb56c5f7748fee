//! What is piped in beside the prompt.
use std::io::{IsTerminal, Read};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long an idle pipe is waited for when there is a prompt, and when there is none.
const WITH_PROMPT: Duration = Duration::from_millis(250);
const WITHOUT_PROMPT: Duration = Duration::from_secs(2);
/// How long a pipe may pause once something came.
const PAUSE: Duration = Duration::from_secs(5);
/// Most bytes that are taken.
const LIMIT: usize = 1024 * 1024;

/// Text from standard input, if there is any.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piped {
    /// A terminal, nothing, or a pipe that stayed silent.
    Nothing,
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
        while let Ok(count) = stdin.read(&mut buffer) {
            if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut bytes = Vec::new();
    let mut wait = if has_prompt { WITH_PROMPT } else { WITHOUT_PROMPT };
    // A pause that is too long and the end of the pipe are the same here.
    while let Ok(piece) = receiver.recv_timeout(wait) {
        bytes.extend(piece);
        if bytes.len() > LIMIT {
            return Piped::Bad(format!(
                "standard input has more than {LIMIT} bytes; put it in a file instead"
            ));
        }
        wait = PAUSE;
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Piped::Nothing,
        Ok(text) => Piped::Text(text),
        Err(_) => Piped::Bad("standard input is not UTF-8 text".to_owned()),
    }
}
