//! Where secrets are kept, told by the real binary: no keyring at all (S12), values replaced while they are used (S13);
//! and the rotation runtime by a clock in the test's hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use workagent::control::health::Health;
use workagent::control::wire::StatusView;
use workagent::daemon::assembly::compile_units;
use workagent::http::HttpRoom;
use workagent::model::cycle::{RotationSummary, RuntimeSummary};
use workagent::model::environment::Environment;
use workagent::model::time::{Clock, Timestamp};
use workagent::process::ProcessRoom;
use workagent::process::secret_program::SecretPrograms;
use workagent::runtime::rotation::{RotationRuntime, Rotator, RotatorParts};
use workagent::secret::places::Places;
use workagent::secret::secrets::{SecretRooms, Secrets};
use workagent::secret::{Scrubber, SecretValue};
use workagent::store::{Store, StoreOptions};
use workagent::supervise::Cycle as _;
use workagent::unit::search::SearchPath;

use crate::support::binary::{House, unit, wait_until};
use crate::support::http::{Answer, HttpServer, Seen};

const FEED: &str = "<rss version=\"2.0\"><channel><title>t</title><link>https://x.example/</link>\
                    <description>d</description><item><title>one</title><guid>1</guid></item></channel></rss>";

/// A server that lets in who has the word of the moment.
struct Door {
    server: HttpServer,
    word: Arc<Mutex<String>>,
}

impl Door {
    fn new(word: &str) -> Self {
        let word = Arc::new(Mutex::new(word.to_owned()));
        let wanted = Arc::clone(&word);
        let server = HttpServer::by(move |seen: &Seen| {
            let bearer = format!("Bearer {}", wanted.lock().unwrap());
            if seen.target == "/open" || seen.header("authorization") == Some(&bearer) {
                Answer::ok(FEED).header("content-type", "application/rss+xml")
            } else {
                Answer::new(401, "no")
            }
        });
        Self { server, word }
    }

    fn takes(&self, word: &str) {
        word.clone_into(&mut self.word.lock().unwrap());
    }

    fn asked_with(&self, word: &str) -> usize {
        let bearer = format!("Bearer {word}");
        self.server.seen().iter().filter(|seen| seen.header("authorization") == Some(&bearer)).count()
    }

    fn unit(&self, target: &str, token: &str) -> String {
        let url = self.server.url(target);
        format!(
            "[connector]\nplatform = \"feed\"\noutbound = \"never\"\n[feed]\nurl = \"{url}\"\n{token}[install]\nenabled = true\n"
        )
    }
}

fn house(door: &Door) -> House {
    let house = House::new();
    house.unit("closed.connector.toml", &door.unit("/closed", "token = { secret = \"feed/key\" }\n"));
    house
}

fn is_well(view: &StatusView, name: &str) -> bool {
    let unit = unit(view, name);
    unit.health == Some(Health::Ok) && unit.last_success.is_some() && unit.failures_in_a_row == 0
}

fn is_refused(view: &StatusView) -> bool {
    unit(view, "closed.connector").health == Some(Health::Failing)
}

#[test]
fn without_a_keyring_only_those_who_need_it_are_degraded() {
    for bus in [None, Some("unix:path=/nonexistent/bus")] {
        let door = Door::new("canary-never-1Aq");
        let mut house = house(&door);
        house.unit("open.connector.toml", &door.unit("/open", ""));
        house.unit("workagent.daemon.toml", "[secrets]\nbackend = \"keyring\"\n");
        if let Some(bus) = bus {
            house.set("DBUS_SESSION_BUS_ADDRESS", bus);
        }
        let daemon = house.daemon(&[]);
        house.status_when("the open feed", |view| is_well(view, "open.connector"));
        let (view, _) = house.status_when("the closed feed to tell", |view| {
            let error = unit(view, "closed.connector").last_error.as_ref();
            error.is_some_and(|error| {
                error.message.contains("`feed/key` cannot be read: no keyring is reachable")
            })
        });
        let store = view.secret_stores.first().unwrap();
        assert_eq!((store.backend.as_str(), store.state.as_str()), ("keyring", "unreachable"));
        assert!(view.notes.iter().any(|note| note.contains("[secrets] backend")), "{:#?}", view.notes);
        // No other store is asked in its place, by nobody.
        let ran = house.run_with(&["secret", "set", "feed/key"], "canary-never-1Aq");
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        assert!(!house.path("state/secrets.age").exists());
        assert_eq!(door.asked_with("canary-never-1Aq"), 0);
        daemon.stop();
    }
}

