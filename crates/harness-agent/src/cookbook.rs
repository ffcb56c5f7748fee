//! Compiles the examples of the cookbook.
#![doc = include_str!("../../../docs/cookbook/hook-into-a-turn.md")]
