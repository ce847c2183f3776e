//! What is there already is counted before an engine sees any of it.

use std::time::Duration;

use serde_json::{Value, json};
use workagent::model::time::Clock;

use crate::support::binary::House;
use crate::support::way::mail;

const INBOX: &str = r#"
[connector]
platform = "maildir"
backlog = "7d"
[maildir]
path = "{root}/in"
address = ["me@example.org"]
"#;

/// A mailbox of four threads of several ages, one of them with a second mail, and a mail to a list.
fn house() -> House {
    let house = House::new();
    house.unit("inbox.connector.toml", INBOX);
    for folder in ["new", "cur", "tmp"] {
        std::fs::create_dir_all(house.path(&format!("in/{folder}"))).unwrap();
    }
    let now = Clock::system().now();
    let answer = "In-Reply-To: <a@example.org>\n";
    let bulk = "Precedence: bulk\n";
    for (name, days, extra) in
        [("a", 0, ""), ("b", 3, ""), ("c", 20, ""), ("d", 400, ""), ("e", 0, answer), ("f", 0, bulk)]
    {
        let at = now.minus(Duration::from_secs(days * 24 * 3600 + 60));
        let text = mail(name, name, extra).replace("Mon, 30 Nov 2026 08:00:00 +0000", &at.rfc_2822());
        house.write(&format!("in/new/{name}.host"), &text);
    }
    house
}

#[test]
fn each_setting_is_counted_while_the_connector_is_off() {
    let house = house();
    let rows: Value = serde_json::from_str(&house.ok(&["backlog", "inbox", "--json"])).unwrap();
    let counts = json!([["new", 0], ["1d", 2], ["7d", 3], ["30d", 4], ["all", 5]]);
    assert_eq!(rows[0]["backlog"], counts, "{rows}");
    assert_eq!((&rows[0]["cases"], &rows[0]["passed_over"]), (&json!(4), &json!(1)));
    assert_eq!(rows[0]["more"], false);
    assert_eq!(
        house.ok(&["backlog"]).lines().next(),
        Some("no connector is on; name one that is off to count what it would find")
    );
    assert!(!house.path("state/workagent.db").exists(), "nothing is kept");
    let told = house.run(&["enable", "inbox"]);
    assert!(told.err.contains("workagent backlog inbox.connector"), "{told:?}");
}

#[test]
fn what_cannot_be_asked_says_so() {
    let house = house();
    house.unit("away.connector.toml", &INBOX.replace("{root}/in", "{root}/away"));
    let ran = house.run(&["backlog", "inbox", "away"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("inbox.connector") && ran.out.contains("/away"), "{ran:?}");
    house.unit(
        "hub.connector.toml",
        "[connector]\nplatform = \"github\"\n[github]\nlogin = \"pat\"\ntoken = { secret = \"github/pat\" }\n",
    );
    let ran = house.run(&["backlog", "hub"]);
    assert!(ran.out.contains("hint: store it with `workagent secret set github/pat`"), "{ran:?}");
    let ran = house.run(&["backlog", "nobody"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
