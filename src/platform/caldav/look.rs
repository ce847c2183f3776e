//! One calendar's turn: what moved in it, and what that means.

use std::time::Duration;

use super::client::Report;
use super::cursor::{Place, mark};
use super::discover::{Calendar, plain};
use super::map::{self, Facts, News};
use super::meeting::{self, Lens, Meeting};
use super::xml::{CAL, DAV, Member, Multistatus};
use super::{Caldav, Pass};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Disposition, Item};
use crate::model::limits;
use crate::model::time::Timestamp;

/// How what is found came to be looked at.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// What was there before us.
    First(Backlog),
    /// It moved since our position, or our position was lost and the ledger tells what is known.
    Moved,
}

#[derive(Debug, Default)]
struct Moves {
    /// Events to be fetched, as the server writes them.
    changed: Vec<String>,
    /// Marks of those that are gone.
    gone: Vec<String>,
}

impl Caldav {
    /// Looks at a calendar; what it finds stands in the pass, with the position behind it.
    pub(super) async fn look(
        &self,
        pass: &mut Pass,
        calendar: &Calendar,
        lens: &Lens,
        backlog: Backlog,
    ) -> Result<(), PortError> {
        let Some(known) = pass.after.0.get(&calendar.path).cloned() else {
            return self.take_all(pass, calendar, lens, Manner::First(backlog)).await;
        };
        if let Some(token) = calendar.token.as_ref().filter(|_| !known.token.is_empty()) {
            if *token == known.token {
                return Ok(());
            }
            let Report::Changes(report) = self.client.changes(&calendar.url, &known.token).await? else {
                let note = format!(
                    "the server forgot our position in {}; its meetings to come were read anew",
                    calendar.name
                );
                pass.notes.push(note);
                return self.take_all(pass, calendar, lens, Manner::Moved).await;
            };
            let moves = told(&report, calendar);
            // The server cut its list short: the rest comes from the position it gave.
            pass.again |= report.members.iter().any(|member| member.status == Some(507));
            let token = report.token.unwrap_or_else(|| token.clone());
            return self.take_moves(pass, calendar, lens, moves, Place { token, ..known }).await;
        }
        if calendar.ctag.is_some()
            && calendar.ctag.as_deref() == Some(&known.ctag)
            && calendar.token.is_none()
        {
            return Ok(());
        }
        if known.token.is_empty() && calendar.token.is_none() {
            let listing = self.versions(calendar).await?;
            let moves = differences(&listing, calendar, &known);
            let place = Place {
                ctag: calendar.ctag.clone().unwrap_or_default(),
                marks: marks(&listing, calendar),
                ..known
            };
            return self.take_moves(pass, calendar, lens, moves, place).await;
        }
        // The server learnt to keep positions, or lost the art.
        self.take_all(pass, calendar, lens, Manner::Moved).await
    }

    /// The meetings to come, all of them.
    async fn take_all(
        &self,
        pass: &mut Pass,
        calendar: &Calendar,
        lens: &Lens,
        manner: Manner,
    ) -> Result<(), PortError> {
        let before = pass.after.0.get(&calendar.path).cloned().unwrap_or_default();
        // Named before the events are read: what moves between is told twice rather than never.
        let mut place = Place {
            token: calendar.token.clone().unwrap_or_default(),
            ctag: calendar.ctag.clone().unwrap_or_default(),
            ..Place::default()
        };
        if calendar.token.is_none() {
            place.marks = marks(&self.versions(calendar).await?, calendar);
        }
        let until = lens.now.plus(limits::CALDAV_AHEAD);
        let found = self.client.between(&calendar.url, &stamp(lens.now), &stamp(until)).await?;
        for member in &found.members {
            self.take(pass, calendar, lens, (member, manner), (&before, &mut place)).await?;
        }
        let left = before.meetings.iter().filter(|(mark, _)| !place.meetings.contains_key(*mark));
        if matches!(manner, Manner::Moved) {
            pass.items.extend(left.flat_map(|(_, keys)| keys).map(|key| map::removed(key)));
        }
        pass.after.arrive(&calendar.path, place);
        Ok(())
    }

