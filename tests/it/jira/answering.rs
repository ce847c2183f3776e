//! Answers: what goes out, and what becomes of one that got lost.

use super::*;

/// An answer to the question in the fixtures.
async fn question(body: &str, effects: &[&str]) -> (HttpServer, Bench, OutboundAction) {
    let (server, bench, polled) = fixtures().await;
    let mut action = bench.reply(item(&polled, "comment:903"), 7, body);
    action.envelope.effects = effects.iter().map(|text| Effect::parse(text)).collect();
    action.sending_at = Some(NOW);
    (server, bench, action)
}

fn written(id: u64) -> Answer {
    Answer::new(201, json!({ "id": id.to_string() }).to_string())
}

fn state(status: &str) -> Answer {
    Answer::ok(json!({"id": "10012", "fields": {"status": {"name": status}, "labels": ["start"], "assignee": {"accountId": "me-1"}}}).to_string())
}

fn ways() -> Answer {
    Answer::ok(
        json!({"transitions": [{"id": "21", "name": "Start work", "to": {"name": "In Progress"}},
        {"id": "31", "name": "Resolve", "to": {"name": "Done"}}]})
        .to_string(),
    )
}

fn writes(server: &HttpServer) -> Vec<(String, Json)> {
    let writes = server.seen().into_iter().filter(|seen| seen.method != "GET");
    writes
        .map(|seen| {
            (path(&seen), serde_json::from_slice(seen.body.as_deref().unwrap_or(b"null")).unwrap_or_default())
        })
        .collect()
}

#[tokio::test]
async fn as_a_document_in_its_thread_with_a_mark() {
    let (server, bench, action) = question("No, **not** `it`.\n\n- @all", &[]).await;
    let payload = bench.prepare(&action);
    server.push(written(990));
    let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(receipt.remote_id, "comment:990");
    let sent = writes(&server);
    assert_eq!(sent[0].0, "POST 3/issue/10012/comment");
    assert_eq!(
        sent[0].1,
        json!({"parentId": 901, "properties": [{"key": "workagent.action", "value": {"id": KEY}}],
            "body": {"type": "doc", "version": 1, "content": [
                {"type": "paragraph", "content": [{"type": "text", "text": "No, "},
                    {"type": "text", "text": "not", "marks": [{"type": "strong"}]}, {"type": "text", "text": " "},
                    {"type": "text", "text": "it", "marks": [{"type": "code"}]}, {"type": "text", "text": "."}]},
                {"type": "bulletList", "content": [{"type": "listItem", "content": [
                    {"type": "paragraph", "content": [{"type": "text", "text": "@all"}]}]}]}]}})
    );
}

#[tokio::test]
async fn effects_come_first_and_only_what_is_not_so() {
    let (server, bench, action) =
        question("Done.", &["label: done", "label: start", "assign: Kim Lee", "transition: resolve"]).await;
    server.push(state("To Do"));
    server.push(Answer::new(204, ""));
    server.push(Answer::ok(json!([{"accountId": "kim-1", "displayName": "Kim Lee"}, {"accountId": "k2", "displayName": "Kim Leeds"}]).to_string()));
    server.push(Answer::new(204, ""));
    server.push(ways());
    server.push(Answer::new(204, ""));
    server.push(written(990));
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    let mut sent = writes(&server);
    assert_eq!(sent.pop().unwrap().0, "POST 3/issue/10012/comment");
    assert_eq!(
        sent,
        [
            ("PUT 3/issue/10012".to_owned(), json!({"update": {"labels": [{"add": "done"}]}})),
            ("PUT 3/issue/10012/assignee".to_owned(), json!({"accountId": "kim-1"})),
            ("POST 3/issue/10012/transitions".to_owned(), json!({"transition": {"id": "31"}})),
        ]
    );
}

