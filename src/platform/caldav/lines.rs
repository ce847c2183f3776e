//! Content lines of iCalendar, to the letter: what is changed in an event of somebody else's is one line, and nothing
//! else of it.

use crate::model::text::clean;

/// Octets of a line, without its end (RFC 5545 section 3.1).
const LINE_BYTES_MAX: usize = 75;

/// One content line, unfolded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// As it stands in the text, folds and end included.
    raw: String,
    /// Unfolded.
    text: String,
}

fn lines(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for raw in text.split_inclusive('\n') {
        let bare = raw.trim_end_matches(['\r', '\n']);
        match (bare.strip_prefix([' ', '\t']), found.last_mut()) {
            (Some(more), Some(line)) => {
                line.raw.push_str(raw);
                line.text.push_str(more);
            }
            _ => found.push(Line { raw: raw.to_owned(), text: bare.to_owned() }),
        }
    }
    found
}

/// Name, parameters and value of a line. A colon or semicolon inside quotes separates nothing.
fn parts(line: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut cuts = Vec::new();
    let mut quoted = false;
    let colon = line.char_indices().find_map(|(at, c)| match c {
        '"' => {
            quoted = !quoted;
            None
        }
        ';' if !quoted => {
            cuts.push(at);
            None
        }
        ':' if !quoted => Some(at),
        _ => None,
    })?;
    let name = line.get(..cuts.first().copied().unwrap_or(colon))?;
    let ends = cuts.iter().skip(1).copied().chain([colon]);
    let parameters = cuts.iter().zip(ends).filter_map(|(&from, to)| line.get(from + 1..to)).collect();
    Some((name, parameters, line.get(colon + 1..)?))
}

fn is_edge(line: &str, edge: &str) -> bool {
    parts(line).is_some_and(|(name, ..)| name.eq_ignore_ascii_case(edge))
}

fn is_parameter(parameter: &str, name: &str) -> bool {
    parameter.split_once('=').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name))
}

/// Folded, with its end. Never inside a character.
fn folded(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut rest = line;
    let mut room = LINE_BYTES_MAX;
    while rest.len() > room {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(room));
        out.push_str(head);
        out.push_str("\r\n ");
        rest = tail;
        room = LINE_BYTES_MAX - 1;
    }
    out + rest + "\r\n"
}

/// A text value (RFC 5545 section 3.3.11).
#[must_use]
pub fn text_value(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace(';', "\\;").replace(',', "\\,").replace('\n', "\\n")
}

/// A line of a text property.
#[must_use]
pub fn text_line(name: &str, text: &str) -> String {
    folded(&format!("{name}:{}", text_value(text)))
}

/// What to change in an event: our answer, and a word with it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The instance; empty: the event itself.
    pub recurrence: &'a str,
    /// Our addresses, lower case.
    pub me: &'a [String],
    /// `ACCEPTED`.
    pub partstat: &'a str,
    /// Becomes the event's `COMMENT`, in place of an earlier one of ours; empty: none.
    pub comment: &'a str,
}

/// The text with the answer in it. `None`: there is no such event, or we are not asked to it.
#[must_use]
pub fn answered(text: &str, answer: Answer<'_>) -> Option<String> {
    let lines = lines(text);
    let (start, end) = event_at(&lines, answer.recurrence)?;
    let mut out = String::with_capacity(text.len() + 256);
    let mut asked = false;
    // Alarms inside the event have attendees of their own.
    let mut depth = 0usize;
    for (at, line) in lines.iter().enumerate() {
        let inside = at > start && at < end;
        if inside && is_edge(&line.text, "BEGIN") {
            depth += 1;
        } else if inside && is_edge(&line.text, "END") {
            depth = depth.saturating_sub(1);
        }
        match parts(&line.text).filter(|_| inside && depth == 0) {
            Some((name, parameters, value))
                if name.eq_ignore_ascii_case("ATTENDEE") && is_address(value, answer.me) =>
            {
                asked = true;
                let mut changed = name.to_owned();
                for parameter in parameters {
                    if !is_parameter(parameter, "PARTSTAT") {
                        changed.push(';');
                        changed.push_str(parameter);
                    }
                }
                changed.push_str(";PARTSTAT=");
                changed.push_str(answer.partstat);
                changed.push(':');
                changed.push_str(value);
                // Untouched if it says so already: a repeat changes nothing.
                if says(&line.text, answer.partstat) {
                    out.push_str(&line.raw);
                } else {
                    out.push_str(&folded(&changed));
                }
            }
            Some((name, parameters, _))
                if name.eq_ignore_ascii_case("COMMENT")
                    && parameters.iter().any(|parameter| is_parameter(parameter, MARK)) => {}
            _ => {
                if at == end && !answer.comment.is_empty() {
                    out.push_str(&folded(&format!("COMMENT;{MARK}=1:{}", text_value(answer.comment))));
                }
                out.push_str(&line.raw);
            }
        }
    }
    asked.then_some(out)
}

