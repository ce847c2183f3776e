//! How far a place that is kept by time may go. A time stamp in the future (an import, a fault of the server, somebody's
//! doing) must not carry the place there: everything that really happens until then would be older, and never be read.

use crate::model::limits;
use crate::model::time::Timestamp;

/// The last moment that a true time stamp can be of now, by the far side's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon(Timestamp);

impl Horizon {
    /// Behind this moment of the far side's clock lies the future.
    #[must_use]
    pub fn at(its_now: Timestamp) -> Self {
        Self(its_now.plus(limits::PLACE_AHEAD_MAX))
    }

    /// Of time stamps the newest that can be true. The others move no place: they are met again with each look, and the
    /// record knows them.
    pub fn newest(self, times: impl IntoIterator<Item = Timestamp>) -> Option<Timestamp> {
        times.into_iter().filter(|at| *at <= self.0).max()
    }

    /// A place that lies behind it is drawn back to it.
    #[must_use]
    pub fn bound(self, place: Timestamp) -> Timestamp {
        place.min(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_moves_no_place() {
        let (now, year) = (Timestamp(1_796_025_600_000), std::time::Duration::from_secs(365 * 86_400));
        let horizon = Horizon::at(now);
        assert_eq!(horizon.newest([now.minus(year), now, now.plus(year)]), Some(now));
        assert_eq!(horizon.newest([now.plus(year)]), None);
        assert_eq!(horizon.bound(now.plus(year)), now.plus(limits::PLACE_AHEAD_MAX));
        assert_eq!(horizon.bound(now.minus(year)), now.minus(year));
    }
}