#[tokio::test]
async fn a_transition_that_is_behind_us_is_no_fault() {
    // By the name of the status it leads to.
    let (server, bench, action) = question("", &["transition: Done"]).await;
    let payload = bench.prepare(&action);
    server.push(state("Done"));
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(writes(&server).len(), 0);
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    // By its own name, which is no longer offered: our own step is in the history.
    let (server, bench, action) = question("", &["transition: Resolve"]).await;
    let payload = bench.prepare(&action);
    server.push(state("To Do"));
    server.push(ways());
    server.push(Answer::cut_after_body());
    assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::NETWORK);
    let history = |author: &str| {
        Answer::ok(json!({"id": "10012", "fields": {"status": {"name": "Done"}}, "changelog": {"histories": [
            {"id": "1", "author": {"accountId": author}, "created": minute(0), "items": [{"field": "status", "to": "5"}]}]}}).to_string())
    };
    let none = || Answer::ok(r#"{"transitions":[]}"#);
    server.push(history("me-1"));
    server.push(none());
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(writes(&server).len(), 1);
    // Somebody else's step is not ours.
    server.push(history("kim-1"));
    server.push(none());
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent);
    assert!(
        chain(&error).ends_with("there is no transition Resolve from Done; there is: none"),
        "{}",
        chain(&error)
    );
}

#[tokio::test]
async fn a_lost_answer_is_looked_for_and_sent_once() {
    let lost = [
        Answer::cut_after_body(),
        Answer::new(502, "<html>"),
        Answer::ok("<html>").header("content-type", "text/html"),
    ];
    for lost in lost {
        let (server, bench, action) = question("Yes.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(lost);
        assert_eq!(
            bench.connector.deliver(&action, &payload).await.unwrap_err().class,
            ErrorClass::Uncertain
        );
        let mut there = comment(990, "me-1", 0, "Yes.");
        there["properties"] = writes(&server)[0].1["properties"].clone();
        let mut copied = comment(992, "kim-1", 1, "Yes.");
        copied["properties"] = there["properties"].clone();
        server.push(comments(&[copied, comment(991, "me-1", 1, "Other"), there]));
        let Confirmation::Sent(receipt) = bench.connector.confirm(&action, &payload, NOW).await.unwrap()
        else {
            panic!("not found")
        };
        assert_eq!(receipt.remote_id, "comment:990");
        assert_eq!(writes(&server).len(), 1);
        let asked = server.seen().pop().unwrap();
        assert_eq!(query(&asked, "expand").as_deref(), Some("properties"));
        assert_eq!(query(&asked, "orderBy").as_deref(), Some("-created"));
    }
}

#[tokio::test]
async fn a_server_that_keeps_no_properties_is_known_by_our_words() {
    let (server, bench, action) = question("Yes, **at once**.", &[]).await;
    let payload = bench.prepare(&action);
    let mut there = comment(990, "me-1", 0, "");
    there["body"] = serde_json::from_slice::<Json>(&payload.bytes).unwrap()["body"].clone();
    server.push(comments(&[there]));
    assert!(matches!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::Sent(_)));
}

#[tokio::test]
async fn what_never_left_is_sent_again_and_chatter_is_for_a_person() {
    let (server, bench, action) = question("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    server.push(Answer::cut_before_body());
    assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::Uncertain);
    let none = || comments(&[comment(1, "kim-1", 0, "Older")]);
    server.push(none());
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::AskAgain);
    bench.clock.advance(Duration::from_secs(30));
    server.push(none());
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    for _ in 0..5 {
        server.push(comments(&(0..100).map(|id| comment(id, "kim-1", 5, "chatter")).collect::<Vec<_>>()));
    }
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::CannotTell);
}

