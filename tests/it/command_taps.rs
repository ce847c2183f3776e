//! Singer taps and Airbyte sources as connectors: what they are given, what their lines become, how they fail.

use std::path::Path;
use std::time::Duration;

use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::item::{Backlog, Disposition, ReplyWay};
use workagent::model::limits;
use workagent::model::secret_ref::SecretRef;
use workagent::platform::command::SPEC;
use workagent::unit::value::{Setting, Settings, Value};

use crate::support::connector::{Bench, Polled, text};

/// A shell script as a tap. `$0` is a folder of the test's own; the arguments behind it are the tap's.
struct Tap {
    dir: tempfile::TempDir,
    bench: Bench,
}

impl Tap {
    fn new(protocol: &str, script: &str, keys: &[(&str, Value)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let args = Value::List(vec!["-c".into(), script.into(), dir.path().to_string_lossy().into_owned()]);
        let own = [("program", text("/bin/sh")), ("args", args), ("protocol", text(protocol))];
        let bench = Bench::new(&SPEC, dir.path(), &[&own, keys].concat()).backlog(Backlog::All);
        Self { dir, bench }
    }

    fn singer(script: &str) -> Self {
        Self::new("singer", script, &[])
    }

    async fn poll(&mut self) -> Result<Polled, PortError> {
        self.bench.poll().await
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.file(name)).unwrap_or_default()
    }

    /// What is left in the connector's own directory.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path().join("state")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures/command").join(name).to_string_lossy().into_owned()
}

fn list(words: &[&str]) -> Value {
    Value::List(words.iter().map(|word| (*word).to_owned()).collect())
}

fn canary() -> Value {
    let secret = Setting::Secret(SecretRef::Stored("canary".into()));
    Value::Map([("TOKEN".to_owned(), secret)].into())
}

/// Prints the schema of a stream and `n` of its records, `s`tate lines in between.
const ISSUES: &str = r#"schema() { echo '{"type":"SCHEMA","stream":"issues","schema":{},"key_properties":["id"]}'; }
record() { echo "{\"type\":\"RECORD\",\"stream\":\"issues\",\"record\":{\"id\":$1,\"title\":\"t$1\",\"n\":\"$2\"}}"; }
state() { echo "{\"type\":\"STATE\",\"value\":{\"at\":$1}}"; }
schema
"#;

fn issues(script: &str) -> String {
    format!("{ISSUES}{script}")
}

mod singer {
    use super::*;