#[test]
fn a_new_value_is_used_at_once_and_a_right_one_heals_after_a_wrong_one() {
    let door = Door::new("canary-old-2Bw");
    let house = house(&door);
    house.secret("feed/key", "canary-old-2Bw");
    let daemon = house.daemon(&[]);
    house.status_when("the first value to work", |view| is_well(view, "closed.connector"));

    door.takes("canary-new-3Ce");
    house.ok(&["kick", "closed.connector"]);
    house.status_when("the old value to be refused", is_refused);
    let tries = door.asked_with("canary-old-2Bw");
    house.secret("feed/key", "canary-wrong-4Dr");
    wait_until("the wrong value to be tried", || door.asked_with("canary-wrong-4Dr") > 0);
    house.status_when("the wrong value to be refused", is_refused);
    assert_eq!(door.asked_with("canary-old-2Bw"), tries, "the refused value was tried again");
    // Neither a kick nor a restart: that it was stored is told.
    house.secret("feed/key", "canary-new-3Ce");
    house.status_when("the right value to heal it", |view| is_well(view, "closed.connector"));
    assert_eq!(door.asked_with("canary-wrong-4Dr"), 1);
    let listed = house.ok(&["secret", "list"]);
    assert!(listed.contains("v3") && listed.contains("read by closed.connector"), "{listed}");
    let log = daemon.stop();
    assert!(!log.contains("canary"), "{log}");
}

#[test]
fn a_value_of_a_program_is_asked_for_again_when_a_server_refuses_it() {
    let door = Door::new("canary-one-5Ft");
    let house = house(&door);
    let vault = house.write("vault", "canary-one-5Ft\n");
    house.script("show", "echo asked >> {root}/asked\ncat \"{root}/vault\"\n");
    let command = house.path("show").display().to_string();
    house.unit(
        "feedkey.secret.toml",
        &format!("[secret]\nbackend = \"command\"\nentry = \"feed/key\"\ncommand = [\"{command}\", \"{{entry}}\"]\n"),
    );
    let daemon = house.daemon(&[]);
    house.status_when("the first value to work", |view| is_well(view, "closed.connector"));
    let asked = || std::fs::read_to_string(house.path("asked")).unwrap().lines().count();
    let before = asked();
    house.ok(&["kick", "closed.connector"]);
    wait_until("a second poll", || door.asked_with("canary-one-5Ft") > 1);
    assert_eq!(asked(), before, "it is believed for a while");

    std::fs::write(&vault, "canary-two-6Gy\n").unwrap();
    door.takes("canary-two-6Gy");
    house.ok(&["kick", "closed.connector"]);
    wait_until("the new value", || door.asked_with("canary-two-6Gy") > 0);
    house.status_when("no failure of it", |view| is_well(view, "closed.connector"));
    let ran = house.run_with(&["secret", "set", "feedkey"], "x");
    assert!(ran.code != Some(0) && ran.err.contains("its backend is command"), "{}", ran.err);
    daemon.stop();
}

