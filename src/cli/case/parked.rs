//! `case list --parked`: what waits, for what, and until when.

use crate::cli::look::{Cell, Paint, Table, ago, line};
use crate::model::parked::Parked;
use crate::model::time::{Timestamp, short_span};

/// Titles beyond this push the reason away.
const TITLE_WIDTH_MAX: usize = 28;

pub(super) fn shown(all: &[Parked], now: Timestamp, paint: Paint, width: usize) -> String {
    if all.is_empty() {
        return "nothing waits\n".to_owned();
    }
    let mut table = Table::new(&["CASE", "WAITS FOR", "SINCE", "UNTIL", "TITLE", "WHY"]);
    for parked in all {
        let until = match parked.until {
            Some(until) if until <= now => Cell::from("now"),
            Some(until) => Cell::from(format!("in {}", short_span(until.since(now)))),
            None => Cell::painted("33", "you"),
        };
        table.row([
            Cell::from(parked.case.id.to_string()),
            Cell::from(parked.waits.word()),
            Cell::from(ago(parked.since, now)),
            until,
            Cell::from(line(&parked.case.title, TITLE_WIDTH_MAX)),
            Cell::from(line(&parked.reason, width)),
        ]);
        if parked.until.is_none() {
            table.note(Cell::painted("2", parked.command()));
        }
    }
    table.render(paint, width)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::case::{Case, CaseState};
    use crate::model::ids::ActionId;
    use crate::model::parked::Waits;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn parked(id: i64, waits: Waits, reason: &str, until_s: Option<u64>) -> Parked {
        let title = "Lunch on Friday, with everybody who comes".into();
        let case = Case { title, ..Case::sample(id, CaseState::Parked) };
        let until = until_s.map(|seconds| NOW.plus(Duration::from_secs(seconds)));
        let since = NOW.minus(Duration::from_secs(300));
        let action = (waits == Waits::HeldSend).then_some(ActionId(4));
        Parked { case, waits, reason: reason.into(), until, since, draft: None, action }
    }

    #[test]
    fn a_line_each_and_the_command_where_a_person_is_waited_for() {
        let all = [
            parked(1, Waits::Question, "Which Friday?\u{1b}[31m", None),
            parked(2, Waits::HeldSend, "the connection ended", None),
            parked(3, Waits::Quota, "main: usage-limit: resets at 15:00", Some(7200)),
        ];
        let text = shown(&all, NOW, Paint { colour: false }, 80);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines.contains(&"workagent case answer c1 TEXT"), "{text}");
        assert!(lines.contains(&"workagent outbox release a4"), "{text}");
        // What passes by itself has a time and no command.
        assert!(text.contains("in 2h") && !text.contains("c3 TEXT") && !text.contains("retry c3"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(shown(&[], NOW, Paint { colour: false }, 80), "nothing waits\n");
    }
}
