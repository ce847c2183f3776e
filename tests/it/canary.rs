//! Secrets in every place where they are kept, and everybody who gets one blabs: none may be found outside the secret
//! store afterwards (S14, S42). With the real binary at its most talkative level.

mod suite;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::support::binary::{Daemon, House, command_lines, wait_until};
use crate::support::http::{Answer, HttpServer};
use crate::support::imap::{Fault, ImapServer};

/// Kept in the store, by name.
const STORED: [(&str, &str); 6] = [
    ("mail/me", "Vq7-mailbox-Tz93kd0L"),
    ("feed/refused", "Wp2-bearer-Yh48sm1N"),
    ("feed/echoed", "Xn5 query+Rj61/vb2P"),
    ("items/token", "Zk8-program-Fd27xc3Q"),
    ("engine/key", "Bm4-engine-Gs95wn6R"),
    ("chat/key", "sk-Ct6chat0Jv38qp7S"),
];

/// Reaches a unit by `{ env = }`.
const FROM_ENV: &str = "Dr9-environ-Hx52zl8T";

/// In the daemon's environment and nobody's business.
const UNRELATED: &str = "Ew3-billing-Kc74ty9U";

/// Pasted into a unit where a reference belongs.
const PASTED: &str = "ghp_Fy1pasted0Ma67ruAbCdEfGh4V";

fn canaries() -> Vec<&'static str> {
    STORED.iter().map(|(_, value)| *value).chain([FROM_ENV, UNRELATED, PASTED]).collect()
}

fn stored(name: &str) -> &'static str {
    STORED.iter().find(|(stored, _)| *stored == name).unwrap().1
}

/// Every piece of eight bytes of every value, and of its base64 wherever it may begin.
static PIECES: LazyLock<HashMap<[u8; 8], &'static str>> = LazyLock::new(|| {
    let mut pieces = HashMap::new();
    for canary in canaries() {
        let mut forms = vec![canary.as_bytes().to_vec()];
        for lead in ["", "x", "xx"] {
            let digits = STANDARD_NO_PAD.encode(format!("{lead}{canary}")).into_bytes();
            // Digits at the seams share bits with the neighbours.
            let (start, end) = ((lead.len() * 8).div_ceil(6), (lead.len() + canary.len()) * 8 / 6);
            forms.push(digits.into_iter().take(end).skip(start).collect());
        }
        for form in forms {
            pieces.extend(form.windows(8).map(|piece| (piece.try_into().unwrap(), canary)));
        }
    }
    pieces
});

/// The values of which a piece stands in the bytes.
fn found_in(bytes: &[u8]) -> BTreeSet<&'static str> {
    bytes.windows(8).filter_map(|piece| PIECES.get(piece).copied()).collect()
}

fn check_clean(what: &str, bytes: impl AsRef<[u8]>) {
    let bytes = bytes.as_ref();
    let found = found_in(bytes);
    assert!(found.is_empty(), "{what} holds {found:?}: {}", String::from_utf8_lossy(bytes));
}

/// All files below a directory but the secret store itself.
fn check_files(dir: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        check_clean("a file's name", path.as_os_str().as_encoded_bytes());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => count += check_files(&path),
            kind if kind.is_file() && entry.file_name() != "secrets.age" => {
                let bytes = std::fs::read(&path).unwrap();
                let found = found_in(&bytes);
                assert!(found.is_empty(), "{} holds {found:?}", path.display());
                count += 1;
            }
            _ => {}
        }
    }
    count
}

/// Prints environment and arguments wherever a child can print.
const BLAB: &str = "env >&2; echo \"argv: $0 $*\" >&2\n";

struct Gossips {
    house: House,
    _mail: ImapServer,
    _refusing: HttpServer,
    _echoing: HttpServer,
    _chat: HttpServer,
}

fn connector(platform: &str, keys: &str) -> String {
    format!(
        "[connector]\nplatform = \"{platform}\"\nbacklog = \"all\"\n[{platform}]\n{keys}\n[install]\nenabled = true\n"
    )
}