/// The answer stands there already, whatever the server made of the lines: many write them anew in an order and with
/// folds of their own.
#[must_use]
pub fn is_answered(text: &str, answer: Answer<'_>) -> bool {
    let lines = lines(text);
    let Some((start, end)) = event_at(&lines, answer.recurrence) else { return false };
    let (mut said, mut commented) = (None, answer.comment.is_empty());
    let mut depth = 0usize;
    for line in lines.get(start + 1..end).unwrap_or_default() {
        if is_edge(&line.text, "BEGIN") {
            depth += 1;
        } else if is_edge(&line.text, "END") {
            depth = depth.saturating_sub(1);
        }
        let Some((name, _, value)) = parts(&line.text).filter(|_| depth == 0) else { continue };
        if name.eq_ignore_ascii_case("ATTENDEE") && is_address(value, answer.me) {
            said = Some(said.unwrap_or(true) && says(&line.text, answer.partstat));
        }
        commented |= name.eq_ignore_ascii_case("COMMENT")
            && unescaped(value) == unescaped(&text_value(answer.comment));
    }
    said == Some(true) && commented
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// Marks the comment that is ours.
const MARK: &str = "X-WORKAGENT";

fn says(line: &str, partstat: &str) -> bool {
    parts(line).is_some_and(|(_, parameters, _)| {
        let found = parameters.iter().find(|parameter| is_parameter(parameter, "PARTSTAT"));
        found
            .and_then(|found| found.split_once('='))
            .is_some_and(|(_, found)| found.eq_ignore_ascii_case(partstat))
    })
}

/// `mailto:me@example.org`, in any case.
#[must_use]
pub fn is_address(value: &str, me: &[String]) -> bool {
    let value = value.trim().to_lowercase();
    let value = value.strip_prefix("mailto:").unwrap_or(&value);
    me.iter().any(|own| own == value)
}

/// First and last line of the event, or of that instance of it.
fn event_at(lines: &[Line], recurrence: &str) -> Option<(usize, usize)> {
    let mut open: Option<usize> = None;
    let mut depth = 0usize;
    let mut instance = String::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((name, _, value)) = parts(&line.text) else { continue };
        let (name, value) = (name.to_ascii_uppercase(), value.trim());
        match (name.as_str(), open) {
            ("BEGIN", None) if value.eq_ignore_ascii_case("VEVENT") => {
                open = Some(at);
                depth = 0;
                instance.clear();
            }
            ("BEGIN", Some(_)) => depth += 1,
            ("END", Some(start)) if depth == 0 => {
                if instance == recurrence {
                    return Some((start, at));
                }
                open = None;
            }
            ("END", Some(_)) => depth -= 1,
            ("RECURRENCE-ID", Some(_)) if depth == 0 => value.clone_into(&mut instance),
            _ => {}
        }
    }
    None
}

/// An event of a text: which instance it is, and what makes it another meeting when it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// The value of `RECURRENCE-ID`; empty for an event itself.
    pub recurrence: String,
    /// When, how often, where, and whether it is called off; not who comes, and not the words around it.
    pub traits: Vec<String>,
}

