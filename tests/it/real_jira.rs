//! Requests to Jira against Atlassian's own description of its API, by Prism: what does not fit it is refused. Switched on
//! by `WORKAGENT_LAB=1`; `tests/lab/jira-spec.sh install` installs what it needs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::draft::Envelope;
use workagent::model::effect::Effect;
use workagent::model::item::Backlog;
use workagent::model::outbound::Confirmation;
use workagent::platform::jira::SPEC;

use crate::support::connector::{Bench, NOW, action, secret, text};

struct Lab {
    url: String,
    /// Its standard input ends with this value, and it with that.
    script: Child,
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        self.script.wait().unwrap();
    }
}

fn lab() -> Option<Lab> {
    #[expect(clippy::disallowed_methods, reason = "the switch of a ring of tests")]
    let on = std::env::var("WORKAGENT_LAB").is_ok_and(|value| value == "1");
    if !on {
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
    let mut command = std::process::Command::new("bash");
    let mut script = command
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/jira-spec.sh"), "run"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> = BufReader::new(script.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .take_while(|line| line != "ready")
        .collect();
    let url = lines.iter().find_map(|line| line.strip_prefix("URL="));
    let url = url.unwrap_or_else(|| panic!("jira-spec.sh does not say where it serves: {lines:?}"));
    Some(Lab { url: url.to_owned(), script })
}

fn bench(lab: &Lab, deployment: &str) -> Bench {
    let mut keys = vec![("url", text(&lab.url)), ("token", secret()), ("deployment", text(deployment))];
    if deployment == "cloud" {
        keys.push(("email", text("me@example.org")));
    }
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
}

/// Brings about every effect, writes an answer and looks for it.
#[expect(clippy::indexing_slicing, reason = "puts a key into a JSON object")]
async fn answer(bench: &Bench, visibility: bool) {
    let mut thread = json!({"issue": 10002, "key": "ED-1", "parent": 10000});
    if visibility {
        thread["visibility"] =
            json!({"type": "role", "value": "Administrators", "identifier": "Administrators"});
    }
    let effects = ["label: a", "unlabel: b", "assign: Mia Krystof", "transition: Close Issue"];
    let envelope = Envelope {
        thread,
        effects: effects.iter().map(|text| Effect::parse(text)).collect(),
        ..Envelope::default()
    };
    let body = "# T\n\n**a** `b` [c](https://x.example)\n\n1. d\n   - e\n\n> f\n\n```rust\ng\n```";
    let mut action = action(envelope, 7, body);
    action.sending_at = Some(NOW);
    let payload = bench.prepare(&action);
    let receipt =
        bench.connector.deliver(&action, &payload).await.unwrap_or_else(|error| panic!("{}", chain(&error)));
    assert_eq!(receipt.remote_id, "comment:10000");
    bench.clock.advance(std::time::Duration::from_secs(60));
    let found = bench
        .connector
        .confirm(&action, &payload, NOW)
        .await
        .unwrap_or_else(|error| panic!("{}", chain(&error)));
    // The comments of the description are other ones, years old.
    assert_eq!(found, Confirmation::NotSent);
}

#[tokio::test]
async fn real_jira_requests_of_version_2_fit_its_description() {
    let Some(lab) = lab() else { return };
    let mut bench = bench(&lab, "data-center").backlog(Backlog::All);
    let polled = bench.poll().await.unwrap_or_else(|error| panic!("{}", chain(&error)));
    assert_eq!(polled.pages, 1);
    answer(&bench, true).await;
}

#[tokio::test]
async fn real_jira_requests_of_version_3_fit_its_description_but_for_the_search() {
    let Some(lab) = lab() else { return };
    answer(&bench(&lab, "cloud"), false).await;
}

#[tokio::test]
async fn real_jira_description_refuses_what_does_not_fit() {
    let Some(lab) = lab() else { return };
    let bench = bench(&lab, "data-center");
    let envelope = Envelope { thread: json!({"issue": 10002, "key": "ED-1"}), ..Envelope::default() };
    let action = action(envelope, 7, "x");
    let mut payload = bench.prepare(&action);
    payload.bytes = br#"{"body": 7}"#.to_vec();
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent);
}
