//! The engines that ask a vendor's API, against a scripted server: recorded answers, what each class of failure is made
//! of, what is sent.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::engine::{EngineSpec, anthropic, gemini, openai_responses};
use workagent::model::run::{RunFailure, Usage};
use workagent::model::secret_ref::SecretRef;
use workagent::unit::value::Value;

use crate::support::connector::NOW;
use crate::support::engine::EngineBench;
use crate::support::http::{Answer, HttpServer};

const GOOD: &str = r#"reply "Friday at ten works – naïve café 🚀.""#;

const ALL: [&EngineSpec; 3] = [&anthropic::SPEC, &openai_responses::SPEC, &gemini::SPEC];

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines").join(path)).unwrap()
}

fn events(path: &str) -> Answer {
    Answer::ok(fixture(path)).header("content-type", "text/event-stream; charset=utf-8")
}

fn recorded(spec: &EngineSpec, name: &str) -> Answer {
    events(&format!("{}/{name}.sse", spec.name))
}

fn failing(status: u16, body: &Json) -> Answer {
    Answer::new(status, body.to_string()).header("content-type", "application/json")
}

fn bench(spec: &'static EngineSpec, server: &HttpServer) -> EngineBench {
    EngineBench::new(spec, &[("base_url", Value::Text(server.url("")))])
}

async fn shown(spec: &'static EngineSpec, answer: Answer) -> String {
    let server = HttpServer::start([answer]);
    let shown = bench(spec, &server).shown().await;
    assert_eq!(server.seen().len(), 1, "one run is one request");
    shown
}

/// What each engine makes of a recorded answer of this name.
async fn check(name: &str, expected: [&str; 3]) {
    for (spec, expected) in ALL.into_iter().zip(expected) {
        assert_eq!(shown(spec, recorded(spec, name)).await, expected, "{}: {name}", spec.name);
    }
}

// What is an answer.

