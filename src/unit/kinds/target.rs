//! `NAME.target.toml`: a set of units that run together.

use crate::unit::plan::TargetUnit;
use crate::unit::schema::KindSpec;
use crate::unit::typed::Typed;

/// Its tables: none of its own.
pub(crate) const SPEC: KindSpec =
    KindSpec { tables: &[], enabled: true, doc: "A set of units that run together." };

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> TargetUnit {
    TargetUnit { name: typed.name.name.clone(), description: typed.description(), members: Vec::new() }
}
