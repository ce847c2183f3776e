//! `unreadable`: a file under a unit's name cannot be read.

use crate::diag::{Check, Finding, Severity, Span};
use crate::model::limits;
use crate::model::text::short_size;
use crate::unit::load::Trouble;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unreadable",
    severity: Severity::Error,
    summary: "a file under a unit's name cannot be read",
    why: "A unit that cannot be read is not a unit that was deleted; the others run.",
    example: None,
};

/// The finding for a file or directory.
pub(crate) fn finding(span: Span, trouble: &Trouble) -> Finding {
    let make = |title: String| Finding::new(&CHECK, span, title);
    match trouble {
        Trouble::Unreadable(why) => make(format!("cannot read it: {why}")),
        Trouble::Directory(why) => make(format!("cannot read this directory: {why}"))
            .note("what is in it does not count as deleted, but nothing of it can be read anew"),
        Trouble::Loop => make("links that lead in a circle".to_owned()),
        Trouble::Dangling => make("a link to something that does not exist".to_owned()),
        Trouble::NotAFile(what) => make(format!("{what} under the name of a unit file")),
        Trouble::TooLarge => make(format!("larger than {}", short_size(limits::UNIT_FILE_BYTES_MAX))),
        Trouble::NotText(line) => make(format!("not UTF-8 text in line {line}")),
        Trouble::TooMany => {
            make(format!("more than {} names in one directory; the rest is not read", limits::UNIT_FILES_MAX))
        }
        // These have rules of their own.
        Trouble::Ignored(_)
        | Trouble::UnknownKind(_)
        | Trouble::BadName(_)
        | Trouble::WritableByOthers { .. } => make("it is not read".to_owned()),
    }
}
