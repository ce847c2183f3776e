//! OAuth 2.0 for one person with a client of their own: a code for a device (RFC 8628), a browser that comes back to
//! this machine (RFC 8252, with PKCE), and tokens that are renewed when they end.
//!
//! Tokens lie in the secret store only, each with what renews it; whoever reads one for a request asks [`renew`] for it.
//! Written out here and not taken from the `oauth2` crate: GitHub answers failures of the device flow with status 200 and
//! Slack puts its token elsewhere, which that crate refuses, and its types hold tokens in plain strings.

mod answer;
pub mod browser;
mod client;
pub mod device;
mod presets;
pub mod renew;

pub use self::answer::Granted;
pub use self::client::{Client, Flow};
