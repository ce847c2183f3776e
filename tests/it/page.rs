//! The page with real connections: who gets in, what is refused, that nothing foreign comes alive in it, and decisions
//! that go all the way.

pub mod browser;
mod poison;

use workagent::control::wire::{OpenView, ReviewView};
use workagent::model::limits::{WEB_BODY_BYTES_MAX, WEB_CONNECTIONS_MAX};

use self::browser::{Answer, Visitor, ask};
use crate::support::binary::{Daemon, wait_until};
use crate::support::scene::{Plan, Scene};

/// A daemon with drafts that wait.
fn house(notes: usize) -> (Scene, Daemon) {
    let scene = Scene::new(Plan { outbound: "reviewed", ..Plan::default() });
    for nth in 0..notes {
        scene.drop_note(&format!("n{nth}"));
    }
    let daemon = scene.daemon(&[]);
    wait_until("the drafts", || reviews(&scene).len() == notes);
    (scene, daemon)
}

fn reviews(scene: &Scene) -> Vec<ReviewView> {
    scene.json(&["review", "list", "--json"])
}

fn link(scene: &Scene) -> String {
    scene.json::<OpenView>(&["open", "--json"]).url
}

fn enter(scene: &Scene) -> Visitor {
    Visitor::enter(&link(scene))
}

#[test]
fn a_draft_goes_from_the_page_to_its_place() {
    let (scene, daemon) = house(2);
    let visitor = enter(&scene);
    let drafts = reviews(&scene);
    let today = visitor.get("/");
    assert_eq!(today.status, 200, "{today:?}");
    assert!(today.body.contains("/review/1\"") && today.body.contains("/review/2\""), "{}", today.body);

    // As it is: the whole text came back with the form, and no edit was made of it.
    let first = drafts.first().unwrap();
    let form = [
        ("hash", first.draft.hash.as_str()),
        ("effects", "shown"),
        ("body", &first.draft.body),
        ("do", "approve"),
    ];
    let approved = visitor.post("/review/d1/decide", &form);
    assert_eq!((approved.status, approved.header("location")), (303, Some("/review")), "{approved:?}");
    // Edited.
    let second = drafts.get(1).unwrap();
    let form = [
        ("hash", second.draft.hash.as_str()),
        ("effects", "shown"),
        ("body", "By hand.\r\nTwice."),
        ("do", "approve"),
    ];
    assert_eq!(visitor.post("/review/d2/decide", &form).status, 303);
    wait_until("both answers", || scene.names("answers").len() == 2);
    let texts: Vec<String> = scene
        .names("answers")
        .iter()
        .map(|name| std::fs::read_to_string(scene.path(&format!("answers/{name}"))).unwrap())
        .collect();
    assert!(texts.iter().any(|text| text.contains("By hand.\nTwice.")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains(first.draft.body.trim())), "{texts:?}");
    let record = scene.ok(&["case", "show", "c1"]);
    assert!(record.contains("page"), "{record}");
    // A second decision about the same is told, not made.
    let again = visitor.post("/review/d1/decide", &[("hash", &first.draft.hash), ("do", "approve")]);
    assert_eq!(again.status, 409, "{again:?}");
    daemon.stop();
}