/// A program that is given two secrets, one of them by this name.
fn items_unit(program: &Path, secret: &str) -> String {
    connector(
        "command",
        &format!(
            "program = \"{}\"\nsend = true\n\
             set = {{ TOKEN = {{ secret = \"{secret}\" }}, EXTRA = {{ env = \"ITEMS_EXTRA\" }} }}",
            program.display()
        ),
    )
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Gossips {
    fn new() -> Self {
        let mut house = House::new();
        for (name, value) in STORED {
            house.secret(name, value);
        }
        house.set("ITEMS_EXTRA", FROM_ENV);
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"] {
            house.set(name, UNRELATED);
        }
        house.set("RUST_BACKTRACE", "1");

        let mail = ImapServer::start("IMAP4rev1");
        let echo = format!("NO [AUTHENTICATIONFAILED] no user me with password \"{}\"", stored("mail/me"));
        mail.fault("LOGIN", Fault::Refuse(leak(echo)), usize::MAX);
        house.unit(
            "mail.connector.toml",
            &connector(
                "imap",
                &format!(
                    "host = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\nuser = \"me@example.org\"\n\
                     password = {{ secret = \"mail/me\" }}",
                    mail.port()
                ),
            ),
        );

        let token = stored("feed/refused");
        let basic = STANDARD_NO_PAD.encode(format!("me:{token}"));
        let body = format!("401\nAuthorization: Bearer {token}\nAuthorization: Basic {basic}\n");
        let refusing = HttpServer::always(
            Answer::new(401, body).header("www-authenticate", &format!("Bearer realm=\"{token}\"")),
        );
        let url = refusing.url("/feed");
        house.unit(
            "refused.connector.toml",
            &connector("feed", &format!("url = \"{url}\"\ntoken = {{ secret = \"feed/refused\" }}")),
        );

        let key = stored("feed/echoed");
        let query = url::form_urlencoded::byte_serialize(key.as_bytes()).collect::<String>();
        let link = format!("https://news.example.org/1?key={query}");
        let feed = format!(
            "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>For {key}</title><link>{link}</link>\
             <item><title>Hello {key}</title><link>{link}</link><guid>{link}</guid>\
             <description>You asked with {key}, that is {query}.</description></item></channel></rss>"
        );
        let echoing = HttpServer::always(Answer::ok(feed));
        let url = echoing.url("/feed");
        let keys = format!("url = \"{url}\"\nkey = {{ secret = \"feed/echoed\" }}\nkey_param = \"key\"");
        house.unit("echoed.connector.toml", &connector("feed", &keys));

        let items = house.script(
            "bin/items",
            &format!(
                "{BLAB}printf '%s' \"$TOKEN\" | sha256sum > {{root}}/proof-items\n\
                 printf '%s' \"$EXTRA\" | sha256sum > {{root}}/proof-env\n\
                 printf '{{\"type\":\"item\",\"id\":\"i-%s\",\"title\":\"T %s\",\"url\":\"http://x/%s\",\"labels\":[\"%s\"],\
                 \"thread\":\"%s\",\"author\":\"%s\",\"kind\":\"note\",\"reply_handle\":{{\"to\":\"me\"}},\"body\":\"token %s, extra %s\"}}\\n' \
                 \"$TOKEN\" \"$TOKEN\" \"$TOKEN\" \"$TOKEN\" \"$TOKEN\" \"$TOKEN\" \"$TOKEN\" \"$EXTRA\"\n\
                 printf '{{\"type\":\"log\",\"message\":\"asked with %s\"}}\\n' \"$TOKEN\"\n\
                 env; echo '{{\"type\":\"done\"}}'\n"
            ),
        );
        house.unit("items.connector.toml", &items_unit(&items, "items/token"));

        house.write("notes/a.md", "What is still missing?\n");
        house.unit(
            "notes.connector.toml",
            &connector("directory", "path = \"{root}/notes\"\nsettle = \"100ms\""),
        );
        house.unit(
            "pasted.connector.toml",
            &connector("feed", &format!("url = \"https://example.org/f\"\ntoken = \"{PASTED}\"")),
        );

        // Slow until it is let go, and with a helper of its own.
        let engine = house.script(
            "bin/engine",
            &format!(
                "{BLAB}printf '%s' \"$ENGINE_KEY\" | sha256sum > {{root}}/proof-engine\ncat > /dev/null\n\
                 while [ ! -e {{root}}/go ]; do sleep 0.05; done\n\
                 echo \"My key is $ENGINE_KEY.\"; env; echo $ENGINE_KEY | base64\n"
            ),
        );
        house.unit(
            "keys.env.toml",
            "[set]\nENGINE_KEY = { secret = \"engine/key\" }\n[install]\nenabled = true\n",
        );
        house.unit(
            "child.engine.toml",
            &format!(
                "[engine]\nengine = \"command\"\nenv = [\"keys\"]\n[command]\nprogram = \"{}\"\nargs = [\"--short\"]\n\
                 [install]\nenabled = true\n",
                engine.display()
            ),
        );
        let chat = HttpServer::always(Answer::new(
            401,
            format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {}\"}}}}", stored("chat/key")),
        ));
        house.unit(
            "chat.engine.toml",
            &format!(
                "[engine]\nengine = \"openai-chat\"\nmodel = \"m\"\n[openai-chat]\nbase_url = \"{}\"\n\
                 key = {{ secret = \"chat/key\" }}\n[install]\nenabled = true\n",
                chat.url("")
            ),
        );
        for (name, engine, connector) in [("a", "child", "items"), ("b", "chat", "notes")] {
            house.unit(
                &format!("{name}.route.toml"),
                &format!(
                    "[route]\nengines = [\"{engine}\"]\n[match]\nconnector = [\"{connector}\"]\n\
                     [install]\nenabled = true\n"
                ),
            );
        }
        Self { house, _mail: mail, _refusing: refusing, _echoing: echoing, _chat: chat }
    }

    fn start(&self) -> Daemon {
        self.house.daemon(&["--log", "trace"])
    }

    /// The child really had it: whoever looks for a leak of something that was never there finds none.
    fn check_proof(&self, file: &str, value: &str) {
        let hash: String =
            Sha256::digest(value.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let proof = std::fs::read_to_string(self.house.path(file)).unwrap();
        assert_eq!(proof.split_whitespace().next(), Some(hash.as_str()), "{file}");
    }
}

