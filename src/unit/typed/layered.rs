//! A unit's keys with all of their layers.

use std::path::Path;

use super::{KeySpans, Surroundings, Typed};
use crate::diag::{SourceId, Span};
use crate::unit::check::contradictory_enablement;
use crate::unit::decode::{At, decode};
use crate::unit::schema::{KeySpec, ValueType};
use crate::unit::tree::{Data, Entry};
use crate::unit::{lists, parse, shadows};

impl Typed {
    /// Enabled in a layer above the one that masks it. `dirs` has the layers, lower first.
    pub(super) fn contradiction(&mut self, dirs: &[(SourceId, &Path)]) {
        let place = |key| self.spans("install", key).map(|spans| spans.value);
        if let (true, true, Some(enabled), Some(masked)) =
            (self.masked, self.enabled, place("enabled"), place("masked"))
        {
            let layer = |span: Span| dirs.iter().position(|(source, _)| *source == span.source);
            if layer(enabled) > layer(masked) {
                self.report.push(contradictory_enablement::finding(enabled, masked));
            }
        }
    }

    /// Looks at what lower layers say of a key; `false` if nobody can tell what they mean together.
    pub(super) fn shadows(
        &mut self,
        table: &'static str,
        spec: &'static KeySpec,
        entry: &Entry,
        around: &mut Surroundings<'_>,
    ) -> bool {
        if entry.below.is_empty() && !entry.is_unset() {
            return true;
        }
        let found = shadows::check(&format!("{table}.{}", spec.name), spec, entry);
        let sound = !shadows::are_contradictory(&found);
        self.report.findings.extend(found);
        if spec.value == ValueType::Secret {
            // A secret in a file is one in a lower layer too.
            for below in entry.below.iter().filter(|node| !matches!(node.data, Data::Table(_) | Data::Unset))
            {
                let at = At { unit: &self.name, table, key: spec.name, dir: "".as_ref(), env: around.env };
                decode(at, spec, below, &mut self.report, &mut Vec::new());
            }
        }
        sound
    }

    /// A key that stands in the files, with all of its layers.
    pub(super) fn entry(
        &mut self,
        table: &'static str,
        spec: &'static KeySpec,
        entry: &Entry,
        around: &mut Surroundings<'_>,
    ) {
        let node = if spec.value.is_list() {
            let default = spec.default.and_then(|text| parse::parse_value(SourceId(u32::MAX), text));
            let path = format!("{table}.{}", spec.name);
            lists::resolve(&path, entry, default, &mut self.report.findings)
        } else {
            Some(entry.node.clone())
        };
        let spans = KeySpans::of(entry, node.as_ref().unwrap_or(&entry.node));
        self.spans.entry(table).or_default().insert(spec.name, spans);
        if let Some(node) = node {
            self.key(table, spec, &node, around);
        }
    }
}
