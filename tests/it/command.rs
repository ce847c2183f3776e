//! Programs as connectors: the protocol, its hostile users, own texts read back, sends whose outcome is not known.

use std::time::Duration;

use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::item::{Backlog, Disposition, Item, ReplyWay};
use workagent::model::limits;
use workagent::model::marker;
use workagent::model::outbound::{Confirmation, Receipt};
use workagent::platform::command::SPEC;
use workagent::unit::value::{Setting, Value};

use crate::support::connector::{Bench, NOW, Polled, secret, text};

/// A shell script as a connector.
struct Script {
    dir: tempfile::TempDir,
    bench: Bench,
}

impl Script {
    fn new(script: &str) -> Self {
        Self::with(script, &[])
    }

    fn with(script: &str, keys: &[(&str, Value)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let args = Value::List(vec!["-c".into(), script.into(), dir.path().to_string_lossy().into_owned()]);
        let keys = [&[("program", text("/bin/sh")), ("args", args)], keys].concat();
        let bench = Bench::new(&SPEC, dir.path(), &keys).backlog(Backlog::All);
        Self { dir, bench }
    }

    /// One that sends.
    fn sending(script: &str) -> Self {
        Self::with(script, &[("send", Value::Bool(true)), ("account", text("owner"))])
    }

    async fn poll(&mut self) -> Result<Polled, PortError> {
        self.bench.poll().await
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }

    fn item(&self) -> Item {
        let envelope = workagent::model::draft::Envelope {
            thread: serde_json::json!({ "issue": 7 }),
            ..workagent::model::draft::Envelope::default()
        };
        let mut item = self.bench_item();
        item.reply = ReplyWay::To(envelope);
        item
    }

    fn bench_item(&self) -> Item {
        serde_json::from_value(serde_json::json!({
            "key": "7", "revision": "1", "kind": "item", "title": "t", "body": "b",
            "reply": { "nowhere": { "reason": "" } }, "disposition": "work",
        }))
        .unwrap()
    }

    async fn send(&self, body: &str) -> Result<Receipt, PortError> {
        let action = self.bench.reply(&self.item(), 7, body);
        let payload = self.bench.prepare(&action);
        self.bench.connector.deliver(&action, &payload).await
    }

    async fn confirm(&self) -> Result<Confirmation, PortError> {
        let action = self.bench.reply(&self.item(), 7, "Thanks.");
        let payload = self.bench.prepare(&action);
        self.bench.connector.confirm(&action, &payload, NOW).await
    }
}

fn titles(polled: &Polled) -> Vec<&str> {
    polled.items.iter().map(|item| item.title.as_str()).collect()
}

mod polling {
    use super::*;

    #[tokio::test]
    async fn items_and_state_go_around() {
        let mut script = Script::new(
            r#"read -r ask; printf '%s\n' "$ask" >> "$0/asked"
            printf '%s\n' '{"type":"item","id":1,"title":"One","body":"a\u0000b","author":{"name":"Kim","address":"kim@example.org"},"at":"2026-11-30T07:00:00+01:00","labels":["x"],"thread":"t-9"}'
            printf '%s\n' '{"type":"state","value":{"last":1}}' '{"type":"done","retry_after_s":90}'"#,
        );
        let polled = script.poll().await.unwrap();
        let item = &polled.items[0];
        assert_eq!((item.key.as_str(), item.body.as_str()), ("1", "ab"));
        assert_eq!(
            (item.threads.as_slice(), item.labels.as_slice()),
            (&["1".to_owned(), "t-9".to_owned()][..], &["x".to_owned()][..])
        );
        assert_eq!(item.at.unwrap().to_string(), "2026-11-30T06:00:00Z");
        assert_eq!(polled.last.unwrap().not_before, Some(Duration::from_secs(90)));
        let again = script.poll().await.unwrap();
        assert_eq!((again.seen, again.last.unwrap().cursor), (1, None));
        let asked = script.file("asked");
        let ask: Vec<serde_json::Value> =
            asked.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(ask[0]["state"], serde_json::Value::Null);
        assert_eq!((&ask[0]["op"], &ask[0]["backlog"]), (&"poll".into(), &"all".into()));
        assert_eq!(ask[1]["state"], serde_json::json!({ "last": 1 }));
    }

