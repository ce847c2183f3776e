//! GitHub as it describes itself: each kind of request that the connector makes fits GitHub's own description of its API,
//! and answers that GitHub really gave are read.

use std::collections::BTreeMap;

use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition};
use workagent::model::time::Clock;
use workagent::platform::github::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, action, secret, text};
use crate::support::github::FakeGithub;
use crate::support::http::{Answer, HttpServer};
use crate::support::lab_github::{Spec, recorded};
use crate::support::lab_script::lab_is_on;

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

fn bench(url: &str, more: &[(&str, Value)]) -> Bench {
    let mut keys = vec![("login", text("pat")), ("token", secret()), ("base_url", text(url))];
    keys.extend(more.iter().map(|(name, value)| (*name, value.clone())));
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
}

/// Everything that the connector can do, done once over the fake, which writes the requests down.
async fn all_there_is_to_do(fake: &FakeGithub) {
    for after in ["read", "done"] {
        let mut inbox = bench(
            &fake.url(),
            &[("after_reply", text(after)), ("participating", Value::Bool(after == "done"))],
        );
        fake.hub().clock = inbox.clock.clone();
        fake.hub().threads.clear();
        inbox.connector.probe().await.unwrap();
        inbox.poll().await.unwrap();
        inbox.clock.advance(10 * MINUTE);
        {
            let mut hub = fake.hub();
            hub.open("acme/app", 1, true, "kim", "Crash", "x");
            hub.comment("acme/app", 1, "kim", "Please look.");
            hub.diff_comment("acme/app", 1, "lee", "Why?", None);
            hub.notify(9001, "acme/app", 1, "mention");
            hub.notify_other(9002, "acme/app", "Release", "1.0", "subscribed");
            hub.notify_other(9003, "acme/app", "Commit", "Fix", "subscribed");
        }
        let url = fake.url();
        let list = serde_json::json!([
            {"id": "9001", "updated_at": "2026-11-30T08:10:00Z", "reason": "mention",
             "subject": {"type": "PullRequest", "url": format!("{url}/repos/acme/app/pulls/1")},
             "repository": {"full_name": "acme/app"}},
            {"id": "9002", "updated_at": "2026-11-30T08:10:00Z", "subject": {"type": "Release",
             "url": format!("{url}/repos/acme/app/releases/5")}, "repository": {"full_name": "acme/app"}},
            {"id": "9003", "updated_at": "2026-11-30T08:10:00Z", "subject": {"type": "Commit",
             "url": format!("{url}/repos/acme/app/commits/abc"),
             "latest_comment_url": format!("{url}/repos/acme/app/comments/6")}, "repository": {"full_name": "acme/app"}},
        ]);
        fake.once(
            "GET",
            "/notifications",
            Answer::ok(list.to_string()).header("Last-Modified", "Mon, 30 Nov 2026 08:10:00 GMT"),
        );
        fake.once("GET", "/repos/acme/app/releases/5", Answer::ok(r#"{"id": 5, "body": "New."}"#));
        fake.once("GET", "/repos/acme/app/comments/6", Answer::ok(r#"{"id": 6, "body": "Why?"}"#));
        let items = inbox.poll().await.unwrap().items;
        inbox.poll().await.unwrap();
        for (number, kind) in [(1, "comment"), (2, "review-comment")] {
            let item = items.iter().find(|item| item.kind == kind).unwrap();
            let mut reply = inbox.reply(item, number, "I will look.");
            let effects = [
                "label: bug",
                "unlabel: bug",
                "unlabel: bug",
                "assign: lee",
                "unassign: lee",
                "close",
                "reopen",
            ];
            reply.envelope.effects = effects.map(Effect::parse).to_vec();
            let payload = inbox.prepare(&reply);
            let since = inbox.clock.now();
            let receipt = inbox.connector.deliver(&reply, &payload).await.unwrap();
            inbox.connector.delivered(&reply, &payload, &receipt).await.unwrap();
            inbox.connector.confirm(&reply, &payload, since).await.unwrap();
        }
    }
    let names = Value::List(vec!["acme/app".into()]);
    let mut repositories = bench(&fake.url(), &[("repositories", names)]).backlog(Backlog::All);
    fake.hub().clock = repositories.clock.clone();
    repositories.clock.advance(30 * MINUTE);
    repositories.poll().await.unwrap();
    // A comment whose issue is not in the list beside it.
    let comment = r#"[{"id": 99, "issue_url": "https://github.example/repos/acme/app/issues/1", "body": "x",
        "updated_at": "2026-11-30T08:40:00Z"}]"#;
    repositories.clock.advance(10 * MINUTE);
    fake.once("GET", "/repos/acme/app/issues?", Answer::ok("[]"));
    fake.once("GET", "/repos/acme/app/issues/comments?", Answer::ok(comment));
    repositories.poll().await.unwrap();
}

/// `GET /repos/…/issues/{n}/comments ?per_page,since`: numbers, names and values taken out.
fn kind_of(method: &str, target: &str) -> String {
    let url: url::Url = format!("http://x{target}").parse().unwrap();
    let parts: Vec<String> = url
        .path_segments()
        .unwrap()
        .map(|part| if part.bytes().all(|b| b.is_ascii_digit()) { "{n}".to_owned() } else { part.to_owned() })
        .collect();
    let mut names: Vec<String> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
    names.sort();
    format!("{method} /{} ?{}", parts.join("/"), names.join(","))
}

#[tokio::test]
async fn real_github_s_description_takes_every_kind_of_request() {
    if !lab_is_on() {
        return;
    }
    let fake = FakeGithub::start(&Clock::manual(NOW));
    all_there_is_to_do(&fake).await;
    let spec = Spec::start();
    // Prism must see a fault, or it sees nothing.
    let json = [("content-type".to_owned(), "application/json".to_owned())];
    let (status, _) = spec.judge("POST", "/repos/acme/app/issues/1/comments", &json, "{\"bod\": 1}");
    assert_eq!(status, 422, "a comment without a body");
    let (status, _) = spec.judge("GET", "/notifications?all=perhaps", &[], "");
    assert_eq!(status, 422, "a word where a flag belongs");
    let mut kinds = BTreeMap::new();
    for asked in &fake.hub().log {
        let kind = kind_of(&asked.method, &asked.target);
        if kinds.contains_key(&kind) {
            continue;
        }
        let (status, body) = spec.judge(&asked.method, &asked.target, &asked.headers, &asked.body);
        // Some examples of the description do not fit it themselves, which is no fault of the request.
        let example = status == 500 && body.contains("\"response\"") && !body.contains("\"request\"");
        assert!(status < 400 || example, "{} {}: {status} {body:.2000}", asked.method, asked.target);
        kinds.insert(kind, status);
    }
    println!("validated against GitHub's description: {kinds:#?}");
    let methods = |method: &str| kinds.keys().filter(|kind| kind.starts_with(method)).count();
    assert_eq!(
        (methods("GET"), methods("POST"), methods("PATCH"), methods("DELETE")),
        (16, 4, 2, 3),
        "{:#?}",
        kinds.keys()
    );
}

/// One recorded answer, with addresses of this server in place of GitHub's.
fn answer(record: &serde_json::Value, url: &str) -> Answer {
    let ours = |text: &str| text.replace("https://api.github.com", url);
    let body = match &record["response"] {
        serde_json::Value::String(text) => ours(text),
        other => ours(&other.to_string()),
    };
    let status = u16::try_from(record["status"].as_u64().unwrap()).unwrap();
    let mut answer = Answer::new(status, body);
    for (name, value) in record["headers"].as_object().unwrap() {
        let kept = [
            "link",
            "location",
            "etag",
            "content-type",
            "date",
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
        ];
        if kept.contains(&name.as_str()) {
            answer = answer.header(name, &ours(value.as_str().unwrap_or_default()));
        }
    }
    answer
}

fn me() -> Answer {
    Answer::ok(r#"{"id": 1, "login": "pat"}"#)
}

#[tokio::test]
async fn real_github_s_recorded_lists_are_read() {
    if !lab_is_on() {
        return;
    }
    let server = HttpServer::start([]);
    let url = server.url("");
    server.push(me());
    server.push(answer(&recorded("get-repository")[0], &url));
    let pages = recorded("paginate-issues");
    let mut issues = 0;
    for page in &pages {
        issues += page["response"].as_array().unwrap().len();
        server.push(answer(page, &url));
    }
    server.push(Answer::ok("[]"));
    server.push(Answer::ok("[]"));
    let names = Value::List(vec!["octokit-fixture-org/hello-world".into()]);
    let mut bench = bench(&url, &[("repositories", names)]).backlog(Backlog::All);
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), issues), (issues, 13), "{polled:?}");
    assert!(polled.items.iter().all(|item| item.disposition == Disposition::Work && item.url.is_some()));
    assert!(polled.notes.len() == 1, "{:?}", polled.notes);
}

