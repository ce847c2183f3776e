//! Mail as such, shared by every platform that carries it: bytes to [`Item`](crate::model::item::Item)s, and approved
//! answers to bytes. Pure: no file, no network, no clock.

pub mod address;
mod body;
pub mod compose;
mod defuse;
mod disposition;
mod identity;
pub mod map;
mod parse;
pub mod reply;
