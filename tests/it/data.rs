//! The life of the data, with the real binary: a database that cannot be used, backups, another machine (S45).

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use workagent::model::case::{Case, CaseState};
use workagent::model::outbound::{ActionState, OutboundAction};

use crate::support::binary::{Daemon, House, wait_until};

/// The far side, in a folder: `items` is what there is to read, a line each; `sent` is what arrived there.
const SERVER: &str = r#"read -r ask
case "$ask" in
*'"op":"send"'*)
    printf '%s\n' "$ask" >>"$0/sent"
    echo '{"type":"sent"}' ;;
*'"op":"find"'*)
    key=$(printf '%s' "$ask" | sed 's/.*"action_id":"\([^"]*\)".*/\1/')
    if grep -q "\"action_id\":\"$key\"" "$0/sent"; then echo '{"type":"found"}'; else echo '{"type":"absent"}'; fi ;;
*)
    cat "$0/items"
    echo '{"type":"done"}' ;;
esac
"#;

const CONNECTOR: &str = r#"[connector]
platform = "command"
outbound = "{outbound}"
backlog = "all"
hold = "0s"
[command]
program = "/bin/sh"
args = ["{server}/serve.sh", "{server}"]
account = "me"
send = true
find_delay = "0s"
[schedule]
every = "1s"
[install]
enabled = true
"#;

const ENGINE: &str = "[engine]\nengine = \"template\"\n[template]\ntext = \"Thank you for {{ title }}.\"\n[install]\nenabled = true\n";

const ROUTE: &str =
    "[route]\nengines = [\"polite\"]\n[match]\nconnector = [\"desk\"]\n[install]\nenabled = true\n";

struct Server(tempfile::TempDir);

impl Server {
    fn new() -> Self {
        let server = Self(tempfile::tempdir().unwrap());
        // `$0` of the script is its own path when it is run as a file; the folder comes as its first argument.
        fs::write(server.path("serve.sh"), SERVER.replace("$0/", "$1/")).unwrap();
        for name in ["items", "sent"] {
            fs::write(server.path(name), "").unwrap();
        }
        server
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn item(&self, id: u32, at: &str) {
        let line = format!(
            "{{\"type\":\"item\",\"id\":{id},\"title\":\"item {id}\",\"at\":\"{at}\",\"reply_handle\":{id},\
             \"author\":{{\"name\":\"Pat\",\"address\":\"pat@example.org\"}}}}\n"
        );
        let mut items = fs::read_to_string(self.path("items")).unwrap();
        items.push_str(&line);
        fs::write(self.path("items"), items).unwrap();
    }

    /// The items that were answered, in order.
    fn answered(&self) -> Vec<u64> {
        let text = fs::read_to_string(self.path("sent")).unwrap();
        let of = |line: &str| {
            let sent: serde_json::Value = serde_json::from_str(line).unwrap();
            sent.get("reply_handle").and_then(serde_json::Value::as_u64).unwrap()
        };
        text.lines().map(of).collect()
    }
}

/// A machine with the usual units on this server.
fn machine(server: &Server, outbound: &str) -> House {
    let house = House::new();
    let connector =
        CONNECTOR.replace("{outbound}", outbound).replace("{server}", &server.0.path().display().to_string());
    house.unit("desk.connector.toml", &connector);
    house.unit("polite.engine.toml", ENGINE);
    house.unit("all.route.toml", ROUTE);
    house
}

fn cases(house: &House) -> Vec<Case> {
    let mut cases: Vec<Case> = serde_json::from_str(&house.ok(&["case", "list", "--json"])).unwrap();
    cases.sort_by_key(|case| case.id);
    cases
}

fn titles(cases: &[Case]) -> Vec<&str> {
    cases.iter().map(|case| case.title.as_str()).collect()
}

fn actions(house: &House) -> Vec<OutboundAction> {
    let mut actions: Vec<OutboundAction> =
        serde_json::from_str(&house.ok(&["outbox", "list", "--json"])).unwrap();
    actions.sort_by_key(|action| action.id);
    actions
}

fn case_is(house: &House, title: &str, state: CaseState) {
    wait_until(&format!("{title} to be {}", state.word()), || {
        cases(house).iter().any(|case| case.title == title && case.state == state)
    });
}

/// Approves the draft of a case.
fn approve(house: &House, title: &str) {
    case_is(house, title, CaseState::Review);
    let drafts: serde_json::Value = serde_json::from_str(&house.ok(&["review", "list", "--json"])).unwrap();
    let case = cases(house).into_iter().find(|case| case.title == title).unwrap();
    let of_case = |view: &&serde_json::Value| view.to_string().contains(&format!("\"case\":{}", case.id.0));
    let view = drafts.as_array().unwrap().iter().find(of_case).unwrap_or_else(|| panic!("{drafts:#}"));
    let id = view.pointer("/draft/id").or_else(|| view.get("id")).unwrap();
    house.ok(&["review", "approve", &format!("d{id}")]);
}

const BEFORE: &str = "2026-11-30T07:00:00Z";

mod elsewhere {
    use super::*;