    #[tokio::test]
    async fn a_usual_run() {
        let script = format!("cat {}", fixture("singer.jsonl"));
        let mut tap = Tap::new("singer", &script, &[("streams", list(&["issues"]))]);
        let polled = tap.poll().await.unwrap();
        assert_eq!(polled.new, ["Gate", "Roof", "no id", "a record that cannot be read"]);
        let [gate, roof, no_id, null] = polled.items.as_slice() else { panic!("{:?}", polled.items) };
        assert_eq!(
            (gate.key.as_str(), gate.kind.as_str(), gate.body.as_str()),
            ("issues:1", "issues", "It creaks.")
        );
        assert_eq!(gate.author.as_ref().unwrap().address, "kim");
        assert_eq!(roof.at.unwrap().to_string(), "2026-11-30T07:00:00Z");
        assert_eq!(roof.body, "It leaks.");
        for odd in [no_id, null] {
            assert!(matches!(odd.disposition, Disposition::Quarantined { .. }), "{odd:?}");
        }
        assert!(matches!(&gate.reply, ReplyWay::Nowhere { .. }));
        assert!(tap.bench.cursor.as_ref().unwrap().0.contains(r#""bookmarks""#));
        assert!(polled.notes[0].contains("1 line is not of the protocol"), "{:?}", polled.notes);

        // The same in full once more is nothing new.
        let again = tap.poll().await.unwrap();
        assert_eq!((again.new.len(), again.updated.len(), again.seen), (0, 0, 4));
    }

    #[tokio::test]
    async fn what_it_is_given_lives_while_it_runs() {
        let config = r#"{ "start": "2026-01-01", "size": 50, "auth": { "token": "{TOKEN}" } }"#;
        let catalog = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(catalog.path(), r#"{"streams":[{"stream":"issues"},{"stream":"users"}]}"#).unwrap();
        let script = issues(
            r#"echo "$*" > "$0/args"; while [ $# -gt 0 ]; do cp "$2" "$0/$1"; stat -c %a "$2" >> "$0/modes"; stat -c %a "$(dirname "$2")" >> "$0/modes"; shift 2; done
            tr '\0' '\n' < /proc/$$/cmdline > "$0/cmdline"; state 7"#,
        );
        let keys = [
            ("config", text(config)),
            ("config_values", canary()),
            ("catalog", Value::Path(catalog.path().into())),
            ("streams", list(&["issues"])),
        ];
        let mut tap = Tap::new("singer", &script, &keys);
        tap.poll().await.unwrap();
        let expected =
            serde_json::json!({ "start": "2026-01-01", "size": 50, "auth": { "token": "CANARY-secret-1" } });
        assert_eq!(tap.json("--config"), expected);
        assert_eq!(tap.json("--catalog"), serde_json::json!({ "streams": [{ "stream": "issues" }] }));
        assert_eq!(tap.file("--state"), "");
        assert_eq!(tap.file("modes").lines().collect::<Vec<_>>(), ["600", "700", "600", "700"]);
        assert!(!tap.file("args").contains("CANARY") && !tap.file("cmdline").contains("CANARY"));
        assert_eq!(tap.left(), [""; 0]);
        // What a killed daemon left behind is gone with the next run, which gets the state.
        std::fs::create_dir_all(tap.dir.path().join("state/run-old")).unwrap();
        tap.poll().await.unwrap();
        assert_eq!((tap.json("--state"), tap.left().len()), (serde_json::json!({ "at": 7 }), 0));
    }

    #[tokio::test]
    async fn what_is_before_a_state_is_kept_when_the_rest_fails() {
        let mut tap =
            Tap::singer(&issues("record 1; state 1; record 2; state 2; record 3; echo 'no net' >&2; exit 1"));
        let first = tap.bench.page().await.unwrap();
        assert_eq!((first.items.len(), first.more), (2, true));
        assert!(tap.bench.cursor.as_ref().unwrap().0.contains(r#"{"at":2}"#));
        let second = tap.bench.page().await.unwrap();
        assert_eq!((second.items.len(), second.more), (1, true));
        assert!(tap.bench.cursor.as_ref().unwrap().0.contains(r#"{"at":2}"#));
        let error = tap.bench.page().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK);
        assert_eq!(chain(&error), "poll with /bin/sh: exit status 1; it said: no net");
        assert_eq!(tap.left(), [""; 0]);
    }

    #[tokio::test]
    async fn a_changed_record_is_an_update() {
        let mut tap = Tap::singer(&issues(r#"record 1 "$(cat "$0/n")"; record 2; state 1"#));
        assert_eq!(tap.poll().await.unwrap().new, ["t1", "t2"]);
        std::fs::write(tap.dir.path().join("n"), "changed").unwrap();
        let again = tap.poll().await.unwrap();
        assert_eq!((again.updated, again.seen), (vec!["t1".to_owned()], 1));
    }

    #[tokio::test]
    async fn history_is_no_work() {
        let mut tap = Tap::singer(&issues(r#"record 1; test -e "$0/later" && record 2; state 1"#));
        tap.bench.backlog = Backlog::New;
        let first = tap.poll().await.unwrap();
        assert_eq!((first.new.len(), first.baseline), (0, 1));
        std::fs::write(tap.dir.path().join("later"), "").unwrap();
        assert_eq!(tap.poll().await.unwrap().new, ["t2"]);
    }

    #[tokio::test]
    async fn a_tap_without_end_goes_on_from_its_states() {
        // From the state it was given; each run says more than one may.
        let script = issues(
            r#"n=0; while [ $# -gt 0 ]; do [ "$1" = --state ] && n=$(tr -dc 0-9 < "$2"); shift 2; done
            awk -v n="$n" 'BEGIN { for (;;) { n++
                print "{\"type\":\"RECORD\",\"stream\":\"issues\",\"record\":{\"id\":" n ",\"title\":\"t\"}}"
                if (n % 1000 == 0) print "{\"type\":\"STATE\",\"value\":{\"at\":" n "}}" } }'"#,
        );
        let mut tap = Tap::singer(&script);
        let mut keys = std::collections::HashSet::new();
        let mut notes = Vec::new();
        while keys.len() < limits::TAP_ITEMS_MAX + 1000 {
            let page = tap.bench.page().await.unwrap();
            assert!(page.more);
            keys.extend(page.items.into_iter().map(|item| item.key));
            notes.extend(page.notes);
        }
        assert!(keys.contains("issues:20001") && keys.contains("issues:1"));
        assert_eq!(notes[0], "it says more than one run may; the next goes on from its last state");
    }

    #[tokio::test]
    async fn a_tap_without_end_and_state_is_ended() {
        let script = issues(
            r#"state 1; awk 'BEGIN { for (;;) { n++
                print "{\"type\":\"RECORD\",\"stream\":\"issues\",\"record\":{\"id\":" n ",\"title\":\"t\"}}" } }'"#,
        );
        let mut tap = Tap::singer(&script);
        // Once with the new state, and from then on without progress.
        let error = loop {
            if let Err(error) = tap.bench.page().await {
                break error;
            }
        };
        assert!(
            chain(&error).contains("more than 20000 items in one run; it should give a state earlier"),
            "{}",
            chain(&error)
        );
    }

    #[tokio::test]
    async fn silence_is_ended() {
        let keys = [("timeout", Value::Duration(Duration::from_secs(1)))];
        let mut tap = Tap::new("singer", &issues("record 1; state 1; sleep 600"), &keys);
        assert_eq!(tap.bench.page().await.unwrap().items.len(), 1);
        let error = tap.bench.page().await.unwrap_err();
        assert_eq!(chain(&error), "poll with /bin/sh: it was not done after 1s");
        assert_eq!(tap.left(), [""; 0]);
    }

    #[tokio::test]
    async fn a_line_of_two_megabytes_is_skipped() {
        let script = issues(
            r#"printf '{"type":"RECORD","stream":"issues","record":{"id":1,"body":"'; head -c 2097152 /dev/zero | tr '\0' x
            echo '"}}'; record 2; state 1"#,
        );
        let polled = Tap::singer(&script).poll().await.unwrap();
        assert_eq!(
            (polled.new, polled.notes[0].as_str()),
            (vec!["t2".to_owned()], "1 lines longer than 1 MB were skipped")
        );
    }

    #[tokio::test]
    async fn a_secret_that_it_echoes_shows_nowhere() {
        let script = issues(
            r#"t=$(cat "$2"); echo "$t" >&2; echo "$t"; t=$(expr "$t" : '.*\(CANARY[^"]*\)')
            echo "{\"type\":\"RECORD\",\"stream\":\"issues\",\"record\":{\"id\":\"$t\",\"title\":\"$t\",\"body\":\"$t\",\"url\":\"https://x/$t\",\"labels\":[\"$t\"],\"author\":\"$t\"}}"
            record 2; echo "{\"type\":\"STATE\",\"value\":\"$t\"}""#,
        );
        let keys = [("config", text(r#"{ "token": "{TOKEN}" }"#)), ("config_values", canary())];
        let mut tap = Tap::new("singer", &script, &keys);
        let page = tap.bench.page().await.unwrap();
        assert_eq!(page.items.len(), 2);
        let error = tap.bench.page().await.unwrap_err();
        let shown = format!("{page:?} {error:?} {} {:?}", chain(&error), tap.bench.cursor);
        assert!(!shown.contains("CANARY"), "{shown}");
        assert!(chain(&error).contains("its state holds a secret"), "{}", chain(&error));
    }

    #[tokio::test]
    async fn a_missing_secret_waits_for_the_user() {
        let gone = Setting::Secret(SecretRef::Stored("gone".into()));
        let values = Value::Map([("TOKEN".to_owned(), gone)].into());
        let mut tap = Tap::new(
            "singer",
            "exit 0",
            &[("config", text(r#"{"t":"{TOKEN}"}"#)), ("config_values", values)],
        );
        assert_eq!(tap.poll().await.unwrap_err().class, ErrorClass::Auth);
    }
}

mod airbyte {
    use super::*;

    fn source(script: &str) -> Tap {
        Tap::new("airbyte", script, &[("catalog", Value::Path(fixture("airbyte-catalog.json").into()))])
    }

    #[tokio::test]
    async fn a_usual_run() {
        let script = format!(
            r#"echo "$1" > "$0/verb"; shift; while [ $# -gt 0 ]; do cp "$2" "$0/$1"; shift 2; done; cat {}"#,
            fixture("airbyte.jsonl")
        );
        let mut tap = source(&script);
        let polled = tap.poll().await.unwrap();
        assert_eq!(polled.new, ["Gate", "Roof"]);
        assert_eq!(polled.items[0].key, "issues:1");
        assert_eq!(polled.notes[0], "it wants to change its own configuration, which is not kept");
        assert_eq!((tap.file("verb").trim(), tap.file("--state").as_str()), ("read", ""));
        let catalog = tap.json("--catalog");
        let modes: Vec<&str> = catalog["streams"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stream| stream["sync_mode"].as_str().unwrap())
            .collect();
        assert_eq!(modes, ["incremental", "full_refresh"]);
        let again = tap.poll().await.unwrap();
        assert_eq!((again.new.len(), again.seen), (0, 2));
        let state = &tap.json("--state")[0];
        assert_eq!(state["type"], "STREAM");
        assert_eq!(state["stream"]["stream_state"]["created_at"], "2026-11-29T08:00:00Z");
    }

    #[tokio::test]
    async fn a_failure_is_what_it_says() {
        let failing = |kind: &str| {
            format!(
                r#"cat {}; echo '{{"type":"TRACE","trace":{{"type":"ERROR","emitted_at":1.0,"error":{{"message":"The token has expired","internal_message":"secret stack","failure_type":"{kind}","stream_descriptor":{{"name":"issues"}}}}}}}}'; exit 1"#,
                fixture("airbyte.jsonl")
            )
        };
        for (kind, class) in [
            ("config_error", ErrorClass::Config),
            ("transient_error", ErrorClass::NETWORK),
            ("system_error", ErrorClass::NETWORK),
        ] {
            let mut tap = source(&failing(kind));
            // What came before its state is kept.
            assert_eq!(tap.bench.page().await.unwrap().items.len(), 2);
            let error = tap.bench.page().await.unwrap_err();
            assert_eq!(
                (error.class, chain(&error).as_str()),
                (class, "poll with /bin/sh: issues: The token has expired")
            );
        }
    }

    #[tokio::test]
    async fn log_lines_are_bounded() {
        let script = r#"for n in 1 2 3 4 5 6 7 8; do echo "{\"type\":\"LOG\",\"log\":{\"level\":\"ERROR\",\"message\":\"m$n\"}}"; done"#;
        let polled = source(script).poll().await.unwrap();
        assert_eq!(polled.notes[..6], ["m1", "m2", "m3", "m4", "m5", "3 more log lines"]);
    }

    #[tokio::test]
    async fn a_catalog_that_is_none_waits_for_an_edit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.json");
        let mut tap = Tap::new("airbyte", "exit 0", &[("catalog", Value::Path(path.clone()))]);
        assert_eq!(tap.poll().await.unwrap_err().class, ErrorClass::Config);
        std::fs::write(&path, "{\"streams\": [CANARY").unwrap();
        let error = tap.poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Config);
        assert!(!chain(&error).contains("CANARY"));
    }
}

#[test]
fn units_are_checked() {
    let check = |keys: &[(&str, Value)]| {
        let program = ("program", text("tap"));
        let all = [&[program], keys].concat();
        let settings = Settings(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        let problems = (SPEC.check)(&settings);
        problems
            .iter()
            .map(|problem| format!("{} {}", problem.key, problem.message))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let odd = Value::Map([("subject".to_owned(), Setting::Text("x".into()))].into());
    insta::assert_snapshot!(
        check(&[
            ("protocol", text("airbyte")),
            ("send", Value::Bool(true)),
            ("config", text(r#"{ "a": "{GONE}" }"#)),
            ("fields", odd),
        ]),
        @r#"
    send is not for `protocol = "airbyte"`: such programs only read
    catalog is missing: Airbyte sources need one; keep what `discover --config FILE` prints
    config names `{GONE}`, which `config_values` does not have
    fields has `subject`; it can have `title`, `body`, `author`, `url`, `at`, `thread`, `labels`
    "#
    );
    insta::assert_snapshot!(
        check(&[("streams", list(&["a"])), ("config", text("{}"))]),
        @r#"
    config is for `protocol = "singer"` and `"airbyte"`
    streams is for `protocol = "singer"` and `"airbyte"`
    "#
    );
    insta::assert_snapshot!(check(&[("protocol", text("singer")), ("config", text("[1, CANARY"))]), @"config is not JSON (line 1, column 5)");
}
