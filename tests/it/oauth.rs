//! Logging in with a client of one's own: codes for devices, a browser that comes back, tokens that are renewed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use workagent::http::HttpRoom;
use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::environment::Environment;
use workagent::model::secret_ref::SecretRef;
use workagent::model::time::Clock;
use workagent::platform::ConnectorContext;
use workagent::platform::api::{ApiClient, Login};
use workagent::platform::oauth::{Client, Granted, browser, device};
use workagent::process::ProcessRoom;
use workagent::secret::secrets::{SecretRooms, Secrets};
use workagent::secret::{Grant, Scrubber, SecretStore, SecretValue};
use workagent::unit::plan::SecretDefaults;
use workagent::unit::value::{Setting, Settings, Value};

use crate::support::binary::House;
use crate::support::connector::{NOW, text};
use crate::support::http::{Answer, HttpServer, Seen};

const ACCESS: &str = "CANARY-access-1";
const REFRESH: &str = "CANARY-refresh-1";

fn client(server: &HttpServer, keys: &[(&str, Value)]) -> Client {
    let own = [
        ("client_id", text("client-7")),
        ("device_url", text(&server.url("/device"))),
        ("authorize_url", text(&server.url("/authorize"))),
        ("token_url", text(&server.url("/token"))),
    ];
    let all = own.iter().chain(keys).map(|(name, value)| ((*name).to_owned(), value.clone()));
    Client::of("github", &Settings::default(), &Settings(all.collect()))
        .unwrap_or_else(|error| panic!("{}", chain(&error)))
}

fn json(status: u16, body: &str) -> Answer {
    Answer::new(status, body).header("content-type", "application/json")
}

fn granted_answer() -> Answer {
    json(
        200,
        &format!(
            r#"{{"access_token":"{ACCESS}","refresh_token":"{REFRESH}","expires_in":28800,"token_type":"bearer"}}"#
        ),
    )
}

fn form(seen: &Seen) -> Vec<(String, String)> {
    url::form_urlencoded::parse(seen.body.as_deref().unwrap()).into_owned().collect()
}

fn field(seen: &Seen, name: &str) -> Option<String> {
    form(seen).into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
}

struct Store {
    dir: tempfile::TempDir,
    secrets: Secrets,
}

impl Store {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Self::open(&dir);
        Self { dir, secrets }
    }

    /// As another process sees it.
    fn open(dir: &tempfile::TempDir) -> Secrets {
        let rooms = SecretRooms {
            file: dir.path().join("s.age"),
            key_file: dir.path().join("key"),
            environment: Environment::default(),
            scrubber: Scrubber::new(),
            clock: Clock::system(),
            programs: None,
            ask: false,
        };
        Secrets::open(rooms, &SecretDefaults::default())
    }
}

mod device_flow {
    use super::*;

    const CODE: &str = r#"{"device_code":"CANARY-device-1","user_code":"WDJB-MJHT","verification_uri":"https://x.example/device","expires_in":900,"interval":5}"#;