#[tokio::test]
async fn refusals_say_why_in_the_servers_words() {
    let (server, bench, action) = question("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    for (status, class) in [
        (400, ErrorClass::Permanent),
        (403, ErrorClass::Permanent),
        (404, ErrorClass::Permanent),
        (413, ErrorClass::Permanent),
        (401, ErrorClass::Auth),
    ] {
        server.push(Answer::new(status, r#"{"errorMessages":[],"errors":{"comment":"no"}}"#));
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, class);
        assert!(chain(&error).ends_with("comment no"), "{}", chain(&error));
    }
}

#[tokio::test]
async fn nothing_that_cannot_be_is_prepared() {
    let (_, bench, action) = question("Yes.", &[]).await;
    let no = |action: &OutboundAction| {
        let error = bench.connector.prepare(action, NOW).unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
        chain(&error)
    };
    assert!(no(&OutboundAction { body: String::new(), ..action.clone() }).ends_with("it is empty"));
    let long = OutboundAction { body: "ü".repeat(32_768), ..action.clone() };
    assert!(no(&long).ends_with("Jira's bound"), "{}", no(&long));
    for (effect, why) in [("label: two words", "no blanks"), ("close", "nothing that can be done")] {
        let mut with = action.clone();
        with.envelope.effects = vec![Effect::parse(effect)];
        assert!(no(&with).contains(why), "{}", no(&with));
    }
}

#[tokio::test]
async fn data_center_speaks_version_2_and_wiki_markup() {
    let server =
        HttpServer::start([Answer::ok(r#"{"key":"JIRAUSER1","name":"me","displayName":"My Self"}"#)]);
    let mut asked = issue(1, 5);
    asked["fields"]["assignee"] = json!({"key": "JIRAUSER1", "name": "me"});
    let page = |issues: &[Json]| Answer::ok(json!({"startAt": 0, "total": 7, "issues": issues}).to_string());
    server.push(page(&[asked.clone()]));
    server.push(Answer::ok(
        json!({"comments": [{"id": "5", "author": {"key": "K", "name": "kim", "displayName": "Kim"},
        "body": "[~me] h1. ready?", "created": minute(5)}]})
        .to_string(),
    ));
    server.push(page(&[]));
    let keys =
        [("url", text(&server.url("/jira"))), ("token", secret()), ("deployment", text("data-center"))];
    let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
        .backlog(Backlog::Since(Duration::from_secs(86_400)));
    let polled = bench.poll().await.unwrap();
    assert!(polled.items[0].body.starts_with("[~me] h1. ready?"));
    let seen = server.seen();
    assert_eq!(seen[1].header("authorization"), Some("Bearer CANARY-secret-1"));
    let starts: Vec<Option<String>> = seen
        .iter()
        .filter(|seen| seen.target.starts_with("/jira/rest/api/2/search?"))
        .map(|seen| query(seen, "startAt"))
        .collect();
    assert_eq!(starts, [Some("0".to_owned()), Some("1".to_owned())]);
    let action =
        OutboundAction { sending_at: Some(NOW), ..bench.reply(&polled.items[0], 7, "**Yes**, [~kim]") };
    let payload = bench.prepare(&action);
    server.push(Answer::cut_after_body());
    assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::Uncertain);
    let sent: Json = serde_json::from_slice(server.seen().last().unwrap().body.as_ref().unwrap()).unwrap();
    assert_eq!(sent, json!({ "body": format!("*Yes*, \\[~kim\\]\n{{anchor:{KEY}}}") }));
    server.push(Answer::ok(
        json!({"comments": [{"id": "9", "author": {"key": "JIRAUSER1"}, "created": minute(0),
        "body": sent["body"].as_str().unwrap().replace('\n', "\r\n")}]})
        .to_string(),
    ));
    assert!(matches!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::Sent(_)));
}

#[tokio::test]
async fn the_probe_says_who_and_where() {
    let server = HttpServer::start([myself(), found(&[issue(1, 5)], Some("more"))]);
    let said = bench(&server).connector.probe().await.unwrap();
    assert!(
        said.starts_with("My Self at 127.0.0.1:")
            && said.ends_with(" as me@example.org, 1 and more issues found"),
        "{said}"
    );
}
