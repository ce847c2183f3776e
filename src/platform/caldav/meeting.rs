//! Events out of iCalendar: who asks whom, and when it takes place. Pure.

use calcard::common::timezone::Tz;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarParameterName,
    ICalendarProperty,
};
use calcard::{Entry, Parser};
use jiff::tz::TimeZone;

use super::lines::{Instance, instances, is_address};
use crate::model::item::Party;
use crate::model::limits;
use crate::model::text::{clean, digest, one_line};
use crate::model::time::Timestamp;

/// Through what an event is looked at.
#[derive(Clone, Debug)]
pub struct Lens {
    /// Our addresses, lower case.
    pub me: Vec<String>,
    /// The zone of times without one, and the zone people are told times in.
    pub zone: TimeZone,
    /// Now.
    pub now: Timestamp,
}

/// One event, or one instance of a recurring one that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meeting {
    /// Its `UID`.
    pub uid: String,
    /// The value of `RECURRENCE-ID`; empty for the event itself.
    pub recurrence: String,
    /// Changes when the meeting becomes another one: time, place, called off.
    pub sign: String,
    /// One line.
    pub summary: String,
    /// As it was written, cleaned.
    pub description: String,
    /// One line.
    pub location: String,
    /// Called off.
    pub cancelled: bool,
    /// Who asks.
    pub organizer: Option<Party>,
    /// We ask ourselves.
    pub by_us: bool,
    /// Our address among those asked, and our answer: `NEEDS-ACTION`, `ACCEPTED`.
    pub mine: Option<(String, String)>,
    /// Who else is asked, with their answers, at most [`limits::ITEM_LIST_LEN_MAX`].
    pub others: Vec<(Party, String)>,
    /// It has days and no hours.
    pub all_day: bool,
    /// It recurs.
    pub recurs: bool,
    /// Begin and end of what is not over yet, earliest first; a few of them.
    pub next: Vec<(Timestamp, Timestamp)>,
    /// It is over, for good.
    pub over: bool,
    /// When it was written last.
    pub written: Option<Timestamp>,
}

/// Occurrences kept of each event: as many as any reminder needs.
const NEXT_LEN_MAX: usize = 64;

/// The events of one calendar object. Tasks and journals are none.
///
/// # Errors
/// It cannot be read: why, for people.
pub fn read(text: &str, lens: &Lens) -> Result<Vec<Meeting>, String> {
    if text.len() > limits::CALDAV_EVENT_BYTES_MAX {
        return Err("it is larger than events are taken".to_owned());
    }
    let mut calendar = match Parser::new(text).entry() {
        Entry::ICalendar(calendar) => calendar,
        _ => return Err("it is no iCalendar object".to_owned()),
    };
    let named = instances(text);
    let is_event =
        |component: &ICalendarComponent| component.component_type == ICalendarComponentType::VEvent;
    let positions: Vec<usize> = calendar
        .components
        .iter()
        .enumerate()
        .filter(|(_, found)| is_event(found))
        .map(|(at, _)| at)
        .collect();
    if positions.len() != named.len() {
        return Err("its events cannot be told apart".to_owned());
    }
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    // The library takes an exception for one of another series where the numbers differ, and they usually do.
    for component in &mut calendar.components {
        component.entries.retain(|entry| entry.name != ICalendarProperty::Sequence);
    }
    let times = Times::of(&calendar, lens);
    let mut meetings = Vec::new();
    for (position, instance) in positions.into_iter().zip(named).take(1 + limits::CALDAV_INSTANCES_MAX) {
        let Some(component) = calendar.components.get(position) else { continue };
        let Some(uid) = component.uid().map(str::trim).filter(|uid| !uid.is_empty()) else {
            return Err("an event has no UID".to_owned());
        };
        meetings.push(meeting(component, uid, instance, &times, position, lens));
    }
    Ok(meetings)
}