    #[test]
    fn goes_on_with_no_duplicate_case_and_no_duplicate_send() {
        let server = Server::new();
        let old = machine(&server, "reviewed");
        for id in [1, 2, 3] {
            server.item(id, BEFORE);
        }
        let daemon = old.daemon(&[]);
        approve(&old, "item 1");
        case_is(&old, "item 1", CaseState::Sent);
        old.ok(&["pause"]);
        approve(&old, "item 3");
        // While it runs.
        let backup = old.path("moved.tar").display().to_string();
        old.ok(&["backup", &backup]);
        // What the backup knows nothing of: two answers, one more item and its answer.
        old.ok(&["resume"]);
        case_is(&old, "item 3", CaseState::Sent);
        approve(&old, "item 2");
        case_is(&old, "item 2", CaseState::Sent);
        server.item(4, BEFORE);
        approve(&old, "item 4");
        case_is(&old, "item 4", CaseState::Sent);
        daemon.stop();
        assert_eq!(server.answered(), [1, 3, 2, 4]);

        let new = House::new();
        let moved = new.path("moved.tar");
        fs::rename(&backup, &moved).unwrap();
        let said = new.ok(&["restore", moved.to_str().unwrap()]);
        assert!(said.contains("unit files: back") && said.contains("1 sends were under way"), "{said}");
        // The most trusting rule there is must not change that.
        let unit = new.path("units/desk.connector.toml");
        let text = fs::read_to_string(&unit).unwrap();
        fs::write(&unit, text.replace("\"reviewed\"", "\"auto\"")).unwrap();
        let daemon = new.daemon(&[]);
        new.ok(&["resume"]);
        // It was sent after the backup was made, and the far side has it.
        wait_until("the send to be recognised", || actions(&new)[1].state == ActionState::Sent);
        // The old draft and the item that is seen for the first time here wait for a person.
        case_is(&new, "item 2", CaseState::Review);
        case_is(&new, "item 4", CaseState::Review);
        // Something that came later goes by the rule.
        let later = workagent::model::time::Clock::system().now().plus(std::time::Duration::from_secs(3600));
        server.item(5, &later.to_string());
        case_is(&new, "item 5", CaseState::Sent);
        assert_eq!(titles(&cases(&new)), ["item 1", "item 2", "item 3", "item 4", "item 5"]);
        assert_eq!(server.answered(), [1, 3, 2, 4, 5], "something was answered twice");
        let card = new.ok(&["review", "show", "d2"]);
        assert!(card.contains("an earlier state of the record was put back"), "{card}");
        daemon.stop();
    }

