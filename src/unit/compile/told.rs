//! What is told of units and of what was not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::diag::{Finding, Severity, SourceId, Span};
use crate::unit::check::{
    bad_name, contradictory_enablement, disabled_incomplete, duplicate_key, ignored_file, literal_secret,
    syntax_error, unknown_kind, unreadable, writable_by_others,
};
use crate::unit::graph::Unit;
use crate::unit::load::{Notice, Trouble, UnitFile};

/// The findings of a unit as they are told: those of a disabled unit become one info, but for the ones that are
/// faults of the file whether it runs or not.
pub(super) fn calm(unit: &Unit) -> Vec<Finding> {
    if unit.enabled && !unit.masked {
        return unit.findings().cloned().collect();
    }
    let always = [
        literal_secret::CHECK.code,
        syntax_error::CHECK.code,
        duplicate_key::CHECK.code,
        contradictory_enablement::CHECK.code,
    ];
    let (mut told, calm): (Vec<Finding>, Vec<Finding>) =
        unit.findings().cloned().partition(|finding| always.contains(&finding.check.code));
    let (infos, problems): (Vec<Finding>, Vec<Finding>) =
        calm.into_iter().partition(|finding| finding.severity == Severity::Info);
    if unit.masked || unit.shipped {
        return told;
    }
    let mut titles: Vec<String> = problems.into_iter().map(|finding| finding.title).collect();
    let mut seen = BTreeSet::new();
    titles.retain(|title| seen.insert(title.clone()));
    if titles.is_empty() {
        told.extend(infos);
    } else {
        told.push(disabled_incomplete::finding(Span::file(unit.source), &titles));
    }
    told
}

/// The findings about what was not read, and the files that nevertheless take their units' places, with the reason.
pub(super) fn notices(
    notices: &[Notice],
    mut source: impl FnMut(&Path) -> SourceId,
) -> (Vec<Finding>, Vec<(UnitFile, Finding)>) {
    let mut notices: Vec<&Notice> = notices.iter().collect();
    notices.sort();
    let (mut findings, mut unread) = (Vec::new(), Vec::new());
    for notice in notices {
        let span = Span::file(source(&notice.path));
        let finding = match &notice.trouble {
            Trouble::Ignored(names) => ignored_file::finding(span, names),
            Trouble::UnknownKind(word) => unknown_kind::finding(span, word),
            Trouble::BadName(file) => bad_name::finding(span, file),
            Trouble::WritableByOthers { who, directory } => {
                writable_by_others::finding(span, who, *directory)
            }
            trouble => unreadable::finding(span, trouble),
        };
        if let Some((level, role)) = notice.instead_of.clone() {
            let file =
                UnitFile { level, path: notice.path.clone(), dir: PathBuf::new(), role, text: "".into() };
            unread.push((file, finding.clone()));
        }
        findings.push(finding);
    }
    (findings, unread)
}
