//! The drop-box folder: what counts as a file, when it is complete, where replies go and how they are found again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use workagent::model::class::{ErrorClass, chain};
use workagent::model::draft::Envelope;
use workagent::model::item::{Backlog, Disposition, Item};
use workagent::model::limits;
use workagent::model::outbound::Confirmation;
use workagent::model::time::Clock;
use workagent::platform::directory::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, Polled, action};

/// A drop-box without a settling time, whose clock stands a day after the files' own.
struct DropBox {
    dir: tempfile::TempDir,
    bench: Bench,
}

fn path(path: &Path) -> Value {
    Value::Path(path.to_owned())
}

impl DropBox {
    fn new(keys: &[(&str, &str)]) -> Self {
        Self::settling(Duration::ZERO, keys)
    }

    /// `keys` are names of folders beside the drop-box.
    fn settling(settle: Duration, keys: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        fs::create_dir(&folder).unwrap();
        let mut all = vec![("path", path(&folder)), ("settle", Value::Duration(settle))];
        all.extend(keys.iter().map(|(key, name)| (*key, path(&dir.path().join(name)))));
        let bench = Bench::new(&SPEC, dir.path(), &all).backlog(Backlog::All);
        let real = Clock::system().now().since(bench.clock.now());
        bench.clock.advance(real + Duration::from_secs(86_400));
        Self { dir, bench }
    }

    fn drop(&self, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join("in").join(name.as_ref()), content).unwrap();
    }

    /// Polls and tells the connector that the pages were committed.
    async fn poll(&mut self) -> Polled {
        let polled = self.bench.poll().await.unwrap();
        let keys: Vec<String> = polled.items.iter().map(|item| item.key.clone()).collect();
        self.bench.connector.committed(&keys).await.unwrap();
        polled
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    async fn send(&self, item: &Item, number: i64, body: &str) -> String {
        let action = self.bench.reply(item, number, body);
        let payload = self.bench.prepare(&action);
        self.bench.connector.deliver(&action, &payload).await.unwrap().remote_id
    }
}

