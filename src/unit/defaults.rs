//! Defaults of keys, parsed once: they are the same for all units.

use std::collections::HashMap;
use std::path::Path;

use super::compile::CompileEnv;
use super::decode::{At, decode};
use super::parse;
use super::plan::UnitName;
use super::report::Report;
use super::schema::{KeySpec, ValueType};
use super::value::Value;
use crate::diag::SourceId;

/// Decoded defaults by the address of their key.
#[derive(Debug, Default)]
pub(crate) struct Defaults(HashMap<usize, Option<Value>>);

impl Defaults {
    /// The default of a key; `None` if it has none. Paths may depend on the unit and are decoded each time.
    pub fn get(
        &mut self,
        unit: &UnitName,
        table: &'static str,
        spec: &'static KeySpec,
        env: &CompileEnv,
    ) -> Option<Value> {
        let text = spec.default?;
        let at = At { unit, table, key: spec.name, dir: Path::new(""), env };
        if spec.value == ValueType::Path {
            return decode_text(at, spec, text);
        }
        let key = std::ptr::from_ref(spec) as usize;
        self.0.entry(key).or_insert_with(|| decode_text(at, spec, text)).clone()
    }
}

/// A default that does not fit its own type is a fault of ours; a test over the whole catalog finds it.
fn decode_text(at: At<'_>, spec: &KeySpec, text: &str) -> Option<Value> {
    let node = parse::parse_value(SourceId(u32::MAX), text)?;
    decode(at, spec, &node, &mut Report::default(), &mut Vec::new())
}
