//! The control socket with real connections: who gets in, what bad requests come to, what the client says.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::extract::Query;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use workagent::control::client::{Client, ClientError};
use workagent::control::listener::ControlListener;
use workagent::control::server::{Fault, serve};
use workagent::control::wire::{ApiError, Hello};
use workagent::model::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_CONNECTIONS_MAX, CONTROL_DRAIN};
use workagent::secret::{Scrubber, SecretValue};

const CANARY: &str = "canary-0123456789";

/// A server in its own directory.
struct Bench {
    root: tempfile::TempDir,
    stop: CancellationToken,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
struct Count {
    count: usize,
}

fn router() -> Router {
    Router::new()
        .route("/hello", get(|| async { Json(Hello::ours()) }))
        .route("/echo", post(|Json(echo): Json<Echo>| async { Json(echo) }))
        .route(
            "/leak",
            get(|| async { Json(serde_json::json!({ "error": format!("401 for {CANARY}"), CANARY: 1 })) }),
        )
        .route("/refuse", get(|| async { Fault::refused(format!("held: {CANARY}")).hint("wait") }))
        .route(
            "/big",
            get(|Query(Count { count }): Query<Count>| async move { Json(Echo { text: "x".repeat(count) }) }),
        )
        .route("/nothing", post(|| async {}))
        .route("/never", get(std::future::pending::<()>))
}

impl Bench {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), stop: CancellationToken::new() }
    }

    fn socket(&self) -> PathBuf {
        self.root.path().join("control.sock")
    }

    fn client(&self) -> Client {
        Client::new(self.socket())
    }

    /// Runs `story` beside the server.
    async fn serve<T>(&self, story: impl Future<Output = T>) -> T {
        let scrubber = Scrubber::new();
        scrubber.register(&SecretValue::new(CANARY.to_owned()));
        let listener = ControlListener::bind(&self.socket()).unwrap();
        let server = serve(listener, router(), scrubber, self.stop.clone());
        tokio::select! {
            result = server => panic!("the server ended: {result:?}"),
            told = story => told,
        }
    }
}