#[test]
fn a_value_that_cannot_be_made_leaves_the_old_one() {
    let house = House::new();
    house.script("mint", "cat >/dev/null\necho canary-half\necho no quota >&2\nexit 4\n");
    let command = house.path("mint").display().to_string();
    house.unit(
        "key.secret.toml",
        &format!("[secret]\nhow = \"command\"\nnew_value = [\"{command}\"]\ngive_old = true\n"),
    );
    house.secret("key", "canary-kept-7Hu");
    let ran = house.run(&["secret", "rotate", "key"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("the old value stays") && ran.err.contains("no quota"), "{}", ran.err);
    assert!(!ran.err.contains("canary"), "{}", ran.err);
    assert!(house.ok(&["secret", "test", "key"]).contains("version 1"));
    house.script("mint", "read -r old\necho \"$old-8Ji\"\n");
    assert!(house.ok(&["secret", "rotate", "key"]).contains("version 2"));
}

const DAY: Duration = Duration::from_secs(86_400);

/// The rotation runtime over the units in a folder, by a clock in the test's hand.
struct Rig {
    house: House,
    clock: Clock,
    secrets: Secrets,
    store: Store,
    runtime: RotationRuntime,
}

impl Rig {
    async fn new(units: &[(&str, &str)]) -> Self {
        let house = House::new();
        for (name, text) in units {
            house.unit(name, &text.replace("{root}", &house.root().display().to_string()));
        }
        house.script("mint", "read -r old\necho \"$old+\"\n");
        house.script("retire", &format!("cat >>{0}/retired\necho >>{0}/retired\n", house.root().display()));
        let clock = Clock::manual(Timestamp::from_rfc3339("2027-01-01T12:00:00Z").unwrap());
        let environment = Environment::of([("PATH", "/usr/bin:/bin"), ("HOME", "/")]);
        let process = ProcessRoom::new(house.path("notes"));
        let rooms = SecretRooms {
            file: house.path("s.age"),
            key_file: house.path("key"),
            environment: environment.clone(),
            scrubber: Scrubber::new(),
            clock: clock.clone(),
            programs: Some(Arc::new(SecretPrograms::new(process, environment))),
            ask: false,
        };
        let search = SearchPath { builtin: false, dirs: vec![house.path("units")], files: Vec::new() };
        let plan = Arc::new(compile_units(&search, &Environment::default(), house.path("state")).plan);
        let secrets = Secrets::open(rooms, &plan.daemon.secrets);
        secrets.adopt(Places::of(&plan));
        let path = house.path("state.db");
        let store = Store::open(StoreOptions { path, normal: true, clock: clock.clone() }).await.unwrap();
        let parts = RotatorParts {
            secrets: secrets.clone(),
            http: HttpRoom::default(),
            store: store.clone(),
            scrubber: Scrubber::new(),
            clock: clock.clone(),
        };
        let runtime = RotationRuntime::new(Arc::new(Rotator::new(parts, plan)));
        Self { house, clock, secrets, store, runtime }
    }

    async fn set(&self, name: &str, value: &str) {
        self.secrets.put(name, SecretValue::new(value.to_owned()), None, None).await.unwrap();
    }

    async fn pass(&self) -> RotationSummary {
        match self.runtime.activate().await.record.summary {
            RuntimeSummary::Rotation(summary) => summary,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_old_enough_is_replaced_and_noted() {
    let unit = "[secret]\nrotate_every = \"90d\"\nhow = \"command\"\nnew_value = [\"{root}/mint\"]\ngive_old = true\n";
    let rig = Rig::new(&[("key.secret.toml", unit)]).await;
    rig.set("key", "canary-a").await;
    rig.clock.advance(89 * DAY);
    assert_eq!(rig.pass().await.rotated, 0);
    rig.clock.advance(DAY);
    let summary = rig.pass().await;
    assert_eq!((summary.secrets, summary.rotated, summary.failed), (1, 1, 0), "{summary:?}");
    let kept = rig.secrets.kept("key").await.unwrap().token;
    assert_eq!((kept.value.expose_to_the_wire(), kept.version), ("canary-a+", 2));
    let noted = rig.store.rotations("key", 9).await.unwrap();
    assert_eq!(noted.len(), 1);
    assert_eq!(
        (noted[0].version, noted[0].how.as_str(), noted[0].detail.as_str()),
        (Some(2), "command", "replaced")
    );
    assert_eq!(rig.pass().await.rotated, 0);
}

#[tokio::test]
async fn a_failing_program_is_tried_again_after_an_hour_and_the_old_value_stays() {
    let unit = "[secret]\nrotate_every = \"90d\"\nhow = \"command\"\nnew_value = [\"/bin/false\"]\n";
    let rig = Rig::new(&[("key.secret.toml", unit)]).await;
    rig.set("key", "canary-a").await;
    rig.clock.advance(90 * DAY);
    for failed in [1, 0, 0] {
        let summary = rig.pass().await;
        assert_eq!(summary.failed, failed);
        assert!(summary.notes[0].contains("the old value stays"), "{summary:?}");
    }
    rig.clock.advance(Duration::from_secs(3600));
    assert_eq!(rig.pass().await.failed, 1);
    assert_eq!(rig.secrets.kept("key").await.unwrap().token.version, 1);
    assert_eq!(rig.store.rotations("key", 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_only_the_user_can_replace_is_told_days_ahead() {
    let unit = "[secret]\nexpires = \"2027-03-01\"\n";
    let rig = Rig::new(&[("key.secret.toml", unit)]).await;
    rig.set("key", "canary-a").await;
    assert_eq!(rig.pass().await.notes, Vec::<String>::new());
    rig.clock.advance(50 * DAY);
    let notes = rig.pass().await.notes;
    assert!(
        notes[0].contains("the secret key ends in") && notes[0].contains("workagent secret rotate key"),
        "{notes:?}"
    );
    rig.set("key", "canary-b").await;
    assert_eq!(rig.pass().await.notes, Vec::<String>::new());
}

/// Rotates every 90 days and takes what was replaced out of service by this program, two hours later.
fn with_overlap(retire: &str) -> String {
    format!(
        "[secret]\nrotate_every = \"90d\"\nhow = \"command\"\nnew_value = [\"{{root}}/mint\"]\ngive_old = true\n\
         retire = [\"{retire}\"]\noverlap = \"2h\"\n"
    )
}

impl Rig {
    fn retired(&self) -> String {
        std::fs::read_to_string(self.house.path("retired")).unwrap_or_default()
    }

    async fn former(&self) -> Option<String> {
        let former = self.secrets.former("key").await.unwrap();
        former.map(|kept| kept.token.value.expose_to_the_wire().to_owned())
    }
}

#[tokio::test]
async fn a_replaced_value_is_kept_for_the_overlap_and_then_taken_out_of_service() {
    const HOUR: Duration = Duration::from_secs(3600);
    let rig = Rig::new(&[("key.secret.toml", &with_overlap("{root}/retire"))]).await;
    rig.set("key", "canary-a").await;
    rig.clock.advance(90 * DAY);
    assert_eq!(rig.pass().await.rotated, 1);
    assert_eq!((rig.former().await.as_deref(), rig.retired().as_str()), (Some("canary-a"), ""));
    rig.clock.advance(2 * HOUR - Duration::from_secs(1));
    rig.pass().await;
    assert_eq!((rig.former().await.as_deref(), rig.retired().as_str()), (Some("canary-a"), ""));
    rig.clock.advance(Duration::from_secs(1));
    for _ in 0..2 {
        rig.pass().await;
        assert_eq!((rig.former().await, rig.retired().as_str()), (None, "canary-a\n"));
    }
    assert_eq!(rig.secrets.kept("key").await.unwrap().token.value.expose_to_the_wire(), "canary-a+");
    let noted: Vec<String> =
        rig.store.rotations("key", 9).await.unwrap().into_iter().map(|noted| noted.detail).collect();
    assert_eq!(noted, ["the value before it was taken out of service", "replaced"]);
}

#[tokio::test]
async fn what_cannot_be_taken_out_of_service_is_told_and_no_third_value_is_made() {
    let rig = Rig::new(&[("key.secret.toml", &with_overlap("/bin/false"))]).await;
    rig.set("key", "canary-a").await;
    rig.clock.advance(90 * DAY);
    assert_eq!(rig.pass().await.rotated, 1);
    rig.clock.advance(DAY);
    let notes = rig.pass().await.notes;
    assert!(notes[0].contains("the former value of key is still in service"), "{notes:?}");
    rig.clock.advance(90 * DAY);
    let summary = rig.pass().await;
    assert_eq!((summary.rotated, summary.failed), (0, 1), "{summary:?}");
    assert!(!format!("{summary:?}").contains("canary"), "{summary:?}");
    assert_eq!(rig.secrets.kept("key").await.unwrap().token.value.expose_to_the_wire(), "canary-a+");
    assert_eq!(rig.former().await.as_deref(), Some("canary-a"));
}

#[tokio::test]
async fn a_value_that_is_still_the_one_in_use_is_never_taken_out_of_service() {
    let rig = Rig::new(&[("key.secret.toml", &with_overlap("{root}/retire"))]).await;
    rig.set("key", "canary-a").await;
    // As after a crash: kept as the former one, and nothing came to take its place.
    rig.secrets.keep_former("key", SecretValue::new("canary-a".to_owned())).await.unwrap();
    rig.clock.advance(DAY);
    rig.pass().await;
    assert_eq!((rig.former().await, rig.retired().as_str()), (None, ""));
}
