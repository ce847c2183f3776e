use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::model::environment::Environment;

struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// As another process would open it, with these variables.
    fn open(&self, environment: &[(&str, &str)]) -> AgeFile {
        let environment = Environment::of(environment.iter().copied());
        let keys = Keys::from_environment(self.path("config/secrets.key"), &environment).with_work_factor(2);
        AgeFile::new(self.path("state/secrets.age"), keys, Scrubber::new())
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(text.to_owned())
}

fn set(file: &AgeFile, name: &str, text: &str) -> SetOutcome {
    file.set(name, &value(text), Timestamp(7)).unwrap()
}

async fn read(file: &AgeFile, name: &str) -> Result<String, String> {
    match file.read(name).await {
        Ok(value) => Ok(value.expose_to_the_wire().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

async fn check_unavailable(file: &AgeFile, part: &str) {
    let error = read(file, "a").await.unwrap_err();
    assert!(error.starts_with("the secret store is not available: ") && error.contains(part), "{error}");
}

#[tokio::test]
async fn what_was_set_is_read_by_another_process() {
    let bench = Bench::new();
    let multiline = "-----BEGIN CANARY-----\nQ0FOQVJZbGluZTE=\n-----END CANARY-----";
    for (name, text) in
        [("a", "p@ss CANARY w0rd/+=%41"), ("b", multiline), ("c/ü".trim_end_matches("/ü"), "ü")]
    {
        set(&bench.open(&[]), name, text);
        assert_eq!(read(&bench.open(&[]), name).await, Ok(text.to_owned()));
    }
    let names: Vec<_> = bench.open(&[]).list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn nothing_is_there_before_the_first_set_and_reading_makes_nothing() {
    let bench = Bench::new();
    assert_eq!(read(&bench.open(&[]), "a").await, Err("no secret is stored under `a`".to_owned()));
    assert_eq!(bench.open(&[]).list().unwrap(), []);
    assert!(!bench.path("state").exists() && !bench.path("config").exists());
}

#[test]
fn the_first_set_makes_the_key_for_its_owner_alone() {
    let bench = Bench::new();
    let file = bench.open(&[]);
    assert_eq!(set(&file, "a", "first-value").key_made, Some(bench.path("config/secrets.key")));
    assert_eq!(set(&file, "a", "second-value").key_made, None);
    for (name, mode) in [
        ("config/secrets.key", 0o600),
        ("state/secrets.age", 0o600),
        ("state/secrets.age.lock", 0o600),
        ("config", 0o700),
        ("state", 0o700),
    ] {
        assert_eq!(bench.mode(name), mode, "{name}");
    }
}

#[test]
fn nothing_of_it_is_readable_on_the_disk() {
    let bench = Bench::new();
    let file = bench.open(&[]);
    set(&file, "mail/work", "canary-0123456789");
    for entry in fs::read_dir(bench.path("state")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(8).any(|window| b"canary-0123456789".windows(8).any(|piece| piece == window)));
    }
    assert_eq!(fs::read_dir(bench.path("state")).unwrap().count(), 2);
}

#[tokio::test]
async fn a_changed_secret_is_picked_up_without_a_restart() {
    let bench = Bench::new();
    let (daemon, shell) = (bench.open(&[]), bench.open(&[]));
    assert_eq!(set(&shell, "a", "value-one").version, 1);
    assert_eq!(read(&daemon, "a").await, Ok("value-one".into()));
    assert_eq!(set(&shell, "a", "value-two").version, 2);
    assert_eq!(read(&daemon, "a").await, Ok("value-two".into()));
    assert!(shell.remove("a").unwrap() && !shell.remove("a").unwrap());
    assert_eq!(read(&daemon, "a").await, Err("no secret is stored under `a`".to_owned()));
}

#[tokio::test]
async fn many_readers_of_a_changed_file_get_the_new_value() {
    let bench = Bench::new();
    let daemon = bench.open(&[]);
    for round in 0..5 {
        let text = format!("value-{round}");
        set(&bench.open(&[]), "a", &text);
        for found in futures_util::future::join_all((0..10).map(|_| read(&daemon, "a"))).await {
            assert_eq!(found, Ok(text.clone()));
        }
    }
}

#[test]
fn writers_in_parallel_lose_nothing() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let file = bench.open(&[]);
            scope.spawn(move || set(&file, &format!("name-{nth}"), "some-value"));
        }
    });
    assert_eq!(bench.open(&[]).list().unwrap().len(), 8);
}

