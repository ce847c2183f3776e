//! Is it well? One rule for `status`, `is-healthy` and the page. "Running" alone is not an answer: a unit that missed
//! several due times is not well, however active it looks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::wire::{ActiveState, LoadState, StatusView, UnitView};
use crate::model::time::Timestamp;

/// After a success, so many failures in a row are the weather.
const FAILURES_OF_WEATHER: u32 = 2;

/// A unit is late at the earliest after this.
const LATE_AFTER_MIN: Duration = Duration::from_secs(60);

/// A unit without a pace of its own is late after this.
const LATE_AFTER_DEFAULT: Duration = Duration::from_secs(5 * 60);

/// How a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// Well.
    Ok,
    /// Meant to do nothing.
    Off,
    /// Its first try is not over yet.
    Starting,
    /// The far side asked to wait.
    Waiting,
    /// Failed a few times after it had worked; tries again by itself.
    Retrying,
    /// Missed several due times.
    Late,
    /// Fails again and again, or waits for the user.
    Failing,
    /// Cannot run as it is written, or was left alone after too many faults.
    Broken,
    /// Meant to run; there is no daemon.
    Stopped,
}

impl Health {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Off => "off",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::Retrying => "retrying",
            Self::Late => "late",
            Self::Failing => "failing",
            Self::Broken => "broken",
            Self::Stopped => "stopped",
        }
    }

    /// Nobody has to do anything.
    #[must_use]
    pub fn is_well(self) -> bool {
        matches!(self, Self::Ok | Self::Off | Self::Starting | Self::Waiting | Self::Retrying)
    }
}

impl UnitView {
    /// How it is: as whoever sent it judged, else as it looks at `now`.
    #[must_use]
    pub fn health(&self, now: Timestamp) -> Health {
        self.health.unwrap_or_else(|| self.judged(now))
    }

    /// How it looks at `now`.
    #[must_use]
    pub fn judged(&self, now: Timestamp) -> Health {
        if !self.enabled || self.load == LoadState::Masked {
            return Health::Off;
        }
        if self.load != LoadState::Loaded
            || matches!(self.active, ActiveState::Failed | ActiveState::Inactive)
        {
            return Health::Broken;
        }
        // A try that does not come to an end is no better than one that is never made.
        if self.running_since.is_some_and(|since| since.plus(LATE_AFTER_DEFAULT) < now)
            && self.every.is_some()
        {
            return Health::Late;
        }
        if self.failures_in_a_row > 0 {
            let class = self.last_error.as_ref().map(|error| error.class.as_str());
            // That is how it should be.
            if matches!(class, Some("rate-limit" | "rate-limited" | "usage-limit")) {
                return Health::Waiting;
            }
            let needs_a_person = matches!(class, Some("auth" | "billing" | "config" | "permanent" | "bug"));
            let weather = self.last_success.is_some() && self.failures_in_a_row <= FAILURES_OF_WEATHER;
            return if weather && !needs_a_person { Health::Retrying } else { Health::Failing };
        }
        let grace = self.every.map_or(LATE_AFTER_DEFAULT, |every| (every * 2).max(LATE_AFTER_MIN));
        if self.running_since.is_none() && self.next_due.is_some_and(|due| due.plus(grace) < now) {
            return Health::Late;
        }
        if self.active == ActiveState::Activating || self.every.is_some() && self.last_try.is_none() {
            return Health::Starting;
        }
        Health::Ok
    }
}

impl StatusView {
    /// A daemon runs, everything enabled is well and all unit files are good.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.running && self.findings == 0 && self.units.iter().all(|unit| unit.health(self.now).is_well())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::ErrorView;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn ago(seconds: u64) -> Option<Timestamp> {
        Some(NOW.minus(Duration::from_secs(seconds)))
    }

    fn check(expected: Health, change: impl FnOnce(&mut UnitView)) {
        let mut unit = UnitView {
            last_try: ago(10),
            last_success: ago(10),
            every: Some(Duration::from_secs(60)),
            next_due: ago(0),
            ..UnitView::active("inbox.connector")
        };
        change(&mut unit);
        assert_eq!(unit.health(NOW), expected, "{unit:?}");
    }

    fn failing(unit: &mut UnitView, times: u32, class: &str) {
        unit.failures_in_a_row = times;
        unit.last_error =
            Some(ErrorView { at: Some(NOW), class: class.to_owned(), message: "no".to_owned() });
    }

    #[test]
    fn polled_in_time_is_well() {
        check(Health::Ok, |_| ());
        check(Health::Starting, |unit| (unit.last_try, unit.last_success) = (None, None));
    }

    #[test]
    fn several_missed_due_times_are_late_however_active() {
        check(Health::Ok, |unit| unit.next_due = ago(119));
        check(Health::Late, |unit| unit.next_due = ago(121));
        check(Health::Late, |unit| {
            unit.next_due = ago(301);
            unit.every = None;
        });
        check(Health::Late, |unit| (unit.running_since, unit.next_due) = (ago(301), ago(301)));
        check(Health::Ok, |unit| (unit.running_since, unit.next_due) = (ago(299), ago(299)));
    }

    #[test]
    fn off_is_no_fault_and_broken_is() {
        check(Health::Off, |unit| (unit.enabled, unit.active) = (false, ActiveState::Inactive));
        check(Health::Off, |unit| unit.load = LoadState::Masked);
        check(Health::Off, |unit| (unit.enabled, unit.load) = (false, LoadState::BadSetting));
        check(Health::Broken, |unit| unit.load = LoadState::BadSetting);
        check(Health::Broken, |unit| unit.active = ActiveState::Failed);
        check(Health::Broken, |unit| unit.active = ActiveState::Inactive);
    }

    #[test]
    fn failures_count_by_class_and_number() {
        check(Health::Retrying, |unit| failing(unit, 2, "network"));
        check(Health::Failing, |unit| failing(unit, 3, "network"));
        check(Health::Failing, |unit| failing(unit, 1, "auth"));
        check(Health::Waiting, |unit| failing(unit, 9, "rate-limit"));
        check(Health::Waiting, |unit| failing(unit, 1, "usage-limit"));
        check(Health::Failing, |unit| failing(unit, 1, "billing"));
        check(Health::Failing, |unit| {
            failing(unit, 1, "network");
            unit.last_success = None;
        });
    }
}
