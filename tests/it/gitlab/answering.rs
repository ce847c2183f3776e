//! Answers: what goes out, and what becomes of one that got lost.

use super::*;

fn written(id: u64) -> Answer {
    Answer::new(201, json!({"id": id, "type": null}).to_string())
}

/// An answer to the mention in the fixtures.
async fn mention(body: &str, effects: &[&str]) -> (HttpServer, Bench, OutboundAction) {
    let (server, bench, polled) = fixtures().await;
    let mut action = bench.reply(item(&polled, "todo:101"), 7, body);
    action.envelope.effects = effects.iter().map(|text| Effect::parse(text)).collect();
    action.sending_at = Some(NOW);
    (server, bench, action)
}

fn sent(server: &HttpServer) -> Vec<(String, Json)> {
    let writes = server.seen().into_iter().filter(|seen| seen.method != "GET");
    let body =
        |seen: &Seen| serde_json::from_slice(seen.body.as_deref().unwrap_or(b"null")).unwrap_or_default();
    writes.map(|seen| (seen.target.replace("/gitlab/api/v4/projects/2", ""), body(&seen))).collect()
}

#[tokio::test]
async fn in_the_thread_it_came_from() {
    let (server, bench, action) = mention("No, @pat.\n/close\n@all @acme/tools", &[]).await;
    let payload = bench.prepare(&action);
    server.push(written(900));
    let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(receipt.remote_id, "note:900");
    let body =
        "No, @pat.\n\\/close\n@\u{200b}all @\u{200b}acme/tools\n\n<!-- workagent:wa-7-0123456789abcdef -->\n";
    assert_eq!(sent(&server), [("/issues/12/discussions/aa1/notes".to_owned(), json!({ "body": body }))]);
}

#[tokio::test]
async fn effects_come_first_and_only_what_is_not_so() {
    let (server, bench, action) =
        mention("Done.", &["label: done", "label: bug", "unlabel: start", "assign: pat", "close"]).await;
    server.push(Answer::ok(
        json!({"state": "opened", "labels": ["bug", "start"], "assignees": [{"id": 7}]}).to_string(),
    ));
    server.push(Answer::ok(json!([{"id": 13, "username": "pat"}]).to_string()));
    server.push(Answer::ok("{}"));
    server.push(written(900));
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    let sent = sent(&server);
    assert_eq!(sent[0].0, "/issues/12");
    assert_eq!(
        sent[0].1,
        json!({"add_labels": "done", "remove_labels": "start", "assignee_ids": [13, 7], "state_event": "close"})
    );
    assert_eq!(sent[1].0, "/issues/12/discussions/aa1/notes");
}

#[tokio::test]
async fn effects_alone_twice_do_nothing_twice() {
    let (server, bench, action) = mention("", &["close"]).await;
    let payload = bench.prepare(&action);
    server.push(Answer::ok(json!({"state": "opened"}).to_string()));
    server.push(Answer::cut_after_body());
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK, "a change that may be so already is tried again");
    server.push(Answer::ok(json!({"state": "closed"}).to_string()));
    bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(sent(&server).len(), 1);
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
}

#[tokio::test]
async fn nobody_by_that_name_is_a_definite_no() {
    let (server, bench, action) = mention("Done.", &["assign: nobody"]).await;
    server.push(Answer::ok(json!({"state": "opened"}).to_string()));
    server.push(Answer::ok("[]"));
    let payload = bench.prepare(&action);
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent);
    assert_eq!(sent(&server).len(), 0);
}

#[tokio::test]
async fn a_lost_answer_is_looked_for_and_sent_once() {
    for lost in [
        Answer::cut_after_body(),
        Answer::new(502, "<html>"),
        Answer::ok("<html>").header("content-type", "text/html"),
    ] {
        let (server, bench, action) = mention("Yes.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(lost);
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Uncertain);
        // The note is there, with its line ends changed, behind newer ones of others.
        let body = sent(&server)[0].1["body"].as_str().unwrap().replace('\n', "\r\n");
        server.push(notes(&[note(902, 12, 1, &body), note(901, 7, 1, "Other"), note(900, 7, 0, &body)]));
        let Confirmation::Sent(receipt) = bench.connector.confirm(&action, &payload, NOW).await.unwrap()
        else {
            panic!("not found")
        };
        assert_eq!(receipt.remote_id, "note:900");
        assert_eq!(sent(&server).len(), 1);
        assert!(asked(&server).last().unwrap().contains("notes?sort=desc&order_by=created_at&per_page=100"));
    }
}

