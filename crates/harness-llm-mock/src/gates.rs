//! Named places in replies where the server waits for the test.

use std::collections::HashSet;

use tokio::sync::watch;

#[derive(Debug, Default)]
struct Board {
    released: HashSet<String>,
    reached: HashSet<String>,
}

/// All gates of a server. A gate exists once someone names it; released, it stays open.
#[derive(Debug, Default)]
pub(crate) struct Gates(watch::Sender<Board>);

impl Gates {
    pub(crate) fn release(&self, name: &str) {
        self.0.send_modify(|board| {
            board.released.insert(name.to_owned());
        });
    }

    /// Waits until the gate is released.
    pub(crate) async fn pass(&self, name: &str) {
        self.0.send_modify(|board| {
            board.reached.insert(name.to_owned());
        });
        self.wait_until(|board| board.released.contains(name)).await;
    }

    /// Waits until a reply has come to the gate, with all bytes before it sent.
    pub(crate) async fn reached(&self, name: &str) {
        self.wait_until(|board| board.reached.contains(name)).await;
    }

    async fn wait_until(&self, is_met: impl Fn(&Board) -> bool) {
        // The sender is borrowed, so it cannot have been dropped: the wait cannot fail.
        let _ = self.0.subscribe().wait_for(is_met).await;
    }
}
