//! What confined children can and cannot do, with real rights taken away.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use workagent::process::sandbox::{Files, Reach, Sandbox};
use workagent::process::{ChildEnd, ChildEnv, ChildLimits, ChildSpec, EnvValue, ProcessRoom};

const LIMITS: ChildLimits = ChildLimits {
    first_output: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    total: Duration::from_secs(60),
    line_bytes_max: 65_536,
    stdout_bytes_max: 1_048_576,
};

/// A home with a diary, and a run directory beside it.
struct Place {
    root: tempfile::TempDir,
    room: ProcessRoom,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for folder in ["home", "run"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("home/diary"), "dear diary").unwrap();
        let room =
            ProcessRoom::new(root.path().join("notes")).with_helper(env!("CARGO_BIN_EXE_workagent").into());
        Self { root, room }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn sandbox(&self, files: Files) -> Sandbox {
        Sandbox { files, write: vec![self.path("run")], network: true, required: false }
    }

    /// The lines that a shell prints, and what the room says is missing.
    async fn shell(&self, script: &str, sandbox: &Sandbox) -> (Vec<String>, Option<&'static str>) {
        let env = [("PATH", "/usr/bin:/bin"), ("HOME", "/nowhere")];
        let env = env.map(|(name, value)| (name.to_owned(), EnvValue::Plain(value.into())));
        let spec = ChildSpec {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            env: ChildEnv(env.into()),
            cwd: self.path("run"),
            stdin: Vec::new(),
            limits: LIMITS,
        };
        let (spec, missing) = self.room.confined(spec, sandbox).await.unwrap();
        let mut lines = Vec::new();
        let mut on_line = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        let report = self.room.run(spec, &CancellationToken::new(), &mut on_line).await.unwrap();
        assert_eq!(report.end, ChildEnd::Exited(0), "{}", report.stderr_tail);
        (lines, missing)
    }
}

const TOUCH: &str = "cat ../home/diary 2>/dev/null && echo; echo a > here 2>/dev/null && echo wrote here; \
                     echo b > ../home/new 2>/dev/null && echo wrote home; echo c > /dev/null && echo wrote nowhere; \
                     setsid sh -c 'echo d > ../home/late 2>/dev/null && echo wrote late'; true";

#[tokio::test]
async fn an_open_child_is_started_as_ever() {
    let place = Place::new();
    let (lines, missing) = place.shell(TOUCH, &place.sandbox(Files::All)).await;
    assert_eq!(lines, ["dear diary", "wrote here", "wrote home", "wrote nowhere", "wrote late"]);
    assert_eq!(missing, None);
}

#[tokio::test]
async fn a_read_only_child_changes_nothing_outside_its_run() {
    let place = Place::new();
    let (lines, missing) = place.shell(TOUCH, &place.sandbox(Files::ReadOnly)).await;
    if !place.room.reach().await.files {
        return assert!(missing.unwrap().contains("Landlock"), "a system without it says so");
    }
    assert_eq!(lines, ["dear diary", "wrote here", "wrote nowhere"]);
    assert!(!place.path("home/new").exists() && !place.path("home/late").exists());
}

#[tokio::test]
async fn a_child_with_named_files_sees_no_others() {
    let place = Place::new();
    let (lines, _) = place.shell(TOUCH, &place.sandbox(Files::Named(Vec::new()))).await;
    if !place.room.reach().await.files {
        return;
    }
    assert_eq!(lines, ["wrote here", "wrote nowhere"]);
    let named = Files::Named(vec![place.path("home")]);
    let (lines, _) = place.shell(TOUCH, &place.sandbox(named)).await;
    assert_eq!(lines, ["dear diary", "wrote here", "wrote nowhere"]);
}

#[tokio::test]
async fn without_a_network_not_even_this_machine_is_reached() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached; id -u");
    let script = format!("bash -c '{script}'");
    let open = place.sandbox(Files::All);
    let user = rustix::process::getuid().as_raw().to_string();
    assert_eq!(place.shell(&script, &open).await.0, ["reached", &user]);
    let (lines, missing) = place.shell(&script, &Sandbox { network: false, ..open }).await;
    match place.room.reach().await.network {
        true => assert_eq!(lines, [user]),
        false => assert!(missing.unwrap().contains("network")),
    }
}

#[tokio::test]
async fn rather_not_at_all_where_it_must_be_confined() {
    let place = Place::new();
    // A program that can take nothing away.
    let room = ProcessRoom::new(place.path("notes")).with_helper("/bin/true".into());
    assert_eq!(room.reach().await, Reach::default());
    let spec = || ChildSpec {
        program: "/bin/true".into(),
        args: Vec::new(),
        env: ChildEnv::default(),
        cwd: Path::new("/").to_owned(),
        stdin: Vec::new(),
        limits: LIMITS,
    };
    let sandbox = place.sandbox(Files::ReadOnly);
    assert!(room.confined(spec(), &sandbox).await.unwrap().1.is_some());
    let error = room.confined(spec(), &Sandbox { required: true, ..sandbox }).await.unwrap_err();
    assert!(error.to_string().contains("`[sandbox] required` is set"), "{error}");
}