#[tokio::test]
async fn a_passphrase_opens_what_it_closed_and_nothing_else_does() {
    let bench = Bench::new();
    let with = |text: &'static str| bench.open(&[("WORKAGENT_SECRETS_PASSPHRASE", text)]);
    assert_eq!(set(&with("open sesame"), "a", "value-one").key_made, None);
    assert_eq!(read(&with("open sesame"), "a").await, Ok("value-one".into()));
    check_unavailable(
        &with("close sesame"),
        "is not opened by the passphrase in $WORKAGENT_SECRETS_PASSPHRASE",
    )
    .await;
    check_unavailable(&bench.open(&[]), "is locked with a passphrase").await;
    let error = bench.open(&[]).set("b", &value("other-value"), Timestamp(0)).unwrap_err().to_string();
    assert!(error.contains("is locked with a passphrase"), "{error}");
    assert_eq!(read(&with("open sesame"), "a").await, Ok("value-one".into()));
}

#[tokio::test]
async fn a_passphrase_comes_from_a_file_or_a_credential_too() {
    let bench = Bench::new();
    fs::write(bench.path("phrase"), "open sesame\n").unwrap();
    bench.chmod("phrase", 0o600);
    let phrase = bench.path("phrase").display().to_string();
    set(&bench.open(&[("WORKAGENT_SECRETS_PASSPHRASE_FILE", &phrase)]), "a", "value-one");

    fs::create_dir(bench.path("credentials")).unwrap();
    fs::copy(bench.path("phrase"), bench.path("credentials/workagent.passphrase")).unwrap();
    bench.chmod("credentials/workagent.passphrase", 0o440);
    let credentials = bench.path("credentials").display().to_string();
    assert_eq!(
        read(&bench.open(&[("CREDENTIALS_DIRECTORY", &credentials)]), "a").await,
        Ok("value-one".into())
    );

    bench.chmod("phrase", 0o644);
    check_unavailable(&bench.open(&[("WORKAGENT_SECRETS_PASSPHRASE_FILE", &phrase)]), "(mode 0644)").await;
}

#[tokio::test]
async fn setting_with_a_passphrase_closes_a_file_that_had_a_key() {
    let bench = Bench::new();
    set(&bench.open(&[]), "a", "value-one");
    let with = [("WORKAGENT_SECRETS_PASSPHRASE", "open sesame")];
    assert_eq!(read(&bench.open(&with), "a").await, Ok("value-one".into()));
    set(&bench.open(&with), "b", "value-two");
    check_unavailable(&bench.open(&[]), "is locked with a passphrase").await;
    assert_eq!(read(&bench.open(&with), "a").await, Ok("value-one".into()));
}

#[tokio::test]
async fn files_open_to_others_are_not_used() {
    let bench = Bench::new();
    set(&bench.open(&[]), "a", "value-one");
    for name in ["config/secrets.key", "state/secrets.age"] {
        for mode in [0o640, 0o604, 0o644, 0o660] {
            bench.chmod(name, mode);
            check_unavailable(
                &bench.open(&[]),
                &format!("(mode {mode:04o}), so it is not used: run `chmod 600 "),
            )
            .await;
        }
        bench.chmod(name, 0o600);
        assert_eq!(read(&bench.open(&[]), "a").await, Ok("value-one".into()));
    }
}

