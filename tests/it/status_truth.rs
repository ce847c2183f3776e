//! What `status` says of units that are well, off, broken, refused or locked out, with the real binary (S46).

use std::net::TcpListener;

use workagent::control::health::Health;
use workagent::control::wire::{ActiveState, LoadState, StatusView, UnitView};

use crate::support::binary::{House, unit};
use crate::support::imap::ImapServer;

/// What the scripted mail server takes.
const PASSWORD: &str = "CANARY-imap-1";

const FEED: &str = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>\
    <item><title>One</title><guid>1</guid></item></channel></rss>";

/// A port where nobody listens: it was free a moment ago.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn enabled(platform: &str, keys: &str) -> String {
    format!(
        "[connector]\nplatform = \"{platform}\"\nbacklog = \"all\"\n[{platform}]\n{keys}\n[install]\nenabled = true\n"
    )
}

fn mailbox(server: &ImapServer, secret: &str) -> String {
    let port = server.port();
    let keys = format!(
        "host = \"127.0.0.1\"\nport = {port}\nsecurity = \"none\"\nuser = \"me@example.org\"\n\
         password = {{ secret = \"{secret}\" }}\nidle = false"
    );
    enabled("imap", &keys)
}

/// A house with one unit of each fate, and what it needs to live as long.
struct Street {
    house: House,
    server: ImapServer,
    refused: u16,
}

impl Street {
    fn new() -> Self {
        let house = House::new();
        let server = ImapServer::start("IMAP4rev1");
        let refused = closed_port();
        house.write("news.xml", FEED);
        house.unit("news.connector.toml", &enabled("feed", "url = \"file://{root}/news.xml\""));
        house.write("notes/a.md", "What is still missing?\n");
        house.unit(
            "notes.connector.toml",
            &(enabled("directory", "path = \"{root}/notes\"\nsettle = \"100ms\"")
                + "[schedule]\nevery = \"1s\"\n"),
        );
        house.unit("typo.connector.toml", &enabled("feed", "urll = \"file://{root}/news.xml\""));
        house.unit("off.connector.toml", "[connector]\nplatform = \"imap\"\n[install]\nenabled = false\n");
        let url = format!("url = \"http://127.0.0.1:{refused}/feed\"");
        house.unit("refused.connector.toml", &enabled("feed", &url));
        house.unit("locked.connector.toml", &mailbox(&server, "mail/wrong"));
        house.unit("keyless.connector.toml", &mailbox(&server, "mail/none"));
        house.secret("mail/wrong", "not-the-password");
        house.unit(
            "lost.engine.toml",
            "[engine]\nengine = \"command\"\n[command]\nprogram = \"no-such-program\"\n[install]\nenabled = true\n",
        );
        house.unit(
            "all.route.toml",
            "[route]\nengines = [\"lost\"]\n[match]\nconnector = [\"notes\"]\n[install]\nenabled = true\n",
        );
        Self { house, server, refused }
    }

    /// Every unit had its first try, the engine its first case.
    fn settled(&self) -> (StatusView, i32) {
        self.house.status_when("every unit to have been tried", |view| {
            let tried = ["news", "notes", "refused", "locked", "keyless"]
                .map(|name| unit(view, &format!("{name}.connector")).last_try.is_some());
            tried == [true; 5]
                && unit(view, "lost.engine").last_error.is_some()
                && view.counts.cases.get("parked") == Some(&1)
        })
    }
}

fn health(unit: &UnitView) -> Health {
    unit.health.unwrap()
}

/// In trouble, and tried again by itself: the class, the words of the error, the ages.
fn check_failing(view: &StatusView, name: &str, class: &str, words: &str) {
    let unit = unit(view, name);
    let error = unit.last_error.as_ref().unwrap();
    assert_eq!(
        (health(unit), unit.load, unit.active, unit.failures_in_a_row),
        (Health::Failing, LoadState::Loaded, ActiveState::Active, 1),
        "{unit:#?}"
    );
    assert_eq!(error.class, class, "{unit:#?}");
    assert!(error.message.contains(words), "{unit:#?}");
    assert_eq!((unit.last_success, error.at), (None, unit.last_try), "{unit:#?}");
    let tried = unit.last_try.unwrap();
    assert!(tried >= view.started_at.unwrap() && unit.since.unwrap() >= tried, "{unit:#?}");
    assert!(unit.next_due.unwrap() > tried, "{unit:#?}");
}

