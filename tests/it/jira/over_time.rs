//! What changes between two looks.

use super::*;

#[tokio::test]
async fn relative_minutes_and_never_a_date() {
    // The server's clock is two minutes ahead, and the account's zone is not ours.
    let server =
        HttpServer::start([myself().header("date", "Mon, 30 Nov 2026 08:02:00 GMT"), found(&[], None)]);
    let mut bench = bench(&server);
    let first = bench.poll().await.unwrap();
    assert!(first.notes.iter().any(|note| note.contains("clock")), "{:?}", first.notes);
    bench.clock.advance(Duration::from_secs(600));
    server.push(found(&[issue(1, 5)], None));
    server.push(comments(&[comment(50, "kim-1", 5, "New")]));
    assert_eq!(bench.poll().await.unwrap().new, ["APP-1 S1"]);
    bench.clock.advance(Duration::from_secs(3600));
    server.push(found(&[issue(1, 5)], None));
    assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    let mine = "(assignee = currentUser() OR reporter = currentUser() OR watcher = currentUser())";
    let expected =
        [15, 25, 82].map(|minutes| format!("{mine} AND updated >= \"-{minutes}m\" ORDER BY updated ASC"));
    assert_eq!(jqls(&server), expected);
}

#[tokio::test]
async fn what_was_there_is_no_work() {
    let server = HttpServer::start([myself(), found(&[issue(1, 0)], None)]);
    let mut bench = bench(&server);
    assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    server.push(found(&[issue(1, 5)], None));
    let old = json!({"id": "40", "author": {"accountId": "kim-1"}, "created": "2026-11-30T07:59:00.000+0000", "body": null});
    server.push(comments(&[comment(50, "kim-1", 5, "New"), old]));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.items[0].key.as_str()), (1, "comment:50"));
}

#[tokio::test]
async fn three_pages_with_a_tie_at_the_border() {
    let server = HttpServer::start([myself()]);
    for (issues, token) in [([1, 2], Some("a")), ([3, 4], Some("b")), ([4, 5], None)] {
        server.push(found(&issues.map(|id| issue(id, 5)), token));
        for id in issues.into_iter().filter(|id| (*id, token) != (4, None)) {
            server.push(comments(&[comment(100 + id, "kim-1", 5, "x")]));
        }
    }
    let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.pages), (5, 3));
    let tokens: Vec<Option<String>> = server
        .seen()
        .iter()
        .filter(|seen| seen.target.contains("/search/jql"))
        .map(|seen| query(seen, "nextPageToken"))
        .collect();
    assert_eq!(tokens, [None, Some("a".to_owned()), Some("b".to_owned())]);
    // The same once more, as the look-back finds it: one request.
    let before = server.seen().len();
    server.push(found(&[1, 2, 3, 4, 5].map(|id| issue(id, 5)), None));
    assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    assert_eq!(server.seen().len(), before + 1);
}

#[tokio::test]
async fn what_the_index_finds_late_is_not_lost() {
    let server =
        HttpServer::start([myself(), found(&[issue(2, 9)], None), comments(&[comment(52, "kim-1", 9, "b")])]);
    let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
    bench.poll().await.unwrap();
    // Changed before the other, and found after it.
    server.push(found(&[issue(1, 3), issue(2, 9)], None));
    server.push(comments(&[comment(51, "kim-1", 3, "a")]));
    assert_eq!(bench.poll().await.unwrap().new, ["APP-1 S1"]);
}

#[tokio::test]
async fn a_position_given_twice_and_one_no_longer_known() {
    let server = HttpServer::start([myself(), found(&[], Some("a")), found(&[], Some("a"))]);
    let mut bench = bench(&server);
    let polled = bench.poll().await.unwrap();
    assert_eq!(polled.pages, 2);
    assert!(polled.notes[0].contains("the same page"), "{:?}", polled.notes);
    server.push(found(&[], Some("b")));
    let no = r#"{"errorMessages":["The page token is invalid or expired."],"errors":{}}"#;
    server.push(Answer::new(400, no));
    server.push(found(&[], None));
    let polled = bench.poll().await.unwrap();
    assert!(polled.notes[0].contains("begins anew"), "{:?}", polled.notes);
    // Again and again is a fault.
    server.push(found(&[], Some("b")));
    server.push(Answer::new(400, no));
    server.push(found(&[], Some("c")));
    server.push(Answer::new(400, no));
    assert_eq!(bench.poll().await.unwrap_err().class, ErrorClass::Permanent);
}

#[tokio::test]
async fn edits_assignments_and_own_comments() {
    let server = HttpServer::start([myself(), found(&[], None)]);
    let mut bench = bench(&server);
    bench.poll().await.unwrap();
    let mut ours = comment(51, "me-1", 6, "Sent for me");
    ours["properties"] = json!([{"key": "workagent.action", "value": {"id": KEY}}]);
    let mut theirs = comment(53, "kim-1", 6, "With a mark like ours");
    theirs["properties"] = ours["properties"].clone();
    let mut assigned = issue(1, 6);
    assigned["changelog"] = json!({"histories": [
        {"id": "9", "author": {"accountId": "kim-1", "displayName": "Kim"}, "created": minute(6),
            "items": [{"field": "assignee", "to": "me-1"}]},
        {"id": "8", "author": {"accountId": "me-1"}, "created": minute(6), "items": [{"field": "assignee", "to": "me-1"}]}]});
    server.push(found(&[assigned], None));
    let said = [theirs, comment(52, "me-1", 6, "Typed"), ours, comment(50, "kim-1", 5, "Old")];
    server.push(comments(&said));
    let polled = bench.poll().await.unwrap();
    let own: Vec<&str> = polled
        .items
        .iter()
        .filter(|item| item.disposition == Disposition::Own)
        .map(|item| item.key.as_str())
        .collect();
    assert_eq!(own, ["comment:51", "comment:52"]);
    assert!(item(&polled, "change:9").body.starts_with("[Kim assigned it to you]"));
    assert_eq!(polled.new.len(), 3);
    server.push(found(&[issue(1, 7)], None));
    server.push(comments(&[comment(50, "kim-1", 5, "Old, and better")]));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.updated.len()), (0, 1));
}

#[tokio::test]
async fn a_small_page_takes_more_turns_and_loses_nothing() {
    let server = HttpServer::start([myself()]);
    let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
    bench.items_max = 2;
    let said = |id: u64| comments(&[comment(2 * id, "kim-1", 5, "x"), comment(2 * id + 1, "kim-1", 5, "y")]);
    for known in 0..3 {
        server.push(found(&[1, 2, 3].map(|id| issue(id, 5)), None));
        // The next one is read, and kept only if there is room.
        (known + 1..=3).take(2).for_each(|id| server.push(said(id)));
    }
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.pages), (6, 3));
}