fn meeting(
    component: &ICalendarComponent,
    uid: &str,
    instance: Instance,
    times: &Times,
    position: usize,
    lens: &Lens,
) -> Meeting {
    let text = |name: &ICalendarProperty| {
        let value = component.property(name).and_then(|entry| entry.values.first());
        value.and_then(|value| value.as_text()).unwrap_or_default().to_owned()
    };
    let (mut mine, mut others) = (None, Vec::new());
    for entry in component.properties(&ICalendarProperty::Attendee) {
        let person = person(entry);
        let answer =
            parameter(entry, &ICalendarParameterName::Partstat).unwrap_or("NEEDS-ACTION").to_uppercase();
        if is_address(&person.address, &lens.me) {
            mine = mine.or(Some((person.address, answer)));
        } else if others.len() < limits::ITEM_LIST_LEN_MAX {
            others.push((person, answer));
        }
    }
    let organizer = component.property(&ICalendarProperty::Organizer).map(person);
    let by_us = organizer.as_ref().is_some_and(|organizer| is_address(&organizer.address, &lens.me));
    let traits: Vec<&[u8]> = instance.traits.iter().map(String::as_bytes).collect();
    let sign = digest(&traits).get(..10).unwrap_or_default().to_owned();
    let written = [ICalendarProperty::LastModified, ICalendarProperty::Dtstamp].iter().find_map(|name| {
        let value = component.property(name)?.values.first()?;
        value.as_partial_date_time()?.to_timestamp().map(Timestamp::from_seconds)
    });
    let (next, over) = times.behind(position, lens.now);
    Meeting {
        uid: one_line(uid, 512),
        recurrence: instance.recurrence,
        sign,
        summary: one_line(&text(&ICalendarProperty::Summary), 256),
        description: clean(&text(&ICalendarProperty::Description)),
        location: one_line(&text(&ICalendarProperty::Location), 512),
        cancelled: text(&ICalendarProperty::Status).eq_ignore_ascii_case("CANCELLED"),
        organizer,
        by_us,
        mine,
        others,
        all_day: is_day(component.property(&ICalendarProperty::Dtstart)),
        recurs: component.has_property(&ICalendarProperty::Rrule)
            || component.has_property(&ICalendarProperty::Rdate),
        next,
        over,
        written,
    }
}

fn is_day(entry: Option<&ICalendarEntry>) -> bool {
    let value = entry.and_then(|entry| entry.values.first()).and_then(|value| value.as_partial_date_time());
    value.is_some_and(|date| date.has_date() && !date.has_time())
}

fn parameter<'a>(entry: &'a ICalendarEntry, name: &ICalendarParameterName) -> Option<&'a str> {
    entry.parameter(name).and_then(|value| value.as_text())
}

fn person(entry: &ICalendarEntry) -> Party {
    let address = entry.calendar_address().unwrap_or_default().to_lowercase();
    let name = parameter(entry, &ICalendarParameterName::Cn).unwrap_or_default();
    Party { name: one_line(name, 128), address: one_line(&address, 255) }
}

/// When the events of an object take place.
struct Times {
    /// Event, begin, end.
    all: Vec<(usize, Timestamp, Timestamp)>,
    /// There are more than were looked at.
    cut: bool,
}

