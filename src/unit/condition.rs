//! Which units do not take part on this machine now, by their `[condition]` and `[assert]`. Pure: what holds is asked
//! of [`Facts`].

use std::collections::BTreeMap;

use super::plan::without::Cascade;
use super::plan::{Condition, ConditionTest, Off, OffState, Plan, UnitName};

/// What holds on this machine now.
pub trait Facts {
    /// Whether it holds. [`ConditionTest::Active`] is never asked: the plan tells.
    ///
    /// # Errors
    /// It cannot be told, and why, in a few words. The condition then does not hold, negated or not.
    fn holds(&self, test: &ConditionTest) -> Result<bool, String>;
}

/// The units whose conditions do not hold, each with the first one that does not; for [`Plan::without`]. A condition on
/// another unit asks for the plan without all of these: `active` first, then `!active`, each in the order of names, so that
/// of two units that exclude each other one stays on.
pub fn unmet(plan: &Plan, facts: &dyn Facts) -> BTreeMap<UnitName, Off> {
    let mut unmet = BTreeMap::new();
    let mut cascade = Cascade::new(plan);
    for (name, conditions) in &plan.conditions {
        let others = conditions.iter().filter(|one| !matches!(one.test, ConditionTest::Active(_)));
        let failed = others.filter_map(|one| Some((one, doubt(one, facts)?))).next();
        if let Some((one, why)) = failed {
            take_out(&mut cascade, &mut unmet, name, off(one, &why));
        }
    }
    while positive(&mut cascade, &mut unmet) || negative(&mut cascade, &mut unmet) {}
    unmet
}

/// One round over `active = …`; whether anything was taken out.
fn positive(cascade: &mut Cascade<'_>, unmet: &mut BTreeMap<UnitName, Off>) -> bool {
    round(cascade, unmet, false)
}

/// One round over `active = "!…"`; whether anything was taken out.
fn negative(cascade: &mut Cascade<'_>, unmet: &mut BTreeMap<UnitName, Off>) -> bool {
    round(cascade, unmet, true)
}

/// Each round that goes on takes a unit out, so there is an end.
fn round(cascade: &mut Cascade<'_>, unmet: &mut BTreeMap<UnitName, Off>, negated: bool) -> bool {
    let mut any = false;
    for (name, conditions) in &cascade.plan().conditions {
        let failed = conditions.iter().find(|one| match &one.test {
            ConditionTest::Active(other) => one.negated == negated && cascade.is_on(other) == negated,
            _ => false,
        });
        if let Some(one) = failed.filter(|_| cascade.is_on(name)) {
            take_out(cascade, unmet, name, off(one, "does not hold"));
            any = true;
        }
    }
    any
}

fn take_out(cascade: &mut Cascade<'_>, unmet: &mut BTreeMap<UnitName, Off>, name: &UnitName, why: Off) {
    cascade.take_out([(name.clone(), why.clone())]);
    unmet.insert(name.clone(), why);
}

/// Why a condition does not hold, if it does not.
fn doubt(condition: &Condition, facts: &dyn Facts) -> Option<String> {
    match facts.holds(&condition.test) {
        Ok(holds) if holds != condition.negated => None,
        Ok(_) => Some("does not hold".to_owned()),
        Err(why) => Some(format!("cannot be told: {why}")),
    }
}

fn off(condition: &Condition, why: &str) -> Off {
    let (table, state) =
        if condition.assert { ("assert", OffState::BadSetting) } else { ("condition", OffState::Condition) };
    Off { state, reason: format!("{table} {condition} {why}"), place: Some(condition.place.clone()) }
}
