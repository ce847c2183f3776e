//! Thirty secrets, each with a mishap of its own; then everything that can be read from outside is searched for pieces of
//! eight bytes of them, in every usual encoding. Adding a mishap is a row of [`MISHAPS`], adding a way out a row of
//! [`COMMANDS`] or [`PATHS`].

use std::collections::{BTreeSet, HashMap};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use serde_json::Value as Json;

use super::{connector, items_unit};
use crate::page::browser::Visitor;
use crate::support::binary::{Daemon, House, unit, wait_until};
use crate::support::http::{Answer, HttpServer, Seen};

/// Where a secret comes from, and so who knows it.
#[derive(Clone, Copy, PartialEq)]
enum Home {
    /// The store, under this name.
    Stored(&'static str),
    /// The daemon's environment.
    Environment(&'static str),
    /// A unit file, by mistake; what looks like a token.
    Pasted,
    /// Given to a command, by mistake.
    Typed,
}
use Home::{Environment, Pasted, Stored, Typed};

/// What goes wrong, the value, and where it lies.
const MISHAPS: [(&str, &str, Home); 30] = [
    ("answered 401", "Ka1-zuqm-Wd83kf0TvbX", Stored("s/a401")),
    ("answered 403", "Ka2-oyrn-Xe94lg1UwcY", Stored("s/a403")),
    ("answered 404", "Ka3-ixsp-Yf05mh2VxdZ", Stored("s/a404")),
    ("answered 410", "Ka4-ewtq-Zg16ni3WyeA", Stored("s/a410")),
    ("answered 500", "Ka5-avur-Ah27oj4XzfB", Stored("s/a500")),
    ("sent to another host", "Ka6-ubvs-Bi38pk5YagC", Stored("s/elsewhere")),
    ("to a host that is not there", "Ka7-ycwt-Cj49ql6ZbhD", Stored("s/nohost")),
    ("to a closed port", "Ka8-rdxu-Dk50rm7QciE", Stored("s/closed")),
    ("repeated by the server", "Ka9-teyv-El61sn8BdjF", Stored("s/echo")),
    ("over TLS to who speaks none", "Kb1-pfzw-Fm72to9CekG", Stored("s/tls")),
    ("in the query, gone", "Kb2 qga/+x%Gn83up0DflH", Stored("s/query410")),
    ("in the query, not a feed", "Kb3\"shb\\y-Ho94vq1EgmI", Stored("s/queryparse")),
    ("in an engine's environment", "Kb4-dicz-Ip05wr2FhnJ", Stored("s/engine")),
    ("refused by a model's server", "Kb5-fjda-Jq16xs3GioK", Stored("s/chat")),
    (
        "of several lines",
        "-----BEGIN KEY-----\nKb6Zmc4tHjpL\nMn0Qw7Rx2Ty\n-----END KEY-----",
        Stored("s/pem"),
    ),
    ("refused at login", "Kb7-hlfc-Ls38zu5IkqM", Stored("s/mail")),
    ("as a password", "Kb8-jmgd-Mt49av6JlrN", Stored("s/basic")),
    ("told to a program", "Kb9-knhe-Nu50bw7KmsO", Stored("s/items")),
    ("in the daemon's environment, named", "Kc1-loif-Ov61cx8LntP", Environment("ITEMS_EXTRA")),
    ("in the daemon's environment, for others", "Kc2-zpjg-Pw72dy9MouQ", Environment("OPENAI_API_KEY")),
    ("pasted in place of a reference", "ghp_Kc3xqkhQx83ez0NpvRabcdEF", Pasted),
    ("beside a wrong type", "ghp_Kc4cwrliRy94fa1OqwSabcdEF", Pasted),
    ("on a line with a syntax error", "ghp_Kc5vsmjSz05gb2PrxTabcdEF", Pasted),
    ("in a unit on standard input", "ghp_Kc6btnkTa16hc3QsyUabcdEF", Typed),
    ("in a comment", "ghp_Kc7nuolUb27id4RtzVabcdEF", Pasted),
    ("on a command line", "ghp_Kc8mvpmVc38je5SuaWabcdEF", Typed),
    ("in a URL", "Kc9qwqnWd49kf6TvbX", Pasted),
    ("refused by GitHub", "Kd1-wxro-Xe50lg7UwcY", Stored("s/github")),
    ("replaced while it is used", "Kd2-eysp-Yf61mh8VxdZ", Stored("s/rotated")),
    ("that replaces it", "Kd3-rztq-Zg72ni9WyeA", Typed),
];

fn value(name: &str) -> &'static str {
    MISHAPS.iter().find(|(_, _, home)| matches!(home, Stored(stored) if *stored == name)).unwrap().1
}

fn of(what: &str) -> &'static str {
    MISHAPS.iter().find(|(mishap, ..)| *mishap == what).unwrap().1
}