    /// What moved since a position.
    async fn take_moves(
        &self,
        pass: &mut Pass,
        calendar: &Calendar,
        lens: &Lens,
        moves: Moves,
        mut place: Place,
    ) -> Result<(), PortError> {
        let before = place.clone();
        for mark in &moves.gone {
            let keys = place.meetings.remove(mark).unwrap_or_default();
            pass.items.extend(keys.iter().map(|key| map::removed(key)));
        }
        for batch in moves.changed.chunks(limits::CALDAV_BATCH_LEN) {
            let found = self.client.events(&calendar.url, batch).await?;
            for member in &found.members {
                self.take(pass, calendar, lens, (member, Manner::Moved), (&before, &mut place)).await?;
            }
        }
        pass.after.arrive(&calendar.path, place);
        Ok(())
    }

    /// One event.
    async fn take(
        &self,
        pass: &mut Pass,
        calendar: &Calendar,
        lens: &Lens,
        (member, manner): (&Member, Manner),
        (before, place): (&Place, &mut Place),
    ) -> Result<(), PortError> {
        let Some(text) = member.props.text_of(CAL, "calendar-data") else { return Ok(()) };
        let path = self.client.pinned(&member.href)?.path().to_owned();
        let name = plain(&path);
        let facts =
            Facts { path: &path, calendar: calendar.url.path(), title: &calendar.name, zone: &lens.zone };
        let meetings = match read(text, lens).await? {
            Ok(meetings) => meetings,
            Err(why) => {
                let disposition = match manner {
                    Manner::First(_) => Disposition::Baseline,
                    Manner::Moved => Disposition::Quarantined { reason: why.clone() },
                };
                let etag = member.props.text_of(DAV, "getetag").unwrap_or_default();
                pass.items.push_back(map::unreadable(&name, etag, &why, disposition));
                return Ok(());
            }
        };
        let known = before.met(&name);
        let mut keys = Vec::new();
        for meeting in meetings.iter().filter(|meeting| asked(meeting)) {
            let key = map::key(meeting);
            let (news, disposition) = self.judge(meeting, manner, !known.is_empty(), known.contains(&key));
            pass.items.push_back(map::item(meeting, news, disposition, facts));
            keys.push(key);
        }
        place.meet(&name, keys);
        Ok(())
    }

    /// What is new about a meeting, and whether it makes a case.
    fn judge(&self, meeting: &Meeting, manner: Manner, met: bool, same: bool) -> (News, Disposition) {
        let open = meeting.mine.as_ref().is_some_and(|(_, answer)| answer == "NEEDS-ACTION");
        let news = match (meeting.cancelled, open) {
            (true, _) => News::Cancellation,
            (false, true) => News::Invitation,
            (false, false) => News::Change,
        };
        // One that we meet for the first time with an answer in it was answered elsewhere.
        let fresh = open && !meeting.cancelled || met && !same;
        let wanted = self.take.iter().any(|word| word == news.word());
        let old = match manner {
            Manner::First(Backlog::New) => true,
            Manner::First(Backlog::Since(span)) => {
                !open || meeting.written.is_none_or(|written| self.clock.now().since(written) > span)
            }
            Manner::First(Backlog::All) => !open,
            Manner::Moved => false,
        };
        let disposition = if fresh && wanted && !old { Disposition::Work } else { Disposition::Baseline };
        (news, disposition)
    }

    /// Every event of a calendar with its version.
    async fn versions(&self, calendar: &Calendar) -> Result<Multistatus, PortError> {
        let found = self.client.properties(&calendar.url, "1", "<D:getetag/>").await?;
        found.ok_or_else(|| {
            PortError::caused(
                ErrorClass::NETWORK,
                format!("list the events of {}", calendar.name),
                "it is gone",
            )
        })
    }

