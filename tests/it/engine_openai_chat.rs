//! The openai-chat engine against a scripted server: what is an answer, what is none, and which class it has.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::engine::openai_chat::SPEC;
use workagent::model::run::{RunFailure, Usage};
use workagent::model::secret_ref::SecretRef;
use workagent::unit::value::Value;

use crate::support::engine::EngineBench;
use crate::support::http::{Answer, HttpServer};

const GOOD: &str = r#"reply "Friday at ten works – naïve café 🚀.""#;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai-chat").join(name))
        .unwrap()
}

/// A stream of events in which `OPEN` and `CLOSE` stand for the marks that the prompt asks for.
fn events(name: &str) -> Answer {
    Answer::ok(fixture(name)).header("content-type", "text/event-stream; charset=utf-8").filled(with_marks)
}

fn with_marks(asked: &[u8], body: Vec<u8>) -> Vec<u8> {
    let asked = String::from_utf8(asked.to_vec()).unwrap();
    let at = asked.find("<<<draft-").unwrap() + "<<<".len();
    let name = &asked[at..at + "draft-00000000".len()];
    let body = String::from_utf8(body).unwrap();
    body.replace("OPEN", &format!("<<<{name}")).replace("CLOSE", &format!("{name}>>>")).into_bytes()
}

fn failing(status: u16, body: &Json) -> Answer {
    Answer::new(status, body.to_string()).header("content-type", "application/json")
}

fn error(kind: &str, code: &str) -> Json {
    json!({ "error": { "message": "m", "type": kind, "param": null, "code": code } })
}

fn bench(server: &HttpServer) -> EngineBench {
    EngineBench::new(&SPEC, &[("base_url", Value::Text(server.url("")))])
}

async fn check(answer: Answer, expected: &str) {
    let server = HttpServer::start([answer]);
    assert_eq!(bench(&server).shown().await, expected);
    assert_eq!(server.seen().len(), 1, "one run is one request");
}

// What is an answer.

#[tokio::test]
async fn only_a_whole_answer_is_a_draft() {
    check(events("ok.sse"), GOOD).await;
    check(events("nothing-to-do.sse"), "nothing to do: an advert").await;
    check(events("length.sse"), "cut: the answer was cut by the output limit").await;
    check(events("refusal.sse"), "refused: the model refused").await;
    check(events("refusal-text.sse"), "refused: the model refused").await;
    check(events("empty.sse"), "empty: the answer was empty").await;
    check(events("reasoning-only.sse"), "empty: the model reasoned and then said nothing").await;
    check(events("no-stop.sse"), "network: the answer ended before its end").await;
    check(events("no-finish.sse"), "network: the answer ended before its end").await;
    check(
        events("in-band-error.sse"),
        "network: the server broke off with an error: Provider returned error",
    )
    .await;
}

#[tokio::test]
async fn a_draft_comes_from_between_the_marks() {
    let expected = "protocol: the answer does not hold the draft between the marks that were asked for";
    check(events("no-marks.sse"), expected).await;
    check(events("no-end-mark.sse"), "protocol: the answer has no mark at the end of the draft").await;
}

#[tokio::test]
async fn a_connection_that_is_cut_before_the_end_gives_no_draft() {
    let server = HttpServer::start([events("ok.sse").cut_in_answer()]);
    assert_eq!(bench(&server).shown().await, GOOD, "what comes behind the end does not matter");
    // In the middle of the text, and between its last word and the end.
    let ok = String::from_utf8(fixture("ok.sse")).unwrap();
    for part in [&ok[..ok.find("works").unwrap()], ok.strip_suffix("data: [DONE]\n\n").unwrap()] {
        let cut =
            Answer::ok(part).header("content-type", "text/event-stream").filled(with_marks).cut_in_answer();
        let shown = bench(&HttpServer::start([cut])).shown().await;
        assert!(shown.starts_with("network: POST "), "{shown}");
    }
}

#[tokio::test]
async fn characters_cut_into_pieces_come_together_again() {
    let server = HttpServer::start([events("ok.sse").pieces(7)]);
    (0..1000).for_each(|_| server.release());
    assert_eq!(bench(&server).shown().await, GOOD);
}

#[tokio::test]
async fn a_server_that_does_not_stream() {
    let whole = |finish: &str| {
        let message = json!({ "role": "assistant", "content": "OPEN\nHello\nCLOSE" });
        let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }] });
        failing(200, &body).filled(with_marks)
    };
    check(whole("stop"), r#"reply "Hello""#).await;
    check(whole("length"), "cut: the answer was cut by the output limit").await;
    check(failing(200, &error("server_error", "")), "network: the server broke off with an error: m").await;
}

