//! Calendars and windows of the week, to their normal forms.

use super::At;
use crate::diag::Span;
use crate::model::schedule::{Calendar, Window};
use crate::unit::check::bad_value;
use crate::unit::report::Report;
use crate::unit::schema::ValueType;

pub(super) fn decode(
    at: At<'_>,
    value: &ValueType,
    span: Span,
    given: &str,
    report: &mut Report,
) -> Option<String> {
    let read = match value {
        ValueType::Windows => given.parse::<Window>().map(|window| window.to_string()),
        _ => given.parse::<Calendar>().map(|calendar| calendar.to_string()),
    };
    let wrong = match read {
        Ok(text) => return Some(text),
        Err(wrong) => wrong.to_string(),
    };
    let help = match value {
        ValueType::Windows => {
            "write `\"Mon..Fri 08:00-19:00\"`, with a time zone behind it if it is another one"
        }
        _ => {
            "write `\"Mon..Fri 09:00\"`, `\"*-*-01 08:00 Europe/Berlin\"`, `\"daily\"`; as in systemd.time(7)"
        }
    };
    report.push(bad_value::finding(&at.path(), span, &wrong).help(help));
    None
}
