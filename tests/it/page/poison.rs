//! Stored script in every field: a page between us and a real daemon whose every text is an attack.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use workagent::control::client::Client;
use workagent::control::web::site::Site;
use workagent::control::wire::OpenView;
use workagent::model::time::Clock;
use workagent::secret::Scrubber;
use workagent::supervise::Group;

use super::browser::Visitor;
use super::house;

const ATTACK: &str = "</textarea></title></script><script>boom()</script><img src=x onerror=boom()>\"'><svg/onload=boom()>{{ 7*7 }}{% x %}";

/// What has a shape that the page reads; everything else is text.
const SHAPED: &[&str] = &[
    "id",
    "case",
    "draft",
    "run",
    "state",
    "load",
    "active",
    "health",
    "mode",
    "hash",
    "disposition",
    "outcome_kind",
];

fn poison(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if !SHAPED.contains(&key) => *text = ATTACK.to_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, key)),
        // `reply` and `disposition` are told apart by their own words.
        Value::Object(map) => {
            for (name, value) in
                map.iter_mut().filter(|(name, _)| !["reply", "disposition"].contains(&name.as_str()))
            {
                poison(value, name);
            }
        }
        _ => {}
    }
    if let (Value::Array(values), "labels" | "warnings" | "remarks" | "notes" | "details" | "cc") =
        (&mut *value, key)
    {
        values.push(ATTACK.into());
    }
    if let (Value::Array(values), "attachments") = (&mut *value, key) {
        // In an item, and in what a reviewer is shown of all items.
        let file = serde_json::json!({ "name": ATTACK, "media_type": ATTACK, "size_bytes": 1 });
        values.push(with(&file, "file"));
    }
    if let (Value::Array(values), "hidden") = (&mut *value, key) {
        values.push(with(&serde_json::json!({ "why": ATTACK, "text": ATTACK }), "part"));
    }
    if let (Value::Null, "reason" | "blocked" | "route" | "kept" | "last_error" | "url") = (&*value, key) {
        *value = match key {
            "last_error" => return,
            _ => ATTACK.into(),
        };
    }
}

/// The value itself, and under this name as that of the first item.
fn with(value: &Value, name: &str) -> Value {
    let mut both = value.clone();
    let fields = both.as_object_mut().unwrap();
    fields.insert(name.to_owned(), value.clone());
    fields.insert("item".to_owned(), 0.into());
    both
}

async fn proxy(State(daemon): State<Client>, uri: Uri) -> Response {
    match daemon.get::<Value>(&uri.to_string()).await {
        Ok(mut value) => {
            poison(&mut value, "");
            axum::Json(value).into_response()
        }
        Err(error) => (StatusCode::NOT_FOUND, format!("{uri}: {error}")).into_response(),
    }
}

#[test]
fn stored_script_comes_alive_nowhere() {
    let (scene, daemon) = house(2);
    let client = Client::new(scene.path("state/run/control.sock"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let url = runtime.block_on(async {
        let site = Site::new(Clock::system(), &Scrubber::new(), Group::new("test"));
        let api = site.beside(
            Router::new().route("/{*rest}", axum::routing::get(proxy)).with_state(client),
            &Scrubber::new(),
        );
        Client::in_process(api, Scrubber::new()).post::<(), OpenView>("/v1/open", &()).await.unwrap().url
    });
    let visitor = Visitor::enter(&url);
    for path in ["/", "/review/d1", "/case", "/case/c1", "/outbox", "/units", "/review/d99"] {
        let body = visitor.get(path).body;
        let seen = body.matches("boom()").count();
        assert!(seen > 0 || path.ends_with("d99") || path == "/outbox", "nothing to see in {path}: {body}");
        for alive in
            ["<script>boom", "<img src=x", "<svg/onload", "</textarea></title>", "\"'>", "href=\"javascript"]
        {
            assert!(!body.contains(alive), "{path}: {alive} in {body}");
        }
        assert!(!body.contains("}49{") && !body.contains(">49<"), "{path}");
        assert_eq!(body.matches("<script").count(), 1, "{path}");
    }
    drop(runtime);
    daemon.stop();
}
