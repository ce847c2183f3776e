//! The process room against small hostile children.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::process::{ChildEnd, ChildEnv, ChildLimits, ChildReport, ChildSpec, EnvValue, ProcessRoom};
use workagent::secret::SecretValue;
use workagent::secret::random::random_hex;

use crate::support::children::alive;

/// A child that fails a test by being slow is a hang, not a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A limit that is meant to be hit.
const SHORT: Duration = Duration::from_millis(400);

const ROOMY: ChildLimits = ChildLimits {
    first_output: LONG,
    idle: LONG,
    total: LONG,
    line_bytes_max: 16 << 20,
    stdout_bytes_max: 256 << 20,
};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/children").join(name)
}

/// One try of one child: a token in its environment to find its tree by, from the outside.
struct Try {
    dir: tempfile::TempDir,
    token: String,
    spec: ChildSpec,
    cancel: CancellationToken,
    cancel_on: Option<&'static str>,
}

struct Seen {
    report: ChildReport,
    lines: Vec<String>,
}

impl Try {
    fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let token = format!("600.{}", u64::from_str_radix(&random_hex(12), 16).unwrap());
        let env = BTreeMap::from([
            ("PATH".to_owned(), EnvValue::Plain("/usr/bin:/bin".into())),
            ("WA_TOKEN".to_owned(), EnvValue::Plain(token.clone().into())),
        ]);
        let spec = ChildSpec {
            program: script(name).into(),
            args: Vec::new(),
            env: ChildEnv(env),
            cwd: dir.path().to_owned(),
            stdin: Vec::new(),
            limits: ROOMY,
        };
        Self { dir, token, spec, cancel: CancellationToken::new(), cancel_on: None }
    }

    fn args(mut self, args: &[&str]) -> Self {
        self.spec.args = args.iter().map(Into::into).collect();
        self
    }

    fn stdin(mut self, text: &[u8]) -> Self {
        self.spec.stdin = text.to_vec();
        self
    }

    fn limits(mut self, limits: ChildLimits) -> Self {
        self.spec.limits = limits;
        self
    }

    fn cancel_on(mut self, line: &'static str) -> Self {
        self.cancel_on = Some(line);
        self
    }

    fn secret(mut self, name: &str, value: &str) -> Self {
        self.spec.env.0.insert(name.into(), EnvValue::Secret(SecretValue::new(value.into())));
        self
    }

    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    async fn run_with(self, on_line: &mut (dyn FnMut(&str) + Send)) -> Result<Seen, PortError> {
        let room = ProcessRoom::new(self.notes());
        let mut lines = Vec::new();
        let report = room
            .run(self.spec, &self.cancel, &mut |line| {
                let line = String::from_utf8_lossy(line).into_owned();
                on_line(&line);
                if self.cancel_on == Some(&line) {
                    self.cancel.cancel();
                }
                lines.push(line);
            })
            .await?;
        assert_eq!(alive(&self.token), Vec::<String>::new(), "alive after the run");
        assert_eq!(fs::read_dir(self.dir.path().join("notes")).unwrap().count(), 0, "notes are left");
        Ok(Seen { report, lines })
    }

    async fn run(self) -> Seen {
        self.run_with(&mut |_| {}).await.unwrap()
    }

    async fn refused(self) -> String {
        let error = self.run_with(&mut |_| {}).await.map(|seen| seen.report).unwrap_err();
        assert_eq!(error.class, ErrorClass::Config);
        chain(&error)
    }
}

fn check(seen: &Seen, end: ChildEnd, lines: &[&str]) {
    assert_eq!(
        (seen.report.end, seen.lines.as_slice()),
        (end, lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>().as_slice())
    );
}

// Input.

#[tokio::test]
async fn input_is_written_and_closed() {
    let seen = Try::new("needs-eof").stdin(&[b'x'; 300_000]).run().await;
    check(&seen, ChildEnd::Exited(0), &["reply after 300000 bytes"]);
}

#[tokio::test]
async fn an_unread_input_is_no_error() {
    let seen = Try::new("ignores-stdin").stdin(&[b'x'; 300_000]).run().await;
    check(&seen, ChildEnd::Exited(0), &["reply without reading"]);
}

#[tokio::test]
async fn a_slow_reader_that_writes_a_lot_does_not_block() {
    let seen = Try::new("slow-reader").stdin(&[b'x'; 300_000]).run().await;
    assert_eq!(seen.report.end, ChildEnd::Exited(0));
    assert_eq!(seen.lines.last().unwrap(), "reply after 300000");
}