#[test]
fn today_shows_what_needs_mending_with_its_command_and_a_button() {
    let scene = Scene::new(Plan { outbound: "reviewed", ..Plan::default() });
    // No route takes it; and its title is nobody's markup.
    scene.unit(
        "notes.route.toml",
        "[route]\nengines = [\"polite\"]\n[match]\nconnector = [\"other\"]\n[install]\nenabled = true\n",
    );
    scene.unit("typo.engine.toml", "[engine]\nengine = \"unheard-of\"\n[install]\nenabled = true\n");
    scene.drop_note("<b>n1");
    let _daemon = scene.daemon(&[]);
    let visitor = enter(&scene);
    let today = || visitor.get("/").body.replace("&#x2f;", "/");
    wait_until("the case that waits", || today().contains("workagent case retry c1"));
    let body = today();
    assert!(body.contains("<code>workagent edit typo.engine</code>"), "{body}");
    assert!(body.contains("action=\"/case/c1/retry\"") && !body.contains("<b>n1"), "{body}");
    // The button has it tried again, for nothing as yet.
    assert_eq!(visitor.post("/case/c1/retry", &[]).status, 303);
    wait_until("the case that waits once more", || today().contains("workagent case retry c1"));
    // Mended, it is routed by itself, and the page has nothing to say of it.
    scene.unit("notes.route.toml", "[route]\nengines = [\"polite\"]\n[install]\nenabled = true\n");
    std::fs::remove_file(scene.path("units/typo.engine.toml")).unwrap();
    scene.ok(&["reload"]);
    wait_until("the draft", || reviews(&scene).len() == 1);
    assert!(!today().contains("workagent case retry c1"));
}

#[test]
fn an_approval_is_of_the_version_that_was_seen() {
    let (scene, _daemon) = house(1);
    let visitor = enter(&scene);
    let seen = reviews(&scene).remove(0).draft;
    let change =
        [("hash", seen.hash.as_str()), ("effects", "shown"), ("body", "Another text."), ("do", "save")];
    assert_eq!(visitor.post("/review/d1/decide", &change).status, 303);
    let old = [("hash", seen.hash.as_str()), ("effects", "shown"), ("body", &seen.body), ("do", "approve")];
    let refused = visitor.post("/review/d1/decide", &old);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(scene.names("answers"), [""; 0]);
}

#[test]
fn nobody_is_in_without_a_token_and_each_is_good_once() {
    let (scene, _daemon) = house(0);
    let url = link(&scene);
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let stranger = |path: &str| ask(host, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n"), b"");
    for path in ["/", "/review", "/review/d1", "/case", "/outbox", "/units", "/news", "/nothing", "/login/x"]
    {
        let answer = stranger(path);
        assert_eq!(answer.status, 401, "{path} {answer:?}");
        assert!(!answer.body.contains("csrf"), "{path}");
    }
    for token in ["", "0", &"0".repeat(64), &"x".repeat(7000)] {
        assert_eq!(stranger(&format!("/login?token={token}")).status, 403);
    }
    let forged = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nCookie: workagent-{}=0\r\n",
        host.split(':').nth(1).unwrap()
    );
    assert_eq!(ask(host, &forged, b"").status, 401);
    let entered = stranger(&format!("/{path}"));
    assert_eq!(entered.status, 200, "{entered:?}");
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let replayed = stranger(&format!("/{path}"));
    assert_eq!((replayed.status, replayed.header("set-cookie")), (403, None), "{replayed:?}");
    let visitor = enter(&scene);
    assert_eq!(visitor.get("/").status, 200);
    assert_eq!(visitor.post("/logout", &[]).status, 303);
    assert_eq!(visitor.get("/").status, 401);
}

#[test]
fn requests_of_other_pages_are_refused() {
    let (scene, _daemon) = house(1);
    let visitor = enter(&scene);
    let host = visitor.host.clone();
    let get = |host: &str| {
        ask(&visitor.host, &format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\n", visitor.cookie), b"")
    };
    for name in ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:80", "[::1]"] {
        assert_eq!(get(name).status, 421, "{name}");
    }
    assert_eq!(get(&host).status, 200);
    let hash = reviews(&scene).remove(0).draft.hash;
    let body = format!("csrf={}&do=approve&hash={hash}", visitor.csrf);
    let post = |headers: &str, body: &str| {
        let head = format!(
            "POST /review/d1/decide HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{headers}",
            visitor.cookie,
            body.len()
        );
        ask(&host, &head, body.as_bytes()).status
    };
    for origin in
        ["", "Origin: null\r\n", "Origin: http://evil.example\r\n", "Origin: http://127.0.0.1:1\r\n"]
    {
        assert_eq!(post(origin, &body), 403, "{origin}");
    }
    let own = format!("Origin: http://{host}\r\n");
    assert_eq!(post(&format!("{own}Sec-Fetch-Site: cross-site\r\n"), &body), 403);
    assert_eq!(post(&own, &format!("do=approve&hash={hash}")), 403);
    assert_eq!(post(&own, &format!("csrf=0&do=approve&hash={hash}")), 403);
    assert_eq!(reviews(&scene).len(), 1);
    assert_eq!(post(&own, &body), 303);
}