fn titles(polled: &Polled) -> Vec<&str> {
    polled.items.iter().map(|item| item.title.as_str()).collect()
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn a_file_is_an_item_once() {
        let mut folder = DropBox::new(&[]);
        folder.drop("note.md", "# Plan\r\n\r\nCan you book the room?\n");
        let polled = folder.poll().await;
        let item = &polled.items[0];
        assert_eq!(
            (item.title.as_str(), item.body.as_str()),
            ("note.md", "# Plan\n\nCan you book the room?\n")
        );
        assert_eq!((item.kind.as_str(), item.labels.as_slice()), ("note", &["md".to_owned()][..]));
        assert_eq!(folder.poll().await.items.len(), 0);
        folder.bench.restart();
        assert_eq!(folder.poll().await.seen, 1);
    }

    #[tokio::test]
    async fn leftovers_links_pipes_and_folders_do_not_count() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let mut folder = DropBox::new(&[]);
        let inside = folder.dir.path().join("in");
        for name in [".hidden", "a.tmp", "a.md~", "a.part", ".a.swp", "4913", ".#a", "a.md.reply.md"] {
            folder.drop(name, "x");
        }
        fs::write(folder.dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link.md")).unwrap();
        mknodat(CWD, inside.join("pipe.md"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::create_dir(inside.join("folder.md")).unwrap();
        folder.drop("note.md", "x");
        assert_eq!(titles(&folder.poll().await), ["note.md"]);
    }

    #[tokio::test]
    async fn the_same_content_is_one_case_and_said() {
        let mut folder = DropBox::new(&[]);
        folder.drop("a.md", "x");
        folder.drop("b.md", "x");
        let polled = folder.poll().await;
        assert_eq!(titles(&polled), ["a.md"]);
        assert!(
            polled.notes.contains(&"b.md has the same content as a.md: one case".to_owned()),
            "{polled:?}"
        );
        folder.drop("c.md", "x");
        let polled = folder.poll().await;
        assert_eq!((polled.seen, polled.new.len()), (1, 0));
        assert_eq!(polled.notes, ["c.md has the same content as a.md: one case"]);
    }

    #[tokio::test]
    async fn a_changed_file_is_another_item() {
        let mut folder = DropBox::new(&[]);
        folder.drop("a.md", "one");
        folder.poll().await;
        folder.drop("a.md", "two!");
        assert_eq!(folder.poll().await.new, ["a.md"]);
    }

    #[tokio::test]
    async fn names_need_not_be_text() {
        let mut folder = DropBox::new(&[]);
        let name = OsStr::from_bytes(b"caf\xe9\n.md");
        folder.drop(name, "x");
        let polled = folder.poll().await;
        assert_eq!(titles(&polled), ["caf\u{fffd} .md"]);
        folder.send(&polled.items[0], 1, "Yes.").await;
        let reply = folder.dir.path().join("in").join(OsStr::from_bytes(b"caf\xe9\n.md.reply.md"));
        assert_eq!(fs::read_to_string(reply).unwrap(), "Yes.\n");
    }

    #[tokio::test]
    async fn what_is_no_text_is_listed_and_what_is_huge_is_cut() {
        let mut folder = DropBox::new(&[]);
        folder.drop("big.txt", "word ".repeat(20_000));
        folder.drop("huge.log", vec![b'x'; limits::FILE_BYTES_MAX + 1000]);
        folder.drop("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
        let polled = folder.poll().await;
        let [big, huge, picture] = polled.items.as_slice() else { panic!("{polled:?}") };
        assert_eq!(big.cut.unwrap().total_bytes, 100_000);
        assert_eq!(big.body.len(), limits::ITEM_TEXT_BYTES_MAX);
        assert_eq!(huge.cut.unwrap().total_bytes, limits::FILE_BYTES_MAX as u64 + 1000);
        assert_eq!(picture.body, "(a file of 16 B that is not text)");
        assert_eq!(picture.attachments[0].size_bytes, 16);
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_read_does_not_stop_the_others() {
        use std::os::unix::fs::PermissionsExt as _;
        let mut folder = DropBox::new(&[]);
        folder.drop("a.md", "a");
        folder.drop("b.md", "b");
        let locked = folder.dir.path().join("in/a.md");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&locked).is_ok() {
            // Root reads everything; then there is nothing to see here.
            return;
        }
        let polled = folder.poll().await;
        assert_eq!(titles(&polled), ["b.md"]);
        assert!(polled.notes.iter().any(|note| note.starts_with("cannot read a.md: ")), "{polled:?}");
    }

    #[tokio::test]
    async fn a_missing_folder_is_an_error_for_now() {
        let mut folder = DropBox::new(&[]);
        fs::remove_dir(folder.dir.path().join("in")).unwrap();
        let error = folder.bench.poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK);
        assert!(chain(&error).starts_with("look into "), "{}", chain(&error));
    }

    #[tokio::test]
    async fn pages_go_by_name_and_hold_everything_once() {
        let mut folder = DropBox::new(&[]);
        for n in 0..25 {
            folder.drop(format!("{n:02}.md"), format!("{n}"));
        }
        folder.bench.items_max = 10;
        let polled = folder.bench.poll().await.unwrap();
        assert_eq!((polled.pages, polled.new.len()), (3, 25));
    }

    #[tokio::test]
    async fn patterns_choose() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.md", "b.txt"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let keys = [
            ("path", path(dir.path())),
            ("settle", Value::Duration(Duration::ZERO)),
            ("pattern", Value::List(vec!["*.md".into()])),
        ];
        let mut bench = Bench::new(&SPEC, dir.path(), &keys).backlog(Backlog::All);
        assert_eq!(titles(&bench.poll().await.unwrap()), ["a.md"]);
    }
}

mod settling {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(2);

    #[tokio::test]
    async fn a_file_with_times_ahead_of_the_clock_is_watched() {
        let mut folder = DropBox::settling(SETTLE, &[]);
        folder.drop("a.md", "half");
        let ahead = std::time::SystemTime::UNIX_EPOCH
            + Duration::from_millis(folder.bench.clock.now().0.unsigned_abs())
            + Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(folder.dir.path().join("in/a.md")).unwrap();
        file.set_modified(ahead).unwrap();
        assert_eq!(folder.poll().await.items.len(), 0);
        folder.bench.clock.advance(Duration::from_secs(1));
        assert_eq!(folder.poll().await.items.len(), 0);
        // Still being written: the wait begins anew.
        folder.drop("a.md", "half, and the other half");
        file.set_modified(ahead).unwrap();
        folder.bench.clock.advance(Duration::from_secs(1));
        assert_eq!(folder.poll().await.items.len(), 0);
        folder.bench.clock.advance(SETTLE);
        assert_eq!(folder.poll().await.items[0].body, "half, and the other half");
    }