#[tokio::test]
async fn what_is_no_answer_at_all() {
    let page = Answer::ok("<html>log in to the network</html>").header("content-type", "text/html");
    let expected = "network: a web page came instead of an answer: a login page of the network, or a proxy";
    check(page, expected).await;
    let text = Answer::ok(fixture("not-events.txt")).header("content-type", "text/plain");
    check(text, "network: the answer ended before its end").await;
    let odd = Answer::ok("data: hello\n\n").header("content-type", "text/event-stream");
    check(odd, "protocol: the answer is not in the form of Chat Completions").await;
}

#[tokio::test]
async fn an_answer_without_an_end_is_ended() {
    let line =
        format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": "x".repeat(64 * 1024) } }] }));
    let answer = Answer::ok(line.repeat(100)).header("content-type", "text/event-stream");
    check(answer, "protocol: the answer is longer than 1048576 bytes").await;
}

#[tokio::test]
async fn an_answer_of_a_megabyte_in_one_event_is_read() {
    let content = format!("{}\nOPEN\nHello\nCLOSE", "x".repeat(1_000_000));
    let chunk = json!({ "choices": [{ "delta": { "content": content }, "finish_reason": "stop" }] });
    let answer = Answer::ok(format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        .header("content-type", "text/event-stream")
        .filled(with_marks);
    check(answer, r#"reply "Hello""#).await;
}

#[tokio::test]
async fn usage_is_kept_also_of_a_failed_run() {
    let usage = |name| async move {
        let server = HttpServer::start([events(name)]);
        match bench(&server).run().await {
            Ok(outcome) => outcome.usage,
            Err(error) => error.usage,
        }
    };
    let expected = Usage { input_tokens: Some(421), output_tokens: Some(17), ..Usage::default() };
    assert_eq!(usage("ok.sse").await, expected);
    assert_eq!(usage("refusal.sse").await, expected);
}

#[tokio::test]
async fn a_prompt_that_the_server_cut_is_told() {
    let server = HttpServer::start([events("ok.sse")]);
    let mut bench = bench(&server);
    bench.request.items[0].body = "word ".repeat(10_000);
    let remarks = bench.run().await.unwrap().remarks;
    assert_eq!(remarks.len(), 1);
    assert!(
        remarks[0].starts_with("the server may have cut the prompt: it counted 421 tokens in 5"),
        "{remarks:?}"
    );
}

// Error answers.

#[tokio::test]
async fn classes_of_error_answers() {
    check(failing(400, &error("invalid_request_error", "")), "bad-request: the server answered 400: m").await;
    check(failing(401, &error("", "invalid_api_key")), "auth: the server answered 401: m").await;
    check(failing(402, &error("", "")), "billing: the server answered 402: m").await;
    check(failing(404, &error("", "model_not_found")), "config: the server answered 404: m").await;
    check(failing(429, &error("", "insufficient_quota")), "billing: the server answered 429: m").await;
    check(failing(500, &error("", "")), "network: the server answered 500: m").await;
    check(failing(503, &error("", "")), "overloaded: the server answered 503: m").await;
    check(Answer::new(502, "<html>bad gateway</html>"), "network: the server answered 502").await;
    check(Answer::new(302, "").header("location", "https://example.org/"), "config: the server answered 302")
        .await;
}

#[tokio::test]
async fn a_rate_limit_comes_with_its_time() {
    let limited = failing(429, &error("requests", "rate_limit_exceeded"));
    let server = HttpServer::start([limited.header("retry-after", "7")]);
    let error = bench(&server).run().await.unwrap_err();
    let expected = crate::support::connector::NOW.plus(Duration::from_secs(7));
    assert_eq!(error.failure, RunFailure::RateLimited(expected));
}

#[tokio::test]
async fn a_dropped_connection_and_an_empty_port_are_network_failures() {
    let server = HttpServer::start([Answer::cut_after_body()]);
    assert!(bench(&server).shown().await.starts_with("network: "));
    let url = closed_port();
    let bench = EngineBench::new(&SPEC, &[("base_url", Value::Text(url.clone()))]);
    let shown = bench.shown().await;
    assert!(shown.starts_with("network: ") && shown.contains("Connection refused"), "{shown}");
}

/// A port where nobody listens.
fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

// Limits.

#[tokio::test]
async fn limits_and_cancel_have_their_words() {
    let short = Duration::from_millis(300);
    let server =
        HttpServer::start([events("ok.sse").late(), events("ok.sse").pieces(400), events("ok.sse").late()]);
    let mut silent = bench(&server);
    silent.limits.first_event = short;
    assert_eq!(silent.shown().await, "timeout-idle: nothing came within 0s");
    let mut stalled = bench(&server);
    stalled.limits.idle = short;
    assert_eq!(stalled.shown().await, "timeout-idle: the answer fell silent for 0s");
    let mut slow = bench(&server);
    slow.limits.total = short;
    assert_eq!(slow.shown().await, "timeout-total: the answer took longer than 0s");

    let server = HttpServer::start([events("ok.sse").late()]);
    let cancelled = bench(&server);
    let cancel = cancelled.cancel.clone();
    let (shown, ()) = tokio::join!(cancelled.shown(), async {
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(shown, "cancelled: it was cancelled");
}

// What is sent.

#[tokio::test]
async fn the_request() {
    let server = HttpServer::start([events("ok.sse")]);
    let key = Value::Secret(SecretRef::Stored("canary".into()));
    let keys = [
        ("base_url", Value::Text(server.url("/v1/"))),
        ("key", key),
        ("max_tokens", Value::Integer(900)),
        ("temperature", Value::Text("0.2".into())),
    ];
    assert_eq!(EngineBench::new(&SPEC, &keys).shown().await, GOOD);
    let seen = server.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].target.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(seen[0].header("authorization"), Some("Bearer CANARY-key-1"));
    let body: Json = serde_json::from_slice(seen[0].body.as_ref().unwrap()).unwrap();
    assert_eq!(body["model"], "stub-model");
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(900), &json!(0.2)));
    let (system, user) = (body["messages"][0]["content"].as_str(), body["messages"][1]["content"].as_str());
    // Foreign text only in the second message, and hidden text nowhere.
    assert!(system.unwrap().starts_with("Be brief.") && !system.unwrap().contains("CANARY"));
    assert!(user.unwrap().contains("CANARY-body") && !user.unwrap().contains("CANARY-hidden"));
    assert!(!body.to_string().contains("CANARY-key"));
}

#[tokio::test]
async fn without_a_key_none_is_sent_and_a_missing_one_stops_the_run() {
    let server = HttpServer::start([events("ok.sse")]);
    bench(&server).run().await.unwrap();
    assert_eq!(server.seen()[0].header("authorization"), None);
    let gone = Value::Secret(SecretRef::Stored("gone".into()));
    let bench = EngineBench::new(&SPEC, &[("base_url", Value::Text(server.url(""))), ("key", gone)]);
    assert_eq!(bench.shown().await, "auth: no secret is stored under `gone`");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_key_does_not_come_back_in_an_error() {
    let body = json!({ "error": { "message": "Incorrect API key provided: CANARY-key-1.", "code": "invalid_api_key" } });
    let server = HttpServer::start([failing(401, &body)]);
    let key = Value::Secret(SecretRef::Stored("canary".into()));
    let bench = EngineBench::new(&SPEC, &[("base_url", Value::Text(server.url(""))), ("key", key)]);
    assert_eq!(bench.shown().await, "auth: the server answered 401: Incorrect API key provided: [masked].");
}

// Probe.

async fn probe(answer: Answer) -> String {
    let server = HttpServer::start([answer]);
    let port = server.url("").rsplit(':').next().unwrap().to_owned();
    let text = match bench(&server).engine().probe().await {
        Ok(text) => text,
        Err(error) => format!("{}: {error}", error.failure.word()),
    };
    assert_eq!(server.seen().first().unwrap().target, "/v1/models");
    text.replace(&port, "PORT")
}

#[tokio::test]
async fn a_probe_asks_for_the_models() {
    let models = |names: &[&str]| {
        let data: Vec<_> = names.iter().map(|name| json!({ "id": name })).collect();
        failing(200, &json!({ "object": "list", "data": data }))
    };
    assert_eq!(probe(models(&["other", "stub-model:latest"])).await, "stub-model at 127.0.0.1:PORT");
    assert_eq!(
        probe(models(&["a", "b"])).await,
        "127.0.0.1:PORT answers, but does not list `stub-model`; it lists a, b"
    );
    assert_eq!(probe(failing(401, &error("", "invalid_api_key"))).await, "auth: the server answered 401: m");
    assert!(probe(Answer::ok("<html>").header("content-type", "text/html")).await.starts_with("network: "));
}

#[tokio::test]
async fn a_server_that_does_not_run_is_a_config_failure_of_the_probe() {
    let bench = EngineBench::new(&SPEC, &[("base_url", Value::Text(closed_port()))]);
    let error = bench.engine().probe().await.unwrap_err();
    assert_eq!(error.failure, RunFailure::Config);
    assert!(error.to_string().starts_with("no server runs at 127.0.0.1:"), "{error}");
}

// Quirks of servers.

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for() {
    let loading =
        json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } });
    let server = HttpServer::start([failing(503, &loading), events("ok.sse")]);
    assert_eq!(bench(&server).shown().await, GOOD);
    assert_eq!(server.seen().len(), 2);
    // As long as for the first word, not longer.
    let server = HttpServer::always(failing(503, &loading));
    let mut impatient = bench(&server);
    impatient.limits.first_event = Duration::from_millis(300);
    assert_eq!(impatient.shown().await, "overloaded: the server answered 503: Loading model");
}