#[test]
fn each_unit_says_how_it_is_and_the_rest_runs() {
    let street = Street::new();
    let daemon = street.house.daemon(&[]);
    let (view, code) = street.settled();
    assert_eq!((code, view.running, view.pid), (3, true, Some(daemon.pid())));
    assert_eq!(view.findings, 1);

    let news = unit(&view, "news.connector");
    assert_eq!((health(news), news.failures_in_a_row, &news.last_error), (Health::Ok, 0, &None), "{news:#?}");
    assert!(news.last_success >= news.last_try && news.last_new_item.is_some(), "{news:#?}");
    assert!(news.next_due.unwrap() > view.now && news.every.unwrap().as_secs() == 900, "{news:#?}");

    let typo = unit(&view, "typo.connector");
    assert_eq!(
        (health(typo), typo.load, typo.active),
        (Health::Broken, LoadState::BadSetting, ActiveState::Inactive)
    );
    assert_eq!(typo.reason.as_deref(), Some("unknown key `feed.urll`"));
    let place = format!("{}:5:1", street.house.path("units/typo.connector.toml").display());
    assert_eq!((typo.place.as_deref(), typo.next_due), (Some(place.as_str()), None));

    let off = unit(&view, "off.connector");
    assert_eq!(
        (health(off), off.load, off.active, off.enabled),
        (Health::Off, LoadState::Loaded, ActiveState::Inactive, false)
    );
    assert_eq!(off.reason.as_deref(), Some("[install] enabled = false"));
    let place = format!("{}:4:11", street.house.path("units/off.connector.toml").display());
    assert_eq!((off.place.as_deref(), off.last_try), (Some(place.as_str()), None));

    check_failing(&view, "refused.connector", "network", &format!("127.0.0.1:{}", street.refused));
    check_failing(&view, "locked.connector", "auth", "log in to 127.0.0.1:");
    check_failing(&view, "keyless.connector", "auth", "no secret is stored under `mail/none`");
    check_failing(&view, "lost.engine", "config", "`no-such-program`: not found on the PATH");
    assert_eq!(view.counts.cases.get("parked"), Some(&1), "{view:#?}");
    let notes = [
        "1 case is parked: workagent case list --state parked",
        "keyless.connector waits for its login: workagent init keyless",
        "locked.connector waits for its login: workagent init locked",
    ];
    assert_eq!(view.notes, notes);

    // The good ones go on.
    let polled = unit(&view, "notes.connector").last_success.unwrap();
    street.house.status_when("another poll", |view| {
        unit(view, "notes.connector").last_success.is_some_and(|at| at > polled)
    });
    daemon.stop();
}

#[test]
fn a_mended_secret_is_picked_up_without_a_restart() {
    let street = Street::new();
    let daemon = street.house.daemon(&[]);
    let (before, _) = street.settled();
    // A look at unchanged credentials bothers nobody and is no further failure.
    street.house.ok(&["kick", "locked.connector"]);
    for (name, secret) in [("locked.connector", "mail/wrong"), ("keyless.connector", "mail/none")] {
        street.house.secret(secret, PASSWORD);
        street.house.ok(&["kick", name]);
        let is_well = |view: &StatusView| unit(view, name).last_success.is_some();
        let (view, code) = street.house.status_when("the mended secret to be used", is_well);
        let mended = unit(&view, name);
        assert_eq!((health(mended), mended.failures_in_a_row, code), (Health::Ok, 0, 3), "{mended:#?}");
        assert!(mended.last_error.is_none() && mended.since > unit(&before, name).since, "{mended:#?}");
    }
    let log = daemon.stop();
    assert_eq!(log.matches("is well again").count(), 2, "{log}");
}

#[test]
fn a_look_at_refused_credentials_is_no_try() {
    let street = Street::new();
    let daemon = street.house.daemon(&[]);
    let (before, _) = street.settled();
    let tried = unit(&before, "locked.connector").clone();
    let logins = street.server.logins();
    street.house.ok(&["kick", "locked.connector"]);
    let (after, _) =
        street.house.status_when("the look", |view| unit(view, "locked.connector").next_due > tried.next_due);
    let looked = unit(&after, "locked.connector");
    assert_eq!((looked.failures_in_a_row, looked.last_try), (1, tried.last_try), "{looked:#?}");
    assert_eq!(street.server.logins(), logins);
    daemon.stop();
}

#[test]
fn without_a_daemon_status_says_so_first() {
    let street = Street::new();
    let daemon = street.house.daemon(&[]);
    street.settled();
    daemon.stop();
    let ran = street.house.run(&["status"]);
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.out.starts_with("the daemon is not running: "), "{}", ran.out);
    let (view, code) = street.house.status();
    assert_eq!((code, view.running, view.pid, view.started_at), (69, false, None, None));
    assert_eq!(health(unit(&view, "news.connector")), Health::Stopped);
    assert_eq!(health(unit(&view, "typo.connector")), Health::Broken);
    assert_eq!(health(unit(&view, "off.connector")), Health::Off);
    // What the record knows.
    assert!(unit(&view, "news.connector").last_new_item.is_some());
    assert_eq!(unit(&view, "lost.engine").last_error.as_ref().unwrap().class, "config");
    assert_eq!(view.counts.cases.get("parked"), Some(&1));
}

#[test]
fn all_well_is_0_and_commands_in_passing_do_not_keep_a_daemon_from_starting() {
    let house = House::new();
    house.write("news.xml", FEED);
    house.unit("news.connector.toml", &enabled("feed", "url = \"file://{root}/news.xml\""));
    std::thread::scope(|scope| {
        // Each takes the instance lock for as long as it looks.
        let looks = scope.spawn(|| (0..20).map(|_| house.run(&["status"]).code).collect::<Vec<_>>());
        let daemon = house.daemon(&[]);
        let codes = looks.join().unwrap();
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 69))), "{codes:?}");
        let (view, code) =
            house.status_when("a poll", |view| unit(view, "news.connector").last_success.is_some());
        assert_eq!(code, 0, "{view:#?}");
        assert!(house.ok(&["status"]).starts_with("workagent 0."));
        daemon.stop();
    });
}
