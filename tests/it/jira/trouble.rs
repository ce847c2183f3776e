//! Limits, refusals, answers that are none.

use super::*;

async fn refused(answer: Answer) -> (PortError, HttpServer, Bench) {
    let server = HttpServer::start([myself(), answer]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let error = bench.poll().await.unwrap_err();
    (error, server, bench)
}

#[tokio::test]
async fn limits_of_each_kind() {
    let wait_s = async |answer: Answer| {
        let (error, server, mut bench) = refused(answer).await;
        let ErrorClass::RateLimited { until } = error.class else { panic!("{:?}", error.class) };
        assert!(matches!(bench.poll().await.unwrap_err().class, ErrorClass::RateLimited { .. }));
        assert_eq!(server.seen().len(), 2, "the account rests");
        (until.since(NOW).as_secs(), chain(&error))
    };
    let limit = || Answer::new(429, r#"{"errorMessages":["Rate limit exceeded."],"errors":{}}"#);
    let reason = limit().header("retry-after", "7").header("ratelimit-reason", "jira-burst-based");
    let (wait, said) = wait_s(reason).await;
    assert_eq!(wait, 7);
    assert!(said.ends_with("Rate limit exceeded. (jira-burst-based)"), "{said}");
    let reset = limit().header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "2026-11-30T08:05Z");
    assert_eq!(wait_s(reset).await.0, 300);
    assert_eq!(wait_s(limit()).await.0, 60);
    assert_eq!(wait_s(Answer::new(503, "<html>").header("retry-after", "30")).await.0, 30);
}

#[tokio::test]
async fn a_refused_token_as_a_web_page_and_a_new_one() {
    let server =
        HttpServer::start(
            [Answer::new(401, "<html>Unauthorized</html>").header("content-type", "text/html")],
        );
    let mut bench = bench(&server);
    let error = bench.poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(!chain(&error).contains("CANARY"));
    server.push(myself());
    server.push(found(&[], None));
    bench.poll().await.unwrap();
}

#[tokio::test]
async fn the_old_search_is_gone_on_cloud() {
    let gone = r#"{"errorMessages":["The requested API has been removed. Please migrate to /rest/api/3/search/jql."]}"#;
    let server = HttpServer::start([myself(), Answer::new(410, gone)]);
    let keys = [("url", text(&server.url(""))), ("token", secret()), ("deployment", text("data-center"))];
    let error = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys).poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config);
    assert!(chain(&error).ends_with("this is Jira Cloud: set `deployment = \"cloud\"`"), "{}", chain(&error));
}

#[tokio::test]
async fn answers_that_are_none_take_nothing_away() {
    let html = Answer::ok("<html>Log in</html>").header("content-type", "text/html");
    let (error, server, mut bench) = refused(html).await;
    assert_eq!(error.class, ErrorClass::NETWORK);
    for bad in [
        Answer::ok("{\"issues\": ["),
        Answer::ok("{}"),
        Answer::ok("[]"),
        Answer::new(500, ""),
        found(&[], None).cut_in_answer(),
    ] {
        server.push(bad);
        bench.poll().await.unwrap_err();
    }
    assert_eq!(bench.cursor, None);
    let bad = r#"{"errorMessages":["Field 'colour' does not exist."],"errors":{}}"#;
    let (error, ..) = refused(Answer::new(400, bad)).await;
    assert_eq!(error.class, ErrorClass::Permanent);
    assert!(chain(&error).ends_with("Field 'colour' does not exist."), "{}", chain(&error));
}

#[tokio::test]
async fn the_token_goes_to_no_other_host() {
    let other = HttpServer::always(found(&[], None));
    let (error, ..) =
        refused(Answer::new(302, "").header("location", &other.url("/rest/api/3/search/jql"))).await;
    assert_eq!(error.class, ErrorClass::Config);
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn comments_that_may_not_be_read_hold_up_nothing() {
    let no = Answer::new(
        404,
        r#"{"errorMessages":["Issue does not exist or you do not have permission to see it."]}"#,
    );
    let server = HttpServer::start([
        myself(),
        found(&[issue(1, 5), issue(2, 5)], None),
        no,
        comments(&[comment(5, "kim-1", 5, "x")]),
    ]);
    let polled = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400))).poll().await.unwrap();
    assert_eq!(
        (polled.new, polled.notes),
        (vec!["APP-2 S2".to_owned()], vec!["the comments of APP-1 cannot be read".to_owned()])
    );
}

#[tokio::test]
async fn what_was_read_before_a_limit_is_kept() {
    let server = HttpServer::start([
        myself(),
        found(&[issue(1, 5), issue(2, 5)], None),
        comments(&[comment(51, "kim-1", 5, "x")]),
        Answer::new(429, "").header("retry-after", "30"),
    ]);
    let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
    let first = bench.page().await.unwrap();
    assert_eq!((first.items.len(), first.more), (1, true));
    bench.page().await.unwrap_err();
    bench.clock.advance(Duration::from_secs(31));
    server.push(found(&[issue(1, 5), issue(2, 5)], None));
    server.push(comments(&[comment(52, "kim-1", 5, "x")]));
    assert_eq!(bench.poll().await.unwrap().new, ["APP-2 S2"]);
}

#[tokio::test]
async fn a_token_with_scopes_has_another_address() {
    let server = HttpServer::start([
        myself(),
        Answer::ok(r#"{"baseUrl":"https://example.atlassian.net"}"#),
        found(&[issue(1, 5)], None),
        comments(&[comment(5, "kim-1", 5, "x")]),
    ]);
    let base = server.url("/ex/jira/0a1b");
    let polled = with(&server, &[("url", text(&base))])
        .backlog(Backlog::Since(Duration::from_secs(86_400)))
        .poll()
        .await
        .unwrap();
    assert!(server.seen().iter().all(|seen| seen.target.starts_with("/ex/jira/0a1b/rest/api/3/")));
    assert_eq!(
        polled.items[0].url.as_deref(),
        Some("https://example.atlassian.net/browse/APP-1?focusedCommentId=5")
    );
}
