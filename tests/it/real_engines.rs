//! The ring of real peers: the real `claude` and `codex` work a case each through the real daemon, against a server that
//! plays their models well and badly. Runs where `WORKAGENT_LAB=1` is set.

use std::time::Instant;

use workagent::model::case::{Case, CaseState};
use workagent::model::run::Run;
use workagent::model::time::{Clock, Timestamp};
use workagent::store::CaseRecord;

use crate::support::binary::{House, wait_until};
use crate::support::lab_engines::{Models, left_behind, program};
use crate::support::lab_script::lab_is_on;

const MAIL: &str = "From: Pat <pat@example.org>\nTo: me@example.org\nSubject: Lunch\nMessage-ID: <1@example.org>\n\
                    Date: Mon, 30 Nov 2026 08:00:00 +0000\n\nLunch on Friday?\n";

/// One way that a vendor's server behaves, and what must come of it.
struct Scene {
    name: &'static str,
    /// What the server answers.
    mode: &'static str,
    stub: &'static [&'static str],
    /// Keys beside the usual ones.
    keys: &'static str,
    /// Outcome of the first run.
    outcome: &'static str,
    then: Then,
}

/// What became of the case.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// A draft waits for a person.
    Review,
    /// It is tried again by itself within minutes.
    Again,
    /// It waits until the hour that the limit ends.
    InAnHour,
    /// It waits for its engine to be mended, and looks again in a quarter of an hour.
    Mended,
    /// It waits for the user.
    User,
}

impl Then {
    fn of(case: &Case, now: Timestamp) -> Option<Self> {
        match (case.state, case.until) {
            (CaseState::Review, None) => Some(Self::Review),
            (CaseState::Parked, None) => Some(Self::User),
            (CaseState::Parked, Some(until)) => match until.since(now).as_secs() {
                ..600 => Some(Self::Again),
                900..=960 => Some(Self::Mended),
                // The programs cut the time to minutes.
                3400..3660 => Some(Self::InAnHour),
                _ => None,
            },
            _ => None,
        }
    }
}

const fn scene(name: &'static str, mode: &'static str, outcome: &'static str, then: Then) -> Scene {
    Scene { name, mode, stub: &[], keys: "", outcome, then }
}

fn house(engine: &str, models: &Models, keys: &str) -> House {
    let house = House::new();
    for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp"] {
        std::fs::create_dir_all(house.path(folder)).unwrap();
    }
    house.unit(
        "inbox.connector.toml",
        "[connector]\nplatform = \"maildir\"\nbacklog = \"all\"\n[maildir]\npath = \"{root}/in\"\n\
         address = [\"me@example.org\"]\nout = \"{root}/out\"\n[install]\nenabled = true\n",
    );
    house.unit("all.route.toml", "[route]\nengines = [\"agent\"]\n[install]\nenabled = true\n");
    let base = if engine == "codex" { format!("{}/v1", models.url) } else { models.url.clone() };
    let program = program(engine);
    house.unit(
        "agent.engine.toml",
        &format!(
            "[engine]\nengine = \"{engine}\"\nmodel = \"stub-model\"\ntimeout = \"2m\"\n[{engine}]\n\
             program = \"{}\"\nkey = {{ secret = \"model/key\" }}\nbase_url = \"{base}\"\n{keys}\n\
             [install]\nenabled = true\n",
            program.display()
        ),
    );
    house.secret("model/key", "CANARY-model-key-0001");
    house.write("in/new/1.host", MAIL);
    house
}

/// Runs a scene; what went otherwise than expected.
fn play(engine: &str, scene: &Scene) -> Result<String, String> {
    let begun = Instant::now();
    let models = Models::start(scene.mode, scene.stub);
    let house = house(engine, &models, scene.keys);
    let daemon = house.daemon(&[]);
    let record = || -> Option<CaseRecord> {
        let ran = house.run(&["case", "show", "c1", "--json"]);
        serde_json::from_str(&ran.out).ok()
    };
    let ended = |run: &Run| run.ended_at.is_some();
    wait_until("the first run", || record().is_some_and(|record| record.runs.first().is_some_and(ended)));
    let record = record().unwrap();
    let log = daemon.stop();
    let left = left_behind(house.root());
    let run = record.runs.first().unwrap();
    let said = format!(
        "{engine} {}: {} / {} {:?} after {:.1?}: {}",
        scene.name,
        run.outcome,
        record.case.state.word(),
        record.case.until.map(|until| until.to_string()),
        begun.elapsed(),
        run.detail
    );
    let draft = record.drafts.first().map(|draft| draft.body.trim().to_owned());
    let drafted = draft.as_deref() == (scene.outcome == "reply").then_some("stub");
    let clean =
        !log.contains("CANARY") && !house.run(&["case", "show", "c1", "--json"]).out.contains("CANARY-model");
    if run.outcome == scene.outcome
        && Then::of(&record.case, Clock::system().now()) == Some(scene.then)
        && drafted
        && clean
        && left.is_empty()
    {
        Ok(said)
    } else {
        Err(format!("{said}; draft {draft:?}, left behind {left:?}, clean {clean}"))
    }
}

fn play_all(engine: &str, scenes: &[Scene]) {
    if !lab_is_on() {
        return;
    }
    let mut wrong = Vec::new();
    for scene in scenes {
        match play(engine, scene) {
            #[expect(clippy::print_stdout, reason = "figures for whoever runs this ring by hand")]
            Ok(said) => println!("{said}"),
            Err(said) => wrong.push(said),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_claude_works_a_case_whatever_its_server_does() {
    play_all(
        "claude",
        &[
            scene("normal", "normal", "reply", Then::Review),
            Scene { stub: &["--delay", "0.3"], ..scene("slow", "slow", "reply", Then::Review) },
            scene("429, then fine", "429,normal", "reply", Then::Review),
            scene("overloaded", "529", "overloaded", Then::Again),
            scene("401", "401", "auth", Then::Mended),
            Scene {
                keys: "auth = \"subscription\"",
                ..scene("usage limit", "usage-limit", "usage-limit", Then::InAnHour)
            },
            scene("refusal", "refusal", "refused", Then::User),
            // It asks again without a stream, and gets the whole answer.
            scene("truncated", "truncated", "reply", Then::Review),
            Scene { keys: "tools = [\"Bash\"]", ..scene("tool use", "tool,normal", "reply", Then::Review) },
            scene("empty", "empty", "empty", Then::Again),
        ],
    );
}

#[test]
fn real_codex_works_a_case_whatever_its_server_does() {
    play_all(
        "codex",
        &[
            scene("normal", "normal", "reply", Then::Review),
            Scene { stub: &["--delay", "0.3"], ..scene("slow", "slow", "reply", Then::Review) },
            scene("429, then fine", "429,normal", "reply", Then::Review),
            scene("overloaded", "529", "overloaded", Then::Again),
            scene("401", "401", "auth", Then::Mended),
            scene("usage limit", "usage-limit", "usage-limit", Then::InAnHour),
            // It hides why nothing was said.
            scene("refusal", "refusal", "empty", Then::Again),
            scene("truncated", "truncated", "network", Then::Again),
            scene("tool use", "tool,normal", "reply", Then::Review),
        ],
    );
}