#[tokio::test]
async fn there_is_no_terminal_to_wait_for() {
    let seen = Try::new("wants-tty").run().await;
    check(&seen, ChildEnd::Exited(1), &[]);
    assert_eq!(seen.report.stderr_tail, "this program needs a terminal or a prompt argument\n");
}

// The tree.

async fn check_swept(what: Try, end: ChildEnd, swept_min: u32) {
    let seen = what.run().await;
    assert_eq!(seen.report.end, end);
    assert!(seen.report.swept >= swept_min, "swept {}", seen.report.swept);
}

#[tokio::test]
async fn total_limit_ends_the_whole_tree() {
    let limits = ChildLimits { total: SHORT, ..ROOMY };
    check_swept(Try::new("launcher").limits(limits), ChildEnd::TimedOutTotal, 1).await;
}

#[tokio::test]
async fn cancel_ends_the_whole_tree() {
    check_swept(Try::new("launcher").cancel_on("stubborn"), ChildEnd::Cancelled, 1).await;
}

#[tokio::test]
async fn cancelled_before_the_start_starts_nothing() {
    let what = Try::new("needs-eof");
    what.cancel.cancel();
    check(
        &Seen {
            report: ProcessRoom::new(what.notes()).run(what.spec, &what.cancel, &mut |_| {}).await.unwrap(),
            lines: vec![],
        },
        ChildEnd::Cancelled,
        &[],
    );
    assert!(!what.dir.path().join("notes").exists());
}

#[tokio::test]
async fn a_leader_that_ignores_term_is_killed() {
    check_swept(Try::new("ignores-term").cancel_on("started"), ChildEnd::Cancelled, 0).await;
}

#[tokio::test]
async fn a_helper_that_holds_the_pipe_does_not_hold_the_run() {
    let what = Try::new("holds-stdout");
    let seen = what.run().await;
    assert_eq!(seen.report.end, ChildEnd::Exited(0));
    assert!(seen.lines.contains(&"reply".to_owned()));
    assert!(seen.report.swept >= 1);
}

#[tokio::test]
async fn a_daemonised_helper_is_ended() {
    check_swept(Try::new("daemonises"), ChildEnd::Exited(0), 1).await;
}

#[tokio::test]
async fn helpers_without_environment_in_their_own_sessions_are_ended() {
    let what = Try::new("wipes-its-mark").cancel_on("hidden");
    let token = what.token.clone();
    check_swept(what.args(&[&token]), ChildEnd::Cancelled, 1).await;
}

#[tokio::test]
async fn a_dropped_run_ends_its_tree() {
    let what = Try::new("launcher");
    let (token, room) = (what.token.clone(), ProcessRoom::new(what.notes()));
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let mut on_line = move |line: &[u8]| {
        let _ = told.send(line.to_vec());
    };
    let run = room.run(what.spec, &what.cancel, &mut on_line);
    tokio::select! {
        report = run => panic!("it ended: {report:?}"),
        () = async { while heard.recv().await.unwrap() != b"stubborn" {} } => {}
    }
    until(|| alive(&token).is_empty());
}

