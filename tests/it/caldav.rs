//! Calendars over a scripted CalDAV server: discovery, positions, invitations, reminders, answers, lost answers.

use std::time::Duration;

use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item, ReplyWay};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::platform::caldav::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, Polled, secret, text};
use crate::support::http::{Answer, HttpServer, Seen};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("tests/fixtures/caldav/{name}")).unwrap()
}

fn multistatus(inner: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" \
         xmlns:S=\"http://calendarserver.org/ns/\">{inner}</D:multistatus>"
    );
    Answer::new(207, body).header("content-type", "application/xml")
}

fn member(href: &str, props: &str) -> String {
    format!(
        "<D:response><D:href>{href}</D:href><D:propstat><D:prop>{props}</D:prop>\
         <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    )
}

fn gone(href: &str) -> String {
    format!("<D:response><D:href>{href}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>")
}

/// From the base over the principal to the home.
fn explored() -> [Answer; 2] {
    [
        multistatus(&member(
            "/dav/",
            "<D:current-user-principal><D:href>/dav/me/</D:href></D:current-user-principal>",
        )),
        multistatus(&member(
            "/dav/me/",
            "<C:calendar-home-set><D:href>/dav/me/cal/</D:href></C:calendar-home-set>\
             <C:calendar-user-address-set><D:href>/dav/me/</D:href><D:href>MAILTO:Kim@Example.org</D:href>\
             </C:calendar-user-address-set>",
        )),
    ]
}

fn calendar(props: &str) -> Answer {
    multistatus(&format!(
        "{}{}{}",
        member("/dav/me/cal/", "<D:resourcetype><D:collection/></D:resourcetype>"),
        member(
            "/dav/me/cal/tasks/",
            "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><C:supported-calendar-component-set>\
             <C:comp name=\"VTODO\"/></C:supported-calendar-component-set><D:sync-token>x</D:sync-token>",
        ),
        member(
            "/dav/me/cal/my%20work/",
            &format!(
                "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><D:displayname>Work</D:displayname>{props}"
            ),
        ),
    ))
}

/// The home, whose one calendar with events stands at this position.
fn listed(token: &str) -> Answer {
    calendar(&format!("<D:sync-token>{token}</D:sync-token>"))
}

fn changes(token: &str, inner: &str) -> Answer {
    multistatus(&format!("{inner}<D:sync-token>{token}</D:sync-token>"))
}

fn path(name: &str) -> String {
    format!("/dav/me/cal/my%20work/{name}.ics")
}

/// An event in the answer to a report.
fn event(name: &str, ics: &str) -> String {
    let ics = ics.replace('&', "&amp;").replace('<', "&lt;");
    member(&path(name), &format!("<D:getetag>\"1\"</D:getetag><C:calendar-data>{ics}</C:calendar-data>"))
}

fn changed(name: &str) -> String {
    member(&path(name), "<D:getetag>\"1\"</D:getetag>")
}

/// A meeting that Ann asks us to.
fn meeting(uid: &str, start: &str, answer: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20261129T080000Z\r\n\
         DTSTART;TZID=Europe/Berlin:{start}\r\nDURATION:PT1H\r\nSUMMARY:{uid}\r\nLOCATION:Room 1\r\n\
         ORGANIZER;CN=Ann:mailto:ann@example.org\r\nATTENDEE;PARTSTAT={answer};RSVP=TRUE:mailto:kim@example.org\r\n\
         ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.org\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

const SOON: &str = "20261202T140000";

fn bench_with(server: &HttpServer, more: &[(&str, Value)]) -> Bench {
    let mut keys = vec![
        ("url", text(&server.url("/dav/"))),
        ("user", text("kim")),
        ("password", secret()),
        ("time_zone", text("Europe/Berlin")),
    ];
    keys.extend(more.iter().cloned());
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
}

/// A bench behind its first look at a calendar with these events.
async fn begun_with(server: &HttpServer, more: &[(&str, Value)], events: &str) -> Bench {
    explored().into_iter().for_each(|answer| server.push(answer));
    server.push(listed("t1"));
    server.push(multistatus(events));
    let mut bench = bench_with(server, more);
    bench.poll().await.unwrap();
    bench
}

async fn begun(server: &HttpServer) -> Bench {
    begun_with(server, &[], "").await
}

/// What one poll gives when these events moved.
async fn moved(server: &HttpServer, bench: &mut Bench, token: &str, events: &[(&str, String)]) -> Polled {
    server.push(listed(token));
    server.push(changes(token, &events.iter().map(|(name, _)| changed(name)).collect::<String>()));
    server.push(multistatus(&events.iter().map(|(name, ics)| event(name, ics)).collect::<String>()));
    bench.poll().await.unwrap()
}

fn shown(polled: &Polled) -> String {
    let line = |item: &Item| {
        let disposition = match &item.disposition {
            Disposition::Quarantined { .. } => "quarantined".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        format!("{disposition} {} [{}] {}", item.kind, item.labels.join(" "), item.title)
    };
    let notes = polled.notes.iter().map(|note| format!("note: {note}"));
    polled.items.iter().map(line).chain(notes).collect::<Vec<_>>().join("\n")
}

fn asked(server: &HttpServer) -> Vec<String> {
    server.seen().iter().map(|seen| format!("{} {}", seen.method, seen.target)).collect()
}

fn body(seen: &Seen) -> String {
    String::from_utf8(seen.body.clone().unwrap()).unwrap()
}

fn class(error: &PortError) -> &'static str {
    error.class.word()
}

mod finding {
    use super::*;

    #[tokio::test]
    async fn from_the_base_to_the_calendars_with_events() {
        let server = HttpServer::start([]);
        let bench = begun(&server).await;
        assert_eq!(
            asked(&server),
            ["PROPFIND /dav/", "PROPFIND /dav/me/", "PROPFIND /dav/me/cal/", "REPORT /dav/me/cal/my%20work/"]
        );
        assert!(server.seen().iter().all(|seen| seen.header("authorization").unwrap().starts_with("Basic ")));
        explored().into_iter().for_each(|answer| server.push(answer));
        server.push(listed("t1"));
        let found = bench.connector.probe().await.unwrap();
        assert!(
            found.starts_with("1 calendars at ") && found.ends_with(": Work; asked as kim@example.org"),
            "{found}"
        );
    }

    #[tokio::test]
    async fn a_bare_server_says_at_a_well_known_place_where_to_go() {
        let server = HttpServer::start([]);
        server.push(Answer::new(301, "").header("location", "/dav/"));
        explored().into_iter().for_each(|answer| server.push(answer));
        server.push(listed("t1"));
        server.push(multistatus(""));
        let mut bench = bench_with(&server, &[("url", text(&server.url("/")))]);
        bench.poll().await.unwrap();
        assert_eq!(asked(&server)[..2], ["PROPFIND /.well-known/caldav", "PROPFIND /dav/"]);
    }

    #[tokio::test]
    async fn a_calendar_by_itself_needs_no_home() {
        let server = HttpServer::start([]);
        let itself =
            "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><D:sync-token>t1</D:sync-token>";
        server.push(multistatus(&member("/dav/", itself)));
        server.push(multistatus(&member("/dav/", itself)));
        server.push(multistatus(""));
        let mut bench = bench_with(&server, &[("address", Value::List(vec!["Kim@example.org".into()]))]);
        bench.poll().await.unwrap();
        assert_eq!(asked(&server), ["PROPFIND /dav/", "PROPFIND /dav/", "REPORT /dav/"]);
    }

    #[tokio::test]
    async fn calendars_by_name_or_path_and_none_is_said() {
        for (wanted, expected) in [("Work", 0), ("/dav/me/cal/my%20work", 0), ("Other", 1)] {
            let server = HttpServer::start(explored());
            server.push(listed("t1"));
            server.push(multistatus(""));
            let mut bench = bench_with(&server, &[("calendars", Value::List(vec![wanted.into()]))]);
            assert_eq!(bench.poll().await.unwrap().notes.len(), expected, "{wanted}");
        }
    }

    #[tokio::test]
    async fn neither_links_nor_redirects_lead_the_password_away() {
        let elsewhere = HttpServer::always(multistatus(""));
        let other = elsewhere.url("/steal/");
        let lures = [
            Answer::new(301, "").header("location", &other),
            multistatus(&member(
                "/dav/",
                &format!("<D:current-user-principal><D:href>{other}</D:href></D:current-user-principal>"),
            )),
        ];
        for lure in lures {
            let server = HttpServer::start([lure]);
            let error = bench_with(&server, &[]).poll().await.unwrap_err();
            assert_eq!(class(&error), "config", "{}", chain(&error));
        }
        assert!(elsewhere.seen().is_empty());
    }

    #[tokio::test]
    async fn what_is_no_calendar_server_is_said() {
        let server = HttpServer::always(Answer::new(404, "no"));
        let error = bench_with(&server, &[]).poll().await.unwrap_err();
        assert_eq!(class(&error), "config");
        assert!(chain(&error).contains("no calendars are to be found there"), "{}", chain(&error));
    }
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn the_first_look_makes_no_cases_and_costs_one_request_after_that() {
        let server = HttpServer::start([]);
        let mut bench = begun_with(&server, &[], &event("a", &meeting("a", SOON, "NEEDS-ACTION"))).await;
        assert!(
            body(&server.seen()[3])
                .contains("<C:time-range start=\"20261130T080000Z\" end=\"20271201T080000Z\"/>")
        );
        for round in 0..20 {
            server.push(listed("t1"));
            let polled = bench.poll().await.unwrap();
            assert_eq!((polled.items.len(), server.seen().len()), (0, 5 + round));
        }
    }

    #[tokio::test]
    async fn an_invitation_a_change_a_cancellation() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let polled = moved(&server, &mut bench, "t2", &[("a", meeting("a", SOON, "NEEDS-ACTION"))]).await;
        assert_eq!(
            shown(&polled),
            "work invitation [needs-action] Invitation: a, Wed 2 Dec 2026 14:00–15:00 (Europe/Berlin)"
        );
        insta::assert_snapshot!(polled.items[0].body, @r"
        a
        When: Wed 2 Dec 2026 14:00–15:00 (Europe/Berlin)
        Where: Room 1
        Organizer: Ann <ann@example.org>
        With: bob@example.org (accepted)
        Your answer: none yet
        ");
        let first = polled.items[0].clone();

        // We answered in another client: no news.
        let polled = moved(&server, &mut bench, "t3", &[("a", meeting("a", SOON, "ACCEPTED"))]).await;
        assert_eq!((polled.new.len(), polled.updated.len()), (0, 1));
        // Somebody else answered: not even that.
        let others = meeting("a", SOON, "ACCEPTED")
            .replace("ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob", "ATTENDEE:mailto:bob");
        assert_eq!(moved(&server, &mut bench, "t4", &[("a", others)]).await.seen, 1);
        // It was moved: the same thread.
        let polled =
            moved(&server, &mut bench, "t5", &[("a", meeting("a", "20261203T100000", "ACCEPTED"))]).await;
        assert_eq!(
            shown(&polled),
            "work change [accepted] Changed: a, Thu 3 Dec 2026 10:00–11:00 (Europe/Berlin)"
        );
        assert_eq!(polled.items[0].threads[1], first.threads[1]);
        // And called off.
        let off =
            meeting("a", "20261203T100000", "ACCEPTED").replace("SUMMARY", "STATUS:CANCELLED\r\nSUMMARY");
        let polled = moved(&server, &mut bench, "t6", &[("a", off)]).await;
        assert_eq!(polled.new, ["Called off: a, Thu 3 Dec 2026 10:00–11:00 (Europe/Berlin)"]);
    }

    #[tokio::test]
    async fn what_does_not_concern_us_makes_nothing() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let ours = meeting("mine", SOON, "NEEDS-ACTION")
            .replace("ORGANIZER;CN=Ann:mailto:ann", "ORGANIZER:mailto:KIM");
        let alone = meeting("alone", SOON, "ACCEPTED").replace("kim@", "eve@");
        let past = meeting("past", "20261101T100000", "NEEDS-ACTION");
        let answered = meeting("answered", SOON, "ACCEPTED");
        let task = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:t\r\nEND:VTODO\r\nEND:VCALENDAR\r\n".to_owned();
        let events = [("m", ours), ("l", alone), ("p", past), ("d", answered), ("t", task)];
        let polled = moved(&server, &mut bench, "t2", &events).await;
        // The one answered elsewhere is known from now on.
        assert_eq!((polled.new.len(), polled.baseline), (0, 1), "{}", shown(&polled));
    }

    #[tokio::test]
    async fn one_instance_of_a_series_asks_by_itself() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let polled = moved(&server, &mut bench, "t2", &[("s", fixture("series.ics"))]).await;
        insta::assert_snapshot!(shown(&polled), @r"
        baseline change [accepted] Changed: Weekly, Mon 7 Dec 2026 09:00–09:15 (Europe/Berlin)
        work invitation [needs-action] Invitation: Weekly, moved, Tue 15 Dec 2026 11:00–12:00 (Europe/Berlin)
        ");
        assert_eq!(polled.items[0].threads[1], polled.items[1].threads[1]);
    }

    #[tokio::test]
    async fn many_changes_come_in_batches_and_pages_once_each() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        bench.items_max = 40;
        let names: Vec<String> = (0..120).map(|number| format!("n{number}")).collect();
        server.push(listed("t2"));
        server.push(changes("t2", &names.iter().map(|name| changed(name)).collect::<String>()));
        for batch in names.chunks(50) {
            let events = batch.iter().map(|name| event(name, &meeting(name, SOON, "NEEDS-ACTION")));
            server.push(multistatus(&events.collect::<String>()));
        }
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.pages, polled.seen), (120, 3, 0));
        let sizes: Vec<_> =
            server.seen().iter().map(|seen| body(seen).matches("<D:href>").count()).skip(6).collect();
        assert_eq!(sizes, [50, 50, 20]);
        server.push(listed("t2"));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    }

    #[tokio::test]
    async fn a_list_cut_short_goes_on_from_where_it_ends() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(listed("t9"));
        let cut = "<D:response><D:href>/dav/me/cal/my%20work/</D:href><D:status>HTTP/1.1 507 Insufficient Storage\
                   </D:status></D:response>";
        server.push(changes("t5", &format!("{}{cut}", changed("a"))));
        server.push(multistatus(&event("a", &meeting("a", SOON, "NEEDS-ACTION"))));
        server.push(listed("t9"));
        server.push(changes("t9", &changed("b")));
        server.push(multistatus(&event("b", &meeting("b", SOON, "NEEDS-ACTION"))));
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new.len(), 2);
        assert!(body(&server.seen()[8]).contains("<D:sync-token>t5</D:sync-token>"));
    }

    #[tokio::test]
    async fn what_goes_away_is_told_to_its_case_and_to_no_other() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        moved(&server, &mut bench, "t2", &[("a", meeting("a", SOON, "NEEDS-ACTION"))]).await;
        server.push(listed("t3"));
        server.push(changes("t3", &format!("{}{}", gone(&path("a")), gone(&path("never-seen")))));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.updated.len(), polled.items.len()), (0, 1, 1));
    }

    #[tokio::test]
    async fn a_lost_position_makes_no_case_of_what_is_known() {
        let server = HttpServer::start([]);
        let known =
            [event("a", &meeting("a", SOON, "NEEDS-ACTION")), event("b", &meeting("b", SOON, "ACCEPTED"))];
        let mut bench = begun_with(&server, &[], &known.concat()).await;
        server.push(listed("t9"));
        let refusal = "<?xml version=\"1.0\"?><D:error xmlns:D=\"DAV:\"><D:valid-sync-token/></D:error>";
        server.push(Answer::new(403, refusal));
        // One went away meanwhile, and one came.
        let now = [
            event("a", &meeting("a", SOON, "NEEDS-ACTION")),
            event("c", &meeting("c", SOON, "NEEDS-ACTION")),
        ];
        server.push(multistatus(&now.concat()));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.seen, polled.updated.len()), (1, 1, 1), "{}", shown(&polled));
        assert!(polled.notes[0].contains("forgot our position in Work"));
        server.push(listed("t9"));
        assert!(bench.poll().await.unwrap().notes.is_empty());
    }

    #[tokio::test]
    async fn a_server_without_positions_is_asked_for_versions() {
        let server = HttpServer::start(explored());
        let at = |ctag: &str| calendar(&format!("<S:getctag>{ctag}</S:getctag>"));
        let version = |name: &str, etag: &str| member(&path(name), &format!("<D:getetag>{etag}</D:getetag>"));
        let itself = member("/dav/me/cal/my%20work/", "<D:getetag>x</D:getetag>");
        server.push(at("c1"));
        server.push(multistatus(&format!("{itself}{}", version("a", "W/&quot;1&quot;"))));
        server.push(multistatus(&event("a", &meeting("a", SOON, "NEEDS-ACTION"))));
        let mut bench = bench_with(&server, &[]);
        assert_eq!(bench.poll().await.unwrap().baseline, 1);
        // Nothing moved.
        server.push(at("c1"));
        assert!(bench.poll().await.unwrap().items.is_empty());
        // One came, and one stayed as it was.
        server.push(at("c2"));
        server.push(multistatus(&format!(
            "{itself}{}{}",
            version("a", "W/&quot;1&quot;"),
            version("b", "2")
        )));
        server.push(multistatus(&event("b", &meeting("b", SOON, "NEEDS-ACTION"))));
        assert_eq!(bench.poll().await.unwrap().new.len(), 1);
        assert_eq!(body(&server.seen().pop().unwrap()).matches("<D:href>").count(), 1);
        // One went.
        server.push(at("c3"));
        server.push(multistatus(&format!("{itself}{}", version("b", "2"))));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.items.len(), polled.updated.len()), (1, 1));
    }

    #[tokio::test]
    async fn what_was_there_is_work_only_where_the_unit_says_so() {
        let events = [
            event("open", &meeting("open", SOON, "NEEDS-ACTION")),
            event("done", &meeting("done", SOON, "ACCEPTED")),
        ];
        for (backlog, expected) in [
            (Backlog::All, 1),
            (Backlog::Since(Duration::from_secs(7 * 86_400)), 1),
            (Backlog::Since(Duration::from_secs(3600)), 0),
            (Backlog::New, 0),
        ] {
            let server = HttpServer::start(explored());
            server.push(listed("t1"));
            server.push(multistatus(&events.concat()));
            let polled = bench_with(&server, &[]).backlog(backlog).poll().await.unwrap();
            assert_eq!((polled.new.len(), polled.baseline), (expected, 2 - expected), "{backlog:?}");
        }
    }

    #[tokio::test]
    async fn an_event_that_cannot_be_read_is_held_and_the_rest_goes_on() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let events = [
            (
                "bad",
                "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n".to_owned(),
            ),
            ("worse", "hello".to_owned()),
            ("good", meeting("good", SOON, "NEEDS-ACTION")),
        ];
        let polled = moved(&server, &mut bench, "t2", &events).await;
        let kinds: Vec<_> = polled.items.iter().map(|item| item.kind.as_str()).collect();
        assert_eq!(kinds, ["unreadable", "unreadable", "invitation"]);
        assert!(matches!(polled.items[0].disposition, Disposition::Quarantined { .. }));
    }
}