    #[test]
    fn what_the_far_side_does_not_have_is_held() {
        let server = Server::new();
        let old = machine(&server, "reviewed");
        server.item(1, BEFORE);
        let daemon = old.daemon(&[]);
        case_is(&old, "item 1", CaseState::Review);
        old.ok(&["pause"]);
        approve(&old, "item 1");
        let backup = old.path("moved.tar").display().to_string();
        old.ok(&["backup", &backup]);
        daemon.stop();
        let new = House::new();
        new.ok(&["restore", &backup]);
        new.ok(&["resume"]);
        let daemon = new.daemon(&[]);
        wait_until("the send to be held", || actions(&new)[0].state == ActionState::Held);
        let held = &actions(&new)[0];
        assert!(held.last_error.as_ref().unwrap().contains("was put back"), "{held:?}");
        assert!(server.answered().is_empty());
        // The person says: it was not.
        new.ok(&["outbox", "release", &held.id.to_string()]);
        case_is(&new, "item 1", CaseState::Sent);
        assert_eq!(server.answered(), [1]);
        daemon.stop();
    }

    #[test]
    fn secrets_go_along_only_closed() {
        let old = House::new();
        old.secret("mail/me", "CANARY-backup-1");
        let plain = old.path("plain.tar").display().to_string();
        assert_eq!(old.run(&["status"]).code, Some(69));
        old.ok(&["backup", &plain]);
        let closed = old.path("closed.tar").display().to_string();
        let ran = old.run_with(&["backup", "--secrets", "encrypted", &closed], "correct horse\n");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for file in [&plain, &closed] {
            let bytes = fs::read(file).unwrap();
            assert!(!bytes.windows(6).any(|six| six == b"CANARY"), "{file}");
            assert_eq!(mode(Path::new(file)), 0o600);
        }
        let new = House::new();
        let wrong = new.run_with(&["restore", "--secrets", &closed], "wrong horse\n");
        assert!(wrong.code == Some(1) && wrong.err.contains("is not opened by"), "{}", wrong.err);
        let ran = new.run_with(&["restore", "--secrets", &closed], "correct horse\n");
        assert!(ran.code == Some(0) && ran.out.contains("1 secrets taken"), "{}{}", ran.out, ran.err);
        assert!(new.ok(&["secret", "list"]).contains("mail/me"));
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file below a folder with its bytes.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.is_file() {
                let bytes = fs::read(&path).unwrap();
                all.push((path, bytes));
            }
        }
    }
    all.sort();
    all
}

/// A house with a record in it.
fn lived_in() -> House {
    let house = House::new();
    assert_eq!(house.run(&["status"]).code, Some(69));
    house
}

mod unusable {
    use super::*;

    /// The daemon ends with a code of its own and one message; so does every command; nothing is touched.
    fn check(house: &House, words: &[&str]) {
        let before = snapshot(&house.path("state"));
        let (status, log) = house.launch(&[], &[]).end();
        assert_eq!(status.code(), Some(65), "{log}");
        for args in [&["status"][..], &["case", "list"], &["run", "--once"], &["outbox", "list"], &["backup"]]
        {
            let ran = house.run(args);
            assert_eq!(ran.code, Some(65), "{args:?}: {}{}", ran.out, ran.err);
            for word in words {
                assert!(
                    ran.err.contains(word) && log.contains(word),
                    "{args:?} without {word}:\n{}\n{log}",
                    ran.err
                );
            }
            assert_eq!(ran.out, "");
        }
        assert!(snapshot(&house.path("state")) == before, "something was touched");
    }

    fn database(house: &House) -> PathBuf {
        house.path("state/workagent.db")
    }

    #[test]
    fn newer() {
        let house = lived_in();
        let backup = house.ok(&["backup"]);
        let backup = backup.split_whitespace().next().unwrap();
        let conn = Connection::open(database(&house)).unwrap();
        conn.execute_batch(
            "INSERT INTO _sqlx_migrations VALUES (700, 'later', '2027-01-01', 1, x'00', 1); \
             INSERT INTO programs (version, schema, at) VALUES ('7.1.0', 700, 1); \
             ALTER TABLE cases ADD COLUMN later TEXT",
        )
        .unwrap();
        drop(conn);
        let restore = format!("workagent restore {backup}");
        check(
            &house,
            &["version 7.1.0, schema 700", "hint: upgrade workagent to 7.1.0", &restore, "left as it is"],
        );
        house.ok(&["restore", backup]);
        assert_eq!(house.run(&["status"]).code, Some(69));
    }

