//! The ring of real peers: the `caldav` connector against Radicale. Runs where `WORKAGENT_LAB=1` is set.

use std::sync::OnceLock;
use std::time::Duration;

use workagent::http::{Credentials, HttpRequest, HttpRoom};
use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Cursor, Disposition, Item};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::platform::caldav::SPEC;
use workagent::secret::SecretValue;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, secret, text};
use crate::support::lab_script::LabScript;

static LAB: OnceLock<LabScript> = OnceLock::new();

/// A user's calendar `Work`, as any other client sees it.
struct Calendar {
    http: HttpRoom,
    base: String,
    user: String,
    password: String,
}

impl Calendar {
    async fn of(user: &str) -> Option<Self> {
        let lab = LabScript::of(&LAB, "caldav")?;
        let calendar = Self {
            http: HttpRoom::default(),
            base: lab.fact("URL").to_owned(),
            user: user.to_owned(),
            password: lab.fact("PASSWORD").to_owned(),
        };
        let make = "<C:mkcalendar xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\"><D:set><D:prop>\
                    <D:displayname>Work</D:displayname></D:prop></D:set></C:mkcalendar>";
        assert_eq!(calendar.send("MKCALENDAR", "", make).await.0, 201);
        Some(calendar)
    }

    async fn send(&self, method: &str, name: &str, body: &str) -> (u16, String) {
        let url = format!("{}/{}/my%20work/{name}", self.base, self.user).parse().unwrap();
        let password = SecretValue::new(self.password.clone());
        let request = HttpRequest::writing(method.parse().unwrap(), url)
            .credentials(Some(Credentials::Basic { user: self.user.clone(), password }))
            .body(
                if method == "PUT" { "text/calendar" } else { "application/xml" },
                body.as_bytes().to_vec(),
            );
        let answer = self.http.send(request).await.unwrap();
        (answer.status, String::from_utf8(answer.body).unwrap())
    }

    async fn put(&self, uid: &str, start: &str, answer: &str) {
        let ics = meeting(uid, start, answer);
        let (status, body) = self.send("PUT", &format!("{uid}.ics"), &ics).await;
        assert!(matches!(status, 201 | 204), "{status} {body}");
    }

    async fn get(&self, name: &str) -> String {
        let (status, body) = self.send("GET", name, "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    fn bench(&self, more: &[(&str, Value)]) -> Bench {
        let mut keys = vec![
            ("url", text(&format!("{}/", self.base))),
            ("user", text(&self.user)),
            ("password", secret()),
            ("address", Value::List(vec!["kim@example.org".into()])),
            ("time_zone", text("Europe/Berlin")),
        ];
        keys.extend(more.iter().cloned());
        let secrets = [("canary", self.password.as_str())];
        Bench::with_secrets(&SPEC, "/nonexistent".as_ref(), &keys, &secrets)
    }
}

fn meeting(uid: &str, start: &str, answer: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\n\
         DTSTAMP:20261129T080000Z\r\nDTSTART:{start}\r\nDURATION:PT1H\r\nSUMMARY:Design \u{fc}ber {uid}\r\n\
         ORGANIZER;CN=Ann:mailto:ann@example.org\r\nATTENDEE;PARTSTAT={answer};RSVP=TRUE:mailto:kim@example.org\r\n\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

const SOON: &str = "20261202T130000Z";

fn with(bench: &Bench, item: &Item, number: i64, effects: &[Effect], body: &str) -> OutboundAction {
    let mut action = bench.reply(item, number, body);
    action.envelope.effects = effects.to_vec();
    action
}

#[tokio::test]
async fn an_invitation_is_answered_once() {
    let Some(calendar) = Calendar::of("kim1").await else { return };
    calendar.put("old", SOON, "NEEDS-ACTION").await;
    let mut bench = calendar.bench(&[]);
    let found = bench.connector.probe().await.unwrap();
    assert!(found.contains(": Work; asked as kim@example.org"), "{found}");
    let first = bench.poll().await.unwrap();
    assert_eq!((first.new.len(), first.baseline), (0, 1));
    assert!(bench.poll().await.unwrap().items.is_empty());

    calendar.put("design", SOON, "NEEDS-ACTION").await;
    let polled = bench.poll().await.unwrap();
    assert_eq!(polled.new, ["Invitation: Design über design, Wed 2 Dec 2026 14:00–15:00 (Europe/Berlin)"]);
    let item = &polled.items[..].iter().find(|item| item.disposition == Disposition::Work).unwrap().clone();

    let action = with(&bench, item, 1, &[Effect::with("respond", "accepted")], "See you, Ann.");
    let payload = bench.prepare(&action);
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    bench.connector.deliver(&action, &payload).await.unwrap();
    let stored = calendar.get("design.ics").await;
    assert!(stored.contains("PARTSTAT=ACCEPTED"), "{stored}");
    assert!(stored.contains(":See you\\, Ann."), "{stored}");
    assert!(matches!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::Sent(_)));
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(calendar.get("design.ics").await, stored);
    // Read back it is the same meeting, and no case.
    let back = bench.poll().await.unwrap();
    assert_eq!((back.new.len(), back.updated.len()), (0, 1));
}

#[tokio::test]
async fn an_edit_elsewhere_is_not_written_over() {
    let Some(calendar) = Calendar::of("kim2").await else { return };
    let mut bench = calendar.bench(&[]);
    bench.poll().await.unwrap();
    calendar.put("design", SOON, "NEEDS-ACTION").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    let action = with(&bench, &item, 1, &[Effect::with("respond", "declined")], "");
    let payload = bench.prepare(&action);
    calendar.put("design", "20261202T150000Z", "NEEDS-ACTION").await;
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent);
    assert!(chain(&error).contains("changed since this was approved"), "{}", chain(&error));
    assert!(calendar.get("design.ics").await.contains("NEEDS-ACTION"));
    // It comes as another meeting of the same thread.
    let again = bench.poll().await.unwrap();
    assert_eq!(again.new.len(), 1);
    assert!(again.items.iter().all(|found| found.threads.last() == item.threads.last()));

