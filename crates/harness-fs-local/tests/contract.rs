//! The suite of the seam, on real directories.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk behind the provider's back")]

mod sandbox;

use sandbox::Sandbox;

harness_fs::file_system_contract!(Sandbox::default());

/// The same, where the working directory itself is reached through a link.
mod through_a_link {
    use std::path::PathBuf;
    use std::sync::Arc;

    use async_trait::async_trait;
    use harness_fs::FileSystem;
    use harness_fs::contract::Fixture;

    use super::Sandbox;

    struct Linked(Sandbox);

    impl Linked {
        fn new() -> Self {
            let sandbox = Sandbox::default();
            std::fs::create_dir(sandbox.at("real")).unwrap();
            std::os::unix::fs::symlink("real", sandbox.at("linked")).unwrap();
            Self(sandbox)
        }
    }

    #[async_trait]
    impl Fixture for Linked {
        fn files(&self) -> Arc<dyn FileSystem> {
            self.0.files()
        }

        fn root(&self) -> PathBuf {
            self.0.at("linked")
        }

        async fn plant(&self, name: &str, bytes: &[u8]) {
            self.0.plant(&format!("linked/{name}"), bytes).await;
        }

        async fn plant_link(&self, name: &str, target: &str) -> bool {
            self.0.plant_link(&format!("linked/{name}"), target).await
        }

        async fn peek(&self, name: &str) -> Option<Vec<u8>> {
            self.0.peek(&format!("linked/{name}")).await
        }
    }

    harness_fs::file_system_contract!(Linked::new());
}
