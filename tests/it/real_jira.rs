//! Requests to Jira against Atlassian's own description of its API, by Prism: what does not fit it is refused. Switched on
//! by `WORKAGENT_LAB=1`; `tests/lab/jira-spec.sh install` installs what it needs.

use serde_json::json;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::draft::Envelope;
use workagent::model::effect::Effect;
use workagent::model::item::Backlog;
use workagent::model::outbound::Confirmation;
use workagent::platform::jira::SPEC;

use crate::support::connector::{Bench, NOW, action, secret, text};
use crate::support::lab_script::{LabScript, lab_is_on};

fn lab() -> Option<LabScript> {
    lab_is_on().then(|| LabScript::start("jira-spec"))
}

fn bench(lab: &LabScript, deployment: &str) -> Bench {
    let mut keys =
        vec![("url", text(lab.fact("URL"))), ("token", secret()), ("deployment", text(deployment))];
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
