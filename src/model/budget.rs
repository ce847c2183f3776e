//! Budgets of money: what an engine may cost, and how much is set aside before a run. Pure.

use super::money::shown_usd;
use super::price::Price;
use super::run::Usage;
use super::time::Timestamp;

/// Caps, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// In a local day.
    pub daily: Option<u64>,
    /// In a local month.
    pub monthly: Option<u64>,
    /// On one case, over all its runs.
    pub per_case: Option<u64>,
    /// In one run; engines that can are told to stop there.
    pub per_run: Option<u64>,
    /// From this share of a cap on it is worth a warning, in hundredths; 0 never warns.
    pub warn_percent: u64,
}

impl Budget {
    /// So much of a cap is spent that somebody should know.
    #[must_use]
    pub fn is_near(&self, spent: u64, micro_usd_max: u64) -> bool {
        let share = u128::from(spent) * 100;
        self.warn_percent > 0
            && spent > 0
            && share >= u128::from(micro_usd_max) * u128::from(self.warn_percent)
    }

    /// A sum over several runs is capped, so that each run's share of it must be known before.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.daily.is_some() || self.monthly.is_some() || self.per_case.is_some()
    }
}

/// What is known of an engine's money.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineMoney {
    /// Prices by their days; none where the price is not known.
    pub prices: Vec<Price>,
    /// Paid by a plan: a run costs nothing more, whatever figure the engine gives.
    pub plan: bool,
    /// The most tokens that a run may write, reasoning included.
    pub output_tokens_max: Option<u64>,
    /// The unit's own caps.
    pub budget: Budget,
}

impl EngineMoney {
    /// The price in force.
    #[must_use]
    pub fn price(&self, now: Timestamp) -> Option<&Price> {
        self.prices.iter().find(|price| price.holds_at(now))
    }

    /// Why nobody can say what a run may cost, whatever the day.
    #[must_use]
    pub fn unknown(&self) -> Option<&'static str> {
        let free = |price: &Price| price.worst(u64::MAX, u64::MAX) == 0;
        if self.plan
            || self.budget.per_run.is_some()
            || !self.prices.is_empty() && self.prices.iter().all(free)
        {
            None
        } else if self.prices.is_empty() {
            Some("its price is not known")
        } else if self.output_tokens_max.is_none() {
            Some("how much a run may write is not bounded")
        } else {
            None
        }
    }

    /// The most that a run can cost which reads so many tokens.
    ///
    /// # Errors
    /// Why that cannot be said, or why such a run is not begun, for people.
    pub fn worst(&self, now: Timestamp, input_tokens_max: u64) -> Result<u64, String> {
        if self.plan {
            return Ok(0);
        }
        let price = self.price(now);
        if price.is_some_and(|price| price.worst(u64::MAX, u64::MAX) == 0) {
            return Ok(0);
        }
        let worst = match (price, self.output_tokens_max) {
            (Some(price), Some(output)) => Ok(price.worst(input_tokens_max, output)),
            (Some(_), None) => Err("how much a run may write is not bounded"),
            (None, _) if self.prices.is_empty() => Err("its price is not known"),
            (None, _) => Err("the price that is known is not in force today"),
        };
        match (worst, self.budget.per_run) {
            (Ok(worst), Some(most)) if worst > most => Err(format!(
                "a run may cost up to {} USD, and `per_run_usd` is {}",
                shown_usd(worst),
                shown_usd(most)
            )),
            (Ok(worst), _) => Ok(worst),
            (Err(_), Some(most)) => Ok(most),
            (Err(why), None) => Err(why.to_owned()),
        }
    }

    /// Puts the cost into a run's usage where the engine gave none and the price is known.
    pub fn price_usage(&self, usage: &mut Usage, now: Timestamp) {
        if self.plan {
            "plan".clone_into(&mut usage.cost_source);
            return;
        }
        if usage.cost_micro_usd.is_some() {
            return;
        }
        // Nothing costs nothing, whatever the price.
        let unused = usage.input_tokens == Some(0) && usage.output_tokens == Some(0);
        let price = self.price(now).and_then(|price| price.cost(usage));
        if let Some(cost) = if unused { Some(0) } else { price } {
            usage.cost_micro_usd = Some(cost);
            "price".clone_into(&mut usage.cost_source);
        }
    }

    /// What a run counts for against budgets; `None` where that is not known: then all that was set aside.
    #[must_use]
    pub fn spent(&self, usage: &Usage) -> Option<u64> {
        if self.plan { Some(0) } else { usage.cost_micro_usd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::money::MICRO;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn priced() -> EngineMoney {
        let price = Price { input: MICRO, output: 10 * MICRO, ..Price::default() };
        EngineMoney { prices: vec![price], output_tokens_max: Some(1000), ..EngineMoney::default() }
    }

    fn check(money: &EngineMoney, expected: Result<u64, &str>) {
        assert_eq!(money.worst(NOW, 500), expected.map_err(str::to_owned));
    }

    #[test]
    fn the_worst_case_is_known_or_a_reason() {
        check(&priced(), Ok(500 + 10_000));
        check(&EngineMoney { prices: vec![Price::free()], ..EngineMoney::default() }, Ok(0));
        check(&EngineMoney { plan: true, ..EngineMoney::default() }, Ok(0));
        check(&EngineMoney::default(), Err("its price is not known"));
        check(
            &EngineMoney { output_tokens_max: None, ..priced() },
            Err("how much a run may write is not bounded"),
        );
        let mut past = priced();
        past.prices[0].until = Some(NOW);
        check(&past, Err("the price that is known is not in force today"));
        let per_run = |most| Budget { per_run: Some(most), ..Budget::default() };
        check(&EngineMoney { budget: per_run(700), ..EngineMoney::default() }, Ok(700));
        check(&EngineMoney { budget: per_run(20_000), ..priced() }, Ok(10_500));
        check(
            &EngineMoney { budget: per_run(700), ..priced() },
            Err("a run may cost up to 0.0105 USD, and `per_run_usd` is 0.0007"),
        );
    }

    #[test]
    fn near_is_a_share_of_the_cap() {
        let near = |warn_percent, spent| Budget { warn_percent, ..Budget::default() }.is_near(spent, 1000);
        assert!(!near(80, 799) && near(80, 800) && near(80, u64::MAX));
        assert!(!near(0, 5000));
    }

    #[test]
    fn a_cost_has_its_source() {
        let check =
            |money: &EngineMoney, given: Option<u64>, tokens, expected: (Option<u64>, &str, Option<u64>)| {
                let source = if given.is_some() { "engine" } else { "" };
                let mut usage = Usage {
                    input_tokens: tokens,
                    output_tokens: tokens,
                    cost_micro_usd: given,
                    cost_source: source.into(),
                    ..Usage::default()
                };
                money.price_usage(&mut usage, NOW);
                assert_eq!((usage.cost_micro_usd, usage.cost_source.as_str(), money.spent(&usage)), expected);
            };
        check(&priced(), None, Some(100), (Some(1100), "price", Some(1100)));
        check(&priced(), Some(7), Some(100), (Some(7), "engine", Some(7)));
        // Unknown is not nothing.
        check(&priced(), None, None, (None, "", None));
        check(&EngineMoney::default(), None, Some(100), (None, "", None));
        check(&EngineMoney::default(), None, Some(0), (Some(0), "price", Some(0)));
        let plan = EngineMoney { plan: true, ..EngineMoney::default() };
        check(&plan, Some(7), None, (Some(7), "plan", Some(0)));
    }
}
