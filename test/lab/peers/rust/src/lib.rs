//! What the programs in `bin` share. ../README.md describes them.

pub mod behind_nat;
pub mod flags;
pub mod program;
pub mod security;
pub mod stdin;
pub mod swarm;
