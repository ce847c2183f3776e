//! When a secret is to be replaced. Pure.

use crate::model::time::Timestamp;
use crate::unit::plan::{NewValue, SecretUnit};

/// When a secret ends, and when it is to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The value ends; `None`: not that anybody knows.
    pub ends: Option<Timestamp>,
    /// It is to be replaced from here on.
    pub rotate_at: Option<Timestamp>,
}

impl Due {
    /// Of a secret that was set at this time, as far as its store knows, and by what its login says ends at that.
    #[must_use]
    pub fn of(unit: &SecretUnit, set_at: Option<Timestamp>, login_ends: Option<Timestamp>) -> Self {
        // A value that was stored near the end of the one before is not the one that ends then.
        let still = |end: &Timestamp| set_at.is_none_or(|set_at| set_at < end.minus(unit.warn));
        let ends = [unit.expires.filter(still), login_ends].into_iter().flatten().min();
        let aged = set_at.zip(unit.rotate_every).map(|(set_at, every)| set_at.plus(every));
        let rotate_at = [ends.map(|ends| ends.minus(unit.warn)), aged].into_iter().flatten().min();
        Self { ends, rotate_at }
    }

    /// It is to be replaced now.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.rotate_at.is_some_and(|at| at <= now)
    }
}

/// Somebody has to see to it some day.
#[must_use]
pub fn is_to_be_replaced(unit: &SecretUnit) -> bool {
    let goes_out = matches!(&unit.how, NewValue::Command { retire: Some(_), .. });
    unit.rotate_every.is_some() || unit.expires.is_some() || unit.how == NewValue::OAuth || goes_out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: i64 = 86_400_000;

    fn unit(expires: Option<i64>, every: Option<u64>) -> SecretUnit {
        SecretUnit {
            name: "x".into(),
            description: String::new(),
            backend: None,
            entry: "x".into(),
            command: Vec::new(),
            pass: Vec::new(),
            keep: Duration::ZERO,
            rotate_every: every.map(|days| Duration::from_secs(days * 86_400)),
            expires: expires.map(|day| Timestamp(day * DAY)),
            warn: Duration::from_secs(14 * 86_400),
            how: NewValue::Ask,
        }
    }

    fn check(
        expires: Option<i64>,
        every: Option<u64>,
        set_at: Option<i64>,
        expected: (Option<i64>, Option<i64>),
    ) {
        let due = Due::of(&unit(expires, every), set_at.map(|day| Timestamp(day * DAY)), None);
        let days = |at: Option<Timestamp>| at.map(|at| at.0 / DAY);
        assert_eq!((days(due.ends), days(due.rotate_at)), expected);
    }

    #[test]
    fn whichever_comes_first() {
        check(None, None, Some(1), (None, None));
        check(None, Some(90), Some(10), (None, Some(100)));
        check(Some(100), None, Some(10), (Some(100), Some(86)));
        check(Some(100), Some(30), Some(10), (Some(100), Some(40)));
        check(None, Some(90), None, (None, None));
        check(Some(100), None, None, (Some(100), Some(86)));
    }

    #[test]
    fn a_value_that_was_set_within_the_warning_is_the_next_one() {
        check(Some(100), None, Some(85), (Some(100), Some(86)));
        check(Some(100), None, Some(86), (None, None));
        check(Some(100), None, Some(200), (None, None));
    }

    #[test]
    fn a_login_ends_by_itself() {
        let due = Due::of(&unit(Some(100), None), None, Some(Timestamp(50 * DAY)));
        assert_eq!(due.ends, Some(Timestamp(50 * DAY)));
        assert!(!due.is_due(Timestamp(36 * DAY - 1)) && due.is_due(Timestamp(36 * DAY)));
    }
}
