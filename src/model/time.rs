//! Time as integers of milliseconds, and the clock everyone asks.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// `self + span`, saturating.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// `self - span`, saturating.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long ago `earlier` was, zero when it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// For mail headers: `Mon, 30 Nov 2026 08:00:00 +0000`.
    #[must_use]
    pub fn rfc_2822(self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        jiff::fmt::rfc2822::to_string(&at.to_zoned_datetime(jiff::tz::TimeZone::UTC)).unwrap_or_default()
    }

    /// From a whole number of seconds since 1970.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// From a date of a mail or an HTTP header: `Mon, 30 Nov 2026 08:00:00 GMT`.
    #[must_use]
    pub fn from_http_date(text: &str) -> Option<Self> {
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        parser.parse_timestamp(text.trim()).ok().map(|at| Self(at.as_millisecond()))
    }

    /// From RFC 3339: `2026-11-30T09:00:00+01:00`.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        text.trim().parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }
}

impl Timestamp {
    /// The local time for people, short where it is today: `10:04:00`, `Fri 2026-12-04 10:00`.
    #[must_use]
    pub fn local(self, now: Self) -> String {
        let zone = jiff::tz::TimeZone::system();
        let Ok(at) = jiff::Timestamp::from_millisecond(self.0) else { return format!("{}ms", self.0) };
        let (start, end) = day_bounds(now);
        let today = (start..end).contains(&self);
        let format = if today { "%H:%M:%S" } else { "%a %Y-%m-%d %H:%M" };
        at.to_zoned_datetime(zone).strftime(format).to_string()
    }
}

impl Timestamp {
    /// The local day, `2026-11-30`, and its name, `Monday`.
    #[must_use]
    pub fn local_day(self) -> (String, String) {
        let Ok(at) = jiff::Timestamp::from_millisecond(self.0) else { return Default::default() };
        let local = at.to_zoned_datetime(jiff::tz::TimeZone::system());
        (local.strftime("%Y-%m-%d").to_string(), local.strftime("%A").to_string())
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC to the second, `2026-11-30T08:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.0}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

/// An age or a wait for a glance: `3s`, `12m`, `5h`, `9d`.
#[must_use]
pub fn short_span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The local day that a moment lies in: its first moment and the next day's.
#[must_use]
pub fn day_bounds(at: Timestamp) -> (Timestamp, Timestamp) {
    let zoned = jiff::Timestamp::from_millisecond(at.0)
        .unwrap_or_default()
        .to_zoned_datetime(jiff::tz::TimeZone::system());
    let start = zoned.start_of_day().unwrap_or_else(|_| zoned.clone());
    let end = start.tomorrow().and_then(|next| next.start_of_day()).unwrap_or_else(|_| zoned.clone());
    (Timestamp(start.timestamp().as_millisecond()), Timestamp(end.timestamp().as_millisecond()))
}

/// The local day that a moment lies in: `2026-11-30`.
#[must_use]
pub fn local_date(at: Timestamp) -> String {
    let zoned = jiff::Timestamp::from_millisecond(at.0)
        .unwrap_or_default()
        .to_zoned_datetime(jiff::tz::TimeZone::system());
    zoned.date().to_string()
}

/// The first moment of a local day: `2026-11-30`.
#[must_use]
pub fn start_of_date(text: &str) -> Option<Timestamp> {
    let day: jiff::civil::Date = text.trim().parse().ok()?;
    // Noon lies in the day in every zone's calendar, whatever its clocks do at night.
    let noon = Timestamp::from_rfc3339(&format!("{day}T12:00:00Z"))?;
    [-1, 0, 1]
        .into_iter()
        .map(|days| day_bounds(Timestamp(noon.0 + days * 86_400_000)).0)
        .find(|start| local_date(*start) == day.to_string())
}

/// The local month that a moment lies in: its first moment and the next month's.
#[must_use]
pub fn month_bounds(at: Timestamp) -> (Timestamp, Timestamp) {
    let zoned = jiff::Timestamp::from_millisecond(at.0)
        .unwrap_or_default()
        .to_zoned_datetime(jiff::tz::TimeZone::system());
    let first =
        zoned.first_of_month().and_then(|first| first.start_of_day()).unwrap_or_else(|_| zoned.clone());
    let next = first.checked_add(jiff::Span::new().months(1)).and_then(|next| next.start_of_day());
    let next = next.unwrap_or_else(|_| zoned.clone());
    (Timestamp(first.timestamp().as_millisecond()), Timestamp(next.timestamp().as_millisecond()))
}

/// The only source of "now". Passed as a parameter so that tests own the time.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that only moves when told; clones share the hand.
    #[must_use]
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(start.0))))
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => {
                #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
                let elapsed =
                    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Manual(at) => Timestamp(at.load(Ordering::SeqCst)),
        }
    }

    /// Moves a manual clock forward; does nothing to the machine's.
    pub fn advance(&self, span: Duration) {
        if let Source::Manual(at) = &self.0 {
            let step = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            at.fetch_add(step, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rfc_3339() {
        assert_eq!(Timestamp::from_rfc3339("2026-11-30T09:00:00+01:00"), Some(Timestamp(1_796_025_600_000)));
        assert_eq!(Timestamp::from_rfc3339("9:13am (UTC)"), None);
    }

    #[test]
    fn shows_rfc_3339_to_the_second() {
        assert_eq!(Timestamp(1_796_025_600_123).to_string(), "2026-11-30T08:00:00Z");
    }

    #[test]
    fn reads_http_dates() {
        let read = |text: &str| Timestamp::from_http_date(text).map(|at| at.to_string());
        assert_eq!(read("Mon, 30 Nov 2026 08:00:00 GMT").as_deref(), Some("2026-11-30T08:00:00Z"));
        assert_eq!(read("soon"), None);
    }

    #[test]
    fn shows_mail_dates() {
        assert_eq!(Timestamp(1_796_025_600_123).rfc_2822(), "Mon, 30 Nov 2026 08:00:00 +0000");
    }

    #[test]
    fn a_day_holds_its_moments() {
        let at = Timestamp(1_796_025_600_123);
        let (start, end) = day_bounds(at);
        assert!(start <= at && at < end);
        let hours = end.since(start).as_secs() / 3600;
        assert!((23..=25).contains(&hours), "{hours}");
    }

    #[test]
    fn a_date_is_a_local_day() {
        let start = start_of_date("2026-11-30").unwrap();
        assert_eq!(local_date(start), "2026-11-30");
        assert_eq!(day_bounds(start).0, start);
        assert_eq!(start_of_date("7d"), None);
    }

    #[test]
    fn a_month_holds_its_days() {
        let at = Timestamp(1_796_025_600_123);
        let (start, end) = month_bounds(at);
        let (day_start, day_end) = day_bounds(at);
        assert!(start <= day_start && day_end <= end);
        let days = end.since(start).as_secs() / 86_400;
        assert!((28..=31).contains(&days), "{days}");
    }

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = Clock::manual(Timestamp(5));
        let other = clock.clone();
        clock.advance(Duration::from_secs(1));
        assert_eq!(other.now(), Timestamp(1005));
    }

    #[test]
    fn spans_are_short() {
        let shown = |seconds| short_span(Duration::from_secs(seconds));
        assert_eq!([shown(3), shown(720), shown(18_000), shown(800_000)], ["3s", "12m", "5h", "9d"]);
    }
}
