//! The HTTP room against a scripted server: which errors are definite, where credentials go, what is bounded.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use workagent::daemon::logging::{LogOptions, LogTarget, subscriber};
use workagent::http::{Credentials, HttpRequest, HttpResponse, HttpRoom, timed_out};
use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::time::{Clock, Timestamp};
use workagent::secret::{Scrubber, SecretValue};

use crate::support::http::{Answer, HttpServer};

const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn get(url: &str) -> HttpRequest {
    HttpRequest::get(url.parse().unwrap())
}

fn post(url: &str) -> HttpRequest {
    HttpRequest::post_json(url.parse().unwrap(), &serde_json::json!({ "body": "Thank you." }))
}

fn bearer() -> Option<Credentials> {
    Some(Credentials::Bearer(SecretValue::new("CANARY-token-1".into())))
}

async fn send(request: HttpRequest) -> Result<HttpResponse, PortError> {
    HttpRoom::default().send(request).await
}

/// A port where nobody listens.
fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

#[tokio::test]
async fn says_who_we_are() {
    let server = HttpServer::start([Answer::ok("hello")]);
    let response = send(get(&server.url("/"))).await.unwrap();
    assert_eq!(response.body, b"hello");
    let expected = format!("workagent/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(server.seen()[0].header("user-agent"), Some(expected.as_str()));
}

#[tokio::test]
async fn a_write_that_never_left_is_a_definite_failure() {
    let error = send(post(&closed_port())).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
    assert!(chain(&error).contains("cannot connect: Connection refused"), "{}", chain(&error));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_a_definite_failure() {
    let error = send(post("http://nobody.invalid/")).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK, "{}", chain(&error));
}

#[tokio::test]
async fn no_tls_on_the_other_side_is_a_definite_failure() {
    let server = HttpServer::start([Answer::ok("")]);
    let error = send(post(&server.url("/").replace("http:", "https:"))).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_uncertain_and_not_repeated() {
    for answer in [Answer::cut_before_body(), Answer::cut_after_body(), Answer::ok("{}").cut_in_answer()] {
        let server = HttpServer::start([answer]);
        let error = send(post(&server.url("/"))).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Uncertain, "{}", chain(&error));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_read_whose_answer_was_lost_may_be_tried_again() {
    for answer in [Answer::cut_after_body(), Answer::ok("{}").cut_in_answer()] {
        let server = HttpServer::start([answer]);
        assert_eq!(send(get(&server.url("/"))).await.unwrap_err().class, ErrorClass::NETWORK);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_late_answer_to_a_write_is_uncertain() {
    let server = HttpServer::start([Answer::ok("{}").late()]);
    let error = send(post(&server.url("/")).total(Duration::from_millis(100))).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Uncertain);
    assert!(timed_out(&error));
}

#[tokio::test]
async fn an_error_status_is_an_answer_and_its_class_depends_on_the_request() {
    let server = HttpServer::always(Answer::new(500, "oops"));
    assert_eq!(send(get(&server.url("/"))).await.unwrap().status, 500);
    let read = send(get(&server.url("/"))).await.unwrap().into_ok(NOW).unwrap_err();
    let write = send(post(&server.url("/"))).await.unwrap().into_ok(NOW).unwrap_err();
    assert_eq!((read.class, write.class), (ErrorClass::NETWORK, ErrorClass::Uncertain));
}

#[tokio::test]
async fn come_back_later_does_not_say_that_nothing_was_done() {
    let class = async |status: u16, request: fn(&str) -> HttpRequest| {
        let server = HttpServer::start([Answer::new(status, "").header("Retry-After", "20")]);
        send(request(&server.url("/"))).await.unwrap().into_ok(NOW).unwrap_err().class
    };
    let limited = ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(20)) };
    assert_eq!(class(503, post).await, ErrorClass::Uncertain);
    assert_eq!(class(503, get).await, limited);
    assert_eq!(class(429, post).await, limited);
}

#[tokio::test]
async fn a_web_page_is_not_json() {
    let page = Answer::ok("<html>please log in</html>").header("Content-Type", "text/html; charset=utf-8");
    let server = HttpServer::always(page);
    let read = send(get(&server.url("/"))).await.unwrap().json::<serde_json::Value>().unwrap_err();
    let write = send(post(&server.url("/"))).await.unwrap().json::<serde_json::Value>().unwrap_err();
    assert_eq!((read.class, write.class), (ErrorClass::NETWORK, ErrorClass::Uncertain));
}

#[tokio::test]
async fn follows_redirects_of_a_read_and_knows_the_lasting_ones() {
    let server = HttpServer::start([
        Answer::new(301, "").header("Location", "/new"),
        Answer::new(302, "").header("Location", "/today"),
        Answer::ok("here"),
    ]);
    let response = send(get(&server.url("/old")).credentials(bearer())).await.unwrap();
    assert_eq!(response.final_url.path(), "/today");
    assert_eq!(response.moved_to.unwrap().path(), "/new");
    assert!(server.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer CANARY-token-1")));
}

#[tokio::test]
async fn credentials_do_not_cross_an_origin_and_do_not_come_back() {
    let home = HttpServer::start([]);
    let other = HttpServer::start([]);
    for credentials in [
        bearer(),
        Some(Credentials::Basic { user: "me".into(), password: SecretValue::new("CANARY".into()) }),
        Some(Credentials::Header("private-token".parse().unwrap(), SecretValue::new("CANARY".into()))),
    ] {
        home.push(Answer::new(302, "").header("Location", &other.url("/away")));
        home.push(Answer::ok("done"));
        other.push(Answer::new(302, "").header("Location", &home.url("/back")));
        assert_eq!(send(get(&home.url("/")).credentials(credentials)).await.unwrap().body, b"done");
    }
    let shown = |seen: crate::support::http::Seen| {
        let given = seen.header("authorization").or(seen.header("private-token")).is_some();
        format!("{} {given}", seen.target)
    };
    assert_eq!(home.seen().into_iter().map(shown).collect::<Vec<_>>(), ["/ true", "/back false"].repeat(3));
    assert_eq!(other.seen().into_iter().map(shown).collect::<Vec<_>>(), ["/away false"; 3]);
}

#[tokio::test]
async fn a_write_follows_what_says_that_it_belongs_elsewhere_on_the_same_server() {
    for status in [307, 308] {
        let server = HttpServer::start([
            Answer::new(status, "").header("Location", "/elsewhere"),
            Answer::new(201, "{}"),
        ]);
        send(post(&server.url("/"))).await.unwrap().into_ok(NOW).unwrap();
        let seen = server.seen();
        let shown: Vec<_> = seen.iter().map(|seen| (seen.method.as_str(), seen.target.as_str())).collect();
        assert_eq!(shown, [("POST", "/"), ("POST", "/elsewhere")]);
        assert_eq!(seen[0].body, seen[1].body);
    }
}

#[tokio::test]
async fn a_write_goes_to_no_other_server_and_follows_nothing_that_may_have_acted() {
    let other = HttpServer::always(Answer::new(201, "{}"));
    for (status, class) in [(307, ErrorClass::Config), (308, ErrorClass::Config)] {
        let server = HttpServer::start([Answer::new(status, "").header("Location", &other.url("/"))]);
        let error = send(post(&server.url("/"))).await.unwrap_err();
        assert_eq!(error.class, class, "{status}");
        assert!(chain(&error).contains("nothing was sent there"), "{}", chain(&error));
    }
    let uncertain = ErrorClass::Uncertain;
    for (status, class) in [(301, ErrorClass::Config), (302, uncertain), (303, uncertain)] {
        let server = HttpServer::start([Answer::new(status, "").header("Location", "/elsewhere")]);
        let error = send(post(&server.url("/"))).await.unwrap().into_ok(NOW).unwrap_err();
        assert_eq!(error.class, class, "{status}");
        assert!(chain(&error).contains("it has moved to http://127.0.0.1:"), "{}", chain(&error));
        assert_eq!(server.seen().len(), 1);
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let server = HttpServer::always(Answer::new(301, "").header("Location", "/again?key=CANARY"));
    let error = send(get(&server.url("/"))).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
    assert_eq!(server.seen().len(), 6);
    assert!(!chain(&error).contains("CANARY"), "{}", chain(&error));
}

#[tokio::test]
async fn redirects_out_of_http_are_refused() {
    for target in ["file:///etc/passwd", "gopher://127.0.0.1/", "http://"] {
        let server = HttpServer::start([Answer::new(302, "").header("Location", target)]);
        let error = send(get(&server.url("/"))).await.unwrap_err();
        assert!(chain(&error).contains("the server redirects to something"), "{}", chain(&error));
    }
}

#[tokio::test]
async fn a_credential_is_not_sent_in_the_clear() {
    let error = send(get("http://192.0.2.1/").credentials(bearer())).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config);
}

#[tokio::test]
async fn the_cap_counts_what_a_zip_bomb_becomes() {
    // 2 MB of zeros in some 2 kB.
    let bomb = std::fs::read("tests/fixtures/http/zeros.gz").unwrap();
    assert!(bomb.len() < 4096);
    let server = HttpServer::always(Answer::ok(bomb).header("Content-Encoding", "gzip"));
    let error = send(get(&server.url("/")).body_bytes_max(1 << 20)).await.unwrap_err();
    assert!(chain(&error).contains("larger than 1 MB"), "{}", chain(&error));
    assert_eq!(send(get(&server.url("/")).body_bytes_max(4 << 20)).await.unwrap().body.len(), 2_000_000);
}

#[tokio::test]
async fn errors_show_no_key() {
    let url = closed_port().replace("http://", "http://me:CANARY@") + "feed?key=CANARY";
    let error = send(get(&url)).await.unwrap_err();
    assert!(!chain(&error).contains("CANARY") && !format!("{error:?}").contains("CANARY"), "{error:?}");
    let server = HttpServer::always(Answer::new(410, "you sent key=CANARY"));
    let error = send(get(&server.url("/f?key=CANARY"))).await.unwrap().into_ok(NOW).unwrap_err();
    assert!(!format!("{error:?}").contains("CANARY"), "{error:?}");
}

/// Without the masking of the daemon's own log: the libraries must not print them in the first place.
#[tokio::test]
async fn the_most_talkative_log_shows_no_key() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&log);
    let target = LogTarget::Text { colour: false };
    // Knows no value.
    let scrubber = Scrubber::new();
    let options = LogOptions { filter: "trace".to_owned(), target, clock: Clock::system(), scrubber };
    let write = move |line: &[u8]| into.lock().unwrap().extend_from_slice(line);
    let (_, subscriber) = subscriber(&options, write).unwrap();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = HttpServer::always(Answer::ok("x"));
    let password = SecretValue::new("CANARY-password".into());
    for credentials in [bearer(), Some(Credentials::Basic { user: "me".into(), password })] {
        send(get(&server.url("/feed?key=CANARY")).credentials(credentials)).await.unwrap();
    }
    send(get(&(closed_port() + "feed?key=CANARY"))).await.unwrap_err();
    drop(guard);
    let text = String::from_utf8_lossy(&log.lock().unwrap()).into_owned();
    assert!(text.contains("hyper"), "nothing was logged, so nothing was tried");
    assert!(!text.contains("CANARY"), "{text}");
}

#[tokio::test]
async fn a_stream_gives_pieces_as_they_come() {
    let server = HttpServer::start([Answer::ok("onetwo").pieces(3)]);
    let room = HttpRoom::default();
    let mut stream = room.stream(post(&server.url("/")).reading(), Duration::from_secs(30)).await.unwrap();
    assert_eq!(stream.status, 200);
    assert_eq!(stream.body.next().await.unwrap().unwrap(), "one");
    server.release();
    assert_eq!(stream.body.next().await.unwrap().unwrap(), "two");
    assert!(stream.body.next().await.is_none());
}

#[tokio::test]
async fn a_silent_stream_ends_in_an_error() {
    let server = HttpServer::start([Answer::ok("onetwo").pieces(3)]);
    let room = HttpRoom::default();
    let mut stream = room.stream(post(&server.url("/")).reading(), Duration::from_millis(100)).await.unwrap();
    assert_eq!(stream.body.next().await.unwrap().unwrap(), "one");
    let error = stream.body.next().await.unwrap().unwrap_err();
    assert!(timed_out(&error));
    assert!(stream.body.next().await.is_none());
}

#[tokio::test]
async fn a_stream_is_bounded() {
    let server = HttpServer::start([Answer::ok(vec![b'x'; 5000])]);
    let room = HttpRoom::default();
    let request = post(&server.url("/")).reading().body_bytes_max(1000);
    let stream = room.stream(request, Duration::from_secs(30)).await.unwrap();
    let pieces = stream.body.collect::<Vec<_>>().await;
    assert!(pieces.last().unwrap().is_err());
}
