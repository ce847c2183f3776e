//! Benches: the product against the raw limit in the same run.

fn main() {}