fn until(predicate: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !predicate() {
        assert!(Instant::now() < deadline, "did not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_hundred_quick_failures_leave_no_zombie() {
    for _ in 0..100 {
        check(&Try::new("quick-failure").run().await, ChildEnd::Exited(3), &[]);
    }
    let own = format!(" {} ", std::process::id());
    let zombies = || {
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok())
            .filter(|stat| stat.contains("(quick-failure) Z") && stat.contains(&own))
            .count()
    };
    until(|| zombies() == 0);
}

// Limits.

#[tokio::test]
async fn silence_from_the_start() {
    let limits = ChildLimits { first_output: SHORT, ..ROOMY };
    // It waits for input that has ended, so it hangs without a word only with arguments like these.
    let mut what = Try::new("needs-eof").args(&[]).limits(limits);
    what.spec.program = "/bin/sleep".into();
    what.spec.args = vec!["600".into()];
    check(&what.run().await, ChildEnd::TimedOutFirst, &[]);
}

#[tokio::test]
async fn silence_after_a_word() {
    let limits = ChildLimits { idle: SHORT, ..ROOMY };
    check(&Try::new("goes-quiet").limits(limits).run().await, ChildEnd::TimedOutIdle, &["one word"]);
}

#[tokio::test]
async fn too_much_output_ends_the_child() {
    let limits = ChildLimits { stdout_bytes_max: 1 << 20, ..ROOMY };
    let seen = Try::new("stream").args(&["endless"]).limits(limits).run().await;
    assert_eq!(seen.report.end, ChildEnd::OverCap);
    let kept: usize = seen.lines.iter().map(|line| line.len() + 1).sum();
    assert!(kept <= 1 << 20, "{kept}");
    assert!(seen.report.stdout_bytes > 1 << 20);
}

// Streams.

const FIRST: &str = r#"{"type":"system"}"#;
const LAST: &str = r#"{"type":"result","result":"naïve café ✓"}"#;

#[tokio::test]
async fn any_cut_of_the_stream_gives_the_same_lines() {
    for mode in ["plain", "split", "nonl", "flood"] {
        let seen = Try::new("stream").args(&[mode]).run().await;
        check(&seen, ChildEnd::Exited(0), &[FIRST, LAST]);
    }
}

#[tokio::test]
async fn of_a_flood_of_stderr_the_end_is_kept() {
    let tail = Try::new("stream").args(&["flood"]).run().await.report.stderr_tail;
    assert!(tail.ends_with("p\nthe end\n") && tail.len() <= 64 * 1024, "{} bytes", tail.len());
}

#[tokio::test]
async fn a_line_of_8_mib_is_a_line() {
    let seen = Try::new("stream").args(&["big", "8388608"]).run().await;
    assert_eq!(seen.lines.iter().map(String::len).collect::<Vec<_>>(), [FIRST.len(), 8_388_608, LAST.len()]);
    assert_eq!(seen.report.lines_skipped, 0);
}

#[tokio::test]
async fn a_line_over_the_cap_is_skipped_and_counted() {
    let limits = ChildLimits { line_bytes_max: 1 << 20, ..ROOMY };
    let seen = Try::new("stream").args(&["big", "8388608"]).limits(limits).run().await;
    check(&seen, ChildEnd::Exited(0), &[FIRST, LAST]);
    assert_eq!(seen.report.lines_skipped, 1);
}

/// Not a test: a run in a process of its own, so that its memory can be told from that of other tests.
#[tokio::test]
#[ignore = "started by `two_hundred_megabytes_pass_through_in_little_memory`"]
async fn two_hundred_megabytes() {
    let flood = "yes 0123456789012345678901234567890123456789 | head -c 200000000";
    let mut what = Try::new("needs-eof").args(&["-c", flood]);
    what.spec.program = "/bin/sh".into();
    let (mut bytes, room) = (0, ProcessRoom::new(what.notes()));
    let mut count = |line: &[u8]| bytes += line.len() as u64 + 1;
    let report = room.run(what.spec, &what.cancel, &mut count).await.unwrap();
    assert_eq!(
        (report.end, report.stdout_bytes, report.lines_skipped),
        (ChildEnd::Exited(0), 200_000_000, 0)
    );
    assert!(bytes >= 200_000_000, "{bytes}");
    assert!(peak_kb() < 60_000, "took {} KB", peak_kb());
}

#[test]
fn two_hundred_megabytes_pass_through_in_little_memory() {
    #[expect(clippy::disallowed_methods, reason = "a test in a process of its own")]
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["process::two_hundred_megabytes", "--exact", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

/// The most memory this process ever had resident.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// What goes with a child.

#[tokio::test]
async fn exactly_the_given_environment_and_the_mark() {
    let seen = Try::new("dump-env").run().await;
    // The shell itself sets PWD (and in some builds OLDPWD, SHLVL, _).
    let names: Vec<_> =
        seen.lines.iter().filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())).collect();
    assert_eq!(names, ["PATH", "WA_TOKEN", "WORKAGENT_RUN"]);
}

#[tokio::test]
async fn no_descriptor_but_the_three() {
    // One that somebody left open over our start.
    let left_open = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let seen = Try::new("show-fds").run().await;
    drop(left_open);
    // The shell opens one more to list the directory.
    assert_eq!(seen.lines.iter().filter(|fd| fd.as_str() > "3").count(), 0, "{:?}", seen.lines);
}

#[tokio::test]
async fn neither_secrets_nor_the_prompt_in_any_command_line() {
    let canary = format!("canary-{}", random_hex(16));
    let what = Try::new("takes-prompt").secret("KEY", &canary).stdin(canary.as_bytes()).cancel_on("ready");
    let mut seen_on_lines = Vec::new();
    what.run_with(&mut |line| {
        if line == "ready" {
            for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                seen_on_lines.push(String::from_utf8_lossy(&line).into_owned());
            }
        }
    })
    .await
    .unwrap();
    assert!(seen_on_lines.iter().any(|line| line.contains("takes-prompt")));
    assert!(!seen_on_lines.iter().any(|line| line.contains(&canary)));
}