/// Forms in which a value may stand somewhere.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    forms.push(url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().into_bytes());
    let json = serde_json::to_string(value).unwrap();
    forms.push(json.get(1..json.len() - 1).unwrap().as_bytes().to_vec());
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([hex.to_uppercase().into_bytes(), hex.into_bytes()]);
    for lead in ["", "x", "xx"] {
        for digits in [
            STANDARD_NO_PAD.encode(format!("{lead}{value}")),
            URL_SAFE_NO_PAD.encode(format!("{lead}{value}")),
        ] {
            // Digits at the seams share bits with the neighbours.
            let (start, end) = ((lead.len() * 8).div_ceil(6), (lead.len() + value.len()) * 8 / 6);
            forms.push(digits.into_bytes().into_iter().take(end).skip(start).collect());
        }
    }
    forms
}

/// Every piece of eight bytes of every form, and the mishap it belongs to. What is public of a key (its first and last
/// line) is no secret.
static PIECES: LazyLock<HashMap<[u8; 8], &'static str>> = LazyLock::new(|| {
    let public: BTreeSet<Vec<u8>> = ["-----BEGIN KEY-----", "-----END KEY-----"]
        .iter()
        .flat_map(|line| line.as_bytes().windows(8).map(<[u8]>::to_vec).collect::<Vec<_>>())
        .collect();
    let mut pieces = HashMap::new();
    for (mishap, value, _) in MISHAPS {
        for form in forms(value) {
            let windows = form.windows(8).filter(|piece| !public.contains(*piece));
            pieces.extend(windows.map(|piece| (<[u8; 8]>::try_from(piece).unwrap(), mishap)));
        }
    }
    pieces
});

/// The mishaps of whose value a piece stands in the bytes.
fn leaks(bytes: &[u8]) -> BTreeSet<&'static str> {
    bytes.windows(8).filter_map(|piece| PIECES.get(piece).copied()).collect()
}

/// What was searched and what was found, so that all leaks are told at once.
#[derive(Default)]
struct Search {
    places: usize,
    bytes: usize,
    found: Vec<String>,
}

impl Search {
    fn in_bytes(&mut self, place: &str, bytes: impl AsRef<[u8]>) {
        self.but(place, bytes, |_| false);
    }

    /// The same where some may stand: a copy of the user's own files.
    fn but(&mut self, place: &str, bytes: impl AsRef<[u8]>, may: impl Fn(Home) -> bool) {
        let bytes = bytes.as_ref();
        self.places += 1;
        self.bytes += bytes.len();
        let home = |mishap: &str| MISHAPS.iter().find(|(known, ..)| *known == mishap).unwrap().2;
        let found: Vec<_> = leaks(bytes).into_iter().filter(|mishap| !may(home(mishap))).collect();
        if !found.is_empty() {
            self.found.push(format!("{place}: {found:?}"));
        }
    }

