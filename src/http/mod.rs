//! The only home of the HTTP client and of TLS settings: limits, retry class, conditional requests, redacting errors.

pub mod tls;

/// Makes HTTP clients; cheap to clone. The TLS client is built at first use.
#[derive(Clone, Debug, Default)]
pub struct HttpRoom {}
