//! The suite holds for a file system that has nothing to do with a disk, and for the provided methods of the trait.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]

mod memory;

use memory::MemoryFixture;

harness_fs::file_system_contract!(MemoryFixture::default());
