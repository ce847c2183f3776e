//! Answers to invitations, and events of our own.
//!
//! An answer changes one line of the event, in the version that was just read (`If-Match`), and only while the meeting
//! is still the one that was approved. An event of ours has its name and `UID` from the action's key, so that there is
//! one of it however often it is put (`If-None-Match: *`). Both may be repeated without harm; after a lost answer the
//! calendar is looked at.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::client::{Client, Written};
use super::lines::{Answer, answered, instances, is_answered, text_line, text_value};
use super::parse_create::{Planned, planned};
use crate::model::class::{ErrorClass, PortError};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::{digest, visible};
use crate::model::time::Timestamp;

/// A comment longer than this is a letter.
const COMMENT_BYTES_MAX: usize = 4096;

/// An event that was edited while we wrote is read again after this.
const EDITED_WAIT: Duration = Duration::from_secs(5);

/// What goes out, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Outgoing {
    answer: Option<Reply>,
    events: Vec<Own>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Reply {
    path: String,
    recurrence: String,
    sign: String,
    me: String,
    partstat: String,
    comment: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Own {
    path: String,
    uid: String,
    text: String,
}

fn refused(why: impl Into<String>) -> PortError {
    PortError::caused(ErrorClass::Permanent, "make the answer for the calendar", why.into())
}

/// The bytes of an answer. Pure but for `now`, which stamps events of our own.
pub fn prepare(action: &OutboundAction, zone: &TimeZone, now: Timestamp) -> Result<Payload, PortError> {
    let handle =
        |name: &str| action.envelope.thread.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let comment = visible(&action.body).trim().to_owned();
    let (mut answer, mut events) = (None, Vec::new());
    for effect in &action.envelope.effects {
        match effect.verb.as_str() {
            "respond" if answer.is_some() => return Err(refused("an invitation has one answer")),
            "respond" => {
                let partstat = effect.value.to_uppercase();
                if !matches!(partstat.as_str(), "ACCEPTED" | "DECLINED" | "TENTATIVE") {
                    return Err(refused(format!(
                        "`{effect}`: the answers are accepted, declined and tentative"
                    )));
                }
                if handle("me").is_empty() || handle("event").is_empty() {
                    return Err(refused("nobody asked you to this event"));
                }
                let own = |name: &str| handle(name).to_owned();
                answer = Some(Reply {
                    path: own("event"),
                    recurrence: own("recurrence"),
                    sign: own("sign"),
                    me: own("me"),
                    partstat,
                    comment: comment.clone(),
                });
            }
            "create" => {
                let plan =
                    planned(&effect.value, zone).map_err(|why| refused(format!("`{effect}`: {why}")))?;
                let name = format!("{}-{}", action.key, events.len());
                let calendar = handle("calendar");
                if calendar.is_empty() {
                    return Err(refused("the item names no calendar"));
                }
                let uid = format!("{name}@workagent");
                let path = format!("{}/{name}.ics", calendar.trim_end_matches('/'));
                events.push(Own { path, text: event(&uid, &plan, now), uid });
            }
            _ => return Err(refused(format!("`{effect}` is nothing that can be done in a calendar"))),
        }
    }
    if answer.is_none() && !comment.is_empty() {
        let why = "a text goes along with an answer to an invitation (`respond: …`), as its comment; alone it has \
                   nowhere to go";
        return Err(refused(why));
    }
    if comment.len() > COMMENT_BYTES_MAX {
        return Err(refused(format!("a comment has at most {COMMENT_BYTES_MAX} bytes")));
    }
    if answer.is_none() && events.is_empty() {
        return Err(refused("it is empty"));
    }
    let bytes = serde_json::to_vec(&Outgoing { answer, events })
        .map_err(|error| PortError::caused(ErrorClass::Bug, "write the answer for the calendar", error))?;
    Ok(Payload { marker: action.key.clone(), bytes })
}

fn event(uid: &str, plan: &Planned, now: Timestamp) -> String {
    let at = |moment: Timestamp| {
        let stamp = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        stamp.strftime("%Y%m%dT%H%M%SZ").to_string()
    };
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//workagent//EN\r\nBEGIN:VEVENT\r\n{}DTSTAMP:{}\r\nDTSTART:{}\r\n\
         DTEND:{}\r\n{}END:VEVENT\r\nEND:VCALENDAR\r\n",
        text_line("UID", uid),
        at(now),
        at(plan.begin),
        at(plan.end),
        text_line("SUMMARY", &plan.title),
    )
}

fn read(payload: &Payload) -> Result<Outgoing, PortError> {
    serde_json::from_slice(&payload.bytes)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "read the stored answer for the calendar", error))
}