#[tokio::test]
async fn what_never_left_is_sent_again() {
    let (server, bench, action) = mention("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    server.push(Answer::cut_before_body());
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Uncertain);
    let none = || notes(&[note(899, 12, 0, "Older")]);
    server.push(none());
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::AskAgain);
    bench.clock.advance(std::time::Duration::from_secs(30));
    server.push(none());
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
}

#[tokio::test]
async fn where_too_much_was_said_since_a_person_decides() {
    let (server, bench, action) = mention("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    for _ in 0..5 {
        server.push(notes(&(0..100).map(|id| note(1000 + id, 12, 5, "chatter")).collect::<Vec<_>>()));
    }
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::CannotTell);
}

#[tokio::test]
async fn refusals_say_why_in_the_servers_words() {
    for (answer, class, words) in [
        (
            Answer::new(400, r#"{"message":{"note":["is too long"]}}"#),
            ErrorClass::Permanent,
            "note is too long",
        ),
        (Answer::new(403, r#"{"error":"insufficient_scope"}"#), ErrorClass::Permanent, "insufficient_scope"),
        (Answer::new(404, r#"{"message":["a","b"]}"#), ErrorClass::Permanent, "a; b"),
        (Answer::new(401, r#"{"message":"401 Unauthorized"}"#), ErrorClass::Auth, "401 Unauthorized"),
    ] {
        let (server, bench, action) = mention("Yes.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(answer);
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, class);
        assert!(chain(&error).ends_with(words), "{}", chain(&error));
    }
}

#[tokio::test]
async fn a_limit_on_notes_is_no_doubt() {
    let (server, bench, action) = mention("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    server.push(Answer::new(
        429,
        r#"{"message":{"error":"This endpoint has been requested too many times."}}"#,
    ));
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::RateLimited { until: NOW.plus(std::time::Duration::from_secs(60)) });
}

#[tokio::test]
async fn nothing_that_cannot_be_is_prepared() {
    let (_, bench, action) = mention("Yes.", &[]).await;
    let no = |action: &OutboundAction| {
        let error = bench.connector.prepare(action, NOW).unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
        chain(&error)
    };
    assert!(no(&OutboundAction { body: " \n".into(), ..action.clone() }).ends_with("it is empty"));
    let long = OutboundAction { body: "ü".repeat(1_000_001), ..action.clone() };
    assert!(no(&long).ends_with("GitLab's bound"), "{}", no(&long));
    let mut merge = action.clone();
    merge.envelope.effects = vec![Effect::plain("merge")];
    assert!(no(&merge).contains("`merge` is nothing that can be done here"));
    let mut lost = action;
    lost.envelope.thread = Json::Null;
    assert!(no(&lost).contains("where it belongs"));
}

#[tokio::test]
async fn the_item_is_marked_done_only_where_that_is_wanted() {
    let (server, bench, action) = mention("Yes.", &[]).await;
    let payload = bench.prepare(&action);
    server.push(written(900));
    let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
    let before = server.seen().len();
    bench.connector.delivered(&action, &payload, &receipt).await.unwrap();
    assert_eq!(server.seen().len(), before);
    let marking = with(&server, &[("mark_done", workagent::unit::value::Value::Bool(true))]);
    server.push(Answer::ok("{}"));
    marking.connector.delivered(&action, &payload, &receipt).await.unwrap();
    assert_eq!(asked(&server).last().unwrap(), "POST todos/101/mark_as_done");
}

#[tokio::test]
async fn the_probe_says_who_and_where() {
    let server = HttpServer::start([user(), page(&[todo(1, 0)])]);
    let said = bench(&server).connector.probe().await.unwrap();
    assert!(
        said.starts_with("me at 127.0.0.1:") && said.ends_with("/gitlab, 1 to-do items pending"),
        "{said}"
    );
}
