//! What a condition asks: a value, turned round by `!` in front of it.

use super::{At, path};
use crate::diag::Span;
use crate::unit::check::{bad_specifier, bad_value};
use crate::unit::plan::Kind;
use crate::unit::report::Report;
use crate::unit::schema::Tested;

/// The value in its final form, with its `!`.
pub(super) fn decode(
    at: At<'_>,
    tested: Tested,
    span: Span,
    given: &str,
    report: &mut Report,
) -> Option<String> {
    let (sign, bare) = given.strip_prefix('!').map_or(("", given), |bare| ("!", bare));
    let read = match tested {
        Tested::Path => match path::decode(at, bare) {
            Ok(path) => path.into_os_string().into_string().map_err(|_| "not UTF-8".to_owned()),
            Err(path::Wrong::Path(why)) => Err(why),
            Err(path::Wrong::Specifier(why)) => {
                report.push(bad_specifier::finding(&at.path(), span, &why));
                return None;
            }
        },
        _ if bare.is_empty() => Err("is empty".to_owned()),
        Tested::Text => Ok(bare.to_owned()),
        Tested::Word(words) if words.contains(&bare) => Ok(bare.to_owned()),
        Tested::Word(words) => {
            report.push(bad_value::choice(&at.path(), span, bare, words));
            return None;
        }
        Tested::Unit => match bare.rsplit_once('.') {
            Some((name, kind)) if !name.is_empty() && Kind::from_word(kind).is_some() => Ok(bare.to_owned()),
            _ => Err("takes full names of units, with the kind: `inbox.connector`".to_owned()),
        },
    };
    match read {
        Ok(value) => Some(format!("{sign}{value}")),
        Err(why) => {
            report.push(bad_value::finding(&at.path(), span, &why));
            None
        }
    }
}
