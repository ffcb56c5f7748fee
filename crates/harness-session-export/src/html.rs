//! The transcript as one HTML page.
mod call;
mod entry;
mod page;
mod prose;
mod writer;

pub use page::html;
