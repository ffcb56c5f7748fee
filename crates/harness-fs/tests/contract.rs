//! The suite holds for a file system that has nothing to do with a disk, and for the provided methods of the trait.

mod memory;

use memory::MemoryFixture;

harness_fs::file_system_contract!(MemoryFixture::default());