/// The events in the order of the text.
#[must_use]
pub fn instances(text: &str) -> Vec<Instance> {
    const TRAITS: [&str; 7] = ["DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "LOCATION"];
    let mut found: Vec<Instance> = Vec::new();
    let mut depth = None;
    for line in &lines(text) {
        let Some((name, parameters, value)) = parts(&line.text) else { continue };
        let (name, value) = (name.to_ascii_uppercase(), value.trim());
        match (name.as_str(), depth) {
            ("BEGIN", None) if value.eq_ignore_ascii_case("VEVENT") => {
                depth = Some(0usize);
                found.push(Instance::default());
            }
            ("BEGIN", Some(inner)) => depth = Some(inner + 1),
            ("END", Some(0)) => depth = None,
            ("END", Some(inner)) => depth = Some(inner - 1),
            (name, Some(0)) => {
                let Some(event) = found.last_mut() else { continue };
                let cancelled = name == "STATUS" && value.eq_ignore_ascii_case("CANCELLED");
                if name == "RECURRENCE-ID" {
                    value.clone_into(&mut event.recurrence);
                } else if cancelled || (TRAITS.contains(&name) && !value.is_empty()) {
                    let zone = parameters.iter().find(|parameter| is_parameter(parameter, "TZID"));
                    let zone = zone.and_then(|zone| zone.split_once('=')).map_or("", |(_, zone)| zone);
                    event.traits.push(format!("{name} {} {value}", zone.trim_matches('"')));
                }
            }
            _ => {}
        }
    }
    for event in &mut found {
        // The order of lines is the server's own.
        event.traits.sort();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:X\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:u\r\n\
        ATTENDEE;CN=\"Lee; Kim: ü\";PARTSTAT=NEEDS-ACTION;RSVP=TRUE:MAILTO:Kim@Example.org\r\n\
        ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org\r\nX-ODD:\u{fc}\r\n\
        BEGIN:VALARM\r\nATTENDEE:mailto:kim@example.org\r\nEND:VALARM\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:u\r\nRECURRENCE-ID;TZID=X:20261202T090000\r\n\
        ATTENDEE:mailto:kim@example.org\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    fn answer<'a>(me: &'a [String], recurrence: &'a str, comment: &'a str) -> Answer<'a> {
        Answer { recurrence, me, partstat: "ACCEPTED", comment }
    }

    #[test]
    fn one_line_changes_and_no_other() {
        let me = ["kim@example.org".to_owned()];
        let changed = answered(EVENT, answer(&me, "", "")).unwrap();
        let unfolded = changed.replace("\r\n ", "");
        let different: Vec<(&str, &str)> =
            EVENT.lines().zip(unfolded.lines()).filter(|(before, after)| before != after).collect();
        assert_eq!(
            different,
            [(
                "ATTENDEE;CN=\"Lee; Kim: ü\";PARTSTAT=NEEDS-ACTION;RSVP=TRUE:MAILTO:Kim@Example.org",
                "ATTENDEE;CN=\"Lee; Kim: ü\";RSVP=TRUE;PARTSTAT=ACCEPTED:MAILTO:Kim@Example.org",
            )]
        );
        assert_eq!(answered(&changed, answer(&me, "", "")).unwrap(), changed);
    }

    #[test]
    fn one_instance_by_its_name() {
        let me = ["kim@example.org".to_owned()];
        let changed = answered(EVENT, answer(&me, "20261202T090000", "")).unwrap();
        assert!(
            changed
                .contains("ATTENDEE;PARTSTAT=ACCEPTED:mailto:kim@example.org\r\nEND:VEVENT\r\nEND:VCALENDAR")
        );
        assert_eq!(answered(EVENT, answer(&me, "20261209T090000", "")), None);
        assert_eq!(answered(EVENT, answer(&["eve@example.org".to_owned()], "", "")), None);
        let names: Vec<String> = instances(EVENT).into_iter().map(|event| event.recurrence).collect();
        assert_eq!(names, ["", "20261202T090000"]);
    }

    #[test]
    fn what_makes_another_meeting() {
        let event =
            |inner: &str| instances(&format!("BEGIN:VEVENT\r\n{inner}\r\nEND:VEVENT\r\n")).remove(0).traits;
        let before = event("DTSTART;TZID=Europe/Paris:20261202T090000\r\nSUMMARY:a\r\nSTATUS:CONFIRMED");
        assert_eq!(before, event("SUMMARY:b\r\ndtstart;X=1;TZID=\"Europe/Paris\":20261202T0\r\n 90000"));
        assert_ne!(before, event("DTSTART;TZID=Europe/Berlin:20261202T090000"));
        assert_ne!(before, event("DTSTART;TZID=Europe/Paris:20261202T090000\r\nSTATUS:CANCELLED"));
    }

    #[test]
    fn a_word_goes_along_once() {
        let me = ["kim@example.org".to_owned()];
        let first = answered(EVENT, answer(&me, "", "Late by 5; sorry,\nKim")).unwrap();
        assert!(first.contains("COMMENT;X-WORKAGENT=1:Late by 5\\; sorry\\,\\nKim\r\nEND:VEVENT"), "{first}");
        assert_eq!(answered(&first, answer(&me, "", "Late by 5; sorry,\nKim")).unwrap(), first);
        assert_eq!(answered(&first, answer(&me, "", "On time")).unwrap().matches("COMMENT").count(), 1);
        // Written anew by the server: the same answer.
        let anew = first
            .replace("COMMENT;X-WORKAGENT=1:Late by 5\\; sorry\\,\\nKim\r\n", "")
            .replace("UID:u\r\nATT", "comment:Late by\r\n  5; sorry\\,\\NKim\r\nUID:u\r\nATT");
        assert!(is_answered(&anew, answer(&me, "", "Late by 5; sorry,\nKim")), "{anew}");
        assert!(!is_answered(&anew, answer(&me, "", "On time")));
        assert!(!is_answered(EVENT, answer(&me, "", "")) && is_answered(&first, answer(&me, "", "")));
        assert!(!is_answered(&first, answer(&["eve@example.org".to_owned()], "", "")));
    }

    #[test]
    fn folds_never_tear_a_character() {
        let long = "ü".repeat(100);
        let line = text_line("SUMMARY", &long);
        assert!(line.lines().all(|line| line.len() <= 75), "{line}");
        assert_eq!(lines(&line).first().map(|line| line.text.clone()), Some(format!("SUMMARY:{long}")));
        let odd = "no colon\r\nBEGIN:VEVENT\r\n";
        assert_eq!(answered(odd, answer(&[], "", "")), None);
    }
}