/// Raw bytes out, raw bytes in.
async fn raw(socket: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn refused(result: Result<serde_json::Value, ClientError>) -> (u16, ApiError) {
    match result.unwrap_err() {
        ClientError::Refused { status, error } => (status, error),
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test]
async fn asks_and_tells() {
    let bench = Bench::new();
    bench
        .serve(async {
            let client = bench.client();
            assert_eq!(client.get::<Hello>("/hello").await.unwrap(), Hello::ours());
            let echo = Echo { text: "a\"ß\u{1}".repeat(1000) };
            assert_eq!(client.post::<_, Echo>("/echo", &echo).await.unwrap(), echo);
            client.post::<_, ()>("/nothing", &()).await.unwrap();
        })
        .await;
}

#[tokio::test]
async fn answers_of_some_megabytes_arrive_whole() {
    let bench = Bench::new();
    let big: Echo = bench.serve(async { bench.client().get("/big?count=8000000").await.unwrap() }).await;
    assert_eq!(big.text.len(), 8_000_000);
}

#[tokio::test]
async fn the_socket_is_for_its_owner_and_goes_in_the_end() {
    let bench = Bench::new();
    bench
        .serve(async {
            let found = fs::metadata(bench.socket()).unwrap();
            assert!(found.file_type().is_socket());
            assert_eq!(found.permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::read_dir(bench.root.path()).unwrap().count(), 1);
        })
        .await;
    assert!(!bench.socket().exists());
}

#[tokio::test]
async fn a_socket_left_behind_is_replaced_and_a_successors_is_left_alone() {
    let bench = Bench::new();
    let left_behind = ControlListener::bind(&bench.socket()).unwrap();
    bench.serve(async { bench.client().get::<Hello>("/hello").await.unwrap() }).await;
    let successor = ControlListener::bind(&bench.socket()).unwrap();
    drop(left_behind);
    assert!(bench.socket().exists());
    drop(successor);
    assert!(!bench.socket().exists());
}

#[tokio::test]
async fn another_user_is_turned_away_even_where_the_files_let_them_in() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else can be played then; the mode of the socket is checked above.
        return;
    }
    let bench = Bench::new();
    fs::set_permissions(bench.root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    bench
        .serve(async {
            fs::set_permissions(bench.socket(), fs::Permissions::from_mode(0o666)).unwrap();
            let socket = bench.socket();
            let answer = tokio::task::spawn_blocking(move || {
                std::thread::spawn(move || {
                    use std::io::{Read, Write};
                    // The raw call changes this thread alone.
                    let nobody = rustix::process::Uid::from_raw(65534);
                    rustix::thread::set_thread_uid(nobody).unwrap();
                    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
                    let _ = stream.write_all(b"GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
                    let mut answer = Vec::new();
                    let _ = stream.read_to_end(&mut answer);
                    answer
                })
                .join()
                .unwrap()
            });
            assert_eq!(String::from_utf8(answer.await.unwrap()).unwrap(), "");
            bench.client().get::<Hello>("/hello").await.unwrap();
        })
        .await;
}

#[tokio::test]
async fn errors_are_uniform() {
    let bench = Bench::new();
    bench
        .serve(async {
            let client = bench.client();
            let (status, error) = refused(client.get("/no-such-thing").await);
            assert_eq!((status, error.class.as_str()), (404, "not-found"));
            let (status, error) = refused(client.get("/echo").await);
            assert_eq!((status, error.class.as_str()), (405, "usage"));
            let (status, error) = refused(client.post("/echo", &serde_json::json!({ "text": 3 })).await);
            assert_eq!((status, error.class.as_str()), (422, "usage"));
            let too_large = Echo { text: "x".repeat(CONTROL_BODY_BYTES_MAX) };
            let (status, error) = refused(client.post("/echo", &too_large).await);
            assert_eq!((status, error.class.as_str()), (413, "too-large"));
            let (status, error) = refused(client.get("/refuse").await);
            assert_eq!((status, error.class.as_str(), error.hint.as_deref()), (409, "refused", Some("wait")));
        })
        .await;
}

#[tokio::test]
async fn no_secret_passes() {
    let bench = Bench::new();
    bench
        .serve(async {
            let client = bench.client();
            let leak: serde_json::Value = client.get("/leak").await.unwrap();
            assert_eq!(leak, serde_json::json!({ "error": "401 for [masked]", "[masked]": 1 }));
            let (_, error) = refused(client.get("/refuse").await);
            assert_eq!(error.message, "held: [masked]");
            let bad = raw(&bench.socket(), format!("POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 21\r\n\r\n{{\"{CANARY}\":1").as_bytes()).await;
            assert!(!bad.contains("canary"), "{bad}");
        })
        .await;
}

#[tokio::test]
async fn garbage_harms_nobody() {
    let bench = Bench::new();
    bench
        .serve(async {
            for bytes in [
                &b"\0\xff\xfe garbage\r\n\r\n"[..],
                b"GET /hello HTTP/9.9\r\n\r\n",
                b"\r\n\r\n\r\n!!\r\n\r\n",
            ] {
                let answer = raw(&bench.socket(), bytes).await;
                assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
            }
            bench.client().get::<Hello>("/hello").await.unwrap();
        })
        .await;
}

#[tokio::test]
async fn another_version_is_told_apart_at_both_ends() {
    let bench = Bench::new();
    bench
        .serve(async {
            let old = raw(
                &bench.socket(),
                b"GET /hello HTTP/1.1\r\nhost: x\r\nworkagent-api: 99\r\nconnection: close\r\n\r\n",
            )
            .await;
            assert!(old.contains("400 Bad Request") && old.contains("wire-mismatch"), "{old}");
            let by_hand =
                raw(&bench.socket(), b"GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
            assert!(by_hand.starts_with("HTTP/1.1 200"), "{by_hand}");
        })
        .await;
    let other = tokio::net::UnixListener::bind(bench.socket()).unwrap();
    let answer = async {
        let (mut stream, _) = other.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nworkagent-api: 2\r\ncontent-length: 2\r\n\r\n{}")
            .await
            .unwrap();
        stream.shutdown().await.unwrap();
    };
    let client = bench.client();
    let (result, ()) = tokio::join!(client.get::<Hello>("/hello"), answer);
    let error = result.unwrap_err();
    assert!(matches!(&error, ClientError::WireMismatch { theirs } if theirs == "2"), "{error:?}");
}

#[tokio::test]
async fn a_daemon_that_is_not_there_is_said_with_a_way_out() {
    let bench = Bench::new();
    let check = |error: ClientError| {
        assert!(matches!(error, ClientError::NotRunning { .. }), "{error:?}");
        assert!(error.hint().unwrap().contains("workagent run"));
    };
    check(bench.client().get::<Hello>("/hello").await.unwrap_err());
    // A socket file whose daemon was killed.
    drop(std::os::unix::net::UnixListener::bind(bench.socket()).unwrap());
    check(bench.client().get::<Hello>("/hello").await.unwrap_err());
}

#[tokio::test]
async fn a_daemon_that_hangs_or_breaks_off_is_said() {
    let bench = Bench::new();
    bench
        .serve(async {
            let client = bench.client().with_timeout(Duration::from_millis(50));
            let error = client.get::<Hello>("/never").await.unwrap_err();
            assert!(matches!(error, ClientError::TimedOut { .. }), "{error:?}");
        })
        .await;
    let other = tokio::net::UnixListener::bind(bench.socket()).unwrap();
    let client = bench.client();
    let (result, ()) = tokio::join!(client.get::<Hello>("/hello"), async {
        drop(other.accept().await.unwrap());
    });
    let error = result.unwrap_err();
    assert!(matches!(error, ClientError::Broken { .. }), "{error:?}");
}

#[tokio::test]
async fn stalled_clients_hold_neither_the_others_nor_the_end() {
    let bench = Bench::new();
    let listener = ControlListener::bind(&bench.socket()).unwrap();
    let server = serve(listener, router(), Scrubber::new(), bench.stop.clone());
    let story = async {
        let mut stalled = Vec::new();
        for _ in 0..CONTROL_CONNECTIONS_MAX - 1 {
            let mut stream = UnixStream::connect(bench.socket()).await.unwrap();
            stream.write_all(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n").await.unwrap();
            stalled.push(stream);
        }
        bench.client().get::<Hello>("/hello").await.unwrap();
        bench.stop.cancel();
        stalled
    };
    let both = async { tokio::join!(server, story) };
    let (served, _stalled) = tokio::time::timeout(CONTROL_DRAIN * 5, both).await.unwrap();
    served.unwrap();
    assert!(!bench.socket().exists());
}
