//! Bounds of the page.

use std::time::Duration;

/// A link to the page opens it once, and only so soon after it was asked for.
pub const WEB_TOKEN_LIFE: Duration = Duration::from_secs(60);

/// Links to the page that wait for their visitor.
pub const WEB_TOKENS_MAX: usize = 8;

/// Browsers that are logged in to the page.
pub const WEB_SESSIONS_MAX: usize = 16;

/// A browser from which nothing came for so long is logged out: the night.
pub const WEB_SESSION_REST_MAX: Duration = Duration::from_secs(12 * 3600);

/// However busy it is, a browser logs in again after so long.
pub const WEB_SESSION_LIFE_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// Connections to the page at once; a browser opens six.
pub const WEB_CONNECTIONS_MAX: usize = 48;

/// Of these, so many may be open streams of news; a further one ends the oldest. Who floods the page with them still gets answers.
pub const WEB_STREAMS_MAX: usize = 16;

/// A connection to the page on which nothing moves is closed: a visitor who says nothing keeps nobody out for long.
pub const WEB_IDLE_MAX: Duration = Duration::from_secs(40);

/// A form of the page: a whole draft, percent-encoded.
pub const WEB_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Rows of a list on the page; what is beyond is counted.
pub const WEB_ROWS_MAX: usize = 50;

/// Steps of rendering one view: some thousand rows.
pub const WEB_RENDER_FUEL: u64 = 20_000_000;