mod reminding {
    use super::*;

    async fn polled(server: &HttpServer, bench: &mut Bench, events: &str) -> Polled {
        server.push(listed("t1"));
        server.push(multistatus(events));
        bench.poll().await.unwrap()
    }

    #[tokio::test]
    async fn each_occurrence_once_and_nothing_that_has_begun() {
        let server = HttpServer::start([]);
        let reminds = [("remind_before", Value::Duration(Duration::from_secs(1800)))];
        explored().into_iter().for_each(|answer| server.push(answer));
        server.push(listed("t1"));
        server.push(multistatus(""));
        server.push(multistatus(""));
        let mut bench = bench_with(&server, &reminds);
        bench.poll().await.unwrap();
        assert!(
            body(&server.seen()[4])
                .contains("<C:time-range start=\"20261130T080000Z\" end=\"20261130T083100Z\"/>")
        );
        let daily = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:daily\r\nDTSTART;TZID=Europe/Berlin:20261101T092000\r\n\
                     DURATION:PT15M\r\nRRULE:FREQ=DAILY\r\nSUMMARY:Stand-up\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let events = [
            event("daily", daily),
            event("begun", &meeting("begun", "20261130T085900", "ACCEPTED")),
            event("edge", &meeting("edge", "20261130T093000", "ACCEPTED")),
            event("later", &meeting("later", "20261130T093100", "ACCEPTED")),
            event("no", &meeting("no", "20261130T091000", "DECLINED")),
            event("day", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:day\r\nDTSTART;VALUE=DATE:20261130\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"),
        ]
        .concat();
        let first = polled(&server, &mut bench, &events).await;
        insta::assert_snapshot!(shown(&first), @r"
        work reminder [] Soon: Stand-up, Mon 30 Nov 2026 09:20–09:35 (Europe/Berlin)
        work reminder [accepted] Soon: edge, Mon 30 Nov 2026 09:30–10:30 (Europe/Berlin)
        ");
        assert_eq!(polled(&server, &mut bench, &events).await.seen, 2);
        bench.clock.advance(Duration::from_secs(86_400));
        assert_eq!(
            polled(&server, &mut bench, &event("daily", daily)).await.new,
            ["Soon: Stand-up, Tue 1 Dec 2026 09:20–09:35 (Europe/Berlin)"]
        );
    }
}

mod faults {
    use super::*;

    async fn error_of(answer: Answer) -> PortError {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let before = bench.cursor.clone();
        server.push(answer);
        let error = bench.poll().await.unwrap_err();
        assert_eq!(bench.cursor, before);
        // What was explored is explored anew.
        explored().into_iter().for_each(|answer| server.push(answer));
        server.push(listed("t1"));
        bench.clock.advance(Duration::from_secs(7200));
        bench.poll().await.unwrap();
        error
    }

    #[tokio::test]
    async fn refusals_garbage_and_limits() {
        let error = error_of(Answer::new(401, "no")).await;
        assert_eq!(class(&error), "auth");
        assert!(!chain(&error).contains("CANARY"));
        assert_eq!(class(&error_of(Answer::new(502, "<html>")).await), "network");
        assert_eq!(class(&error_of(Answer::cut_after_body()).await), "network");
        assert_eq!(
            class(&error_of(Answer::new(207, "<D:multistatus xmlns:D=\"DAV:\"><D:resp")).await),
            "network"
        );
        assert_eq!(class(&error_of(Answer::new(207, "{}")).await), "network");
        assert_eq!(
            class(&error_of(Answer::ok("<html>log in</html>").header("content-type", "text/html")).await),
            "network"
        );
        for (status, expected) in [(429, 120), (503, 120)] {
            let error = error_of(Answer::new(status, "").header("retry-after", "120")).await;
            let ErrorClass::RateLimited { until } = error.class else { panic!("{}", chain(&error)) };
            assert_eq!(until.since(NOW).as_secs(), expected);
        }
    }

    #[tokio::test]
    async fn a_fault_half_way_loses_nothing() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(listed("t2"));
        server.push(changes("t2", &changed("a")));
        server.push(Answer::new(500, ""));
        assert_eq!(class(&bench.poll().await.unwrap_err()), "network");
        explored().into_iter().for_each(|answer| server.push(answer));
        assert_eq!(
            moved(&server, &mut bench, "t2", &[("a", meeting("a", SOON, "NEEDS-ACTION"))]).await.new.len(),
            1
        );
    }

    #[tokio::test]
    async fn odd_members_are_stepped_over() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(listed("t2"));
        server.push(changes("t2", &format!("<D:response/>{}<D:odd/>", changed("a"))));
        let whole = format!("http://{}{}", server.url("").trim_start_matches("http://"), path("a"));
        let a = event("a", &meeting("a", SOON, "NEEDS-ACTION")).replace(&path("a"), &whole);
        server.push(multistatus(&format!("{}{}{a}", gone(&path("b")), member(&path("c"), ""))));
        assert_eq!(bench.poll().await.unwrap().new.len(), 1);
    }
}