    #[test]
    fn altered() {
        let house = lived_in();
        let conn = Connection::open(database(&house)).unwrap();
        conn.execute("UPDATE _sqlx_migrations SET checksum = x'00' WHERE version = 3", []).unwrap();
        drop(conn);
        check(&house, &["migration 3 of the database"]);
    }

    #[test]
    fn damaged() {
        let house = lived_in();
        let mut bytes = fs::read(database(&house)).unwrap();
        bytes[4096 * 2..4096 * 6].fill(0xAA);
        fs::write(database(&house), bytes).unwrap();
        check(&house, &["is damaged", "workagent restore FILE"]);
        fs::write(database(&house), "a letter, not a database. ".repeat(400)).unwrap();
        check(&house, &["is damaged: it is no SQLite database"]);
    }

    #[test]
    fn another_program_s() {
        let house = House::new();
        fs::create_dir(house.path("state")).unwrap();
        let conn = Connection::open(database(&house)).unwrap();
        conn.execute_batch("CREATE TABLE photos (id INTEGER)").unwrap();
        drop(conn);
        check(&house, &["is not one of workagent: it has the tables photos"]);
    }

    #[test]
    fn gone() {
        let house = lived_in();
        let aside = house.path("aside.db");
        fs::rename(database(&house), &aside).unwrap();
        check(&house, &["is gone", "None was made in its place", "record.json"]);
        fs::write(database(&house), "").unwrap();
        check(&house, &["is gone"]);
        // Whoever wants that can have it.
        fs::remove_file(house.path("state/record.json")).unwrap();
        assert_eq!(house.run(&["status"]).code, Some(69));
    }

    #[test]
    fn elsewhere_by_the_unit() {
        let house = lived_in();
        house.unit("workagent.daemon.toml", "[store]\npath = \"{root}/disk/w.db\"\n");
        fs::create_dir(house.path("disk")).unwrap();
        let old = database(&house).display().to_string();
        check(&house, &["disk/w.db is gone", &format!("it was {old} until now")]);
        fs::rename(database(&house), house.path("disk/w.db")).unwrap();
        assert_eq!(house.run(&["status"]).code, Some(69));
    }
}

mod replaced {
    use super::*;

    fn refused(house: &House, daemon: &Daemon, args: &[&str]) {
        let ran = house.run(args);
        assert_eq!(ran.code, Some(75), "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("process {}", daemon.pid())), "{}", ran.err);
    }

    /// Whoever deletes the whole state deletes the lock with it; a second daemon must not begin anew beside the first.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_state_deleted_under_a_daemon_lets_no_second_one_start() {
        let house = House::new();
        let daemon = house.daemon(&[]);
        // It goes on writing there.
        wait_until("the state to be gone", || {
            let _ = fs::remove_dir_all(house.path("state"));
            !house.path("state").exists()
        });
        refused(&house, &daemon, &["run"]);
        assert!(!house.path("state/workagent.db").exists());
        daemon.kill();
        assert_eq!(house.run(&["status"]).code, Some(69));
    }

    #[test]
    fn nothing_is_put_back_under_a_daemon() {
        let house = House::new();
        let daemon = house.daemon(&[]);
        let backup = house.ok(&["backup"]);
        let backup = backup.split_whitespace().next().unwrap();
        refused(&house, &daemon, &["restore", backup]);
        daemon.stop();
        house.ok(&["restore", backup]);
    }

