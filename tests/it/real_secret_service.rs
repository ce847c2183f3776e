//! The ring of real peers: secrets in gnome-keyring over a private session bus. Runs where `WORKAGENT_LAB=1` is set.

use workagent::control::health::Health;
use workagent::control::wire::StatusView;

use crate::support::binary::{Daemon, House, unit, wait_until};
use crate::support::http::{Answer, HttpServer, Seen};
use crate::support::lab_script::{LabScript, lab_is_on};

/// A session bus with a keyring, of one test's own; gone with it.
fn lab() -> Option<LabScript> {
    lab_is_on().then(|| LabScript::start("secret-service"))
}

/// Units that read `feed/key` out of the keyring, beside a feed that needs no secret.
fn house(lab: &LabScript, server: &HttpServer) -> House {
    let mut house = House::new();
    house.set("DBUS_SESSION_BUS_ADDRESS", lab.fact("BUS"));
    units(&house, server);
    house
}

fn units(house: &House, server: &HttpServer) {
    house.unit("workagent.daemon.toml", "[secrets]\nbackend = \"keyring\"\n");
    let feed = |target: &str, token: &str| {
        let url = server.url(target);
        format!(
            "[connector]\nplatform = \"feed\"\noutbound = \"never\"\n[feed]\nurl = \"{url}\"\n{token}[install]\nenabled = true\n"
        )
    };
    house.unit("closed.connector.toml", &feed("/closed", "token = { secret = \"feed/key\" }\n"));
    house.unit("open.connector.toml", &feed("/open", ""));
}

const FEED: &str = "<rss version=\"2.0\"><channel><title>t</title><link>https://x.example/</link>\
                    <description>d</description><item><title>one</title><guid>1</guid></item></channel></rss>";

/// Lets in who has this word.
fn server(word: impl Fn() -> String + Send + Sync + 'static) -> HttpServer {
    HttpServer::by(move |seen: &Seen| {
        let has = seen.header("authorization") == Some(&format!("Bearer {}", word()));
        let may = seen.target == "/open" || has;
        if may {
            Answer::ok(FEED).header("content-type", "application/rss+xml")
        } else {
            Answer::new(401, "no")
        }
    })
}

fn is_well(view: &StatusView, name: &str) -> bool {
    let unit = unit(view, name);
    unit.health == Some(Health::Ok) && unit.last_success.is_some()
}

fn said(view: &StatusView, name: &str) -> String {
    unit(view, name).last_error.as_ref().map(|error| error.message.clone()).unwrap_or_default()
}

fn store(view: &StatusView) -> (&str, &str) {
    let store = view.secret_stores.first().unwrap();
    (&store.backend, &store.state)
}

fn kick(house: &House, unit: &str) {
    house.ok(&["kick", unit]);
}

fn leaves_no_trace(house: &House, daemon: Daemon, canary: &str) {
    let log = daemon.stop();
    assert!(!log.contains(canary), "{log}");
    assert!(!house.path("state/secrets.age").exists(), "the value fell back into the file");
}

#[test]
fn real_secret_service_keeps_reads_and_rotates() {
    let Some(lab) = lab() else { return };
    let accepted = std::sync::Arc::new(std::sync::Mutex::new("canary-one-7Qz".to_owned()));
    let word = std::sync::Arc::clone(&accepted);
    let server = server(move || word.lock().unwrap().clone());
    let house = house(&lab, &server);
    house.secret("feed/key", "canary-one-7Qz");
    for file in std::fs::read_dir(lab.fact("FILES")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|piece| piece == b"canary-one"), "in clear on the disk");
    }
    // A program makes the next value out of the old one, which it gets on its standard input and nowhere else.
    house.script("mint", "read -r old\necho \"$old-next\"\n");
    let unit =
        "[secret]\nentry = \"feed/key\"\nhow = \"command\"\nnew_value = [\"{root}/mint\"]\ngive_old = true\n";
    house.unit("feedkey.secret.toml", &unit.replace("{root}", &house.root().display().to_string()));
    let daemon = house.daemon(&["--log", "debug"]);
    let (view, _) = house.status_when("the closed feed", |view| is_well(view, "closed.connector"));
    assert_eq!(store(&view), ("keyring", "ok"));

    let rotated = house.ok(&["secret", "rotate", "feed/key"]);
    assert!(rotated.contains("now version 2") && rotated.contains("closed.connector"), "{rotated}");
    *accepted.lock().unwrap() = "canary-one-7Qz-next".to_owned();
    kick(&house, "closed.connector");
    wait_until("the new value to be used", || {
        server.seen().iter().any(|seen| seen.header("authorization") == Some("Bearer canary-one-7Qz-next"))
    });
    house.status_when("the closed feed", |view| is_well(view, "closed.connector"));
    let listed = house.ok(&["secret", "list"]);
    assert!(listed.contains("v2") && listed.contains("read by closed.connector"), "{listed}");
    leaves_no_trace(&house, daemon, "canary-one-7Qz");
    assert_eq!(house.run(&["secret", "remove", "feed/key"]).code, Some(0));
    assert_eq!(house.run(&["secret", "test", "feed/key"]).code, Some(1));
}