mod answering {
    use super::*;

    async fn invited(server: &HttpServer) -> (Bench, Item) {
        let mut bench = begun(server).await;
        let item = moved(server, &mut bench, "t2", &[("a", meeting("a", SOON, "NEEDS-ACTION"))])
            .await
            .items
            .remove(0);
        (bench, item)
    }

    fn with(bench: &Bench, item: &Item, effects: &[Effect], body: &str) -> OutboundAction {
        let mut action = bench.reply(item, 1, body);
        action.envelope.effects = effects.to_vec();
        action
    }

    fn accepted(bench: &Bench, item: &Item) -> OutboundAction {
        with(bench, item, &[Effect::with("respond", "accepted")], "")
    }

    fn stored(ics: &str) -> Answer {
        Answer::ok(ics).header("etag", "W/\"7\"").header("content-type", "text/calendar")
    }

    fn puts(server: &HttpServer) -> usize {
        server.seen().iter().filter(|seen| seen.method == "PUT").count()
    }

    #[tokio::test]
    async fn an_answer_changes_our_line_in_the_version_that_was_read() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let ReplyWay::To(envelope) = &item.reply else { panic!() };
        assert_eq!(envelope.to, ["ann@example.org"]);
        let action = with(&bench, &item, &[Effect::with("respond", "accepted")], "See you there.");
        server.push(stored(&meeting("a", SOON, "NEEDS-ACTION")));
        server.push(Answer::new(204, ""));
        let receipt = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap();
        assert_eq!(receipt.evidence, "answered accepted");
        let put = server.seen().pop().unwrap();
        assert_eq!((put.method.as_str(), put.target.as_str()), ("PUT", path("a").as_str()));
        assert_eq!(put.header("if-match"), Some("\"7\""));
        let expected = meeting("a", SOON, "NEEDS-ACTION")
            .replace("ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:", "ATTENDEE;RSVP=TRUE;PARTSTAT=ACCEPTED:")
            .replace("END:VEVENT", "COMMENT;X-WORKAGENT=1:See you there.\r\nEND:VEVENT");
        assert_eq!(body(&put), expected);
        // A repeat finds it so and writes nothing.
        server.push(stored(&expected));
        bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap();
        assert_eq!(puts(&server), 1);
    }

    #[tokio::test]
    async fn a_lost_answer_ends_with_one_write() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let action = accepted(&bench, &item);
        let payload = bench.prepare(&action);
        server.push(stored(&meeting("a", SOON, "NEEDS-ACTION")));
        server.push(Answer::cut_after_body());
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "uncertain");
        let written = body(&server.seen().pop().unwrap());
        server.push(stored(&written));
        let confirmed = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        assert!(matches!(confirmed, Confirmation::Sent(_)));
        assert_eq!(puts(&server), 1);
    }

    #[tokio::test]
    async fn what_did_not_arrive_goes_again() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let action = accepted(&bench, &item);
        let payload = bench.prepare(&action);
        server.push(stored(&meeting("a", SOON, "NEEDS-ACTION")));
        server.push(Answer::cut_before_body());
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "uncertain");
        server.push(stored(&meeting("a", SOON, "NEEDS-ACTION")));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    }

    #[tokio::test]
    async fn another_meeting_than_the_approved_one_is_not_answered() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let action = accepted(&bench, &item);
        let payload = bench.prepare(&action);
        let not_asked = meeting("a", SOON, "NEEDS-ACTION").replace("kim@", "eve@");
        for (found, why) in [
            (stored(&meeting("a", "20261202T150000", "NEEDS-ACTION")), "changed since this was approved"),
            (stored(&not_asked), "no longer among those asked"),
            (Answer::new(404, ""), "the event is gone"),
            (Answer::ok(meeting("a", SOON, "NEEDS-ACTION")), "names no version"),
        ] {
            server.push(found);
            let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
            assert_eq!(class(&error), "permanent");
            assert!(chain(&error).contains(why), "{}", chain(&error));
        }
        assert_eq!(puts(&server), 0);
        // Edited in the same moment: read anew a little later.
        server.push(stored(&meeting("a", SOON, "NEEDS-ACTION")));
        server.push(Answer::new(412, ""));
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert!(matches!(error.class, ErrorClass::Network { retry_after: Some(_) }), "{}", chain(&error));
    }

    #[tokio::test]
    async fn an_event_of_our_own_is_there_once_however_often_it_is_put() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let action =
            with(&bench, &item, &[Effect::with("create", "2026-12-02 13:30 30m Prepare, then go")], "");
        let payload = bench.prepare(&action);
        server.push(Answer::cut_after_body());
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "uncertain");
        let put = server.seen().pop().unwrap();
        assert_eq!(put.target, path("wa-1-0123456789abcdef-0"));
        assert_eq!(put.header("if-none-match"), Some("*"));
        insta::assert_snapshot!(body(&put).replace('\r', ""), @r"
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//workagent//EN
        BEGIN:VEVENT
        UID:wa-1-0123456789abcdef-0@workagent
        DTSTAMP:20261130T080000Z
        DTSTART:20261202T123000Z
        DTEND:20261202T130000Z
        SUMMARY:Prepare\, then go
        END:VEVENT
        END:VCALENDAR
        ");
        server.push(stored(&body(&put)));
        assert!(matches!(
            bench.connector.confirm(&action, &payload, NOW).await.unwrap(),
            Confirmation::Sent(_)
        ));
        // Put again all the same: it is ours.
        server.push(Answer::new(412, ""));
        server.push(stored(&body(&put)));
        bench.connector.deliver(&action, &payload).await.unwrap();
        // Somebody else's under that name is not.
        server.push(Answer::new(412, ""));
        server.push(stored(&meeting("a", SOON, "ACCEPTED")));
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "permanent");
        // Moved to another name, it is still there.
        let conflict =
            "<error xmlns=\"DAV:\"><no-uid-conflict xmlns=\"urn:ietf:params:xml:ns:caldav\"/></error>";
        server.push(Answer::new(409, conflict));
        bench.connector.deliver(&action, &payload).await.unwrap();
        server.push(Answer::new(404, ""));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    }

    #[tokio::test]
    async fn what_cannot_be_done_is_refused_before_the_wire() {
        let server = HttpServer::start([]);
        let (bench, item) = invited(&server).await;
        let refused = |effects: &[Effect], body: &str, why: &str| {
            let action = with(&bench, &item, effects, body);
            let error = bench.connector.prepare(&action, NOW).unwrap_err();
            assert_eq!(class(&error), "permanent");
            assert!(chain(&error).contains(why), "{}", chain(&error));
        };
        refused(&[], "I would love to.", "a text goes along with an answer");
        refused(&[], "", "it is empty");
        refused(&[Effect::with("respond", "maybe")], "", "accepted, declined and tentative");
        refused(
            &[Effect::with("respond", "accepted"), Effect::with("respond", "declined")],
            "",
            "one answer",
        );
        refused(&[Effect::with("respond", "accepted")], &"x".repeat(5000), "at most 4096 bytes");
        refused(&[Effect::with("create", "tomorrow")], "", "it is written `2026-12-31 14:00 30m Title`");
        refused(&[Effect::plain("close")], "", "nothing that can be done in a calendar");
    }
}