    /// Runs the flow on a manual clock; gives the waits too.
    async fn run(script: Vec<Answer>) -> (Result<Granted, PortError>, Vec<u64>, Vec<Seen>) {
        let server = HttpServer::start(script);
        let (client, http, store) = (client(&server, &[]), HttpRoom::default(), Store::new());
        let clock = Clock::manual(NOW);
        let pending = match device::begin(&client, &http, &store.secrets, &clock).await {
            Ok(pending) => pending,
            Err(error) => return (Err(error), Vec::new(), server.seen()),
        };
        assert_eq!(
            (pending.shown.code.as_str(), pending.shown.url.as_str()),
            ("WDJB-MJHT", "https://x.example/device")
        );
        let waits = Arc::new(Mutex::new(Vec::new()));
        let (hand, told) = (clock.clone(), Arc::clone(&waits));
        let mut wait = move |span: Duration| -> BoxFuture<'static, ()> {
            hand.advance(span);
            told.lock().unwrap().push(span.as_secs());
            Box::pin(async {})
        };
        let granted = pending.granted(&client, &http, &store.secrets, &clock, &mut wait).await;
        let waits = waits.lock().unwrap().clone();
        (granted, waits, server.seen())
    }

    #[tokio::test]
    async fn waits_as_it_is_told_until_the_code_is_typed() {
        let (granted, waits, seen) = run(vec![
            json(200, CODE),
            // GitHub says so under status 200, others under 400.
            json(200, r#"{"error":"authorization_pending"}"#),
            json(400, r#"{"error":"slow_down"}"#),
            json(400, r#"{"error":"slow_down","interval":20}"#),
            Answer::new(502, "<html>"),
            Answer::cut_after_body(),
            granted_answer(),
        ])
        .await;
        let granted = granted.unwrap();
        assert_eq!(granted.access.expose_to_the_wire(), ACCESS);
        assert_eq!(granted.refresh.as_ref().unwrap().expose_to_the_wire(), REFRESH);
        assert_eq!(waits, [5, 5, 10, 20, 40, 60]);
        assert_eq!(
            (field(&seen[0], "client_id").unwrap(), field(&seen[0], "scope").unwrap()),
            ("client-7".into(), "notifications repo".into())
        );
        let kind = "urn:ietf:params:oauth:grant-type:device_code";
        assert_eq!(
            (
                field(&seen[1], "grant_type").unwrap().as_str(),
                field(&seen[1], "device_code").unwrap().as_str()
            ),
            (kind, "CANARY-device-1")
        );
        assert!(
            seen.iter()
                .all(|seen| seen.header("accept") == Some("application/json")
                    && !seen.target.contains("CANARY"))
        );
        assert!(!format!("{granted:?}").contains("CANARY"));
    }

    #[tokio::test]
    async fn what_ends_it() {
        for (word, expected) in [
            ("access_denied", "it was refused there"),
            ("expired_token", "the code was not typed in time; ask for a new one"),
            ("incorrect_client_credentials", "incorrect_client_credentials"),
        ] {
            let (granted, ..) =
                run(vec![json(200, CODE), json(400, &format!(r#"{{"error":"{word}"}}"#))]).await;
            let error = granted.unwrap_err();
            assert_eq!(error.class, ErrorClass::Permanent);
            assert_eq!(chain(&error), format!("wait for the code to be typed at 127.0.0.1: {expected}"));
        }
    }

    #[tokio::test]
    async fn a_code_that_nobody_types_runs_out() {
        let mut script = vec![json(200, &CODE.replace("900", "30"))];
        script.extend((0..20).map(|_| json(200, r#"{"error":"authorization_pending"}"#)));
        let (granted, waits, _) = run(script).await;
        assert!(chain(&granted.unwrap_err()).contains("not typed in time"));
        assert_eq!(waits.len(), 6);
    }

    #[tokio::test]
    async fn odd_answers_are_no_codes() {
        for (answer, class) in [
            (
                json(401, r#"{"error":"invalid_client","error_description":"no such client"}"#),
                ErrorClass::Auth,
            ),
            (json(200, "{}"), ErrorClass::Permanent),
            (
                json(200, &CODE.replace("https://x.example/device", "javascript:alert(1)")),
                ErrorClass::Permanent,
            ),
            (Answer::ok("<html>").header("content-type", "text/html"), ErrorClass::NETWORK),
            (Answer::new(404, ""), ErrorClass::Permanent),
        ] {
            let (granted, ..) = run(vec![answer]).await;
            assert_eq!(granted.unwrap_err().class, class);
        }
    }
}

mod browser_flow {
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Visits the waiting port as a browser does; gives its answer.
    fn visit(port: u16, target: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        write!(stream, "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    struct Flow {
        granted: Result<Granted, PortError>,
        url: url::Url,
        port: u16,
        told: Vec<String>,
        seen: Vec<Seen>,
    }

    /// Runs the flow; `targets` are visited one after the other, `STATE` in them is the right one.
    async fn run(script: Vec<Answer>, targets: &[&str]) -> Flow {
        let server = HttpServer::start(script);
        let keys = [
            ("flow", text("browser")),
            ("parameters", Value::Map([("prompt".into(), Setting::Text("consent".into()))].into())),
        ];
        let (client, http, store) = (client(&server, &keys), HttpRoom::default(), Store::new());
        let pending = browser::begin(&client).await.unwrap();
        let (url, port): (url::Url, u16) = (pending.url.parse().unwrap(), pending.port);
        let state = url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        let targets: Vec<String> = targets.iter().map(|target| target.replace("STATE", &state)).collect();
        let visits = tokio::task::spawn_blocking(move || {
            targets.iter().map(|target| visit(port, target).unwrap_or_default()).collect::<Vec<_>>()
        });
        let granted = pending.granted(&client, &http, &store.secrets, &Clock::manual(NOW)).await;
        Flow { granted, url, port, told: visits.await.unwrap(), seen: server.seen() }
    }

    #[tokio::test]
    async fn the_code_is_changed_for_a_token_by_whoever_asked() {
        let flow =
            run(vec![granted_answer()], &["/favicon.ico", "/callback?code=CANARY-code-1&state=STATE"]).await;
        assert_eq!(flow.granted.unwrap().access.expose_to_the_wire(), ACCESS);
        let query = |name: &str| {
            flow.url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
        };
        let redirect = format!("http://127.0.0.1:{}/callback", flow.port);
        assert_eq!(query("redirect_uri"), Some(redirect.clone()));
        assert_eq!(
            (query("response_type").as_deref(), query("code_challenge_method").as_deref()),
            (Some("code"), Some("S256"))
        );
        assert_eq!(
            (query("prompt").as_deref(), query("scope").as_deref()),
            (Some("consent"), Some("notifications repo"))
        );
        let [asked] = flow.seen.as_slice() else { panic!("{:?}", flow.seen) };
        let verifier = field(asked, "code_verifier").unwrap();
        let challenge =
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        assert_eq!(query("code_challenge"), Some(challenge));
        assert_eq!(
            (verifier.len(), field(asked, "redirect_uri"), field(asked, "code")),
            (64, Some(redirect), Some("CANARY-code-1".into()))
        );
        assert!(flow.told[0].starts_with("HTTP/1.1 404") && flow.told[1].starts_with("HTTP/1.1 200"));
        assert!(!flow.told[1].contains("CANARY"));
        // A second answer finds nobody.
        assert!(visit(flow.port, "/callback?code=x&state=y").is_err());
    }

    #[tokio::test]
    async fn an_answer_to_another_question_ends_nothing() {
        for target in ["/callback?code=CANARY-code-1&state=other", "/callback?code=CANARY-code-1"] {
            let flow =
                run(vec![granted_answer()], &[target, "/callback?code=CANARY-code-2&state=STATE"]).await;
            assert_eq!(flow.granted.unwrap().access.expose_to_the_wire(), ACCESS);
            assert!(flow.told[0].starts_with("HTTP/1.1 400"), "{}", flow.told[0]);
            let [asked] = flow.seen.as_slice() else { panic!("{:?}", flow.seen) };
            assert_eq!(field(asked, "code"), Some("CANARY-code-2".into()));
        }
    }

    #[tokio::test]
    async fn knocking_does_not_go_on_for_ever() {
        let wrong = vec!["/callback?code=c&state=other"; workagent::model::limits::OAUTH_VISITORS_MAX];
        let flow = run(vec![granted_answer()], &wrong).await;
        let error = chain(&flow.granted.unwrap_err());
        assert!(error.ends_with("too many visitors came and none brought an answer"), "{error}");
        assert!(flow.seen.is_empty());
    }

    #[tokio::test]
    async fn the_page_says_logged_in_only_once_it_is_so() {
        let target = ["/callback?code=CANARY-code-1&state=STATE"];
        let well = run(vec![granted_answer()], &target).await;
        assert!(well.told[0].contains("You are logged in."), "{}", well.told[0]);
        let answer =
            r#"{"error":"invalid_grant","error_description":"the code CANARY-code-1 was used before"}"#;
        let failed = run(vec![json(400, answer)], &target).await;
        assert!(failed.told[0].contains("The login did not work"), "{}", failed.told[0]);
        let error = chain(&failed.granted.unwrap_err());
        assert!(error.ends_with("invalid_grant: the code [masked] was used before"), "{error}");
    }

    #[tokio::test]
    async fn refusals_are_told() {
        let flow = run(vec![], &["/callback?error=access_denied&state=STATE"]).await;
        assert!(chain(&flow.granted.unwrap_err()).contains("it was refused there (access_denied)"));
        // A code that was used before.
        let flow =
            run(vec![json(400, r#"{"error":"invalid_grant"}"#)], &["/callback?code=c&state=STATE"]).await;
        assert!(chain(&flow.granted.unwrap_err()).ends_with("invalid_grant"));
    }
}

mod renewal {
    use super::*;

    fn reference() -> SecretRef {
        SecretRef::Stored("hub/token".into())
    }

    /// A store with a token of this life, and a client of an API that reads it.
    struct Scene {
        store: Store,
        server: HttpServer,
        clock: Clock,
        http: HttpRoom,
    }

    impl Scene {
        fn new(life_s: u64, script: Vec<Answer>) -> Self {
            let scene = Self {
                store: Store::new(),
                server: HttpServer::start(script),
                clock: Clock::manual(NOW),
                http: HttpRoom::default(),
            };
            scene.log_in(&scene.store.secrets, ACCESS, life_s);
            scene
        }

        fn log_in(&self, secrets: &Secrets, access: &str, life_s: u64) {
            let grant = Grant {
                refresh: Some(SecretValue::new(REFRESH.into())),
                expires_at: Some(NOW.plus(Duration::from_secs(life_s))),
                client: client(&self.server, &[]).grant,
            };
            secrets.file().set_token("hub/token", &SecretValue::new(access.into()), grant, NOW).unwrap();
        }

        fn api(&self, secrets: Secrets, login: fn(SecretRef) -> Login) -> ApiClient {
            let context = ConnectorContext {
                unit: "hub".into(),
                settings: Settings::default(),
                secrets: secrets.shared(),
                clock: self.clock.clone(),
                state_dir: self.store.dir.path().join("state"),
                http: self.http.clone(),
                process: ProcessRoom::new(self.store.dir.path().join("children")),
                environment: Environment::default(),
            };
            ApiClient::new(&context, &self.server.url("/api"), login(reference())).unwrap()
        }

        async fn get(&self) -> Result<u16, PortError> {
            get(&self.api(self.store.secrets.clone(), Login::Bearer)).await
        }

        /// What each request was: which token the API saw, or which refresh token was given.
        fn seen(&self) -> Vec<String> {
            let one = |seen: &Seen| match seen.target.as_str() {
                "/token" => format!("renew {}", field(seen, "refresh_token").unwrap()),
                _ => seen.header("authorization").unwrap().to_owned(),
            };
            self.server.seen().iter().map(one).collect()
        }

        async fn stored(&self) -> (String, Option<String>, u32) {
            let token = Store::open(&self.store.dir).token(&reference()).await.unwrap();
            let refresh = token.grant.and_then(|grant| grant.refresh);
            let text = |value: &SecretValue| value.expose_to_the_wire().to_owned();
            (text(&token.value), refresh.as_ref().map(text), token.version)
        }
    }

    async fn get(api: &ApiClient) -> Result<u16, PortError> {
        api.get(api.at(&["me"]), |_| None).await.map(|answer| answer.status)
    }

    fn new_token(number: u32, refresh: bool) -> Answer {
        let refresh =
            if refresh { format!(r#","refresh_token":"CANARY-refresh-{number}""#) } else { String::new() };
        json(200, &format!(r#"{{"access_token":"CANARY-access-{number}","expires_in":3600{refresh}}}"#))
    }

    #[tokio::test]
    async fn a_token_that_lasts_is_used_as_it_is() {
        let scene = Scene::new(3600, vec![Answer::ok("{}")]);
        scene.get().await.unwrap();
        assert_eq!(scene.seen(), ["Bearer CANARY-access-1"]);
    }

    #[tokio::test]
    async fn before_it_ends_it_is_renewed_and_both_parts_change() {
        let scene = Scene::new(30, vec![new_token(2, true), Answer::ok("{}"), Answer::ok("{}")]);
        scene.get().await.unwrap();
        scene.get().await.unwrap();
        assert_eq!(
            scene.seen(),
            ["renew CANARY-refresh-1", "Bearer CANARY-access-2", "Bearer CANARY-access-2"]
        );
        assert_eq!(scene.stored().await, ("CANARY-access-2".into(), Some("CANARY-refresh-2".into()), 2));
        // And masked from then on.
        let scrubber = scene.store.secrets.scrubber();
        assert_eq!(scrubber.scrub("CANARY-refresh-2 CANARY-access-2"), "[masked] [masked]");
        // A server that gives no new refresh token means the old one.
        scene.clock.advance(Duration::from_secs(3600));
        scene.server.push(new_token(3, false));
        scene.server.push(Answer::ok("{}"));
        scene.get().await.unwrap();
        assert_eq!(scene.stored().await, ("CANARY-access-3".into(), Some("CANARY-refresh-2".into()), 3));
    }

    #[tokio::test]
    async fn a_refused_token_is_renewed_once() {
        let scene = Scene::new(3600, vec![Answer::new(401, ""), new_token(2, true), Answer::ok("{}")]);
        assert_eq!(scene.get().await.unwrap(), 200);
        assert_eq!(
            scene.seen(),
            ["Bearer CANARY-access-1", "renew CANARY-refresh-1", "Bearer CANARY-access-2"]
        );
        let scene = Scene::new(3600, vec![Answer::new(401, ""), new_token(2, true), Answer::new(401, "")]);
        assert_eq!(scene.get().await.unwrap_err().class, ErrorClass::Auth);
        assert_eq!(scene.seen().len(), 3);
    }

    #[tokio::test]
    async fn a_token_that_a_person_stored_is_left_alone() {
        let scene = Scene::new(3600, vec![Answer::new(401, "")]);
        scene.store.secrets.file().set("hub/token", &SecretValue::new("CANARY-own".into()), NOW).unwrap();
        assert_eq!(scene.get().await.unwrap_err().class, ErrorClass::Auth);
        assert_eq!(scene.seen(), ["Bearer CANARY-own"]);
    }

    #[tokio::test]
    async fn two_readers_renew_once() {
        let scene = Scene::new(30, vec![new_token(2, true).late(), Answer::ok("{}"), Answer::ok("{}")]);
        let (one, two) = (
            scene.api(scene.store.secrets.clone(), Login::Bearer),
            scene.api(scene.store.secrets.clone(), Login::Bearer),
        );
        let release = async {
            // Both are on their way once one of them has asked.
            while scene.server.seen().is_empty() {
                tokio::task::yield_now().await;
            }
            scene.server.release();
        };
        let (one, two, ()) = tokio::join!(get(&one), get(&two), release);
        assert_eq!((one.unwrap(), two.unwrap()), (200, 200));
        let seen = scene.seen();
        assert_eq!(seen.iter().filter(|line| line.starts_with("renew")).count(), 1, "{seen:?}");
        assert_eq!(seen.iter().filter(|line| *line == "Bearer CANARY-access-2").count(), 2, "{seen:?}");
    }

    #[tokio::test]
    async fn another_process_that_was_quicker_is_believed() {
        let scene = Scene::new(30, vec![json(400, r#"{"error":"invalid_grant"}"#).late(), Answer::ok("{}")]);
        let api = scene.api(scene.store.secrets.clone(), Login::Bearer);
        let other = async {
            while scene.server.seen().is_empty() {
                tokio::task::yield_now().await;
            }
            scene.log_in(&Store::open(&scene.store.dir), "CANARY-access-9", 3600);
            scene.server.release();
        };
        let (got, ()) = tokio::join!(get(&api), other);
        assert_eq!(got.unwrap(), 200);
        assert_eq!(scene.seen().last().unwrap(), "Bearer CANARY-access-9");
    }

    #[tokio::test]
    async fn a_refused_renewal_says_what_to_type() {
        let scene = Scene::new(
            0,
            vec![json(
                400,
                r#"{"error":"invalid_grant","error_description":"CANARY-refresh-1 was revoked"}"#,
            )],
        );
        let error = scene.get().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Auth);
        let shown = scene.store.secrets.scrubber().scrub_owned(chain(&error));
        assert_eq!(
            shown,
            "renew the token of hub: the server refused (invalid_grant: [masked] was revoked); log in again: workagent \
             secret login hub"
        );
        // A server that is down is another matter: the token stays as it is.
        let scene = Scene::new(0, vec![Answer::new(503, ""), Answer::cut_after_body()]);
        for _ in 0..2 {
            assert_eq!(scene.get().await.unwrap_err().class, ErrorClass::NETWORK);
        }
        assert_eq!(scene.stored().await.2, 1);
    }

    #[tokio::test]
    async fn a_key_in_a_header_of_its_own_becomes_a_bearer_token() {
        let scene = Scene::new(3600, vec![Answer::ok("{}"), Answer::ok("{}")]);
        get(&scene.api(scene.store.secrets.clone(), Login::Plain)).await.unwrap();
        scene.store.secrets.file().set("hub/token", &SecretValue::new("CANARY-own".into()), NOW).unwrap();
        get(&scene.api(scene.store.secrets.clone(), Login::Plain)).await.unwrap();
        assert_eq!(scene.seen(), ["Bearer CANARY-access-1", "CANARY-own"]);
    }

    #[tokio::test]
    async fn the_clients_secret_comes_from_the_store_alone() {
        let scene = Scene::new(3600, vec![new_token(2, true), Answer::ok("{}")]);
        let secrets = &scene.store.secrets;
        secrets.file().set("hub/client", &SecretValue::new("CANARY-client".into()), NOW).unwrap();
        let mut grant = secrets.token(&reference()).await.unwrap().grant.unwrap();
        grant.client.client_secret = Some("hub/client".into());
        grant.expires_at = Some(NOW);
        secrets.file().set_token("hub/token", &SecretValue::new(ACCESS.into()), grant, NOW).unwrap();
        scene.get().await.unwrap();
        let asked = &scene.server.seen()[0];
        assert_eq!(field(asked, "client_secret").as_deref(), Some("CANARY-client"));
        assert!(asked.header("authorization").is_none());
    }
}

#[test]
fn settings_are_checked() {
    let check = |platform: &str, keys: &[(&str, Value)]| {
        let settings =
            Settings(keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect());
        Client::of(platform, &Settings::default(), &settings)
            .map_or_else(|error| chain(&error), |client| format!("fine: {}", client.place()))
    };
    let id = ("client_id", text("c"));
    assert_eq!(
        check("github", &[]),
        "read `[oauth]`: `client_id` is missing: the id of the client that you registered"
    );
    assert_eq!(check("github", std::slice::from_ref(&id)), "fine: github.com");
    assert_eq!(check("jira", std::slice::from_ref(&id)), "fine: auth.atlassian.com");
    assert_eq!(
        check("jira", &[id.clone(), ("flow", text("device"))]),
        "read `[oauth]`: `device_url` is missing"
    );
    assert_eq!(
        check("mcp", std::slice::from_ref(&id)),
        "read `[oauth]`: `token_url` is missing: nothing is known of this platform, so `[oauth]` must say where it logs people in"
    );
    let plain = ("token_url", text("http://example.org/token"));
    assert_eq!(check("github", &[id, plain]), "read `[oauth]`: `token_url` is not https");
}

#[test]
fn the_command_shows_the_code_and_no_token() {
    let code = r#"{"device_code":"CANARY-device-1","user_code":"WDJB-MJHT","verification_uri":"https://x.example/device","expires_in":900,"interval":1}"#;
    let server = HttpServer::start([
        json(200, code),
        json(200, r#"{"error":"authorization_pending"}"#),
        granted_answer(),
    ]);
    let house = House::new();
    house.unit(
        "hub.connector.toml",
        &format!(
            "[connector]\nplatform = \"mcp\"\n[mcp]\nurl = \"https://x.example/mcp\"\ntool = \"list\"\n\
             token = {{ secret = \"hub/token\" }}\n[oauth]\nclient_id = \"client-7\"\nflow = \"device\"\n\
             device_url = \"{}\"\ntoken_url = \"{}\"\nscopes = [\"read\"]\n",
            server.url("/device"),
            server.url("/token")
        ),
    );
    let ran = house.run(&["secret", "login", "hub"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("open    https://x.example/device\nenter   WDJB-MJHT\n"), "{}", ran.err);
    assert!(
        ran.out.starts_with("stored hub/token in") && ran.out.contains("it is renewed by itself"),
        "{}",
        ran.out
    );
    assert!(!format!("{}{}", ran.out, ran.err).contains("CANARY"));
    assert!(house.ok(&["secret", "list"]).contains("hub/token"));
    assert_eq!(field(&server.seen()[0], "scope").as_deref(), Some("read"));
    // Refused, nothing changes and the reason is told.
    let server = HttpServer::start([json(200, code), json(400, r#"{"error":"access_denied"}"#)]);
    let unit = std::fs::read_to_string(house.path("units/hub.connector.toml")).unwrap();
    let (head, _) = unit.split_once("device_url").unwrap();
    let urls =
        format!("device_url = \"{}\"\ntoken_url = \"{}\"\n", server.url("/device"), server.url("/token"));
    house.unit("hub.connector.toml", &format!("{head}{urls}"));
    let ran = house.run(&["secret", "login", "hub"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("it was refused there") && !ran.err.contains("CANARY"), "{}", ran.err);
}

#[test]
fn a_server_of_ones_own_is_not_logged_in_to_at_the_vendors() {
    let login = |platform: &str, key: &str, url: &str| {
        let own = Settings([(key.to_owned(), text(url))].into());
        let oauth = Settings([("client_id".to_owned(), text("id-1"))].into());
        Client::of(platform, &own, &oauth).err().map(|error| chain(&error))
    };
    for (platform, key, url) in [
        ("github", "base_url", "https://api.github.com"),
        ("gitlab", "url", "https://gitlab.com"),
        ("jira", "url", "https://acme.atlassian.net"),
    ] {
        assert_eq!(login(platform, key, url), None);
    }
    for (platform, key, url) in [
        ("github", "base_url", "https://git.example.org/api/v3"),
        ("github", "base_url", "https://evil-github.com"),
        ("gitlab", "url", "http://127.0.0.1:1/gitlab"),
        ("jira", "url", "https://jira.example.org"),
    ] {
        let why = login(platform, key, url).unwrap();
        assert!(why.contains("`token_url` is missing: the unit names a server of its own"), "{why}");
    }
}