#[tokio::test]
async fn real_github_s_recorded_moves_labels_and_errors_are_read() {
    if !lab_is_on() {
        return;
    }
    let server = HttpServer::start([]);
    let url = server.url("");
    let moved = recorded("rename-repository");
    server.push(me());
    for record in moved.iter().skip(1).take(2) {
        server.push(answer(record, &url));
    }
    for _ in 0..3 {
        server.push(Answer::ok("[]"));
    }
    let names = Value::List(vec!["octokit-fixture-org/rename-repository".into()]);
    let notes = bench(&url, &[("repositories", names)]).poll().await.unwrap().notes;
    assert!(notes[0].contains("is now octokit-fixture-org/rename-repository-newname"), "{notes:?}");

    // A label that is there, set; then the words of a refusal.
    let handle = serde_json::json!({"repo": "octokit-fixture-org/labels", "number": 1});
    let envelope = workagent::model::draft::Envelope { thread: handle, ..Default::default() };
    let mut labelled = action(envelope, 1, "");
    labelled.envelope.effects = vec![Effect::parse("label: test-label")];
    let there = &recorded("labels")[2];
    // Whose token it is, before anything is written.
    server.push(me());
    server.push(answer(there, &url));
    server.push(answer(&recorded("add-labels-to-issue")[1], &url));
    let bench = bench(&url, &[]);
    let payload = bench.prepare(&labelled);
    bench.connector.deliver(&labelled, &payload).await.unwrap();
    server.push(answer(there, &url));
    server.push(answer(&recorded("errors")[0], &url));
    let error = bench.connector.deliver(&labelled, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent);
    assert!(chain(&error).ends_with("Validation Failed; color invalid"), "{}", chain(&error));
}