mod whole_way {
    use std::sync::{Arc, Mutex};

    use workagent::model::outbound::ActionState;

    use super::*;
    use crate::support::way::{ROUTE, Way, shell};

    /// A server that keeps one event, and cuts its answer to what is put there after it was.
    fn server(event_now: &Arc<Mutex<String>>) -> HttpServer {
        let kept = Arc::clone(event_now);
        HttpServer::by(move |seen| {
            let mut ics = kept.lock().unwrap();
            let [base, principal] = explored();
            let is = |text: &str| seen.target.trim_end_matches('/') == text.trim_end_matches('/');
            match seen.method.as_str() {
                "PUT" => {
                    *ics = body(seen);
                    Answer::cut_after_body()
                }
                "GET" => {
                    Answer::ok(ics.clone()).header("etag", "\"1\"").header("content-type", "text/calendar")
                }
                "REPORT" if body(seen).contains("sync-collection") => changes("t1", ""),
                "REPORT" => multistatus(&event("a", &ics)),
                "PROPFIND" if is("/dav/") => base,
                "PROPFIND" if is("/dav/me/") => principal,
                "PROPFIND" => listed("t1"),
                _ => Answer::new(405, ""),
            }
        })
    }

    #[tokio::test]
    async fn an_answer_that_is_lost_is_found_in_the_event_and_not_given_twice() {
        let ics = Arc::new(Mutex::new(meeting("a", SOON, "NEEDS-ACTION")));
        let server = server(&ics);
        let inbox = format!(
            "[connector]\nplatform = \"caldav\"\nbacklog = \"all\"\nhold = \"0s\"\n[caldav]\nurl = \"{}\"\nuser = \"kim\"\n\
             password = {{ env = \"WAY_TOKEN\" }}\n[install]\nenabled = true\n",
            server.url("/dav/")
        );
        let way = Way::new(&[
            ("inbox.connector.toml", &inbox),
            (
                "polite.engine.toml",
                &shell("cat >/dev/null; printf 'ALSO: respond: accepted\\nSee you there.'"),
            ),
            ("answers.route.toml", ROUTE),
        ])
        .await;
        way.cycle().await;
        let draft = way.drafts().await.remove(0);
        way.approve(&draft).await.unwrap();
        way.cycle().await;
        assert_eq!(way.actions().await[0].state, ActionState::Uncertain);
        for _ in 0..20 {
            way.clock.advance(Duration::from_secs(60));
            way.cycle().await;
        }
        assert_eq!(way.shown().await, "c1 sent\n", "{:?}", way.actions().await[0].last_error);
        assert!(way.actions().await[0].receipt.is_some());
        assert!(ics.lock().unwrap().contains("PARTSTAT=ACCEPTED:mailto:kim@example.org"));
        assert_eq!(server.seen().iter().filter(|seen| seen.method == "PUT").count(), 1);
    }
}
