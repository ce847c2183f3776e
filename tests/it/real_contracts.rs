//! Requests of connectors held against descriptions that the vendors publish. Rings of real peers only.

use serde_json::json;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, ReplyWay};
use workagent::model::secret_ref::SecretRef;
use workagent::platform::{linear, slack};
use workagent::unit::value::Value;

use super::support::connector::{Bench, NOW, secret, text};
use super::support::contracts::Contract;
use super::support::lab_script::lab_is_on;

/// Linear's schema as it stands in the types of its own client: every question, with its variables.
#[tokio::test]
async fn real_linear_schema() {
    if !lab_is_on() {
        return;
    }
    let server = Contract::start("linear");
    let keys = |comments: &str| {
        [
            ("workspace", text("acme")),
            ("key", secret()),
            ("comments", text(comments)),
            ("base_url", text(&format!("{}/graphql", server.url))),
        ]
    };
    let mut bench = Bench::new(&linear::SPEC, "/nonexistent".as_ref(), &keys("mine")).backlog(Backlog::All);
    bench.connector.probe().await.unwrap();
    // First without a floor, then with one; the made-up inbox mixes all kinds of notifications.
    let mut items = bench.poll().await.unwrap().items;
    for _ in 0..20 {
        items.extend(bench.poll().await.unwrap().items);
    }
    Bench::new(&linear::SPEC, "/nonexistent".as_ref(), &keys("all")).poll().await.unwrap();
    let place = |item: &&workagent::model::item::Item| matches!(&item.reply, ReplyWay::To(envelope) if envelope.thread["on"] == json!("issueId"));
    let item = items.iter().find(place).unwrap();
    let mut action = bench.reply(item, 7, "On it.");
    action.envelope.effects = vec![Effect::with("state", "some name"), Effect::with("label", "some name")];
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    bench.connector.confirm(&action, &payload, NOW).await.unwrap();
    action.envelope.effects = vec![Effect::with("assign", "kim@example.org")];
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent, "{}", chain(&error));
    let all = [
        "CommentById",
        "CommentCreate",
        "Comments",
        "IssueUpdate",
        "Labels",
        "Notifications",
        "People",
        "Standing",
        "Viewer",
    ];
    assert_eq!(server.validated(), all);
}

/// Slack's arguments as they stand in the types of its own client. The one that is not among them, `client_msg_id`, is
/// left out of the comparison.
#[tokio::test]
async fn real_slack_arguments() {
    if !lab_is_on() {
        return;
    }
    let server = Contract::start("slack");
    let app = Value::Secret(SecretRef::Stored("canary".into()));
    let keys = [
        ("workspace", text("acme")),
        ("token", secret()),
        ("app_token", app),
        ("base_url", text(&format!("{}/api/", server.url))),
    ];
    let mut bench = Bench::new(&slack::SPEC, "/nonexistent".as_ref(), &keys);
    bench.poll().await.unwrap();
    let items = bench.poll().await.unwrap().items;
    bench.poll().await.unwrap();
    bench.connector.changed(bench.cursor.as_ref()).unwrap().await.unwrap_err();
    let mut action = bench.reply(&items[0], 7, "On it.");
    action.envelope.effects = vec![Effect::with("react", "eyes")];
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    bench.connector.confirm(&action, &payload, NOW).await.unwrap();
    let all = [
        "apps.connections.open",
        "auth.test",
        "chat.postMessage",
        "conversations.history",
        "conversations.replies",
        "reactions.add",
        "users.conversations",
        "users.info",
    ];
    assert_eq!(server.validated(), all);
}
