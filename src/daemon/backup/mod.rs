//! The life of the data: copies that are kept, made and put back.

mod kept;

pub use kept::{Kept, kept};
