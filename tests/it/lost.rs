//! The whole way with an answer that is lost: the server acted, and nobody heard. Where the platform can be asked it ends
//! `sent` with one effect; where it cannot, it is held for a person. Never a second effect. (GitHub, mail, calendars and files have
//! such tests of their own: `github/way`, `submission`, `crash`.)

#![expect(
    clippy::indexing_slicing,
    reason = "JSON without a key is null, and a test's helper fails the test"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::model::outbound::ActionState;
use workagent::model::time::Clock;

use crate::support::http::{Answer, HttpServer, Seen};
use crate::support::slack::Slack;
use crate::support::way::{POLITE, ROUTE, START, Way};

/// What a server was told, and by which clock.
struct World {
    clock: Clock,
    /// The bodies of what had an effect.
    written: Vec<Json>,
}

type Shared = Arc<Mutex<World>>;

/// A platform: the keys of its unit, what has the effect, and what else it answers.
struct Platform {
    name: &'static str,
    keys: &'static str,
    is_write: fn(&Seen) -> bool,
    answer: fn(&World, &Seen) -> Option<Json>,
}

fn body(seen: &Seen) -> Json {
    serde_json::from_slice(seen.body.as_deref().unwrap_or_default()).unwrap_or_default()
}

fn path(seen: &Seen) -> &str {
    seen.target.split('?').next().unwrap_or_default()
}

impl World {
    fn now(&self) -> String {
        self.clock.now().to_string()
    }

    fn listed(&self, one: impl Fn(&Json) -> Json) -> Vec<Json> {
        self.written.iter().map(one).collect()
    }
}

const PLATFORMS: [Platform; 4] = [
    Platform {
        name: "gitlab",
        keys: "url = \"{url}\"\nuser = \"pat\"\ntoken = { env = \"WAY_TOKEN\" }",
        is_write: |seen| seen.method == "POST" && path(seen).ends_with("/notes"),
        answer: |world, seen| {
            let me = json!({ "id": 7, "username": "pat", "name": "Pat" });
            Some(match path(seen) {
                "/api/v4/user" => me,
                "/api/v4/todos" => {
                    json!([{ "id": 1, "project": { "id": 2, "path_with_namespace": "acme/app" },
                    "action_name": "assigned", "target_type": "Issue", "author": { "id": 12, "username": "kim" },
                    "target": { "id": 1001, "iid": 1, "title": "T1", "state": "opened", "labels": [],
                        "updated_at": "2026-11-30T07:00:00.000Z" },
                    "target_url": "https://gitlab.example.org/acme/app/-/issues/1", "body": "T1",
                    "created_at": "2026-11-30T07:00:00.000Z" }])
                }
                path if path.ends_with("/notes") => json!(world.listed(|note| {
                    json!({ "id": 900, "type": null, "body": note["body"], "system": false, "author": me,
                        "created_at": world.now(), "updated_at": world.now() })
                })),
                _ => return None,
            })
        },
    },
    Platform {
        name: "jira",
        keys: "url = \"{url}\"\nemail = \"me@example.org\"\ntoken = { env = \"WAY_TOKEN\" }",
        is_write: |seen| seen.method == "POST" && path(seen).ends_with("/comment"),
        answer: |world, seen| {
            let kim = json!({ "accountId": "kim-1", "displayName": "Kim" });
            Some(match path(seen) {
                "/rest/api/3/myself" => json!({ "accountId": "me-1", "displayName": "Me" }),
                "/rest/api/3/search/jql" => json!({ "issues": [{ "id": "1", "key": "APP-1", "fields": {
                    "summary": "S1", "status": { "name": "To Do" }, "project": { "projectTypeKey": "software" },
                    "assignee": { "accountId": "me-1" }, "reporter": kim, "creator": kim,
                    "created": "2026-11-30T07:00:00.000+0000", "updated": "2026-11-30T07:00:00.000+0000" } }] }),
                path if path.ends_with("/comment") => json!({ "comments": world.listed(|comment| {
                    json!({ "id": "990", "author": { "accountId": "me-1" }, "body": comment["body"],
                        "properties": comment["properties"],
                        "created": world.now().replace('Z', ".000+0000") })
                }) }),
                _ => return None,
            })
        },
    },
    Platform {
        name: "linear",
        keys: "base_url = \"{url}/graphql\"\nworkspace = \"acme\"\ncomments = \"none\"\nkey = { env = \"WAY_TOKEN\" }",
        is_write: |seen| body(seen)["query"].as_str().is_some_and(|query| query.contains("commentCreate")),
        answer: |world, seen| {
            let asked = body(seen);
            let viewer = json!({ "id": "me", "name": "Kim", "organization": { "urlKey": "acme" } });
            let page = |nodes: Vec<Json>| json!({ "nodes": nodes, "pageInfo": { "hasNextPage": false } });
            let at = "2026-11-30T07:00:00.000Z";
            let assigned = json!({ "__typename": "IssueNotification", "id": "n-1", "type": "issueAssignedToYou",
                "createdAt": at, "updatedAt": at,
                "issue": { "id": "i-1", "identifier": "ENG-1", "title": "One" } });
            let found = world.listed(|written| {
                json!({ "id": written["variables"]["input"]["id"], "url": "https://linear.app/acme/x" })
            });
            Some(match asked["variables"]["id"].is_string() {
                true => json!({ "data": { "comments": { "nodes": found } } }),
                false => json!({ "data": { "viewer": viewer, "notifications": page(vec![assigned]) } }),
            })
        },
    },
    Platform {
        name: "matrix",
        keys: "homeserver = \"{url}\"\nuser = \"@me:example.org\"\nlive = false\ntoken = { env = \"WAY_TOKEN\" }",
        is_write: |seen| seen.method == "PUT" && path(seen).contains("/send/m.room.message/"),
        answer: |world, seen| {
            let message = |id: &str, sender: &str, content: Json| {
                json!({ "type": "m.room.message", "event_id": id, "sender": sender,
                    "origin_server_ts": world.clock.now().0, "content": content })
            };
            let room =
                |events: Vec<Json>| json!({ "join": { "!ops": { "timeline": { "events": events } } } });
            Some(match path(seen).trim_start_matches("/_matrix/client/v3") {
                "/account/whoami" => json!({ "user_id": "@me:example.org", "device_id": "D" }),
                "/sync" if !seen.target.contains("since=") => {
                    json!({ "next_batch": "s1", "rooms": room(vec![]) })
                }
                "/sync" if seen.target.contains("since=s1") => {
                    let content = json!({ "msgtype": "m.text", "body": "is it broken?",
                        "m.mentions": { "user_ids": ["@me:example.org"] } });
                    json!({ "next_batch": "s2", "rooms": room(vec![message("$q", "@ann:example.org", content)]) })
                }
                "/sync" => json!({ "next_batch": "s2" }),
                path if path.ends_with("/messages") => json!({ "chunk": world.listed(|written| {
                    message("$sent", "@me:example.org", written.clone())
                }) }),
                _ => return None,
            })
        },
    },
];