    #[tokio::test]
    async fn what_is_before_a_state_is_kept_when_the_rest_fails() {
        let mut script = Script::new(
            r#"echo '{"type":"item","id":1,"title":"One"}'; echo '{"type":"state","value":1}'
            echo '{"type":"item","id":2,"title":"Two"}'; echo 'no net' >&2; exit 3"#,
        );
        let first = script.bench.page().await.unwrap();
        assert_eq!((first.items.len(), first.more), (1, true));
        assert!(script.bench.cursor.as_ref().unwrap().0.contains("\"state\":1"));
        let second = script.bench.page().await.unwrap();
        assert_eq!((second.items.len(), second.more), (1, true));
        assert!(script.bench.cursor.as_ref().unwrap().0.contains("\"state\":1"));
        let error = script.bench.page().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK);
        assert_eq!(chain(&error), "poll with /bin/sh: exit status 3; it said: no net");
    }

    #[tokio::test]
    async fn a_page_that_was_not_committed_comes_again() {
        let mut script = Script::new(
            r#"for n in 1 2 3; do echo "{\"type\":\"item\",\"id\":$n,\"title\":\"t$n\"}"; done
            echo '{"type":"state","value":9}'; echo '{"type":"done"}'"#,
        );
        script.bench.items_max = 2;
        let first = script.bench.page().await.unwrap();
        assert_eq!((first.items.len(), first.more), (2, true));
        // The store was locked: what the runtime knows is the position of before.
        script.bench.cursor = None;
        let polled = script.poll().await.unwrap();
        assert_eq!((titles(&polled), polled.pages), (vec!["t1", "t2", "t3"], 2));
    }

    #[tokio::test]
    async fn more_right_now() {
        let mut script = Script::new(
            r#"read -r ask; case $ask in *'"state":null'*) n=1 more=true;; *) n=2 more=false;; esac
            echo "{\"type\":\"item\",\"id\":$n,\"title\":\"t$n\"}"; echo "{\"type\":\"state\",\"value\":$n}"
            echo "{\"type\":\"DONE\",\"more\":$more}""#,
        );
        assert_eq!(titles(&script.poll().await.unwrap()), ["t1", "t2"]);
    }

    #[tokio::test]
    async fn what_was_there_before_is_no_work() {
        let mut script = Script::new(
            r#"read -r ask; case $ask in *'"state":null'*) n=1;; *) n=2;; esac
            echo "{\"type\":\"item\",\"id\":$n,\"title\":\"t$n\"}"; echo '{"type":"item","title":"no id"}'
            echo "{\"type\":\"state\",\"value\":$n}"; echo '{"type":"done"}'"#,
        );
        script.bench.backlog = Backlog::New;
        let first = script.poll().await.unwrap();
        assert_eq!((first.new.len(), first.baseline), (0, 2));
        assert_eq!(first.notes, ["first poll: 2 items found, 0 of them to be worked on"]);
        assert_eq!(script.poll().await.unwrap().new, ["t2"]);
    }

    #[tokio::test]
    async fn a_first_run_that_failed_is_still_the_first() {
        let mut script = Script::new(
            r#"echo '{"type":"item","id":1,"at":"2026-11-29T08:00:00Z"}'
            echo '{"type":"item","id":2,"at":"2026-11-30T08:30:00Z","title":"meanwhile"}'
            test -e "$0/up" && echo '{"type":"done"}'"#,
        );
        script.bench.backlog = Backlog::New;
        assert!(script.poll().await.is_err());
        std::fs::write(script.dir.path().join("up"), "").unwrap();
        script.bench.restart();
        script.bench.clock.advance(Duration::from_secs(3600));
        let polled = script.poll().await.unwrap();
        let shown: Vec<&Disposition> = polled.items.iter().map(|item| &item.disposition).collect();
        assert_eq!(shown, [&Disposition::Baseline, &Disposition::Work]);
    }

    #[tokio::test]
    async fn errors_have_the_class_the_program_gives() {
        let mut class = Vec::new();
        for line in [
            r#"{"type":"error","class":"credentials","message":"token expired"}"#,
            r#"{"type":"error","class":"limited","retry_after_s":90}"#,
            r#"{"type":"error","class":"permanent"}"#,
            r#"{"type":"error"}"#,
        ] {
            let mut script = Script::new(&format!("echo '{line}'; echo '{{\"type\":\"done\"}}'"));
            class.push(script.poll().await.unwrap_err().class);
        }
        let until = NOW.plus(Duration::from_secs(90));
        assert_eq!(
            class,
            [ErrorClass::Auth, ErrorClass::RateLimited { until }, ErrorClass::Permanent, ErrorClass::NETWORK]
        );
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_waits_for_an_edit() {
        let keys = [("program", text("/nonexistent/program"))];
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::new(&SPEC, dir.path(), &keys);
        assert_eq!(bench.poll().await.unwrap_err().class, ErrorClass::Config);
        assert_eq!(bench.connector.probe().await.unwrap_err().class, ErrorClass::Config);
    }
}

mod hostile {
    use super::*;

