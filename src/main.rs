//! The `workagent` command.

fn main() {}