#[test]
fn real_secret_service_locked_while_it_runs_needs_unlock_and_heals() {
    let Some(mut lab) = lab() else { return };
    let server = server(|| "canary-two-8Rx".to_owned());
    let house = house(&lab, &server);
    house.secret("feed/key", "canary-two-8Rx");
    let daemon = house.daemon(&[]);
    house.status_when("the closed feed", |view| is_well(view, "closed.connector"));

    lab.does("lock");
    kick(&house, "closed.connector");
    house.status_when("the lock to be seen", |view| store(view).1 == "needs-unlock");
    let (view, _) = house.status_when("the unit to tell", |view| {
        said(view, "closed.connector").contains("needs unlock: `feed/key`")
    });
    assert_eq!(unit(&view, "closed.connector").health, Some(Health::Failing));
    assert!(view.notes.iter().any(|note| note.contains("keyring") && note.contains("unlock")), "{view:#?}");
    let asked = server.seen().len();
    // Nobody waits for the keyring, and what needs none goes on.
    kick(&house, "open.connector");
    wait_until("the open feed", || server.seen().len() > asked);
    assert!(is_well(&house.status().0, "open.connector"));
    let ran = house.run(&["validate", "--probe"]);
    assert!(ran.out.contains("the keyring is locked"), "{}{}", ran.out, ran.err);

    lab.does("unlock");
    // By itself, on a tick: the store is looked at while it is not well.
    house.status_when("the closed feed to heal", |view| {
        is_well(view, "closed.connector") && store(view).1 == "ok"
    });
    leaves_no_trace(&house, daemon, "canary-two-8Rx");
}

#[test]
fn real_secret_service_survives_a_restart_of_the_bus() {
    let Some(mut lab) = lab() else { return };
    let server = server(|| "canary-three-9Sy".to_owned());
    let house = house(&lab, &server);
    house.secret("feed/key", "canary-three-9Sy");
    let daemon = house.daemon(&[]);
    house.status_when("the closed feed", |view| is_well(view, "closed.connector"));

    lab.does("bus-stop");
    kick(&house, "closed.connector");
    house.status_when("the loss to be seen", |view| {
        store(view).1 == "unreachable" && said(view, "closed.connector").contains("no keyring is reachable")
    });
    // A bus without the service is no better.
    lab.does("bus-start");
    let ran = house.run(&["secret", "test", "feed/key"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("no keyring is reachable"), "{}", ran.err);
    lab.does("wrong");
    let (view, _) =
        house.status_when("the closed keyring to be seen", |view| store(view).1 == "needs-unlock");
    assert!(!is_well(&view, "closed.connector"));
    lab.does("unlock");
    // A person who tests it hastens what waits for it.
    house.ok(&["secret", "test", "feed/key"]);
    house.status_when("the closed feed to heal", |view| is_well(view, "closed.connector"));
    leaves_no_trace(&house, daemon, "canary-three-9Sy");
}

#[test]
fn real_secret_service_absent_from_the_bus_degrades_only_who_needs_it() {
    let Some(mut lab) = lab() else { return };
    lab.does("keyring-stop");
    let server = server(|| "canary-four-0Tz".to_owned());
    let house = house(&lab, &server);
    let ran = house.run_with(&["secret", "set", "feed/key"], "canary-four-0Tz");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("no keyring is reachable") && ran.err.contains("[secrets] backend"),
        "{}",
        ran.err
    );
    let daemon = house.daemon(&[]);
    house.status_when("the open feed", |view| is_well(view, "open.connector"));
    house.status_when("the closed feed to tell", |view| {
        said(view, "closed.connector").contains("`feed/key` cannot be read: no keyring is reachable")
    });
    // It appears later.
    lab.does("unlock");
    house.secret("feed/key", "canary-four-0Tz");
    house.status_when("the closed feed", |view| is_well(view, "closed.connector"));
    leaves_no_trace(&house, daemon, "canary-four-0Tz");
}