    async fn check_error(script: &str, expected: &str) {
        let error = Script::new(script).poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK);
        assert_eq!(chain(&error), format!("poll with /bin/sh: {expected}"));
    }

    #[tokio::test]
    async fn an_end_without_done_is_a_failure() {
        check_error("exit 0", "it ended without saying `done`").await;
        let said = "it ended without saying `done`; 1 line is not of the protocol, the first: {\"type\":\"do";
        check_error("printf '{\"type\":\"do'", said).await;
    }

    #[tokio::test]
    async fn other_lines_are_counted_and_shown() {
        let mut script = Script::new(
            r#"printf '\357\273\277{"type":"item","id":1,"title":"One"}\r\n'
            echo 'loading…'; echo '[1]'; echo '{"type":"schema"}'; printf '{"type":"item","id":2,"title":"\377"}\n'
            printf '{"type":"done"}'"#,
        );
        let polled = script.poll().await.unwrap();
        assert_eq!(titles(&polled), ["One", "\u{fffd}"]);
        assert_eq!(
            polled.notes[..2],
            [
                "2 lines are not of the protocol, the first: loading…".to_owned(),
                "its output is not all UTF-8; other bytes are shown as \u{fffd}".to_owned()
            ]
        );
    }

    #[tokio::test]
    async fn a_line_of_two_megabytes_is_skipped() {
        let mut script = Script::new(
            r#"printf '{"type":"item","id":1,"body":"'; head -c 2097152 /dev/zero | tr '\0' x; echo '"}'
            echo '{"type":"item","id":2,"title":"Two"}'; echo '{"type":"done"}'"#,
        );
        let polled = script.poll().await.unwrap();
        assert_eq!(
            (titles(&polled), polled.notes[0].as_str()),
            (vec!["Two"], "1 lines longer than 1 MB were skipped")
        );
    }

    #[tokio::test]
    async fn a_long_text_is_cut_and_says_so() {
        let mut script = Script::new(
            r#"printf '{"type":"item","id":1,"body":"'; head -c 500000 /dev/zero | tr '\0' x; echo '"}'; echo '{"type":"done"}'"#,
        );
        let polled = script.poll().await.unwrap();
        let cut = polled.items[0].cut.unwrap();
        assert_eq!((cut.kept_bytes, cut.total_bytes), (limits::ITEM_TEXT_BYTES_MAX as u64, 500_000));
    }

    #[tokio::test]
    async fn output_without_end_is_ended() {
        let script = r#"yes "{\"type\":\"log\",\"pad\":\"$(head -c 8000 /dev/zero | tr '\0' x)\"}""#;
        check_error(script, "it wrote too much").await;
    }

    #[tokio::test]
    async fn items_without_end_are_ended_and_the_first_are_kept() {
        let mut script = Script::new(
            r#"n=0; while :; do n=$((n+1)); echo "{\"type\":\"item\",\"id\":$n}"; echo "{\"type\":\"state\",\"value\":$n}"; done"#,
        );
        let mut items = 0;
        let error = loop {
            match script.bench.page().await {
                Ok(page) => items += page.items.len(),
                Err(error) => break error,
            }
        };
        assert_eq!(items, limits::COMMAND_ITEMS_MAX);
        assert!(chain(&error).contains("more than 1000 items in one run"), "{}", chain(&error));
        assert!(script.bench.cursor.as_ref().unwrap().0.contains("\"state\":1000"));
    }

    #[tokio::test]
    async fn a_state_is_a_position() {
        let script = r#"printf '{"type":"state","value":"'; head -c 70000 /dev/zero | tr '\0' x; echo '"}'"#;
        check_error(script, "its state has 68 KB; a position is at most 60 KB").await;
    }