#[test]
fn every_answer_carries_what_keeps_it_safe() {
    let (scene, _daemon) = house(1);
    let visitor = enter(&scene);
    for path in ["/", "/review/d1", "/nothing", "/style.css", "/page.js", "/login?token=0", "/review/d99"] {
        let answer = visitor.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
    }
}

#[test]
fn paths_lead_nowhere_else() {
    let (scene, _daemon) = house(1);
    let visitor = enter(&scene);
    for path in [
        "/../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/review/..%2f..%2fv1%2fstatus",
        "/case/%00",
        "/case/c1%2fprompt",
        "/case/..%2Fpause",
        "/v1/status",
        "/v1/open",
        "/metrics",
        "//evil.example/",
        "/style.css/",
        "/case/%ff%fe",
    ] {
        let answer = visitor.get(path);
        assert!((400..500).contains(&answer.status), "{path} {answer:?}");
        assert!(!answer.body.contains("root:") && !answer.body.contains("\"units\""), "{path}");
    }
    let form = [("do", "save"), ("next", "//evil.example")];
    let answer = visitor.post("/review/d1/decide", &form);
    assert_eq!(answer.header("location"), Some("/review/d1"));
    let answer = visitor.post("/review/..%2f..%2fpause%3f/decide", &[("do", "reject")]);
    assert!((400..500).contains(&answer.status), "{answer:?}");
}

#[test]
fn bodies_and_connections_are_bounded() {
    let (scene, _daemon) = house(0);
    let visitor = enter(&scene);
    let long = "x".repeat(WEB_BODY_BYTES_MAX + 1);
    assert_eq!(visitor.post("/pause", &[("note", &long)]).status, 413);
    let idle: Vec<_> =
        (0..WEB_CONNECTIONS_MAX - 4).map(|_| std::net::TcpStream::connect(&visitor.host).unwrap()).collect();
    assert_eq!(visitor.get("/").status, 200);
    drop(idle);
    wait_until("an answer", || visitor.get("/").status == 200);
}

#[test]
fn the_unit_says_whether_it_listens() {
    let (scene, daemon) = house(0);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let connects = || std::net::TcpStream::connect(("127.0.0.1", free)).is_ok();
    assert!(!connects());
    scene.unit("workagent.daemon.toml", &format!("[web]\nenabled = true\nport = {free}\n"));
    wait_until("it listens", connects);
    assert!(link(&scene).starts_with(&format!("http://127.0.0.1:{free}/login?token=")));
    scene.unit("workagent.daemon.toml", "[web]\nenabled = false\n");
    // The link that was asked for may still be used.
    scene.ok(&["reload"]);
    daemon.stop();
    assert!(!connects());
}

#[test]
fn ten_thousand_requests_of_any_kind_bring_nothing_down() {
    let (scene, daemon) = house(1);
    let visitor = enter(&scene);
    let counts = browser::storm(&visitor, 10_000, 0x5eed);
    eprintln!("by status: {counts:?}");
    assert_eq!(counts.values().sum::<u32>(), 10_000);
    assert!(counts.keys().all(|status| *status < 500), "{counts:?}");
    wait_until("an answer", || visitor.get("/").status != 0);
    assert_eq!(reviews(&scene).len(), 1, "nothing was decided by chance");
    daemon.stop();
}

/// For failing assertions.
impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
