//! Secret references: `{ secret = "name" }`, `{ env = "NAME" }`. Whatever else stands there is never shown.

use super::{At, text};
use crate::diag::mask;
use crate::model::secret_ref::{SecretRef, name_problem};
use crate::unit::check::{bad_value, literal_secret, placeholder, shell_quirk};
use crate::unit::report::Report;
use crate::unit::schema::KeySpec;
use crate::unit::tree::{Data, Node, Table};
use crate::unit::value::Setting;

/// The value of a key that takes only references.
pub(super) fn decode(at: At<'_>, spec: &KeySpec, node: &Node, report: &mut Report) -> Option<SecretRef> {
    match &node.data {
        Data::Table(table) => reference(at, Some(spec), node, table, report),
        Data::Text(text) if placeholder::name(text).is_some() && !mask::looks_secret(text) => {
            text::is_clean(at, node.span, text, true, report);
            None
        }
        // A text, and also a number or a list: whatever it is, it was meant as the secret.
        _ => {
            report.hide(node.span);
            report.push(literal_secret::in_secret_key(&at.path(), node.span, at.unit));
            None
        }
    }
}

/// The value of an environment variable: text or reference.
pub(super) fn setting(at: At<'_>, node: &Node, report: &mut Report) -> Option<Setting> {
    match &node.data {
        Data::Table(table) => reference(at, None, node, table, report).map(Setting::Secret),
        Data::Text(value) => {
            if !text::is_clean(at, node.span, value, true, report) {
                return None;
            }
            if is_secret_variable(at.key, value) {
                report.hide(node.span);
                report.push(literal_secret::looks_like(&at.path(), node.span, "a secret, by its name", true));
                return None;
            }
            if let Some(quirk) = shell_quirk::quirk(value) {
                report.push(shell_quirk::finding(&at.path(), node.span, quirk));
            }
            Some(Setting::Text(value.clone()))
        }
        other => {
            report.hide(node.span);
            report.push(bad_value::finding(
                &at.path(),
                node.span,
                &format!("takes a text in quotes or a reference, not {}", other.what()),
            ));
            None
        }
    }
}

/// A variable named like a secret with a value that may be one. Short values are the dummies that local servers
/// take (`none`, `ollama`), but not under the name of a password.
fn is_secret_variable(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let secret = ["password", "passwd", "passphrase"].iter().any(|end| name.ends_with(end));
    let key = ["token", "secret", "_key", "apikey"].iter().any(|end| name.ends_with(end));
    let path = value.starts_with(['/', '~', '.']);
    !value.is_empty() && !path && (secret || (key && value.len() >= 8))
}

/// `spec`: the key, if its references may have specifiers.
fn reference(
    at: At<'_>,
    spec: Option<&KeySpec>,
    node: &Node,
    table: &Table,
    report: &mut Report,
) -> Option<SecretRef> {
    let mut entries = table.0.iter();
    let (Some((key, entry)), None) = (entries.next(), entries.next()) else {
        return malformed(at, node, report);
    };
    let Data::Text(name) = &entry.node.data else { return malformed(at, node, report) };
    if mask::looks_secret(name) {
        report.hide(entry.node.span);
        report.push(literal_secret::looks_like(&at.path(), entry.node.span, "a secret", true));
        return None;
    }
    let name = match spec {
        Some(spec) => super::expanded(at, spec, entry.node.span, name, report)?,
        None => name.into(),
    };
    let problem = match key.as_str() {
        "secret" if name_problem(&name).is_none() => return Some(SecretRef::Stored(name.into_owned())),
        "env" if is_env_name(&name) => return Some(SecretRef::Env(name.into_owned())),
        "secret" => "the name of a secret has letters, digits, `-`, `_`, `.`, `+`, `@` and `/`",
        "env" => "the name of a variable has letters, digits and `_`",
        _ => return malformed(at, node, report),
    };
    // Not a name: then perhaps the secret itself.
    report.hide(entry.node.span);
    report.push(bad_value::finding(&at.path(), entry.node.span, problem).label("not shown"));
    None
}

fn malformed<T>(at: At<'_>, node: &Node, report: &mut Report) -> Option<T> {
    report.hide(node.span);
    report.push(
        bad_value::finding(
            &at.path(),
            node.span,
            "takes exactly `{ secret = \"NAME\" }` or `{ env = \"NAME\" }`",
        )
        .label("not shown"),
    );
    None
}

/// A name that an environment can hold on every system.
pub(super) fn is_env_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