#[tokio::test]
async fn stderr_is_shown_without_secrets_and_escapes() {
    let seen = Try::new("leaks-its-key").secret("KEY", "canary-0001").run().await;
    check(&seen, ChildEnd::Exited(4), &[]);
    assert_eq!(seen.report.stderr_tail, "refused: [masked]\n");
}

// What cannot be started.

#[tokio::test]
async fn a_missing_program_names_the_path_that_was_searched() {
    let mut what = Try::new("x");
    what.spec.program = "wa-no-such-program".into();
    assert_eq!(
        what.refused().await,
        "start `wa-no-such-program`: not found on the PATH of the child, which is `/usr/bin:/bin`; give it by its \
         absolute path, or an engine its directory in `path`"
    );
}

#[tokio::test]
async fn a_missing_interpreter_is_named() {
    let text = Try::new("no-interpreter").refused().await;
    assert!(text.contains("its interpreter `/nonexistent/interpreter` was not found"), "{text}");
    let text = Try::new("no-env-interpreter").refused().await;
    assert!(
        text.contains("its interpreter `wa-no-such-interpreter` was not found on the PATH of the child, which is `/usr/bin:/bin`"),
        "{text}"
    );
}

#[tokio::test]
async fn other_reasons_are_said() {
    let text = Try::new("not-executable").refused().await;
    assert!(text.contains("it is not executable"), "{text}");
    let text = Try::new("not-there").refused().await;
    assert!(text.contains("there is no such file"), "{text}");
    let mut what = Try::new("needs-eof");
    let gone = what.dir.path().join("gone");
    what.spec.cwd.clone_from(&gone);
    let wanted = format!("the directory {} is not there", gone.display());
    assert!(what.refused().await.contains(&wanted));
}

// Left behind.

/// Not a test: the daemon of the next one, started as a process of its own so that it can be killed.
#[tokio::test]
#[ignore = "started by `a_killed_daemon_leaves_nothing_behind`"]
async fn a_daemon_to_be_killed() {
    let Some(notes) = std::env::var_os("WA_NOTES") else { return };
    let mut what = Try::new("launcher");
    let token = std::env::var_os("WA_CHILD_TOKEN").unwrap();
    what.spec.env.0.insert("WA_TOKEN".into(), EnvValue::Plain(token));
    let room = ProcessRoom::new(notes.into());
    let report = room.run(what.spec, &what.cancel, &mut |_| {}).await;
    panic!("it ended: {report:?}");
}

#[tokio::test]
async fn a_killed_daemon_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let token = random_hex(16);
    #[expect(clippy::disallowed_methods, reason = "a test plays the service manager")]
    let mut daemon = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["process::a_daemon_to_be_killed", "--exact", "--ignored"])
        .env("WA_NOTES", dir.path())
        .env("WA_CHILD_TOKEN", &token)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The daemon itself shows the token in its environment; the launcher, its helpers and the stubborn one make four
    // and more.
    until(|| alive(&format!("WA_TOKEN={token}")).len() >= 4);
    let room = ProcessRoom::new(dir.path().to_owned());
    assert_eq!(room.reap_orphans().await, 0, "its owner is alive");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(alive(&token).len() >= 4, "a kill of the daemon alone ends no child");
    assert!(room.reap_orphans().await >= 4);
    assert_eq!(alive(&token), Vec::<String>::new());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_reused_number_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a stranger that has the number of a dead child")]
    let mut stranger = std::process::Command::new("/bin/sleep").arg("600").spawn().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let note = format!(
        r#"{{"boot":"{}","mark":"0123456789abcdef","owner":{{"pid":1,"started":99}}}}
{{"pid":{},"started":1}}"#,
        boot.trim(),
        stranger.id()
    );
    fs::File::create(dir.path().join("x.json")).unwrap().write_all(note.as_bytes()).unwrap();
    assert_eq!(ProcessRoom::new(dir.path().to_owned()).reap_orphans().await, 0);
    assert_eq!(stranger.try_wait().unwrap(), None);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}