impl Times {
    fn of(calendar: &ICalendar, lens: &Lens) -> Self {
        let expanded = calendar.expand_dates(Tz::Floating, limits::CALDAV_OCCURRENCES_MAX);
        let cut = expanded.events.len() >= limits::CALDAV_OCCURRENCES_MAX;
        // Whole days on which a series with hours does not take place: widespread, and unknown to the library.
        let days: Vec<String> = calendar
            .components
            .iter()
            .flat_map(|component| component.properties(&ICalendarProperty::Exdate))
            .flat_map(|entry| &entry.values)
            .filter_map(|value| {
                value.as_partial_date_time().filter(|date| date.has_date() && !date.has_time())
            })
            .map(|date| {
                let part = |part: Option<u8>| part.unwrap_or_default();
                format!("{:04}{:02}{:02}", date.year.unwrap_or_default(), part(date.month), part(date.day))
            })
            .collect();
        let all = expanded.events.iter().filter_map(|event| {
            let day = || event.start.naive_local().format("%Y%m%d").to_string();
            if !days.is_empty() && days.contains(&day()) {
                return None;
            }
            let (begin, end) = event.timestamps();
            let floating = event.start.timezone().is_floating();
            let moment = |seconds: i64| if floating { in_zone(seconds, &lens.zone) } else { Some(seconds) };
            let (begin, end) = (moment(begin)?, moment(end)?);
            let position = usize::try_from(event.comp_id).ok()?;
            Some((position, Timestamp::from_seconds(begin), Timestamp::from_seconds(end.max(begin))))
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|&(_, begin, _)| begin);
        Self { all, cut }
    }

    /// What of an event is not over, and whether it is over for good.
    fn behind(&self, position: usize, now: Timestamp) -> (Vec<(Timestamp, Timestamp)>, bool) {
        let ahead = self.all.iter().filter(|&&(event, _, end)| event == position && end > now);
        let next: Vec<_> = ahead.map(|&(_, begin, end)| (begin, end)).take(NEXT_LEN_MAX).collect();
        let over = next.is_empty() && !self.cut;
        (next, over)
    }
}

/// Seconds of a clock on the wall of a zone.
fn in_zone(wall: i64, zone: &TimeZone) -> Option<i64> {
    let civil = TimeZone::UTC.to_datetime(jiff::Timestamp::from_second(wall).ok()?);
    Some(zone.to_ambiguous_timestamp(civil).compatible().ok()?.as_second())
}

/// `Wed 2 Dec 2026 14:00–15:00`, in the zone; days only for what has no hours.
#[must_use]
pub fn shown(begin: Timestamp, end: Timestamp, all_day: bool, zone: &TimeZone) -> String {
    let at = |moment: Timestamp| {
        let stamp = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        stamp.to_zoned_datetime(zone.clone())
    };
    let (begin, end) = (at(begin), at(end));
    if all_day {
        let last = end.checked_sub(jiff::Span::new().hours(1)).unwrap_or_else(|_| end.clone());
        let first = begin.strftime("%a %-d %b %Y").to_string();
        return if last.date() <= begin.date() {
            first
        } else {
            format!("{first} – {}", last.strftime("%a %-d %b %Y"))
        };
    }
    let zone = zone.iana_name().map(|name| format!(" ({name})")).unwrap_or_default();
    let until =
        if begin.date() == end.date() { end.strftime("%H:%M") } else { end.strftime("%a %-d %b %H:%M") };
    format!("{}–{until}{zone}", begin.strftime("%a %-d %b %Y %H:%M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000); // 2026-11-30T08:00:00Z

    fn lens() -> Lens {
        Lens { me: vec!["kim@example.org".into()], zone: TimeZone::get("Europe/Berlin").unwrap(), now: NOW }
    }

    fn object(events: &[&str]) -> String {
        let events: Vec<String> = events
            .iter()
            .map(|inner| format!("BEGIN:VEVENT\r\nUID:u\r\n{inner}\r\nEND:VEVENT\r\n"))
            .collect();
        format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}END:VCALENDAR\r\n", events.concat())
    }

    fn check(events: &[&str], expected: &[&str]) {
        let meetings = read(&object(events), &lens()).unwrap();
        let zone = lens().zone;
        let found: Vec<String> = meetings
            .iter()
            .flat_map(|meeting| meeting.next.iter().map(move |&(begin, end)| (meeting.all_day, begin, end)))
            .take(expected.len() + 1)
            .map(|(all_day, begin, end)| shown(begin, end, all_day, &zone))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn zones_days_and_floating_times() {
        check(
            &["DTSTART;TZID=America/New_York:20261202T090000\r\nDTEND;TZID=America/New_York:20261202T100000"],
            &["Wed 2 Dec 2026 15:00–16:00 (Europe/Berlin)"],
        );
        check(
            &["DTSTART:20261202T140000Z\r\nDURATION:PT30M"],
            &["Wed 2 Dec 2026 15:00–15:30 (Europe/Berlin)"],
        );
        check(
            &["DTSTART:20261202T140000\r\nDURATION:PT30M"],
            &["Wed 2 Dec 2026 14:00–14:30 (Europe/Berlin)"],
        );
        check(
            &["DTSTART;TZID=W. Europe Standard Time:20261202T140000\r\nDURATION:PT30M"],
            &["Wed 2 Dec 2026 14:00–14:30 (Europe/Berlin)"],
        );
        check(
            &["DTSTART;VALUE=DATE:20261203\r\nDTEND;VALUE=DATE:20261205"],
            &["Thu 3 Dec 2026 – Fri 4 Dec 2026"],
        );
        check(&["DTSTART;VALUE=DATE:20261203"], &["Thu 3 Dec 2026"]);
    }

    #[test]
    fn a_series_with_exceptions() {
        let series = "DTSTART;TZID=Europe/Berlin:20260105T090000\r\nDURATION:PT15M\r\nRRULE:FREQ=WEEKLY\r\n\
                      SEQUENCE:3\r\nEXDATE;TZID=Europe/Berlin:20261207T090000\r\nEXDATE;VALUE=DATE:20261214";
        let moved = "RECURRENCE-ID;TZID=Europe/Berlin:20261221T090000\r\n\
                     DTSTART;TZID=Europe/Berlin:20261222T110000\r\nDURATION:PT1H\r\nSEQUENCE:4";
        let meetings = read(&object(&[series, moved]), &lens()).unwrap();
        let zone = lens().zone;
        let first = |nth: usize| -> Vec<String> {
            let next = meetings[nth].next.iter().take(2);
            next.map(|&(begin, end)| shown(begin, end, false, &zone)).collect()
        };
        assert_eq!(
            first(0),
            ["Mon 30 Nov 2026 09:00–09:15 (Europe/Berlin)", "Mon 28 Dec 2026 09:00–09:15 (Europe/Berlin)"]
        );
        assert_eq!(first(1), ["Tue 22 Dec 2026 11:00–12:00 (Europe/Berlin)"]);
        assert!(meetings[0].recurs && !meetings[0].over && meetings[1].recurrence == "20261221T090000");
    }

    #[test]
    fn what_is_over_is_over() {
        let over = |inner: &str| read(&object(&[inner]), &lens()).unwrap()[0].over;
        assert!(over("DTSTART:20261130T070000Z\r\nDURATION:PT1H"));
        assert!(!over("DTSTART:20261130T070000Z\r\nDURATION:PT61M"));
        assert!(over("DTSTART:20261101T070000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY;COUNT=5"));
        assert!(!over("DTSTART:19900101T070000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=YEARLY"));
        // More often than anybody counts: it may go on.
        assert!(!over("DTSTART:19900101T070000Z\r\nRRULE:FREQ=MINUTELY"));
    }

    #[test]
    fn who_asks_whom() {
        let meetings = read(
            &object(&["DTSTART:20261202T140000Z\r\nSUMMARY:Design\\, part 2\r\nLOCATION:Room \u{fc}\r\n\
                ORGANIZER;CN=\"Ann Lee\":mailto:Ann@Example.org\r\nATTENDEE;PARTSTAT=needs-action:MAILTO:KIM@example.org\r\n\
                ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED:mailto:bob@example.org\r\nATTENDEE:urn:uuid:7"]),
            &lens(),
        )
        .unwrap();
        let meeting = &meetings[0];
        assert_eq!((meeting.summary.as_str(), meeting.location.as_str()), ("Design, part 2", "Room ü"));
        assert_eq!(meeting.mine, Some(("kim@example.org".into(), "NEEDS-ACTION".into())));
        assert_eq!(meeting.organizer.as_ref().unwrap().address, "ann@example.org");
        assert_eq!(meeting.others.len(), 2);
        assert!(!meeting.by_us);
    }

    #[test]
    fn garbage_is_said_and_never_panics() {
        for garbage in
            ["", "hello", "BEGIN:VCARD\r\nEND:VCARD", "BEGIN:VCALENDAR", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT"]
        {
            assert!(
                read(garbage, &lens()).is_err() || read(garbage, &lens()).unwrap().is_empty(),
                "{garbage}"
            );
        }
        let no_uid =
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20261202T140000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert!(read(no_uid, &lens()).is_err());
        let task = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:t\r\nEND:VTODO\r\nEND:VCALENDAR\r\n";
        assert_eq!(read(task, &lens()), Ok(vec![]));
        for odd in [
            "DTSTART:yesterday",
            "DTSTART:99999999T999999Z",
            "DTSTART:20261202T140000Z\r\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
            "DTSTART:20261202T140000Z\r\nDURATION:P9999999999D",
            "",
        ] {
            assert!(read(&object(&[odd]), &lens()).is_ok(), "{odd}");
        }
    }
}