    // The server refuses a version that is not the last one.
    let url = format!("{}/kim2/my%20work/design.ics", calendar.base).parse().unwrap();
    let request = HttpRequest::writing("PUT".parse().unwrap(), url)
        .credentials(Some(Credentials::Basic {
            user: "kim2".into(),
            password: SecretValue::new(calendar.password.clone()),
        }))
        .header("if-match".parse().unwrap(), "\"stale\"")
        .body("text/calendar", meeting("design", SOON, "ACCEPTED").into_bytes());
    assert_eq!(calendar.http.send(request).await.unwrap().status, 412);
}

#[tokio::test]
async fn what_goes_away_is_told() {
    let Some(calendar) = Calendar::of("kim3").await else { return };
    let mut bench = calendar.bench(&[]);
    bench.poll().await.unwrap();
    calendar.put("design", SOON, "NEEDS-ACTION").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    assert_eq!(calendar.send("DELETE", "design.ics", "").await.0, 200);
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.updated.len(), polled.items.len()), (0, 1, 1));
    let action = with(&bench, &item, 1, &[Effect::with("respond", "accepted")], "");
    let error = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap_err();
    assert!(chain(&error).contains("the event is gone"), "{}", chain(&error));
    // And comes again.
    calendar.put("design", "20261203T130000Z", "NEEDS-ACTION").await;
    assert_eq!(bench.poll().await.unwrap().new.len(), 1);
}

#[tokio::test]
async fn a_position_that_the_server_does_not_know_makes_no_case_of_what_is_known() {
    let Some(calendar) = Calendar::of("kim4").await else { return };
    for number in 0..5 {
        calendar.put(&format!("known{number}"), SOON, "NEEDS-ACTION").await;
    }
    let mut bench = calendar.bench(&[]);
    assert_eq!(bench.poll().await.unwrap().baseline, 5);
    calendar.put("new", SOON, "NEEDS-ACTION").await;
    let cursor = bench.cursor.as_ref().unwrap().0.clone();
    let start = cursor.find("http://radicale.org/ns/sync/").unwrap();
    let end = start + cursor.get(start..).unwrap().find('"').unwrap();
    let broken = format!(
        "{}http://radicale.org/ns/sync/{}{}",
        cursor.get(..start).unwrap(),
        "0".repeat(64),
        cursor.get(end..).unwrap()
    );
    bench.cursor = Some(Cursor(broken));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.seen), (1, 5), "{polled:?}");
    assert!(polled.notes.iter().any(|note| note.contains("forgot our position")), "{:?}", polled.notes);
    assert!(bench.poll().await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_event_of_our_own_is_created_once() {
    let Some(calendar) = Calendar::of("kim5").await else { return };
    let mut bench = calendar.bench(&[]);
    bench.poll().await.unwrap();
    calendar.put("design", SOON, "NEEDS-ACTION").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    let action = with(&bench, &item, 1, &[Effect::with("create", "2026-12-02 13:30 30m Prepare")], "");
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert!(matches!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::Sent(_)));
    let name = format!("{}-0.ics", action.key);
    assert!(calendar.get(&name).await.contains("SUMMARY:Prepare"));
    // Under another name too.
    let moved = calendar.get(&name).await;
    calendar.send("DELETE", &name, "").await;
    assert_eq!(calendar.send("PUT", "elsewhere.ics", &moved).await.0, 201);
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(calendar.send("GET", &name, "").await.0, 404);
}

#[tokio::test]
async fn a_reminder_of_a_recurring_meeting_comes_once_for_each_time() {
    let Some(calendar) = Calendar::of("kim6").await else { return };
    let series = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:daily\r\n\
                  DTSTAMP:20261101T080000Z\r\nDTSTART;TZID=Europe/Berlin:20261101T092000\r\nDURATION:PT15M\r\n\
                  RRULE:FREQ=DAILY\r\nSUMMARY:Stand-up\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    assert_eq!(calendar.send("PUT", "daily.ics", series).await.0, 201);
    let mut bench = calendar.bench(&[("remind_before", Value::Duration(Duration::from_secs(1800)))]);
    assert_eq!(
        bench.poll().await.unwrap().new,
        ["Soon: Stand-up, Mon 30 Nov 2026 09:20–09:35 (Europe/Berlin)"]
    );
    assert_eq!(bench.poll().await.unwrap().new.len(), 0);
    bench.clock.advance(Duration::from_secs(86_400));
    assert_eq!(
        bench.poll().await.unwrap().new,
        ["Soon: Stand-up, Tue 1 Dec 2026 09:20–09:35 (Europe/Berlin)"]
    );
}

#[tokio::test]
async fn a_wrong_password_waits_for_the_user() {
    let Some(calendar) = Calendar::of("kim7").await else { return };
    let wrong = Calendar { password: "wrong".into(), ..calendar };
    let mut bench = wrong.bench(&[]);
    let error = bench.poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth, "{}", chain(&error));
    assert!(bench.backlog == Backlog::New && bench.cursor.is_none());
}
