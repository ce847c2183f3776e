//! Mail as such, shared by every platform that carries it: bytes to [`Item`](crate::model::item::Item)s, and approved
//! answers to bytes. Pure: no file, no network, no clock.

pub mod address;
pub mod compose;
pub mod map;
pub mod reply;