    #[tokio::test]
    async fn a_file_that_rested_is_taken_at_once() {
        let mut folder = DropBox::settling(SETTLE, &[]);
        folder.drop("a.md", "x");
        assert_eq!(folder.poll().await.items.len(), 1);
    }

    #[tokio::test]
    async fn a_file_in_writing_wakes_the_connector_again() {
        let mut folder = DropBox::settling(Duration::from_millis(1), &[]);
        folder.drop("a.md", "x");
        let back = folder.bench.clock.now().since(Clock::system().now());
        folder.bench.clock = Clock::system();
        assert!(back > Duration::ZERO);
        let ahead = std::time::SystemTime::UNIX_EPOCH
            + Duration::from_millis(folder.bench.clock.now().0.unsigned_abs())
            + Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(folder.dir.path().join("in/a.md")).unwrap();
        file.set_modified(ahead).unwrap();
        assert_eq!(folder.poll().await.items.len(), 0);
        folder.bench.connector.changed(folder.bench.cursor.as_ref()).unwrap().await.unwrap();
        assert_eq!(folder.poll().await.items.len(), 1);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_dropped_file_is_noticed_and_a_reply_is_not() {
        let mut folder = DropBox::new(&[]);
        folder.drop("a.md", "x");
        let polled = folder.poll().await;
        let cursor = folder.bench.cursor.clone();
        let mut changed = folder.bench.connector.changed(cursor.as_ref()).unwrap();
        assert!(futures_util::poll!(&mut changed).is_pending());
        folder.send(&polled.items[0], 1, "Yes.").await;
        let quiet = tokio::time::timeout(Duration::from_millis(200), &mut changed).await;
        assert!(quiet.is_err(), "our own reply woke us: {quiet:?}");
        folder.drop("b.md", "y");
        tokio::time::timeout(Duration::from_secs(30), changed).await.unwrap().unwrap();
        // What came between the look and the watch is noticed too.
        tokio::time::timeout(
            Duration::from_secs(30),
            folder.bench.connector.changed(cursor.as_ref()).unwrap(),
        )
        .await
        .unwrap()
        .unwrap();
    }
}

mod backlog {
    use super::*;

    #[tokio::test]
    async fn what_lay_there_before_is_no_work_and_stays_where_it_is() {
        let mut folder = DropBox::new(&[("done", "done")]);
        folder.bench.backlog = Backlog::New;
        folder.drop("old.md", "old");
        let polled = folder.poll().await;
        assert_eq!((polled.baseline, polled.new.len()), (1, 0));
        folder.drop("new.md", "new");
        assert_eq!(folder.poll().await.new, ["new.md"]);
        folder.bench.restart();
        let again = folder.poll().await;
        assert_eq!(again.items[0].disposition, Disposition::Baseline);
        assert_eq!(folder.files("in"), ["old.md"]);
        assert_eq!(folder.files("done").len(), 1);
    }

    #[tokio::test]
    async fn a_bound_goes_by_the_time_of_writing() {
        let mut folder = DropBox::new(&[]);
        folder.drop("young.md", "young");
        folder.drop("old.md", "old");
        let file = fs::File::options().write(true).open(folder.dir.path().join("in/old.md")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        folder.bench.backlog = Backlog::Since(Duration::from_secs(7 * 86_400));
        let polled = folder.poll().await;
        assert_eq!((polled.new, polled.baseline), (vec!["young.md".to_owned()], 1));
    }
}

mod moving {
    use super::*;

    #[tokio::test]
    async fn recorded_files_go_under_their_digest_and_never_over_another() {
        let mut folder = DropBox::new(&[("done", "done")]);
        folder.drop("a.md", "x");
        folder.poll().await;
        folder.drop("a.md", "x");
        folder.poll().await;
        folder.drop("a.md", "y");
        folder.poll().await;
        assert_eq!(folder.files("in"), [""; 0]);
        assert_eq!(folder.files("done"), ["2d711642b726-1-a.md", "2d711642b726-a.md", "a1fce4363854-a.md"]);
    }

    #[tokio::test]
    async fn a_move_that_was_missed_is_made_up_for() {
        let mut folder = DropBox::new(&[("done", "done")]);
        folder.drop("a.md", "x");
        folder.bench.poll().await.unwrap();
        // Killed between the commit and the move.
        folder.bench.restart();
        assert_eq!(folder.poll().await.seen, 1);
        assert_eq!((folder.files("in").len(), folder.files("done").len()), (0, 1));
    }

