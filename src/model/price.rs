//! What tokens of a model cost. Prices are data with dates: a row of a unit file, or of the table that ships.

pub mod table;

use super::run::Usage;
use super::time::Timestamp;

/// Tokens that a price is for.
const PER: u128 = 1_000_000;

/// What tokens written into a cache cost at most where no price for them is known: twice as much as others, the dearest
/// that a vendor asks (for an hour).
const CACHE_WRITE_MAX: u64 = 2;

/// A price. Amounts are millionths of a US dollar for a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Tokens read.
    pub input: u64,
    /// Tokens written, those of reasoning too.
    pub output: u64,
    /// Tokens read from a cache; as others if not said.
    pub cache_read: Option<u64>,
    /// Tokens written into a cache; twice as much as others if not said.
    pub cache_write: Option<u64>,
    /// A request with more tokens read costs more, all of it.
    pub above: Option<Above>,
    /// Not before this moment.
    pub from: Option<Timestamp>,
    /// Not from this moment on.
    pub until: Option<Timestamp>,
    /// When somebody looked the price up: `2026-11-30`. Empty for what is free by nature.
    pub as_of: String,
}

/// Long requests cost more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// Tokens read that are still at the usual price.
    pub tokens: u64,
    /// What input costs beyond, in hundredths of the usual price.
    pub input_percent: u64,
    /// What output costs beyond.
    pub output_percent: u64,
}

impl Price {
    /// Costs nothing, by declaration.
    #[must_use]
    pub fn free() -> Self {
        Self::default()
    }

    /// The price is in force.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= now) && self.until.is_none_or(|until| now < until)
    }

    fn is_free(&self) -> bool {
        self.input == 0
            && self.output == 0
            && self.cache_read.unwrap_or(0) == 0
            && self.cache_write.unwrap_or(0) == 0
    }

    /// What a run cost, rounded up; `None` where its tokens are not known.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<u64> {
        if self.is_free() {
            return Some(0);
        }
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let read = usage.cache_read_tokens.unwrap_or(0).min(input);
        let written = usage.cache_write_tokens.unwrap_or(0).min(input - read);
        let fresh = input - read - written;
        let reading = amount(fresh, self.input)
            + amount(read, self.cache_read.unwrap_or(self.input))
            + amount(written, self.cache_write());
        Some(self.total(input, reading, amount(output, self.output)))
    }

    /// The most that a run can cost which reads and writes no more than this.
    #[must_use]
    pub fn worst(&self, input_tokens_max: u64, output_tokens_max: u64) -> u64 {
        // What ends in a cache may cost more than what does not.
        let cache_write = self.cache_write.unwrap_or(self.input);
        let dearest = self.input.max(cache_write).max(self.cache_read.unwrap_or(0));
        self.total(
            input_tokens_max,
            amount(input_tokens_max, dearest),
            amount(output_tokens_max, self.output),
        )
    }

    fn cache_write(&self) -> u64 {
        self.cache_write.unwrap_or(self.input.saturating_mul(CACHE_WRITE_MAX))
    }

    fn total(&self, input_tokens: u64, reading: u128, writing: u128) -> u64 {
        let above = self.above.filter(|above| input_tokens > above.tokens);
        let (input_percent, output_percent) =
            above.map_or((100, 100), |above| (above.input_percent, above.output_percent));
        let sum = reading * u128::from(input_percent) + writing * u128::from(output_percent);
        u64::try_from(sum.div_ceil(100 * PER)).unwrap_or(u64::MAX)
    }
}

fn amount(tokens: u64, price: u64) -> u128 {
    u128::from(tokens) * u128::from(price)
}

/// A date of a price, as its first moment in UTC: `2026-11-30`.
#[must_use]
pub fn date(text: &str) -> Option<Timestamp> {
    let day: jiff::civil::Date = text.trim().parse().ok()?;
    Timestamp::from_rfc3339(&format!("{day}T00:00:00Z"))
}

/// The first moment after a date.
#[must_use]
pub fn day_after(text: &str) -> Option<Timestamp> {
    date(text).map(|at| at.plus(std::time::Duration::from_secs(24 * 3600)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::money::MICRO;

    fn usage(input: u64, read: u64, written: u64, output: u64) -> Usage {
        Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cache_read_tokens: Some(read),
            cache_write_tokens: Some(written),
            ..Usage::default()
        }
    }

    fn sol() -> Price {
        Price {
            input: 2 * MICRO,
            output: 10 * MICRO,
            cache_read: Some(100_000),
            cache_write: Some(2_500_000),
            above: Some(Above { tokens: 272_000, input_percent: 200, output_percent: 150 }),
            ..Price::default()
        }
    }

    #[test]
    fn tokens_cost_by_what_they_are() {
        let check = |usage: &Usage, expected| assert_eq!(sol().cost(usage), expected, "{usage:?}");
        check(&usage(1_000_000 / 4, 0, 0, 0), Some(500_000));
        check(&usage(1000, 0, 0, 100), Some(2000 + 1000));
        check(&usage(1000, 800, 100, 100), Some(200 + 80 + 250 + 1000));
        // Rounded up: a run is never cheaper than it was.
        check(&usage(0, 0, 0, 0), Some(0));
        check(&usage(1, 1, 0, 0), Some(1));
        // More from the cache than was read is a slip of the far side.
        check(&usage(10, 1000, 1000, 0), Some(1));
        check(&usage(272_000, 0, 0, 1000), Some(544_000 + 10_000));
        check(&usage(272_001, 0, 0, 1000), Some(544_002 * 2 + 15_000));
        check(&Usage { input_tokens: Some(5), ..Usage::default() }, None);
        check(&Usage::default(), None);
        assert_eq!(Price::free().cost(&Usage::default()), Some(0));
    }

    #[test]
    fn no_run_costs_more_than_the_worst() {
        for (input, read, written, output) in
            [(1000, 0, 0, 500), (1000, 1000, 0, 500), (1000, 0, 1000, 500), (300_000, 1, 200_000, 1)]
        {
            let cost = sol().cost(&usage(input, read, written, output)).unwrap();
            assert!(cost <= sol().worst(input, output));
        }
        assert_eq!(sol().worst(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn a_price_has_its_days() {
        let price = Price { from: date("2026-09-22"), until: day_after("2026-12-31"), ..Price::default() };
        let holds = |text: &str| price.holds_at(Timestamp::from_rfc3339(text).unwrap());
        assert!(!holds("2026-09-21T23:59:59Z") && holds("2026-09-22T00:00:00Z"));
        assert!(holds("2026-12-31T23:59:59Z") && !holds("2027-01-01T00:00:00Z"));
        assert_eq!(date("soon"), None);
    }
}