/// Brings everything about that is not so yet.
pub async fn deliver(client: &Client, payload: &Payload) -> Result<Receipt, PortError> {
    let outgoing = read(payload)?;
    let mut done = Vec::new();
    for own in &outgoing.events {
        create(client, own).await?;
        done.push(format!("{} is in the calendar", own.path));
    }
    if let Some(reply) = &outgoing.answer {
        respond(client, reply).await?;
        done.push(format!("answered {}", reply.partstat.to_lowercase()));
    }
    let first =
        outgoing.answer.map(|reply| reply.path).or(outgoing.events.into_iter().next().map(|own| own.path));
    Ok(Receipt { remote_id: first.unwrap_or_default(), evidence: done.join("; ") })
}

async fn create(client: &Client, own: &Own) -> Result<(), PortError> {
    let doing = || format!("put {} into the calendar", own.path);
    match client.put(client.pinned(&own.path)?, None, &own.text).await? {
        // The UID is from the action's key: wherever it stands, it is ours.
        Written::Done | Written::SameUid => Ok(()),
        Written::Precondition if is_there(client, own).await? => Ok(()),
        Written::Precondition => {
            Err(PortError::caused(ErrorClass::Permanent, doing(), "there is another event of that name"))
        }
    }
}

async fn is_there(client: &Client, own: &Own) -> Result<bool, PortError> {
    let found = client.event(client.pinned(&own.path)?).await?;
    let line = format!("UID:{}", text_value(&own.uid));
    Ok(found.is_some_and(|(text, _)| text.replace("\r\n ", "").lines().any(|found| found.trim_end() == line)))
}

async fn respond(client: &Client, reply: &Reply) -> Result<(), PortError> {
    let doing = || format!("answer the invitation {}", reply.path);
    let never = |why: &str| PortError::caused(ErrorClass::Permanent, doing(), why.to_owned());
    let url = client.pinned(&reply.path)?;
    let Some((text, version)) = client.event(url.clone()).await? else {
        return Err(never("the event is gone"));
    };
    // Checked first: what was answered before the meeting changed is no answer to what it is now.
    let changed = change(reply, &text).map_err(|why| never(&why))?;
    let Some(changed) = changed else { return Ok(()) };
    let Some(version) = version else {
        return Err(never("the server names no version of the event, so an edit by others could be lost"));
    };
    match client.put(url, Some(&version), &changed).await? {
        Written::Done => Ok(()),
        // It was edited meanwhile: the next try reads it anew, and sees whether it is still the same meeting.
        Written::Precondition => {
            let class = ErrorClass::Network { retry_after: Some(EDITED_WAIT) };
            Err(PortError::caused(class, doing(), "it was edited at the same moment"))
        }
        Written::SameUid => Err(never("the server says that the event stands elsewhere")),
    }
}

/// The event with the answer in it, if it is the one that was approved; `None`: the answer stands there already.
fn change(reply: &Reply, text: &str) -> Result<Option<String>, String> {
    let instance = instances(text).into_iter().find(|instance| instance.recurrence == reply.recurrence);
    let instance = instance.ok_or("it is no longer part of the series")?;
    let traits: Vec<&[u8]> = instance.traits.iter().map(String::as_bytes).collect();
    if digest(&traits).get(..10) != Some(reply.sign.as_str()) {
        return Err("the meeting was changed since this was approved: look at it again".to_owned());
    }
    let me = [reply.me.clone()];
    let answer =
        Answer { recurrence: &reply.recurrence, me: &me, partstat: &reply.partstat, comment: &reply.comment };
    if is_answered(text, answer) {
        return Ok(None);
    }
    answered(text, answer).map(Some).ok_or_else(|| "you are no longer among those asked".to_owned())
}

/// Looks whether all of it is so.
pub async fn confirm(client: &Client, payload: &Payload) -> Result<Confirmation, PortError> {
    let outgoing = read(payload)?;
    for own in &outgoing.events {
        if !is_there(client, own).await? {
            return Ok(Confirmation::NotSent);
        }
    }
    if let Some(reply) = &outgoing.answer {
        let found = client.event(client.pinned(&reply.path)?).await?;
        let so = found.is_some_and(|(text, _)| matches!(change(reply, &text), Ok(None)));
        if !so {
            return Ok(Confirmation::NotSent);
        }
    }
    let first =
        outgoing.answer.map(|reply| reply.path).or(outgoing.events.into_iter().next().map(|own| own.path));
    let evidence = "found in the calendar".to_owned();
    Ok(Confirmation::Sent(Receipt { remote_id: first.unwrap_or_default(), evidence }))
}
