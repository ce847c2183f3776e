//! `dangling-reference`: a unit names a unit that does not exist.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::plan::UnitName;
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "dangling-reference",
    severity: Severity::Error,
    summary: "a unit names a unit that does not exist",
    why: "Dropping the name in silence would send work to something nobody chose.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[route]
engines = ["tempalte"]
"#,
        after: r#"[route]
engines = ["template"]
"#,
    }),
};

/// The finding; `named` as it stands in the file without quotes, `known` all units of that kind (or all).
pub(crate) fn finding<'a>(
    path: &str,
    span: Span,
    target: &UnitName,
    full: bool,
    known: impl Iterator<Item = &'a UnitName>,
) -> Finding {
    let names: Vec<String> =
        known.map(|unit| if full { unit.to_string() } else { unit.name.clone() }).collect();
    let named = if full { target.to_string() } else { target.name.clone() };
    let kind = target.kind.word();
    let finding =
        Finding::new(&CHECK, span, format!("there is no {kind} unit `{}`", words::shown(&target.name)))
            .label(format!("named by `{path}`"));
    match words::closest(&named, names.iter().map(String::as_str)) {
        Some(near) => finding.fix(format!("did you mean `{near}`?"), span, format!("\"{near}\"")),
        None => finding
            .help(format!("write a file `{}.{kind}.toml`, or take the name out", words::shown(&target.name))),
    }
}

/// The finding for the name of a template, which is no unit.
pub(crate) fn template(path: &str, span: Span, target: &UnitName) -> Finding {
    let name = &target.name;
    Finding::new(&CHECK, span, format!("`{target}` is a template, and only its instances run"))
        .label(format!("named by `{path}`"))
        .help(format!("name an instance of it: `{name}NAME`"))
}