#[test]
fn no_piece_of_a_secret_gets_out() {
    let gossips = Gossips::new();
    let house = &gossips.house;
    let daemon = gossips.start();

    // While a child is slow: the command lines of the whole tree.
    wait_until("the engine to run", || house.path("proof-engine").exists());
    wait_until("its helper to run", || {
        let lines = command_lines(daemon.pid());
        let shown: Vec<_> = lines.iter().map(|(_, words)| words.join(" ".as_ref())).collect();
        shown.iter().for_each(|line| check_clean("a command line", line.as_encoded_bytes()));
        shown.iter().any(|line| line.to_string_lossy().contains("bin/engine --short"))
            && shown.iter().any(|line| line.to_string_lossy().starts_with("sleep "))
    });
    house.write("go", "");
    house.status_when("all to be settled", |view| {
        let cases = |state: &str| view.counts.cases.get(state).copied().unwrap_or(0);
        let failed =
            |name: &str| view.units.iter().any(|unit| unit.unit == name && unit.failures_in_a_row > 0);
        cases("review") == 1
            && cases("parked") == 1
            && cases("dismissed") == 1
            && failed("mail.connector")
            && failed("refused.connector")
            && failed("chat.engine")
    });
    gossips.check_proof("proof-items", stored("items/token"));
    gossips.check_proof("proof-env", FROM_ENV);
    gossips.check_proof("proof-engine", stored("engine/key"));

    for args in [
        &["status"][..],
        &["status", "--json"],
        &["case", "list"],
        &["case", "show", "--json", "c1"],
        &["case", "show", "--json", "c2"],
        &["case", "show", "--json", "c3"],
        &["case", "show", "c1"],
        &["review", "list"],
        &["review", "show", "d1"],
        &["outbox", "list"],
        &["secret", "list"],
        &["validate"],
        &["validate", "--json"],
    ] {
        let ran = house.run(args);
        assert!(!ran.out.is_empty(), "{args:?}: {}", ran.err);
        check_clean(&format!("stdout of {args:?}"), &ran.out);
        check_clean(&format!("stderr of {args:?}"), &ran.err);
    }
    // They did talk, and what they said is there, legible, with the secret masked.
    assert!(house.run(&["review", "show", "d1"]).out.contains("My key is [masked]."));
    let cases = house.ok(&["case", "list"]);
    assert!(cases.contains("T [masked]") && cases.contains("Hello [masked]"), "{cases}");

    assert!(check_files(&house.path("state")) >= 3);
    let log = daemon.stop();
    check_clean("the log", &log);
    assert!(
        log.contains("TRACE") && log.contains("[masked]") && log.contains("no user me with password"),
        "{log}"
    );

    let once = house.run(&["run", "--once", "--json", "--log", "trace"]);
    check_clean("stdout of run --once", &once.out);
    check_clean("stderr of run --once", &once.err);
    assert!(once.out.contains("mail.connector") && once.err.contains("TRACE"), "{}", once.err);
    check_files(&house.path("state"));
}

#[test]
fn the_search_finds_what_it_looks_for() {
    for canary in canaries() {
        assert_eq!(found_in(&canary.as_bytes()[3..11]), BTreeSet::from([canary]));
        assert_eq!(
            found_in(STANDARD_NO_PAD.encode(format!("me:{canary}")).as_bytes()),
            BTreeSet::from([canary])
        );
    }
    assert!(found_in(b"nothing of the kind").is_empty());
}

#[test]
fn a_kill_in_the_middle_of_a_run_leaves_no_piece_lying_about() {
    let gossips = Gossips::new();
    let house = &gossips.house;
    let daemon = gossips.start();
    wait_until("the engine to run", || house.path("proof-engine").exists());
    let is_engine =
        |words: &[OsString]| words.iter().any(|word| word.to_string_lossy().ends_with("bin/engine"));
    let lines = command_lines(daemon.pid());
    let (engine, _) = lines.into_iter().find(|(_, words)| is_engine(words)).unwrap();
    check_clean("the log of the killed one", daemon.kill());
    assert!(check_files(&house.path("state")) >= 3);

    let daemon = gossips.start();
    let runs = |pid: u32| command_lines(pid).iter().any(|(_, words)| is_engine(words));
    wait_until("what was left behind to be ended", || !runs(engine));
    house.write("go", "");
    house.status_when("the case to be drafted after all", |view| view.counts.drafts_open == 1);
    gossips.check_proof("proof-engine", stored("engine/key"));
    check_clean("the log", daemon.stop());
    check_files(&house.path("state"));
    assert_eq!(std::fs::read_dir(house.path("state/runs")).map_or(0, Iterator::count), 0, "run directories");
}
