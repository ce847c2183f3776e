//! Spans of time on the command line.

use std::time::Duration;

/// Reads `90s`, `2h`, `3d`; `like` shows in an error how they look.
pub(super) fn span(text: &str, like: &str) -> Result<Duration, String> {
    crate::unit::parse_duration(text).ok_or_else(|| format!("a span looks like {like}"))
}
