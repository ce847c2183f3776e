//! Words of the Model Context Protocol that its two ends share, in both its eras: the handshake of `initialize`, and
//! requests that each carry the version (revision 2026-07-28).

/// The revision without a handshake.
pub const MODERN: &str = "2026-07-28";

/// Revisions with one, the newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// In `_meta` of each request of the modern era: its revision.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// In `_meta` of each request of the modern era: what the client can do.
pub const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// In `_meta` of each request of the modern era: who the client is.
pub const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// In `_meta` of the answer to `server/discover`: who the server is.
pub const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The line is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// It is no request.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// There is no such tool or resource, or its arguments do not fit.
pub const INVALID_PARAMS: i64 = -32602;
/// The revision of a request is not spoken; `data.supported` lists those that are.
pub const UNSUPPORTED_VERSION: i64 = -32022;
