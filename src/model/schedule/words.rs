//! What a timer's title and text can say of the time they are made for: `Week {{ week }}`.

use super::zone::Zone;
use crate::model::time::Timestamp;

/// The words that are filled in.
pub const ALL: [&str; 6] = ["due", "date", "time", "weekday", "week", "timer"];

/// The first word between braces that means nothing.
#[must_use]
pub fn unknown(text: &str) -> Option<&str> {
    pieces(text).find_map(|piece| match piece {
        Piece::Word(word) if !ALL.contains(&word) => Some(word),
        _ => None,
    })
}

/// The text for a due time, by the clock of `zone`. Words that mean nothing stay as they are.
#[must_use]
pub fn filled(text: &str, timer: &str, due: Timestamp, zone: &Zone) -> String {
    let [date, time, weekday, week] = zone.parts(due);
    let shown = zone.shown(due);
    let mut out = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Word("due") => out.push_str(&shown),
            Piece::Word("date") => out.push_str(&date),
            Piece::Word("time") => out.push_str(&time),
            Piece::Word("weekday") => out.push_str(&weekday),
            Piece::Word("week") => out.push_str(&week),
            Piece::Word("timer") => out.push_str(timer),
            Piece::Word(word) => out.push_str(&format!("{{{{ {word} }}}}")),
        }
    }
    out
}

enum Piece<'a> {
    Text(&'a str),
    Word(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((word, tail)) = rest.strip_prefix("{{").and_then(|inner| inner.split_once("}}")) {
            rest = tail;
            return Some(Piece::Word(word.trim()));
        }
        // Past a brace that opens nothing, to the next pair.
        let begin = rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at);
        let end = rest.get(begin..).and_then(|tail| tail.find("{{")).map_or(rest.len(), |at| begin + at);
        let (text, tail) = rest.split_at(end);
        rest = tail;
        Some(Piece::Text(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let due = Timestamp::from_rfc3339("2026-11-30T08:00:00Z").unwrap();
        assert_eq!(filled(text, "report", due, &berlin), expected);
    }

    #[test]
    fn the_time_is_that_of_the_zone() {
        check("{{timer}}: {{ due }}", "report: Mon 2026-11-30 09:00 CET");
        check("{{ date }} {{ time }} {{ weekday }} {{ week }}", "2026-11-30 09:00 Monday 49");
    }

    #[test]
    fn other_braces_stay() {
        for text in ["", "{", "{{", "a {{ b", "}} {{{", "{ due }", "é{{"] {
            check(text, text);
        }
        check("{{ title }}", "{{ title }}");
    }

    #[test]
    fn the_first_unknown_word_is_told() {
        assert_eq!(unknown("{{ due }} {{ dew }} {{ x }}"), Some("dew"));
        assert_eq!(unknown("{{ due }} { x }"), None);
    }
}