#[tokio::test]
async fn a_lost_key_is_said_and_never_replaced() {
    let bench = Bench::new();
    set(&bench.open(&[]), "a", "value-one");
    fs::rename(bench.path("config/secrets.key"), bench.path("kept")).unwrap();
    check_unavailable(&bench.open(&[]), "needs its key file").await;
    assert!(bench.open(&[]).set("b", &value("other-value"), Timestamp(0)).is_err());
    assert!(!bench.path("config/secrets.key").exists());
    fs::rename(bench.path("kept"), bench.path("config/secrets.key")).unwrap();
    assert_eq!(read(&bench.open(&[]), "a").await, Ok("value-one".into()));
}

#[tokio::test]
async fn a_wrong_key_and_damage_are_said() {
    let (bench, other) = (Bench::new(), Bench::new());
    set(&bench.open(&[]), "a", "value-one");
    set(&other.open(&[]), "a", "value-two");
    let good = fs::read(bench.path("state/secrets.age")).unwrap();
    fs::copy(other.path("config/secrets.key"), bench.path("config/secrets.key")).unwrap();
    check_unavailable(&bench.open(&[]), "is not opened by the key file").await;

    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damage in [&b""[..], b"not age at all", &good[..good.len() / 2], &flipped] {
        let bench = Bench::new();
        set(&bench.open(&[]), "a", "value-one");
        fs::write(bench.path("state/secrets.age"), damage).unwrap();
        check_unavailable(&bench.open(&[]), "secrets.age").await;
        // What cannot be opened is never overwritten.
        assert!(bench.open(&[]).set("b", &value("other-value"), Timestamp(0)).is_err());
        assert_eq!(fs::read(bench.path("state/secrets.age")).unwrap(), damage);
    }
}

#[tokio::test]
async fn a_store_that_comes_later_heals() {
    let bench = Bench::new();
    let daemon = bench.open(&[]);
    set(&bench.open(&[]), "a", "value-one");
    bench.chmod("config/secrets.key", 0o644);
    check_unavailable(&daemon, "chmod 600").await;
    bench.chmod("config/secrets.key", 0o600);
    assert_eq!(read(&daemon, "a").await, Ok("value-one".into()));
}

#[test]
fn a_link_to_the_file_is_kept() {
    let bench = Bench::new();
    set(&bench.open(&[]), "a", "value-one");
    fs::rename(bench.path("state/secrets.age"), bench.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(bench.path("elsewhere"), bench.path("state/secrets.age")).unwrap();
    set(&bench.open(&[]), "a", "value-two");
    assert!(fs::symlink_metadata(bench.path("state/secrets.age")).unwrap().is_symlink());
    assert_eq!(bench.open(&[]).list().unwrap()[0].version, 2);
}

#[test]
fn values_that_cannot_be_used_are_refused_without_an_echo() {
    let bench = Bench::new();
    let long = "canary".repeat(3000);
    for text in ["", "\n", "can\0ary", &long] {
        let error = bench.open(&[]).set("a", &value(text), Timestamp(0)).unwrap_err();
        assert!(matches!(error, SetError::Refused { .. }) && !error.to_string().contains("ary"), "{error}");
    }
    assert!(!bench.path("state").exists());
    assert!(!set(&bench.open(&[]), "a", "abc").masked);
    assert!(set(&bench.open(&[]), "a", "abcd").masked);
}

#[tokio::test]
async fn the_key_and_the_passphrase_are_masked() {
    let bench = Bench::new();
    let file = bench.open(&[]);
    set(&file, "a", "value-one");
    let key = fs::read_to_string(bench.path("config/secrets.key")).unwrap();
    let key = key.lines().last().unwrap().to_lowercase();
    assert!(key.starts_with("age-secret-key-1"));
    assert_eq!(file.0.scrubber.scrub(&key.to_uppercase()), "[masked]");
    let file = bench.open(&[("WORKAGENT_SECRETS_PASSPHRASE", "open sesame")]);
    assert_eq!(file.0.scrubber.scrub("open sesame"), "[masked]");
    assert!(!format!("{file:?} {:?} {}", file.0.keys, file.describe()).contains("sesame"));
}
