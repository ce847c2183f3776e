//! The ring of real peers: a draft is decided by a message at a real homeserver, with the real binary.

use super::*;
use crate::real_matrix::people;
use crate::support::binary::{House, wait_until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_matrix_the_paired_user_decides_by_message() {
    let Some([agent, me, mallory]) = people(["agent1", "decides1", "mallory1"]).await else { return };
    let room = agent.room("what waits", &[&me, &mallory]).await;
    let house = House::new();
    for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp"] {
        std::fs::create_dir_all(house.path(folder)).unwrap();
    }
    house.unit("inbox.connector.toml", INBOX);
    house.unit("polite.engine.toml", POLITE);
    house.unit("answers.route.toml", ROUTE);
    house.unit(
        "phone.channel.toml",
        &format!(
            "[channel]\nchannel = \"matrix\"\nbatch = \"0s\"\ndetail = \"full\"\n[matrix]\nhomeserver = \"{}\"\n\
             room = \"{room}\"\ntoken = {{ secret = \"agent\" }}\n[install]\nenabled = true\n",
            agent.base
        ),
    );
    house.secret("agent", &agent.token);
    let daemon = house.daemon(&[]);
    let shown = house.ok(&["pair", "phone", "--no-wait"]);
    let code = shown.lines().find_map(|line| line.strip_prefix("    ")).unwrap().to_owned();
    // Wrong, then right, then the right one by a second user.
    me.say(&room, "2222-2222").await;
    me.say(&room, &code).await;
    let paired = || house.ok(&["pair"]).contains("paired with @decides1:lab.test");
    wait_until("the pairing", paired);
    mallory.say(&room, &code).await;

    house.write("in/new/1", &mail("a", "the plan", ""));
    let said = async || {
        let history = me.history(&room).await;
        let own = history.iter().filter(|event| event["sender"] == agent.id);
        own.map(|event| event["content"]["body"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let wait_for = async |what: &str| {
        for _ in 0..600 {
            if let Some(found) = said().await.into_iter().find(|text| text.contains(what)) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("never said: {what}; {:?}", said().await)
    };
    let notice = wait_for("approve ").await;
    assert!(notice.contains("Thank you for the plan."), "{notice}");
    let reference = notice.split_once("approve ").unwrap().1.split(' ').next().unwrap().to_owned();
    mallory.say(&room, &format!("approve {reference}")).await;
    me.say(&room, "approve 22222").await;
    // Messages are taken in order: by now mallory's was refused.
    wait_for("Refused: there is no `22222` here.").await;
    assert!(house.ok(&["review", "list"]).contains("d1"));
    me.say(&room, &format!("approve {reference}")).await;
    wait_for("d1 is approved").await;
    wait_until("the receipt", || house.ok(&["outbox", "list"]).contains("sent"));
    me.say(&room, &format!("approve {reference}")).await;
    wait_for("was used already").await;
    assert_eq!(std::fs::read_dir(house.path("out/new")).unwrap().count(), 1);
    let record = house.ok(&["case", "show", "c1"]);
    assert!(record.contains("by phone.channel (@decides1:lab.test)"), "{record}");
    assert!(house.ok(&["pair"]).contains("paired with @decides1:lab.test"), "the second user is refused");
    drop(daemon);
}

/// A desktop that shows notifications: what it was told.
#[derive(Clone, Default)]
struct Shown(std::sync::Arc<std::sync::Mutex<Vec<(String, String)>>>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Shown {
    fn get_capabilities(&self) -> Vec<String> {
        vec!["body".to_owned(), "body-markup".to_owned()]
    }

    #[expect(clippy::too_many_arguments, reason = "the desktop's own protocol")]
    fn notify(
        &self,
        _app: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        _actions: Vec<String>,
        _hints: std::collections::HashMap<String, zbus::zvariant::OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        self.0.lock().unwrap().push((summary, body));
        1
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_desktop_shows_the_code_and_what_waits() {
    if !crate::support::lab_script::lab_is_on() {
        return;
    }
    let lab = crate::support::lab_script::LabScript::start("secret-service");
    let shown = Shown::default();
    let bus = zbus::connection::Builder::address(lab.fact("BUS")).unwrap();
    let bus = bus.name("org.freedesktop.Notifications").unwrap();
    let bus = bus.serve_at("/org/freedesktop/Notifications", shown.clone()).unwrap().build().await.unwrap();
    let mut house = House::new();
    house.set("DBUS_SESSION_BUS_ADDRESS", lab.fact("BUS"));
    for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp"] {
        std::fs::create_dir_all(house.path(folder)).unwrap();
    }
    house.unit("inbox.connector.toml", INBOX);
    house.unit("polite.engine.toml", POLITE);
    house.unit("answers.route.toml", ROUTE);
    house.unit(
        "screen.channel.toml",
        "[channel]\nchannel = \"desktop\"\nbatch = \"0s\"\n[install]\nenabled = true\n",
    );
    let daemon = house.daemon(&[]);
    house.ok(&["pair", "screen"]);
    let last = || shown.0.lock().unwrap().last().cloned().unwrap_or_default();
    let (title, body) = last();
    assert_eq!(title, "workagent: pairing code");
    let code = body.rsplit(' ').next().unwrap();
    house.ok(&["pair", "screen", code]);
    house.write("in/new/1", &mail("a", "<b>the plan</b>", ""));
    wait_until("the notice", || last().0 == "1 draft waits for you");
    let (_, body) = last();
    assert!(body.starts_with("to pat@example.org: Re: &lt;b&gt;the plan&lt;/b&gt;"), "{body}");
    drop(daemon);
    bus.close().await.unwrap();
}