    /// Meetings that begin soon. Nothing is kept of it: the keys of the items tell one occurrence from the next.
    pub(super) async fn remind(
        &self,
        pass: &mut Pass,
        calendar: &Calendar,
        lens: &Lens,
    ) -> Result<(), PortError> {
        let Some(span) = self.remind_before else { return Ok(()) };
        let until = lens.now.plus(span);
        // The server's time range leaves out what begins at its very end.
        let end = until.plus(Duration::from_secs(60));
        let found = self.client.between(&calendar.url, &stamp(lens.now), &stamp(end)).await?;
        for member in &found.members {
            let Some(text) = member.props.text_of(CAL, "calendar-data") else { continue };
            let path = self.client.pinned(&member.href)?.path().to_owned();
            let facts =
                Facts { path: &path, calendar: calendar.url.path(), title: &calendar.name, zone: &lens.zone };
            // One that cannot be read was said when it came.
            let Ok(meetings) = read(text, lens).await? else { continue };
            for meeting in meetings.iter().filter(|meeting| !meeting.all_day && !meeting.cancelled) {
                if meeting.mine.as_ref().is_some_and(|(_, answer)| answer == "DECLINED") {
                    continue;
                }
                let soon = meeting.next.iter().filter(|(begin, _)| *begin > lens.now && *begin <= until);
                pass.items.extend(soon.map(|&(begin, end)| reminder(meeting, begin, end, facts)));
            }
        }
        Ok(())
    }
}

fn reminder(meeting: &Meeting, begin: Timestamp, end: Timestamp, facts: Facts<'_>) -> Item {
    map::item(meeting, News::Reminder(begin, end), Disposition::Work, facts)
}

/// Somebody asks us to it, and it is still to come.
fn asked(meeting: &Meeting) -> bool {
    meeting.mine.is_some() && !meeting.by_us && !meeting.over
}

/// Off the runtime's threads: a parser of foreign text takes its time, and its panic stays here.
async fn read(text: &str, lens: &Lens) -> Result<Result<Vec<Meeting>, String>, PortError> {
    let (text, lens) = (text.to_owned(), lens.clone());
    match tokio::task::spawn_blocking(move || meeting::read(&text, &lens)).await {
        Ok(read) => Ok(read),
        Err(error) if error.is_panic() => Ok(Err("reading it is more than the parser can do".to_owned())),
        Err(error) => Err(PortError::caused(ErrorClass::Bug, "read an event", error)),
    }
}

/// What a report tells.
fn told(report: &Multistatus, calendar: &Calendar) -> Moves {
    let mut moves = Moves::default();
    for member in report.members.iter().filter(|member| is_inside(&member.href, calendar)) {
        match member.status {
            Some(404 | 410) => moves.gone.push(mark(&path_of(&member.href, calendar), "")),
            _ => moves.changed.push(member.href.clone()),
        }
    }
    moves
}

/// The calendar itself stands in its own listing.
fn is_inside(href: &str, calendar: &Calendar) -> bool {
    path_of(href, calendar).trim_end_matches('/') != calendar.path.trim_end_matches('/')
}

/// The path of an event, decoded; servers write it as a path or as a whole URL.
fn path_of(href: &str, calendar: &Calendar) -> String {
    calendar.url.join(href).map_or_else(|_| plain(href), |url| plain(url.path()))
}

fn version(member: &Member, calendar: &Calendar) -> String {
    mark(&path_of(&member.href, calendar), member.props.text_of(DAV, "getetag").unwrap_or_default())
}

fn marks(listing: &Multistatus, calendar: &Calendar) -> String {
    listing
        .members
        .iter()
        .filter(|member| is_inside(&member.href, calendar))
        .map(|member| version(member, calendar))
        .collect()
}

/// What is not known in its version, and which meetings are no longer there.
fn differences(listing: &Multistatus, calendar: &Calendar, known: &Place) -> Moves {
    let inside: Vec<&Member> =
        listing.members.iter().filter(|member| is_inside(&member.href, calendar)).collect();
    let changed = inside.iter().filter(|member| !known.knows(&version(member, calendar)));
    let changed: Vec<String> = changed.map(|member| member.href.clone()).collect();
    let there: Vec<String> = inside.iter().map(|member| mark(&path_of(&member.href, calendar), "")).collect();
    let gone = known.meetings.keys().filter(|mark| !there.contains(mark)).cloned().collect();
    Moves { changed, gone }
}

/// `20261130T080000Z`.
fn stamp(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