    fn in_files(&mut self, dir: &Path) {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            self.in_bytes("a file's name", path.as_os_str().as_encoded_bytes());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != "backups" => self.in_files(&path),
                Ok(kind)
                    if kind.is_file() && !entry.file_name().to_string_lossy().starts_with("secrets.age") =>
                {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    self.in_bytes(&path.display().to_string(), bytes);
                }
                _ => {}
            }
        }
    }

    fn end(self, least: usize) {
        assert!(self.found.is_empty(), "{} leaks:\n{}", self.found.len(), self.found.join("\n"));
        assert!(self.places >= least && self.bytes > 100_000, "{} places, {} bytes", self.places, self.bytes);
        #[expect(clippy::print_stdout, reason = "how much was looked at, for whoever asks")]
        let () = println!("{} values, {} places, {} bytes, no leak", MISHAPS.len(), self.places, self.bytes);
    }
}

/// Commands whose output is searched; what they need is there by then.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["status", "--json"],
    &["status", "a401.connector"],
    &["list-units", "--all"],
    &["list-unit-files"],
    &["list-timers"],
    &["case", "list"],
    &["case", "show", "c1"],
    &["case", "show", "--json", "c1"],
    &["case", "show", "c1", "--prompt"],
    &["case", "show", "--json", "c2"],
    &["review", "list"],
    &["review", "show", "d1"],
    &["outbox", "list"],
    &["cost"],
    &["route", "explain", "c1"],
    &["secret", "list"],
    &["secret", "list", "--json"],
    &["validate"],
    &["validate", "--json"],
    &["validate", "--format", "short"],
    &["validate", "--probe"],
    &["cat", "pasted.connector"],
    &["cat", "comment.connector"],
    &["show", "--origin", "comment.connector"],
    &["show", "inurl.connector"],
    &["diff"],
    &["plan", "list"],
    &["plan", "show"],
    &["env", "show", "child"],
    &["analyze", "security"],
    &["log-level"],
    &["metrics"],
    &["doctor"],
    &["doctor", "--json"],
    &["doctor", "--report"],
    &["doctor", "--report", "--names"],
    &["kick", "a401"],
    &["repairs"],
    &["repairs", "--json"],
    &["case", "list", "--parked"],
    &["digest"],
    &["digest", "--markdown"],
    &["cost", "--svg"],
    &["logs", "-n", "500"],
    &["secret", "rotate", "s/rotated"],
    &["secret", "list"],
    &["secret", "set", "x", "ghp_Kc8mvpmVc38je5SuaWabcdEF"],
    &["log-level", "ghp_Kc8mvpmVc38je5SuaWabcdEF"],
    &["case", "show", "ghp_Kc8mvpmVc38je5SuaWabcdEF"],
];

/// Everything that can be asked for on the control socket.
const PATHS: &[&str] = &[
    "/v1/hello",
    "/v1/status",
    "/v1/cases",
    "/v1/cases/c1",
    "/v1/cases/c1/prompt",
    "/v1/cases/c1/route",
    "/v1/cost",
    "/v1/reviews",
    "/v1/reviews/d1",
    "/v1/outbox",
    "/v1/watched",
    "/v1/log-levels",
    "/v1/metrics",
    "/v1/repairs",
    "/v1/parked",
    "/v1/digest",
    "/v1/journal",
    "/v1/secrets",
    "/metrics",
    "/v1/cases/ghp_Kc8mvpmVc38je5SuaWabcdEF",
    "/ghp_Kc8mvpmVc38je5SuaWabcdEF",
];

/// The views of the page.
const VIEWS: &[&str] = &[
    "/",
    "/review/d1",
    "/case",
    "/case/c1",
    "/case/c2",
    "/outbox",
    "/units",
    "/nowhere/ghp_Kc8mvpmVc38je5SuaWabcdEF",
];