    #[tokio::test]
    async fn silence_is_ended_with_all_that_was_left_behind() {
        let keys = [("timeout", Value::Duration(Duration::from_secs(1)))];
        let mut script = Script::with("setsid sleep 600 & echo $! > \"$0/pid\"; sleep 600", &keys);
        let error = script.poll().await.unwrap_err();
        assert_eq!(chain(&error), "poll with /bin/sh: it was not done after 1s");
        let pid = script.file("pid");
        assert!(!pid.is_empty());
        // A zombie that nobody has collected yet is dead enough.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "a grandchild lives on: {stat}");
    }

    #[tokio::test]
    async fn a_secret_that_it_echoes_shows_nowhere() {
        let set = Value::Map(
            [(
                "TOKEN".to_owned(),
                Setting::Secret(workagent::model::secret_ref::SecretRef::Stored("canary".into())),
            )]
            .into(),
        );
        let mut script = Script::with(
            r#"echo "$TOKEN" >&2; echo "$TOKEN"; echo "{\"type\":\"log\",\"message\":\"$TOKEN\"}"
            echo "{\"type\":\"item\",\"id\":1,\"title\":\"$TOKEN\",\"body\":\"$TOKEN\"}"; echo "$TOKEN" > "$0/got"
            exit 1"#,
            &[("set", set)],
        );
        assert!(matches!(secret(), Value::Secret(_)));
        let page = script.bench.page().await.unwrap();
        let error = script.bench.page().await.unwrap_err();
        let shown = format!("{page:?} {error:?} {}", chain(&error));
        assert!(!shown.contains("CANARY"), "{shown}");
        assert_eq!(script.file("got").trim(), "CANARY-secret-1");
    }

    #[tokio::test]
    async fn it_gets_no_environment_but_what_it_was_given() {
        let pass = Value::List(vec!["PATH".into()]);
        let mut script = Script::with(r#"env > "$0/env"; echo '{"type":"done"}'"#, &[("pass", pass)]);
        script.poll().await.unwrap();
        let names: Vec<String> = script
            .file("env")
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name.to_owned())
            .collect();
        assert!(names.contains(&"PATH".to_owned()));
        assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    }
}

mod own_texts {
    use super::*;

