//! Limits, refusals, answers that are none.

use super::*;

async fn refused(answer: Answer) -> (PortError, HttpServer, Bench) {
    let server = HttpServer::start([user(), answer]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let error = bench.poll().await.unwrap_err();
    (error, server, bench)
}

fn wait_s(error: &PortError) -> u64 {
    let ErrorClass::RateLimited { until } = error.class else { panic!("{:?}", error.class) };
    until.since(NOW).as_secs()
}

#[tokio::test]
async fn limits_with_and_without_headers() {
    let limit = || Answer::new(429, "Retry later").header("content-type", "text/plain");
    let (error, server, mut bench) = refused(limit().header("retry-after", "90")).await;
    assert_eq!(wait_s(&error), 90);
    // Nothing is asked before, whatever is wanted.
    assert_eq!(wait_s(&bench.poll().await.unwrap_err()), 90);
    assert_eq!(server.seen().len(), 2);
    let reset = limit().header("ratelimit-remaining", "0").header("ratelimit-reset", "1796025720");
    assert_eq!(wait_s(&refused(reset).await.0), 120);
    assert_eq!(wait_s(&refused(limit()).await.0), 60);
}

#[tokio::test]
async fn a_refused_token_and_a_new_one() {
    let no = Answer::new(401, r#"{"error":"invalid_token","error_description":"Token was revoked."}"#);
    let (error, server, mut bench) = refused(no).await;
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(chain(&error).ends_with("401 Unauthorized: Token was revoked."), "{}", chain(&error));
    assert!(!chain(&error).contains("CANARY"));
    server.push(user());
    server.push(page(&[todo(1, 0)]));
    server.push(notes(&[]));
    assert_eq!(bench.poll().await.unwrap().new.len(), 1);
}

#[tokio::test]
async fn a_token_of_somebody_else() {
    let server = HttpServer::start([user()]);
    let error = with(&server, &[("user", text("@kim"))]).poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config);
    assert!(chain(&error).ends_with("the token belongs to me, and `user` says kim"), "{}", chain(&error));
}

#[tokio::test]
async fn answers_that_are_none_take_nothing_away() {
    let html = || Answer::ok("<html>Sign in</html>").header("content-type", "text/html; charset=utf-8");
    let (error, server, mut bench) = refused(html()).await;
    assert_eq!(error.class, ErrorClass::NETWORK);
    for bad in
        [Answer::ok("[{\"id\": 1"), Answer::ok("{}"), Answer::new(502, "<html>"), page(&[]).cut_in_answer()]
    {
        server.push(bad);
        bench.poll().await.unwrap_err();
    }
    assert_eq!(bench.cursor, None);
    server.push(page(&[todo(1, 0)]));
    server.push(notes(&[]));
    assert_eq!(bench.poll().await.unwrap().new.len(), 1);
}

#[tokio::test]
async fn the_token_goes_to_no_other_host() {
    let other = HttpServer::always(Answer::ok("[]"));
    let (error, _, _) =
        refused(Answer::new(302, "").header("location", &other.url("/gitlab/api/v4/todos"))).await;
    assert_eq!(error.class, ErrorClass::Config);
    let link = format!("<{}>; rel=\"next\"", other.url("/gitlab/api/v4/todos?page=2"));
    let (error, _, bench) = refused(Answer::ok(json!([todo(1, 0)]).to_string()).header("link", &link)).await;
    assert_eq!(error.class, ErrorClass::Config);
    assert_eq!(bench.cursor, None);
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn pages_by_link_where_no_number_is_given() {
    let server = HttpServer::start([user()]);
    let next = format!("<{}>; rel=\"next\"", server.url("/gitlab/api/v4/todos?state=pending&cursor=abc"));
    server.push(Answer::ok(json!([todo(2, 0)]).to_string()).header("link", &next));
    server.push(notes(&[]));
    // A server that names the same page again and again is not followed for ever.
    server.push(Answer::ok(json!([todo(1, 0)]).to_string()).header("link", &next));
    server.push(notes(&[]));
    let polled = bench(&server).backlog(Backlog::All).poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.pages), (2, 2));
    assert_eq!(asked(&server)[3], "GET todos?state=pending&cursor=abc");
}

#[tokio::test]
async fn what_was_read_before_a_limit_is_kept() {
    let server = HttpServer::start([
        user(),
        page(&[todo(2, 0), todo(1, 0)]),
        notes(&[]),
        Answer::new(429, "Retry later").header("retry-after", "30"),
    ]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let first = bench.page().await.unwrap();
    assert_eq!((first.items.len(), first.more), (1, true));
    assert_eq!(wait_s(&bench.page().await.unwrap_err()), 30);
    bench.clock.advance(std::time::Duration::from_secs(31));
    server.push(page(&[todo(2, 0), todo(1, 0)]));
    server.push(notes(&[]));
    assert_eq!(bench.poll().await.unwrap().new, ["T2 (acme/app#2)"]);
}

#[tokio::test]
async fn a_thing_that_may_not_be_read_is_told_and_holds_up_nothing() {
    let no = Answer::new(404, r#"{"message":"404 Not found"}"#);
    let server = HttpServer::start([user(), page(&[todo(2, 0), todo(1, 0)]), no, notes(&[])]);
    let polled = bench(&server).backlog(Backlog::All).poll().await.unwrap();
    let ReplyWay::Nowhere { reason } = &item(&polled, "todo:1").reply else { panic!() };
    assert!(reason.contains("404 Not Found: 404 Not found"), "{reason}");
    assert_eq!(polled.new.len(), 2);
}
