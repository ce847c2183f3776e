//! Slack's message ids: `seconds.micros` as text, unique in a channel and ordered by time. Never a floating number: 16
//! digits do not fit one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::time::Timestamp;

/// `1796025600.000100`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ts {
    seconds: u64,
    micros: u32,
}

impl Ts {
    /// Before everything.
    pub const ZERO: Self = Self { seconds: 0, micros: 0 };

    /// The first of that moment.
    #[must_use]
    pub fn at(moment: Timestamp) -> Self {
        let ms = u64::try_from(moment.0).unwrap_or(0);
        Self { seconds: ms / 1000, micros: u32::try_from(ms % 1000).unwrap_or(0) * 1000 }
    }

    /// When it was written.
    #[must_use]
    pub fn moment(self) -> Timestamp {
        let ms = self.seconds.saturating_mul(1000).saturating_add(u64::from(self.micros / 1000));
        Timestamp(i64::try_from(ms).unwrap_or(i64::MAX))
    }

    /// So many seconds before.
    #[must_use]
    pub fn before(self, seconds: u64) -> Self {
        if seconds > self.seconds { Self::ZERO } else { Self { seconds: self.seconds - seconds, ..self } }
    }

    /// The one just before: "behind it" includes this one.
    #[must_use]
    pub fn just_before(self) -> Self {
        match self.micros.checked_sub(1) {
            Some(micros) => Self { micros, ..self },
            None => Self { seconds: self.seconds.saturating_sub(1), micros: 999_999 },
        }
    }
}

impl FromStr for Ts {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(seconds) || !digits(fraction) || fraction.len() > 6 {
            return Err(());
        }
        let micros: u32 = format!("{fraction:0<6}").parse().map_err(|_| ())?;
        Ok(Self { seconds: seconds.parse().map_err(|_| ())?, micros })
    }
}

impl fmt::Display for Ts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.seconds, self.micros)
    }
}

impl Serialize for Ts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom("not a message id"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_where_floating_numbers_are_not() {
        let ts = |text: &str| text.parse::<Ts>().unwrap();
        assert!(ts("9999999999.999998") < ts("9999999999.999999"));
        assert!(ts("999.5") > ts("999.499999"));
        assert_eq!(ts("1796025600.000100").to_string(), "1796025600.000100");
        assert_eq!(ts("1796025600.000000").just_before().to_string(), "1796025599.999999");
        assert_eq!(Ts::at(Timestamp(1_796_025_600_123)).to_string(), "1796025600.123000");
        for bad in ["", ".", "1.", "1.1234567", "-1.0", "1e3", "1.0.0", "99999999999999999999.1"] {
            assert!(bad.parse::<Ts>().is_err(), "{bad}");
        }
    }
}