    #[test]
    fn a_dry_run_changes_nothing_and_what_is_replaced_is_kept() {
        let server = Server::new();
        let house = machine(&server, "reviewed");
        server.item(1, BEFORE);
        house.ok(&["run", "--once"]);
        let backup = house.ok(&["backup"]);
        let backup = backup.split_whitespace().next().unwrap();
        server.item(2, BEFORE);
        house.ok(&["run", "--once"]);
        let before = (snapshot(&house.path("state")), snapshot(&house.path("units")));
        let said = house.ok(&["restore", "--dry-run", "--units", backup]);
        assert!(said.contains("Nothing was changed"), "{said}");
        assert!((snapshot(&house.path("state")), snapshot(&house.path("units"))) == before);
        house.unit("mine.engine.toml", ENGINE);
        house.ok(&["restore", "--units", backup]);
        assert_eq!(titles(&cases(&house)), ["item 1"]);
        assert!(!house.path("units/mine.engine.toml").exists());
        let aside = |folder: &Path, prefix: &str| {
            let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let mut found =
                entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix));
            found.next().unwrap()
        };
        assert!(aside(house.root(), "units.before-restore-").join("mine.engine.toml").exists());
        let old = aside(&house.path("state"), "before-restore-").join("workagent.db");
        let conn = Connection::open(old).unwrap();
        assert_eq!(conn.query_row("SELECT count(*) FROM cases", [], |row| row.get::<_, i64>(0)), Ok(2));
    }

    #[test]
    fn a_backup_that_is_not_whole_replaces_nothing() {
        let house = lived_in();
        let backup = house.path("b.tar");
        house.ok(&["backup", backup.to_str().unwrap()]);
        let whole = fs::read(&backup).unwrap();
        let before = snapshot(&house.path("state"));
        let check = |bytes: &[u8], said: &str| {
            fs::write(&backup, bytes).unwrap();
            let ran = house.run(&["restore", backup.to_str().unwrap()]);
            assert!(ran.code == Some(65) && ran.err.contains(said), "{:?}: {}", ran.code, ran.err);
            assert!(snapshot(&house.path("state")) == before, "something was touched");
        };
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        check(&flipped, "its checksum is another");
        check(&whole[..whole.len() / 2], "is damaged");
        check(b"not a tar", "is not a backup");
        let text = String::from_utf8_lossy(&whole).into_owned();
        let at = text.find("\"format\": 1").unwrap();
        let mut newer = whole;
        newer[at + 10] = b'9';
        check(&newer, "in format 9");
    }
}

mod kept {
    use super::*;

    #[test]
    fn one_connector_s_data_goes_when_it_is_off_and_the_person_says_so() {
        let server = Server::new();
        let house = machine(&server, "auto");
        server.item(1, BEFORE);
        let daemon = house.daemon(&[]);
        case_is(&house, "item 1", CaseState::Sent);
        let ran = house.run(&["purge", "desk", "--yes"]);
        assert!(ran.code == Some(1) && ran.err.contains("workagent disable desk.connector"), "{}", ran.err);
        house.ok(&["disable", "desk.connector"]);
        let ran = house.run(&["purge", "desk"]);
        assert!(ran.code == Some(1) && ran.err.contains("1 cases with their 1 items"), "{}", ran.err);
        assert_eq!(titles(&cases(&house)), ["item 1"]);
        house.ok(&["purge", "desk", "--yes"]);
        assert_eq!(titles(&cases(&house)), ["(purged)"]);
        let sent = &actions(&house)[0];
        assert!(sent.body.is_empty() && sent.receipt.is_some(), "{sent:?}");
        house.ok(&["purge", "desk", "--receipts", "--yes"]);
        assert!(cases(&house).is_empty() && actions(&house).is_empty());
        assert!(house.run(&["purge", "desk", "--yes"]).err.contains("no record of a connector desk"));
        daemon.stop();
    }

    #[test]
    fn a_folder_that_is_kept_in_step_is_warned_of() {
        let mut house = House::new();
        let state = house.path("Dropbox/state").display().to_string();
        house.set("WORKAGENT_STATE_DIR", &state);
        let warned = |view: &workagent::control::wire::StatusView| {
            view.notes.iter().any(|note| note.contains("is kept in step by Dropbox"))
        };
        assert!(warned(&house.status().0));
        let ran = house.run(&["run", "--once"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        house.set("WORKAGENT_STATE_DIR", &house.path("state").display().to_string());
        assert!(!warned(&house.status().0));
    }
}