    #[tokio::test]
    async fn a_file_that_changed_meanwhile_stays() {
        let mut folder = DropBox::new(&[("done", "done")]);
        folder.drop("a.md", "x");
        let polled = folder.bench.poll().await.unwrap();
        folder.drop("a.md", "other");
        folder.bench.connector.committed(&[polled.items[0].key.clone()]).await.unwrap();
        assert_eq!(folder.files("in"), ["a.md"]);
        assert_eq!(folder.poll().await.items[0].body, "other");
    }
}

mod replies {
    use super::*;

    #[tokio::test]
    async fn lie_beside_and_are_never_read_back() {
        let mut folder = DropBox::new(&[]);
        folder.drop("note.md", "x");
        let polled = folder.poll().await;
        assert_eq!(folder.send(&polled.items[0], 1, "Yes.\n\n").await, "note.md.reply.md");
        assert_eq!(folder.files("in"), ["note.md", "note.md.reply.md"]);
        assert_eq!(fs::read_to_string(folder.dir.path().join("in/note.md.reply.md")).unwrap(), "Yes.\n");
        assert_eq!(folder.poll().await.items.len(), 0);
    }

    #[tokio::test]
    async fn a_second_reply_gets_its_own_name() {
        let mut folder = DropBox::new(&[("out", "out")]);
        folder.drop("note.md", "x");
        let polled = folder.poll().await;
        folder.send(&polled.items[0], 1, "Yes.").await;
        assert_eq!(folder.send(&polled.items[0], 2, "No.").await, "note.md.2-0123456789abcdef.reply.md");
        // Tried again, either is found where it is.
        assert_eq!(folder.send(&polled.items[0], 1, "Yes.").await, "note.md.reply.md");
        assert_eq!(folder.send(&polled.items[0], 2, "No.").await, "note.md.2-0123456789abcdef.reply.md");
        assert_eq!(folder.files("out"), ["note.md.2-0123456789abcdef.reply.md", "note.md.reply.md"]);
    }

    #[tokio::test]
    async fn whether_it_arrived_is_certain() {
        let mut folder = DropBox::new(&[("out", "out")]);
        folder.drop("note.md", "x");
        let polled = folder.poll().await;
        let action = folder.bench.reply(&polled.items[0], 1, "Yes.");
        let payload = folder.bench.prepare(&action);
        let connector = folder.bench.connector.clone();
        let confirm = async || connector.confirm(&action, &payload, folder.bench.clock.now()).await.unwrap();
        assert_eq!(confirm().await, Confirmation::NotSent);
        // Killed in the middle of writing.
        fs::create_dir(folder.dir.path().join("out")).unwrap();
        fs::write(folder.dir.path().join("out/.note.md.1-0123456789abcdef.reply.md.tmp"), "Ye").unwrap();
        assert_eq!(confirm().await, Confirmation::NotSent);
        folder.bench.connector.deliver(&action, &payload).await.unwrap();
        assert!(
            matches!(confirm().await, Confirmation::Sent(receipt) if receipt.remote_id == "note.md.reply.md")
        );
        assert_eq!(folder.files("out"), ["note.md.reply.md"]);
    }

    #[tokio::test]
    async fn a_foreign_file_of_that_name_is_left_alone() {
        let mut folder = DropBox::new(&[]);
        folder.drop("note.md", "x");
        let polled = folder.poll().await;
        folder.drop("note.md.reply.md", "mine");
        folder.send(&polled.items[0], 1, "Yes.").await;
        assert_eq!(fs::read_to_string(folder.dir.path().join("in/note.md.reply.md")).unwrap(), "mine");
        assert_eq!(folder.files("in").len(), 3);
    }

    #[tokio::test]
    async fn a_handle_leads_nowhere_else() {
        let folder = DropBox::new(&[]);
        for name in ["../escape", "/etc/passwd", ".."] {
            let thread = serde_json::json!({ "name": name });
            let action = action(Envelope { thread, ..Envelope::default() }, 1, "x");
            let error = folder.bench.connector.prepare(&action, folder.bench.clock.now()).unwrap_err();
            assert_eq!(error.class, ErrorClass::Permanent);
        }
    }

    #[tokio::test]
    async fn a_very_long_name_still_fits() {
        let mut folder = DropBox::new(&[]);
        folder.drop("n".repeat(255), "x");
        let polled = folder.poll().await;
        let name = folder.send(&polled.items[0], 1, "Yes.").await;
        assert!(name.len() <= 255 && folder.files("in").contains(&name));
    }
}