    /// The thread of a place where the daemon writes with its owner's own account. 701 and 703 were sent by it, with
    /// white space changed by the place; 705 quotes 703 in full, mark and all.
    #[tokio::test]
    async fn are_not_requests() {
        let key = "wa-7-0123456789abcdef";
        let thread = std::fs::read_to_string("tests/fixtures/command/comments.json").unwrap();
        let thread: Vec<serde_json::Value> = serde_json::from_str(&thread).unwrap();
        let mut lines = String::new();
        for comment in thread {
            let body = comment["body"].as_str().unwrap();
            let body = match comment["id"].as_u64().unwrap() {
                701 | 703 => marker::stamp(body, key).replace('\n', "\r\n").replace("<!-- ", "<!--  "),
                705 => {
                    let (quoted, words) = body.rsplit_once("\r\n\r\n").unwrap();
                    format!("{quoted}\r\n>\r\n> <!-- workagent:{key} -->\r\n\r\n{words}")
                }
                _ => body.to_owned(),
            };
            let item = serde_json::json!({
                "type": "item", "id": comment["id"], "author": comment["user"]["login"], "updated": comment["updated_at"],
                "at": comment["created_at"], "thread": "7", "body": body, "body_format": "markdown", "reply_handle": 7,
            });
            lines += &format!("{item}\n");
        }
        let mut script = Script::sending(r#"cat "$0/lines"; echo '{"type":"done"}'"#);
        std::fs::write(script.dir.path().join("lines"), lines).unwrap();
        let polled = script.poll().await.unwrap();
        let taken: Vec<&str> = polled
            .items
            .iter()
            .filter(|item| item.disposition == Disposition::Work)
            .map(|item| item.key.as_str())
            .collect();
        assert_eq!(taken, ["702", "704", "705"]);
        assert!(polled.items.iter().all(|item| item.threads[1] == "7" && !item.body.contains("workagent:")));
    }

    #[tokio::test]
    async fn go_out_with_their_mark() {
        let script = Script::sending(r#"cat > "$0/got"; echo '{"type":"sent","remote_id":701}'"#);
        let receipt = script.send("Thanks.").await.unwrap();
        assert_eq!(receipt.remote_id, "701");
        let got: serde_json::Value = serde_json::from_str(&script.file("got")).unwrap();
        assert_eq!((&got["op"], &got["action_id"]), (&"send".into(), &"wa-7-0123456789abcdef".into()));
        assert_eq!(got["reply_handle"], serde_json::json!({ "issue": 7 }));
        assert_eq!(marker::own_key(got["body"].as_str().unwrap()), Some("wa-7-0123456789abcdef"));
    }

    #[tokio::test]
    async fn go_out_without_where_a_mark_would_show() {
        let keys = [("send", Value::Bool(true)), ("mark", Value::Bool(false))];
        let script = Script::with(r#"cat > "$0/got"; echo '{"type":"sent"}'"#, &keys);
        assert_eq!(script.send("Thanks.").await.unwrap().remote_id, "wa-7-0123456789abcdef");
        let got: serde_json::Value = serde_json::from_str(&script.file("got")).unwrap();
        assert_eq!(got["body"], "Thanks.");
    }
}

mod sending {
    use super::*;

    async fn class(script: &str) -> ErrorClass {
        Script::sending(script).send("Thanks.").await.unwrap_err().class
    }

    #[tokio::test]
    async fn no_answer_means_that_it_may_have_been_sent() {
        for script in [
            "cat > \"$0/sent\"; exit 0",
            "cat > \"$0/sent\"; kill -9 $$",
            "cat > \"$0/sent\"; echo 'Traceback'; exit 1",
            "cat > \"$0/sent\"; printf '{\"type\":\"sen'",
            "echo '{\"type\":\"unknown\"}'",
            "echo '{\"type\":\"sent\"}'; echo '{\"type\":\"not_sent\"}'",
        ] {
            assert_eq!(class(script).await, ErrorClass::Uncertain, "{script}");
        }
    }

    #[tokio::test]
    async fn a_definite_no_has_its_class() {
        let no = |class: &str| format!("echo '{{\"type\":\"not_sent\",\"class\":\"{class}\"}}'; exit 1");
        assert_eq!(class(&no("permanent")).await, ErrorClass::Permanent);
        assert_eq!(class(&no("later")).await, ErrorClass::NETWORK);
        assert_eq!(class(&no("credentials")).await, ErrorClass::Auth);
    }

    #[tokio::test]
    async fn an_answer_counts_however_the_program_ends() {
        let script =
            Script::sending("cat >/dev/null; echo '{\"type\":\"sent\",\"remote_id\":\"x\"}'; exit 1");
        assert_eq!(script.send("Thanks.").await.unwrap().remote_id, "x");
    }

    #[tokio::test]
    async fn a_program_that_never_started_sent_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let keys = [("program", text("/nonexistent/program")), ("send", Value::Bool(true))];
        let bench = Bench::new(&SPEC, dir.path(), &keys);
        let script = Script::sending("");
        let action = bench.reply(&script.item(), 7, "Thanks.");
        let payload = bench.prepare(&action);
        assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::Config);
    }

    #[tokio::test]
    async fn whether_it_arrived_is_asked() {
        let found = Script::sending("echo '{\"type\":\"found\",\"remote_id\":701}'").confirm().await.unwrap();
        assert!(matches!(found, Confirmation::Sent(receipt) if receipt.remote_id == "701"));
        let cannot = Script::sending("echo '{\"type\":\"unsupported\"}'").confirm().await.unwrap();
        assert_eq!(cannot, Confirmation::CannotTell);
        let died = Script::sending("exit 1").confirm().await.unwrap_err();
        assert_eq!(died.class, ErrorClass::NETWORK);
    }

    #[tokio::test]
    async fn absent_is_believed_after_a_while() {
        let script = Script::sending("cat > \"$0/got\"; echo '{\"type\":\"absent\"}'");
        assert_eq!(script.confirm().await.unwrap(), Confirmation::AskAgain);
        script.bench.clock.advance(Duration::from_secs(30));
        assert_eq!(script.confirm().await.unwrap(), Confirmation::NotSent);
        let got: serde_json::Value = serde_json::from_str(&script.file("got")).unwrap();
        assert_eq!((&got["op"], &got["since"]), (&"find".into(), &"2026-11-30T08:00:00Z".into()));
    }

    #[tokio::test]
    async fn a_unit_that_does_not_send_says_so() {
        let mut script =
            Script::new("echo '{\"type\":\"item\",\"id\":1,\"reply_handle\":1}'; echo '{\"type\":\"done\"}'");
        let reply = script.poll().await.unwrap().items.remove(0).reply;
        assert_eq!(reply, ReplyWay::Nowhere { reason: "the unit does not send (`send = false`)".into() });
    }
}