fn asked(house: &House, path: &str) -> Vec<u8> {
    let mut stream = UnixStream::connect(house.path("state/run/control.sock")).unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// Repeats all that it was asked with, as it came.
fn repeating(status: u16) -> HttpServer {
    HttpServer::by(move |seen: &Seen| {
        let headers: String = seen.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        Answer::new(status, format!("you asked {} with\n{headers}", seen.target))
    })
}

struct Scene {
    house: House,
    servers: Vec<HttpServer>,
    elsewhere: HttpServer,
    collector: HttpServer,
}

impl Scene {
    fn feed(&self, name: &str, url: &str, keys: &str) {
        self.house
            .unit(&format!("{name}.connector.toml"), &connector("feed", &format!("url = \"{url}\"\n{keys}")));
    }

    fn new() -> Self {
        let mut house = House::new();
        for (_, value, home) in MISHAPS {
            match home {
                Stored(name) => house.secret(name, value),
                Environment(name) => house.set(name, value),
                Pasted | Typed => {}
            }
        }
        house.set("RUST_BACKTRACE", "1");
        let elsewhere = repeating(200);
        let collector = HttpServer::always(Answer::ok("{}"));
        house.unit("workagent.daemon.toml", &format!("[otlp]\nendpoint = \"{}\"\n", collector.url("")));
        let mut scene = Self { house, servers: Vec::new(), elsewhere, collector };
        for status in [401, 403, 404, 410, 500] {
            let server = repeating(status);
            let keys = format!("token = {{ secret = \"s/a{status}\" }}");
            scene.feed(&format!("a{status}"), &server.url("/feed"), &keys);
            scene.servers.push(server);
        }
        let target = scene.elsewhere.url("/").replace("127.0.0.1", "localhost");
        let redirect = HttpServer::always(Answer::new(302, "").header("location", &target));
        let echo = HttpServer::by(|seen: &Seen| {
            let said = seen.header("authorization").unwrap_or_default().to_owned();
            Answer::ok(format!(
                "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>{said}</title><item><title>T {said}</title>\
                 <link>https://x.example/{}</link><guid>{said}</guid><description>{said}</description></item></channel></rss>",
                seen.target
            ))
        });
        let tokens = [
            ("elsewhere", redirect.url("/feed")),
            ("nohost", "https://no-such-host.invalid/feed".to_owned()),
            ("closed", "http://127.0.0.1:1/feed".to_owned()),
            ("echo", echo.url("/feed")),
            ("tls", echo.url("/feed").replace("http://", "https://")),
            ("rotated", scene.servers.first().unwrap().url("/rotated")),
        ];
        for (name, url) in tokens {
            scene.feed(name, &url, &format!("token = {{ secret = \"s/{name}\" }}"));
        }
        let gone = repeating(410);
        let garbage = repeating(200);
        for (name, server) in [("query410", &gone), ("queryparse", &garbage)] {
            scene.feed(
                name,
                &server.url("/f"),
                &format!("key = {{ secret = \"s/{name}\" }}\nkey_param = \"key\""),
            );
        }
        scene.feed("basic", &gone.url("/f"), "user = \"me\"\npassword = { secret = \"s/basic\" }");
        scene.house.unit(
            "github.connector.toml",
            &connector(
                "github",
                &format!(
                    "login = \"me\"\nbase_url = \"{}\"\ntoken = {{ secret = \"s/github\" }}",
                    scene.servers.first().unwrap().url("")
                ),
            ),
        );
        scene.servers.extend([redirect, echo, gone, garbage]);
        scene.engines();
        scene.pasted();
        scene
    }

    /// Programs that blab, a model's server that repeats the key, a mail server that repeats the password.
    fn engines(&mut self) {
        let house = &self.house;
        let blab = "env; env >&2; echo \"$0 $*\" >&2\n";
        let items = house.script(
            "bin/items",
            &format!(
                "{blab}printf '{{\"type\":\"item\",\"id\":\"i\",\"title\":\"T %s\",\"body\":\"%s %s\",\"kind\":\"note\",\
                 \"author\":\"a\",\"reply_handle\":{{\"to\":\"me\"}}}}\\n' \"$TOKEN\" \"$TOKEN\" \"$EXTRA\"\n\
                 echo '{{\"type\":\"done\"}}'\n"
            ),
        );
        house.unit("items.connector.toml", &items_unit(&items, "s/items"));
        // Gets the old value, tells everybody, and makes no new one.
        let mint = house.script("bin/mint", &format!("{blab}tee /dev/stderr\nexit 1\n"));
        house.unit(
            "fresh.secret.toml",
            &format!(
                "[secret]\nentry = \"s/rotated\"\nhow = \"command\"\nnew_value = [\"{}\"]\ngive_old = true\n",
                mint.display()
            ),
        );
        let engine = house.script(
            "bin/engine",
            &format!("cat > /dev/null\n{blab}echo \"My keys: $KEY and $PEM.\"; echo $KEY | base64; echo \"$PEM\" | base64\n"),
        );
        house.unit(
            "keys.env.toml",
            "[set]\nKEY = { secret = \"s/engine\" }\nPEM = { secret = \"s/pem\" }\n[install]\nenabled = true\n",
        );
        house.unit(
            "child.engine.toml",
            &format!(
                "[engine]\nengine = \"command\"\nenv = [\"keys\"]\n[command]\nprogram = \"{}\"\n[install]\nenabled = true\n",
                engine.display()
            ),
        );
        let chat = repeating(401);
        house.unit(
            "chat.engine.toml",
            &format!(
                "[engine]\nengine = \"openai-chat\"\nmodel = \"m\"\n[openai-chat]\nbase_url = \"{}\"\n\
                 key = {{ secret = \"s/chat\" }}\n[install]\nenabled = true\n",
                chat.url("")
            ),
        );
        self.servers.push(chat);
        for (name, engine, source) in [("a", "child", "items"), ("b", "chat", "echo")] {
            house.unit(
                &format!("{name}.route.toml"),
                &format!(
                    "[route]\nengines = [\"{engine}\"]\n[match]\nconnector = [\"{source}\"]\n[install]\nenabled = true\n"
                ),
            );
        }
        house.unit(
            "mail.connector.toml",
            &connector(
                "imap",
                "host = \"127.0.0.1\"\nport = 1\nsecurity = \"none\"\nuser = \"me@example.org\"\n\
                 password = { secret = \"s/mail\" }",
            ),
        );
    }

    fn pasted(&self) {
        let url = "https://example.org/f";
        self.feed("pasted", url, &format!("token = \"{}\"", of("pasted in place of a reference")));
        self.feed("type", url, &format!("user = 12\npassword = \"{}\"", of("beside a wrong type")));
        self.feed("syntax", url, &format!("token = = \"{}", of("on a line with a syntax error")));
        self.feed("comment", "http://127.0.0.1:1/f", &format!("# was {}", of("in a comment")));
        self.feed("inurl", &format!("https://me:{}@example.org/f", of("in a URL")), "");
    }

    fn start(&self) -> Daemon {
        self.house.daemon(&["--log", "trace"])
    }
}

#[test]
fn thirty_secrets_and_no_piece_of_one_gets_out() {
    let scene = Scene::new();
    let house = &scene.house;
    let daemon = scene.start();
    let failing = [
        "a401",
        "a403",
        "a404",
        "a410",
        "a500",
        "nohost",
        "closed",
        "tls",
        "query410",
        "queryparse",
        "basic",
        "github",
        "mail",
        "rotated",
    ];
    // By the log: a network fault right after the clock was set does not count as one.
    wait_until("all mishaps to have happened", || {
        let log = daemon.log();
        failing.iter().all(|name| {
            log.contains(&format!(" {name}.connector: workagent::supervise::driver: the pass ends"))
        })
    });
    house.status_when("engines to have answered", |view| {
        view.counts.drafts_open > 0 && unit(view, "chat.engine").last_error.is_some()
    });
    // The old value stays masked after it was replaced, and the new one is masked from its first use.
    house.secret("s/rotated", of("that replaces it"));
    house.ok(&["kick", "rotated"]);
    house.status_when("the new value to be used", |_| {
        scene.servers[0].seen().iter().any(|seen| {
            seen.header("authorization").is_some_and(|said| said.contains(of("that replaces it")))
        })
    });
    // They really went out, or nobody would have had anything to repeat; and none went where it must not.
    for name in ["s/a401", "s/rotated"] {
        let asked = scene.servers[0].seen();
        assert!(
            asked
                .iter()
                .any(|seen| seen.header("authorization").is_some_and(|said| said.contains(value(name)))),
            "{name}"
        );
    }
    for seen in scene.elsewhere.seen() {
        assert!(leaks(format!("{seen:?}").as_bytes()).is_empty(), "a redirect took a secret along: {seen:?}");
    }

    let mut search = Search::default();
    for args in COMMANDS {
        let ran = house.run(args);
        search.in_bytes(&format!("stdout of {args:?}"), &ran.out);
        search.in_bytes(&format!("stderr of {args:?}"), &ran.err);
        assert!(!ran.out.is_empty() || !ran.err.is_empty(), "{args:?} says nothing");
    }
    let text = format!(
        "[connector]\nplatform = \"feed\"\n[feed]\ntoken = \"{}\"\n",
        of("in a unit on standard input")
    );
    let ran = house.run_with(&["validate", "--stdin-name", "x.connector.toml", "-"], &text);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    search.in_bytes("validate of standard input", ran.out + &ran.err);
    for path in PATHS {
        search.in_bytes(&format!("GET {path}"), asked(house, path));
    }
    let opened: Json = serde_json::from_str(&house.ok(&["open", "--json"])).unwrap();
    let visitor = Visitor::enter(opened["url"].as_str().unwrap());
    for view in VIEWS {
        let answer = visitor.get(view);
        assert!(answer.status == 200 || view.contains("nowhere"), "{view}: {answer:?}");
        search.in_bytes(&format!("the page's {view}"), answer.body);
    }
    // A backup holds the user's unit files as they are; values of the store are not among them.
    let ran = house.run(&["backup", "copy.tar"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    search.in_bytes("backup", ran.out + &ran.err);
    search.but("the backup", std::fs::read(house.path("copy.tar")).unwrap(), |home| home == Pasted);

    let report = house.ok(&["doctor", "--report"]);
    for word in ["127.0.0.1", "example.org", "a401", "items"] {
        assert!(!report.contains(word), "the report tells {word}:\n{report}");
    }
    assert!(report.contains("connector-1.connector") && report.contains("$"), "{report}");

    search.in_files(&house.path("state"));
    let log = daemon.stop();
    search.in_bytes("the log", &log);
    assert!(log.contains("TRACE") && log.contains("hyper"), "it was not talkative");
    assert!(log.contains("not replaced, the old value stays"), "the failing rotation was not seen");
    let heard = scene.collector.seen();
    assert!(heard.len() > 1, "the collector heard nothing");
    for seen in heard {
        search.in_bytes("what the collector heard", seen.body.unwrap_or_default());
    }
    // Without a daemon the same commands open record and store themselves.
    for args in COMMANDS.iter().take(12) {
        let ran = house.run(args);
        search.in_bytes(&format!("alone: {args:?}"), ran.out + &ran.err);
    }
    // A record that cannot be opened.
    std::fs::write(house.path("state/workagent.db"), format!("no database: {}", of("on a command line")))
        .unwrap();
    let ran = house.run(&["run"]);
    assert_ne!(ran.code, Some(0));
    search.in_bytes("a damaged record", ran.out + &ran.err);
    search.end(150);
}

#[test]
fn the_search_finds_a_planted_one_in_every_form() {
    for (mishap, value, _) in MISHAPS {
        for form in forms(value) {
            let cut = form.get(3..).unwrap();
            let planted = [b"some text before ".as_slice(), cut, b" and after".as_slice()].concat();
            assert!(leaks(&planted).contains(mishap), "{mishap}: {}", String::from_utf8_lossy(&planted));
        }
        let basic = STANDARD_NO_PAD.encode(format!("me:{value}"));
        assert!(leaks(basic.as_bytes()).contains(mishap), "{mishap}");
    }
    assert!(leaks(b"nothing of the kind, whatever is looked at").is_empty());
    let mut search = Search::default();
    search.in_bytes("a place", of("in a comment"));
    let failed = std::panic::catch_unwind(move || search.end(1));
    assert!(failed.is_err(), "the suite cannot fail");
}
