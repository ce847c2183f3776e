//! What is known by a token goes with it: after another one was stored, whose it is is asked before anything else is asked
//! or written with it (S13).

use serde_json::{Value as Json, json};
use workagent::model::draft::Envelope;
use workagent::platform::{PlatformSpec, github, gitlab, jira, linear, matrix, slack};
use workagent::unit::value::Value;

use crate::support::connector::{Bench, action, secret, text};
use crate::support::http::{Answer, HttpServer, Seen};

/// A platform, its keys, how it asks who we are, and a thread to answer in.
struct Account {
    spec: &'static PlatformSpec,
    keys: Vec<(&'static str, Value)>,
    asks_who: fn(&Seen) -> bool,
    envelope: Envelope,
}

fn body(seen: &Seen) -> String {
    String::from_utf8_lossy(seen.body.as_deref().unwrap_or_default()).into_owned()
}

/// Knows who each asks is, and of the rest only that it is not well.
fn server() -> HttpServer {
    HttpServer::by(|seen| {
        let path = seen.target.split('?').next().unwrap_or_default();
        let known = match path {
            "/user" => json!({ "id": 1, "login": "pat" }),
            "/api/v4/user" => json!({ "id": 1, "username": "pat" }),
            "/rest/api/3/myself" => json!({ "accountId": "me-1" }),
            "/_matrix/client/v3/account/whoami" => json!({ "user_id": "@me:example.org", "device_id": "D" }),
            "/auth.test" => {
                json!({ "ok": true, "url": "https://acme.slack.com/", "user_id": "UME", "user": "kim" })
            }
            "/graphql" if body(seen).contains("viewer") => {
                let viewer = json!({ "id": "v", "name": "Kim", "organization": { "urlKey": "acme" } });
                let empty = json!({ "nodes": [], "pageInfo": { "hasNextPage": false } });
                json!({ "data": { "viewer": viewer, "notifications": empty, "comments": empty } })
            }
            _ => return Answer::new(500, "{}").header("content-type", "application/json"),
        };
        Answer::ok(known.to_string()).header("content-type", "application/json")
    })
}

fn envelope(to: &str, thread: Json) -> Envelope {
    Envelope { to: vec![to.to_owned()], thread, ..Envelope::default() }
}

fn accounts(server: &HttpServer) -> Vec<Account> {
    let url = text(&server.url(""));
    vec![
        Account {
            spec: &github::SPEC,
            keys: vec![("login", text("pat")), ("token", secret()), ("base_url", url.clone())],
            asks_who: |seen| seen.target == "/user",
            envelope: envelope("acme/app#1", json!({ "repo": "acme/app", "number": 1 })),
        },
        Account {
            spec: &gitlab::SPEC,
            keys: vec![("user", text("pat")), ("token", secret()), ("url", url.clone())],
            asks_who: |seen| seen.target == "/api/v4/user",
            envelope: envelope(
                "x",
                json!({ "place": { "project": 1, "sort": "issue", "iid": 2 }, "todo": 1 }),
            ),
        },
        Account {
            spec: &jira::SPEC,
            keys: vec![("url", url.clone()), ("email", text("me@example.org")), ("token", secret())],
            asks_who: |seen| seen.target == "/rest/api/3/myself",
            envelope: Envelope::default(),
        },
        Account {
            spec: &matrix::SPEC,
            keys: vec![("homeserver", url.clone()), ("user", text("@me:example.org")), ("token", secret())],
            asks_who: |seen| seen.target.ends_with("/account/whoami"),
            envelope: envelope("!ops", json!({ "event": "$e", "sender": "@ann:example.org" })),
        },
        Account {
            spec: &slack::SPEC,
            keys: vec![("workspace", text("acme")), ("token", secret()), ("base_url", url)],
            asks_who: |seen| seen.target.starts_with("/auth.test"),
            envelope: envelope("#general", json!({ "channel": "C1", "ts": "1796025600.000100" })),
        },
        Account {
            spec: &linear::SPEC,
            keys: vec![
                ("workspace", text("acme")),
                ("key", secret()),
                ("base_url", text(&server.url("/graphql"))),
            ],
            asks_who: |seen| body(seen).contains("viewer"),
            envelope: envelope("ENG-1", json!({ "on": "issueId", "id": "i-1" })),
        },
    ]
}

/// The first request with another token than those before, and whether it asks whose it is.
fn first_with(server: &HttpServer, token: &str, account: &Account) -> Option<bool> {
    let seen = server.seen();
    let with = |seen: &&Seen| {
        let header = seen.header("authorization").unwrap_or_default().to_owned();
        let basic = base64_of(&format!("me@example.org:{token}"));
        header.contains(token) || header.contains(&basic)
    };
    seen.iter().find(with).map(account.asks_who)
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn whose_token_it_is_is_asked_before_it_reads() {
    let names = accounts(&server()).len();
    for nth in 0..names {
        let server = server();
        let account = accounts(&server).remove(nth);
        let mut bench = Bench::new(account.spec, "/nonexistent".as_ref(), &account.keys);
        // What is asked beside is not well, and no fault of the login.
        drop(bench.page().await);
        assert_eq!(first_with(&server, "CANARY-secret-1", &account), Some(true), "{}", account.spec.name);
        drop(bench.page().await);
        bench.store("canary", "CANARY-secret-2");
        drop(bench.page().await);
        assert_eq!(first_with(&server, "CANARY-secret-2", &account), Some(true), "{}", account.spec.name);
    }
}

#[tokio::test]
async fn whose_token_it_is_is_asked_before_it_writes() {
    let names = accounts(&server()).len();
    for nth in 0..names {
        let server = server();
        let account = accounts(&server).remove(nth);
        let bench = Bench::new(account.spec, "/nonexistent".as_ref(), &account.keys);
        let action = action(account.envelope.clone(), 1, "On it.");
        // A token of Jira's goes with the address that the unit names, so that it cannot be another account's.
        if account.spec.name == "jira" {
            continue;
        }
        let payload = bench.prepare(&action);
        assert!(bench.connector.deliver(&action, &payload).await.is_err());
        bench.store("canary", "CANARY-secret-2");
        assert!(bench.connector.deliver(&action, &payload).await.is_err());
        assert_eq!(first_with(&server, "CANARY-secret-2", &account), Some(true), "{}", account.spec.name);
    }
}