#[tokio::test]
async fn only_a_whole_answer_is_a_draft() {
    check("normal", [GOOD; 3]).await;
    check("max-tokens", ["cut: the answer was cut by `max_tokens`"; 3]).await;
    let refused = "refused: the model refused";
    check("refusal", [refused, refused, "refused: the model refused (SAFETY)"]).await;
    check("empty", ["empty: the answer was empty"; 3]).await;
    check("truncated", ["network: the answer ended before its end"; 3]).await;
    check(
        "sse-error",
        [
            "overloaded: the server broke off with an error: Overloaded (stub)",
            "network: the server broke off with an error: stub failure",
            "overloaded: the server broke off with an error: stub failure",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_answer_says_what_it_used_who_gave_it_and_what_it_is_about() {
    let expected = [(33, 27, Some(12), Some(0)), (33, 0, Some(8), None), (29, 11, Some(4), None)];
    for (spec, (input, output, read, written)) in ALL.into_iter().zip(expected) {
        let server = HttpServer::start([recorded(spec, "normal")]);
        let outcome = bench(spec, &server).run().await.unwrap();
        let output = if output == 0 { outcome.usage.output_tokens } else { Some(output) };
        let usage = Usage {
            input_tokens: Some(input),
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: written,
            ..Usage::default()
        };
        assert_eq!(outcome.usage, usage, "{}", spec.name);
        assert!(output.is_some_and(|tokens| tokens > 0));
        assert_eq!(outcome.facts.model.as_deref(), Some("stub-model"));
        assert_eq!(outcome.labels, ["lunch"]);
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream() {
    for spec in ALL {
        let whole = Answer::ok(fixture(&format!("{}/whole.json", spec.name)));
        let answer = whole.header("content-type", "application/json");
        assert_eq!(shown(spec, answer).await, GOOD, "{}", spec.name);
    }
}

#[tokio::test]
async fn characters_cut_into_pieces_come_together_again() {
    for spec in ALL {
        let server = HttpServer::start([recorded(spec, "normal").pieces(7)]);
        (0..1000).for_each(|_| server.release());
        assert_eq!(bench(spec, &server).shown().await, GOOD);
    }
}

/// Whatever is missing at the end, down to the last word, there is no draft.
#[tokio::test]
async fn a_cut_connection_gives_no_draft() {
    for spec in ALL {
        let whole = fixture(&format!("{}/normal.sse", spec.name));
        for part in [whole.len() / 3, whole.len() * 2 / 3, whole.len() - 3] {
            let cut = Answer::ok(&whole[..part]).header("content-type", "text/event-stream");
            assert_eq!(shown(spec, cut.clone()).await, "network: the answer ended before its end");
            let broken = shown(spec, cut.cut_in_answer()).await;
            assert!(broken.starts_with("network: POST "), "{broken}");
        }
        assert!(shown(spec, Answer::cut_after_body()).await.starts_with("network: "));
    }
}

#[tokio::test]
async fn what_is_no_answer_at_all() {
    for spec in ALL {
        let page = Answer::ok("<html>log in</html>").header("content-type", "text/html");
        let expected =
            "network: a web page came instead of an answer: a login page of the network, or a proxy";
        assert_eq!(shown(spec, page).await, expected);
        let odd = Answer::ok("data: hello\n\n").header("content-type", "text/event-stream");
        assert_eq!(shown(spec, odd).await, "protocol: a part of the answer cannot be read");
        let other = Answer::ok("data: {\"hello\": 1}\n\n").header("content-type", "text/event-stream");
        assert_eq!(shown(spec, other).await, "network: the answer ended before its end");
    }
}

/// Text that is not the object that was asked for is no draft, however well it ends.
#[tokio::test]
async fn a_draft_comes_from_the_object_only() {
    for spec in ALL {
        let text = String::from_utf8(fixture(&format!("{}/normal.sse", spec.name))).unwrap();
        let plain = text.replace(r#"{\"outcome\":\""#, "Dear Pat, ");
        let answer = Answer::ok(plain).header("content-type", "text/event-stream");
        let expected = "protocol: its answer is not the JSON object that was asked for";
        assert_eq!(shown(spec, answer).await, expected, "{}", spec.name);
    }
}

/// The case of the truncated answers: only the whole one is a draft, and a cut one is tried again from scratch.
#[tokio::test]
async fn truncated_answers_of_a_messages_api() {
    let cut = "network: the answer ended before its end";
    for (name, expected) in [
        ("ok", r#"reply "Friday at ten works for me.""#),
        ("limit", "cut: the answer was cut by `max_tokens`"),
        ("refusal", "refused: the model refused"),
        ("cut", cut),
        ("no-stop", cut),
        ("empty", "empty: the answer was empty"),
    ] {
        assert_eq!(shown(&anthropic::SPEC, events(&format!("s36/{name}.sse"))).await, expected, "{name}");
    }
    let server = HttpServer::start([events("s36/cut.sse"), events("s36/ok.sse")]);
    let bench = bench(&anthropic::SPEC, &server);
    assert_eq!(bench.shown().await, cut);
    assert_eq!(
        bench.shown().await,
        r#"reply "Friday at ten works for me.""#,
        "nothing of the first try is left"
    );
}

#[tokio::test]
async fn ends_that_are_no_answer() {
    let ok = String::from_utf8(fixture("s36/ok.sse")).unwrap();
    for (reason, expected) in [
        ("stop_sequence", r#"reply "Friday at ten works for me.""#),
        ("pause_turn", "cut: the model paused before it had answered"),
        ("model_context_window_exceeded", "cut: the answer was cut where the model's context ends"),
        ("tool_use", "protocol: the model asked for a tool that it was not given"),
        ("nap", "protocol: the answer ended for an unknown reason"),
    ] {
        let answer = Answer::ok(ok.replace("end_turn", reason)).header("content-type", "text/event-stream");
        assert_eq!(shown(&anthropic::SPEC, answer).await, expected);
    }
    let ok = String::from_utf8(fixture("gemini/normal.sse")).unwrap();
    for (reason, expected) in [
        ("RECITATION", "refused: the model refused (RECITATION)"),
        ("MALFORMED_FUNCTION_CALL", "protocol: the model asked for a tool that it was not given"),
        ("OTHER", "protocol: the answer ended for an unknown reason"),
    ] {
        let answer = Answer::ok(ok.replace("STOP", reason)).header("content-type", "text/event-stream");
        assert_eq!(shown(&gemini::SPEC, answer).await, expected);
    }
    let blocked = r#"data: {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}"#;
    let answer = Answer::ok(format!("{blocked}\n\n")).header("content-type", "text/event-stream");
    assert_eq!(shown(&gemini::SPEC, answer).await, "refused: the prompt was blocked (PROHIBITED_CONTENT)");
}

/// A model may think first; what it thinks is no part of the text.
#[tokio::test]
async fn thoughts_are_no_answer() {
    let ok = String::from_utf8(fixture("s36/ok.sse")).unwrap();
    let thought = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n\
                   data: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: content_block_start";
    let with = ok.replacen("event: content_block_start", thought, 1);
    let answer = Answer::ok(with).header("content-type", "text/event-stream");
    assert_eq!(shown(&anthropic::SPEC, answer).await, r#"reply "Friday at ten works for me.""#);
    let gemini = String::from_utf8(fixture("gemini/normal.sse")).unwrap();
    let chunk =
        "data: {\"candidates\": [{\"content\": {\"parts\": [{\"thought\": true, \"text\": \"hm\"}]}}]}\n\n";
    let answer = Answer::ok(format!("{chunk}{gemini}")).header("content-type", "text/event-stream");
    assert_eq!(shown(&gemini::SPEC, answer).await, GOOD);
}

// Errors.

#[tokio::test]
async fn errors_of_anthropic() {
    let error = |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" });
    let credit = "Your credit balance is too low to access the API.";
    let mut rows = Vec::new();
    for (status, kind, message) in [
        (400, "invalid_request_error", "m"),
        (400, "invalid_request_error", credit),
        (401, "authentication_error", "m"),
        (402, "billing_error", "m"),
        (403, "permission_error", "m"),
        (404, "not_found_error", "m"),
        (413, "request_too_large", "m"),
        (429, "rate_limit_error", "m"),
        (500, "api_error", "m"),
        (503, "api_error", "m"),
        (504, "timeout_error", "m"),
        (529, "overloaded_error", "m"),
    ] {
        rows.push(shown(&anthropic::SPEC, failing(status, &error(kind, message))).await);
    }
    let mut capped = error("rate_limit_error", "m");
    capped["error"]["details"] = json!({ "error_code": "enforced_spend_limit_reached" });
    rows.push(shown(&anthropic::SPEC, failing(429, &capped)).await);
    rows.push(shown(&anthropic::SPEC, Answer::new(502, "<html>bad gateway</html>")).await);
    insta::assert_snapshot!(rows.join("\n"), @r#"
    bad-request: the server answered 400: m
    billing: the server answered 400: Your credit balance is too low to access the API.
    auth: the server answered 401: m
    billing: the server answered 402: m
    auth: the server answered 403: m
    config: the server answered 404: m
    bad-request: the server answered 413: m
    rate-limited: the server answered 429: m
    network: the server answered 500: m
    overloaded: the server answered 503: m
    network: the server answered 504: m
    overloaded: the server answered 529: m
    billing: the server answered 429: m
    network: the server answered 502
    "#);
}

#[tokio::test]
async fn errors_of_gemini() {
    let error = |code: u16, status: &str, details: Json| json!({ "error": { "code": code, "status": status, "message": "m", "details": details } });
    let quota =
        |id: &str, delay: &str| json!([{ "violations": [{ "quotaId": id }] }, { "retryDelay": delay }]);
    let mut rows = Vec::new();
    for (code, status, details) in [
        (400, "INVALID_ARGUMENT", json!([])),
        (400, "INVALID_ARGUMENT", json!([{ "reason": "API_KEY_INVALID" }])),
        (403, "PERMISSION_DENIED", json!([])),
        (404, "NOT_FOUND", json!([])),
        (429, "RESOURCE_EXHAUSTED", json!([])),
        (429, "RESOURCE_EXHAUSTED", quota("GenerateRequestsPerMinutePerProject", "17s")),
        (429, "RESOURCE_EXHAUSTED", quota("GenerateRequestsPerDayPerProject", "17s")),
        (500, "INTERNAL", json!([])),
        (503, "UNAVAILABLE", json!([])),
        (504, "DEADLINE_EXCEEDED", json!([])),
    ] {
        rows.push(shown(&gemini::SPEC, failing(code, &error(code, status, details))).await);
    }
    let billing =
        json!({ "error": { "code": 400, "status": "FAILED_PRECONDITION", "message": "enable billing" } });
    rows.push(shown(&gemini::SPEC, failing(400, &billing)).await);
    insta::assert_snapshot!(rows.join("\n"), @r#"
    bad-request: the server answered 400: m
    auth: the server answered 400: m
    auth: the server answered 403: m
    config: the server answered 404: m
    rate-limited: the server answered 429: m
    rate-limited: the server answered 429: m
    usage-limit: the server answered 429: m
    network: the server answered 500: m
    overloaded: the server answered 503: m
    network: the server answered 504: m
    billing: the server answered 400: enable billing
    "#);
}

#[tokio::test]
async fn limits_come_with_their_time() {
    async fn failure(spec: &'static EngineSpec, answer: Answer) -> RunFailure {
        bench(spec, &HttpServer::start([answer])).run().await.unwrap_err().failure
    }
    let wait = |seconds| NOW.plus(Duration::from_secs(seconds));
    let limited =
        failing(429, &json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "m" } }));
    let found = failure(&anthropic::SPEC, limited.clone().header("retry-after", "7")).await;
    assert_eq!(found, RunFailure::RateLimited(wait(7)));
    let reset = limited
        .clone()
        .header("anthropic-ratelimit-requests-remaining", "0")
        .header("anthropic-ratelimit-requests-reset", "2026-11-30T08:00:40Z");
    assert_eq!(failure(&anthropic::SPEC, reset).await, RunFailure::RateLimited(wait(40)));
    let plan = limited
        .header("retry-after", "3600")
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &(NOW.0 / 1000 + 5400).to_string());
    assert_eq!(failure(&anthropic::SPEC, plan).await, RunFailure::UsageLimit(Some(wait(5400))));
    let openai = json!({ "error": { "message": "m", "type": "requests", "code": "rate_limit_exceeded" } });
    let reset = failing(429, &openai)
        .header("x-ratelimit-remaining-requests", "0")
        .header("x-ratelimit-reset-requests", "6m0s");
    assert_eq!(failure(&openai_responses::SPEC, reset).await, RunFailure::RateLimited(wait(360)));
    let day = json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m", "details": [
        { "violations": [{ "quotaId": "GenerateRequestsPerDayPerProjectPerModel" }] }, { "retryDelay": "3600s" }] } });
    assert_eq!(failure(&gemini::SPEC, failing(429, &day)).await, RunFailure::UsageLimit(Some(wait(3600))));
}

/// What the far side refused, and what never reached it, is known to have cost nothing.
#[tokio::test]
async fn a_refused_request_used_nothing_and_a_cut_answer_is_not_told() {
    let nothing = Usage { input_tokens: Some(0), output_tokens: Some(0), ..Usage::default() };
    for spec in ALL {
        let usage =
            async |answer: Answer| bench(spec, &HttpServer::start([answer])).run().await.unwrap_err().usage;
        assert_eq!(usage(failing(500, &json!({}))).await, nothing);
        assert_ne!(usage(recorded(spec, "truncated")).await.output_tokens, Some(0), "{}", spec.name);
        assert_eq!(usage(Answer::cut_after_body()).await, Usage::default());
        let url =
            format!("http://{}/", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
        let error = EngineBench::new(spec, &[("base_url", Value::Text(url))]).run().await.unwrap_err();
        assert_eq!((error.failure, error.usage), (RunFailure::Network, nothing.clone()));
    }
}

// Limits.

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    // Pings without end, one by one, each well within the limit on silence.
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let server = HttpServer::start([Answer::ok(ping.repeat(100_000))
        .header("content-type", "text/event-stream")
        .pieces(ping.len())]);
    let mut bench = bench(&anthropic::SPEC, &server);
    (bench.limits.first_event, bench.limits.idle) = (Duration::from_millis(300), Duration::from_millis(300));
    let feed = async {
        loop {
            server.release();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let shown = tokio::select! {
        shown = bench.shown() => shown,
        () = feed => unreachable!(),
    };
    assert_eq!(shown, "timeout-idle: for 0s only signs of life came and no part of an answer");
}

// What is sent.

#[tokio::test]
async fn the_requests() {
    let expected = [
        ("/v1/messages", "x-api-key", "CANARY-key-1"),
        ("/v1/responses", "authorization", "Bearer CANARY-key-1"),
        ("/v1beta/models/stub-model:streamGenerateContent?alt=sse", "x-goog-api-key", "CANARY-key-1"),
    ];
    for (spec, (target, header, value)) in ALL.into_iter().zip(expected) {
        let server = HttpServer::start([recorded(spec, "normal")]);
        let key = Value::Secret(SecretRef::Stored("canary".into()));
        let keys =
            [("base_url", Value::Text(server.url("/"))), ("key", key), ("max_tokens", Value::Integer(900))];
        assert_eq!(EngineBench::new(spec, &keys).shown().await, GOOD);
        let seen = server.seen();
        assert_eq!((seen[0].method.as_str(), seen[0].target.as_str()), ("POST", target));
        assert_eq!(seen[0].header(header), Some(value));
        let body: Json = serde_json::from_slice(seen[0].body.as_ref().unwrap()).unwrap();
        let (trusted, foreign, most, schema) = match spec.name {
            "anthropic" => {
                assert_eq!(seen[0].header("anthropic-version"), Some("2023-06-01"));
                let format = &body["output_config"]["format"];
                (&body["system"], &body["messages"][0]["content"], &body["max_tokens"], &format["schema"])
            }
            "openai-responses" => {
                assert_eq!(
                    (&body["store"], &body["text"]["format"]["strict"]),
                    (&json!(false), &json!(true))
                );
                let schema = &body["text"]["format"]["schema"];
                (&body["instructions"], &body["input"], &body["max_output_tokens"], schema)
            }
            _ => {
                let config = &body["generationConfig"];
                (
                    &body["systemInstruction"]["parts"][0]["text"],
                    &body["contents"][0]["parts"][0]["text"],
                    &config["maxOutputTokens"],
                    &config["responseJsonSchema"],
                )
            }
        };
        assert_eq!(most, &json!(900));
        assert_eq!(schema["required"][0], "outcome");
        // Foreign text only where data goes, hidden text nowhere, the key in its header.
        assert!(trusted.as_str().unwrap().starts_with("Be brief."));
        assert!(!trusted.to_string().contains("CANARY"));
        assert!(foreign.as_str().unwrap().contains("CANARY-body"));
        assert!(!body.to_string().contains("CANARY-hidden") && !body.to_string().contains("CANARY-key"));
        // What current models refuse is not sent.
        for key in ["temperature", "tool_choice", "thinking"] {
            assert!(body.get(key).is_none());
        }
    }
}

#[tokio::test]
async fn a_server_elsewhere_needs_a_key_over_https() {
    let problems = |spec: &EngineSpec, url: &str| -> Vec<String> {
        let settings = [("base_url".to_owned(), Value::Text(url.to_owned()))].into();
        let found = (spec.check)(&workagent::unit::value::Settings(settings));
        found.into_iter().map(|problem| format!("{} {}", problem.key, problem.message)).collect()
    };
    for spec in ALL {
        assert_eq!(problems(spec, "http://127.0.0.1:8080"), [""; 0]);
        assert_eq!(
            problems(spec, "https://api.example.org"),
            ["key is needed by a server elsewhere: `{ secret = \"NAME\" }`"]
        );
    }
}

#[tokio::test]
async fn a_probe_asks_for_the_models() {
    for spec in ALL {
        let list = match spec.name {
            "gemini" => json!({ "models": [{ "name": "models/stub-model" }] }),
            _ => json!({ "data": [{ "id": "stub-model" }] }),
        };
        let server = HttpServer::start([failing(200, &list), failing(401, &json!({}))]);
        let bench = bench(spec, &server);
        assert!(bench.engine().probe().await.unwrap().starts_with("stub-model at 127.0.0.1:"));
        assert_eq!(bench.engine().probe().await.unwrap_err().failure, RunFailure::Auth);
        assert!(server.seen()[0].target.contains("/models"));
    }
}