impl Platform {
    /// A server that acts on the first write and cuts the answer; whatever comes after would be a second one.
    fn serve(&'static self) -> (HttpServer, Shared) {
        let world = World { clock: Clock::manual(START), written: Vec::new() };
        let world = Arc::new(Mutex::new(world));
        let shared = Arc::clone(&world);
        let server = HttpServer::by(move |seen| {
            let mut world = shared.lock().unwrap();
            if (self.is_write)(seen) {
                world.written.push(body(seen));
                return Answer::cut_after_body();
            }
            let answer = match (self.answer)(&world, seen) {
                Some(answer) => Answer::ok(answer.to_string()),
                None => Answer::new(404, "{\"errcode\":\"M_NOT_FOUND\",\"error\":\"none\"}"),
            };
            answer.header("content-type", "application/json").header("x-next-page", "")
        });
        (server, world)
    }
}

fn unit(platform: &str, keys: &str) -> String {
    format!(
        "[connector]\nplatform = \"{platform}\"\nbacklog = \"all\"\nhold = \"0s\"\n[{platform}]\n{keys}\n[install]\nenabled = true\n"
    )
}

async fn house(connector: &str) -> Way {
    Way::new(&[
        ("inbox.connector.toml", connector),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await
}

/// Works until there is a draft, approves it, and sends it.
async fn approved(way: &Way, name: &str) {
    for _ in 0..4 {
        way.cycle().await;
        if let Some(draft) = way.drafts().await.first() {
            way.approve(draft).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            way.cycle().await;
            return;
        }
        way.clock.advance(Duration::from_secs(60));
    }
    panic!("{name}: no draft: {}", way.shown().await);
}

/// Goes on for a while, until nothing is in doubt any more.
async fn settle(way: &Way) {
    for _ in 0..20 {
        if way.actions().await[0].state != ActionState::Uncertain {
            break;
        }
        way.clock.advance(Duration::from_secs(60));
        way.cycle().await;
    }
    for _ in 0..3 {
        way.clock.advance(Duration::from_secs(600));
        way.cycle().await;
    }
}

#[tokio::test]
async fn what_the_server_did_is_found_and_not_done_again() {
    for platform in &PLATFORMS {
        let (server, world) = platform.serve();
        let url = server.url("");
        let way = house(&unit(platform.name, &platform.keys.replace("{url}", &url))).await;
        world.lock().unwrap().clock = way.clock.clone();
        approved(&way, platform.name).await;
        assert_eq!(way.actions().await[0].state, ActionState::Uncertain, "{}", platform.name);
        settle(&way).await;
        assert_eq!(
            way.shown().await,
            "c1 sent\n",
            "{}: {:?}",
            platform.name,
            way.actions().await[0].last_error
        );
        assert_eq!(world.lock().unwrap().written.len(), 1, "{}", platform.name);
        assert!(way.actions().await[0].receipt.is_some());
    }
}

#[tokio::test]
async fn a_message_that_slack_took_is_found() {
    let slack = Slack::start();
    slack.channel("D1", "im").say("D1", "1796022000.000100", "UPAT", "hello", json!({}));
    let keys =
        format!("workspace = \"acme\"\nbase_url = \"{}\"\ntoken = {{ env = \"WAY_TOKEN\" }}", slack.url());
    let way = house(&unit("slack", &keys)).await;
    slack.fault_after("chat.postMessage", Answer::cut_after_body());
    approved(&way, "slack").await;
    assert_eq!(way.actions().await[0].state, ActionState::Uncertain);
    settle(&way).await;
    assert_eq!(way.shown().await, "c1 sent\n", "{:?}", way.actions().await[0].last_error);
    assert_eq!(slack.texts("D1").len(), 2);
    assert_eq!(slack.called().iter().filter(|method| *method == "chat.postMessage").count(), 1);
}

/// Sends and dies before it says so, and cannot be asked.
const PROGRAM: &str = r#"program = "/bin/sh"
args = ["-c", '''read -r ask
case "$ask" in
*'"op":"send"'*) echo sent >> {root}/effects; exit 1 ;;
*'"op":"find"'*) echo '{"type":"unsupported"}' ;;
*) echo '{"type":"item","id":1,"title":"One","body":"Hello","reply_handle":"h1"}'; echo '{"type":"state","value":1}'; echo '{"type":"done"}' ;;
esac''']
send = true
account = "owner""#;

#[tokio::test]
async fn where_nobody_can_be_asked_a_person_is() {
    let way = house(&unit("command", PROGRAM)).await;
    approved(&way, "command").await;
    settle(&way).await;
    let action = way.actions().await.remove(0);
    assert_eq!(action.state, ActionState::Held, "{action:?}");
    assert!(action.last_error.unwrap().starts_with("it may have been sent"), "{:?}", way.shown().await);
    assert_eq!(std::fs::read_to_string(way.path().join("effects")).unwrap(), "sent\n");
}

#[tokio::test]
async fn a_receipt_that_repeats_our_secret_is_kept_without_it() {
    const SECRET: &str = "way-token-0123456789";
    let linear = PLATFORMS.iter().find(|platform| platform.name == "linear").unwrap();
    let world = World { clock: Clock::manual(START), written: Vec::new() };
    let server = HttpServer::by(move |seen| {
        if (linear.is_write)(seen) {
            let comment =
                json!({ "id": format!("id-{SECRET}"), "url": format!("https://linear.app/{SECRET}\nx") });
            return Answer::ok(
                json!({ "data": { "commentCreate": { "success": true, "comment": comment } } }).to_string(),
            );
        }
        Answer::ok((linear.answer)(&world, seen).unwrap().to_string())
    });
    let way = house(&unit("linear", &linear.keys.replace("{url}", &server.url("")))).await;
    approved(&way, "linear").await;
    assert_eq!(way.shown().await, "c1 sent\n");
    let receipt = way.actions().await.remove(0).receipt.unwrap();
    assert!(!receipt.remote_id.contains(SECRET) && !receipt.remote_id.is_empty(), "{receipt:?}");
    assert_eq!(receipt.evidence, "https://linear.app/[masked] x");
    let case = way.cases().await.remove(0).id;
    let record = way.assembly().store.case_record(case).await.unwrap();
    assert!(record.journal.iter().all(|row| !row.detail.contains(SECRET)), "{:?}", record.journal);
}
