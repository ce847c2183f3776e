//! The one integration binary. Every file in this folder is listed here; `files` fails if one is not.

mod http;
mod support;
