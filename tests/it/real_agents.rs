//! The ring of real peers: the real `gemini` and `opencode` work cases over the Agent Client Protocol through the real
//! daemon. Runs where `WORKAGENT_LAB=1` is set and they are installed (`tests/lab/engines.sh install gemini opencode`):
//! they are large and slow to fetch, so where they are not installed the test says so and ends.

use std::time::Instant;

use workagent::model::case::CaseState;
use workagent::model::run::Run;
use workagent::store::CaseRecord;

use crate::support::binary::{House, wait_until};
use crate::support::lab_engines::{Models, installed, left_behind};
use crate::support::lab_script::lab_is_on;

const MAIL: &str = "From: Pat <pat@example.org>\nTo: me@example.org\nSubject: Lunch\nMessage-ID: <1@example.org>\n\
                    Date: Mon, 30 Nov 2026 08:00:00 +0000\n\nLunch on Friday?\n";

const REVIEW: CaseState = CaseState::Review;
const QUEUED: CaseState = CaseState::Queued;
const PARKED: CaseState = CaseState::Parked;

/// What the model hands in, through the tool that it is offered under the agent's own name for it.
const SUBMITTED: &str = r#"{"outcome":"reply","text":"Friday suits me.","labels":["lunch"],"remarks":[]}"#;

/// One way that a vendor's server behaves, and what must come of it.
struct Scene {
    name: &'static str,
    mode: &'static str,
    stub: &'static [&'static str],
    outcome: &'static str,
    state: CaseState,
    /// The draft, if there is one.
    draft: Option<&'static str>,
    /// In the record of the run.
    detail: &'static str,
    /// The daemon is stopped while it hangs.
    stopped: bool,
    limits: &'static str,
}

const NORMAL: Scene = Scene {
    name: "normal",
    mode: "normal",
    stub: &["--marks"],
    outcome: "reply",
    state: REVIEW,
    draft: Some("Stub answer: the request was understood."),
    detail: "",
    stopped: false,
    limits: "",
};

/// The agent's unit and environment, with a home of its own.
fn house(agent: &str, models: &Models, limits: &str) -> House {
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
    let program = installed(agent).unwrap();
    house.unit(
        "agent.engine.toml",
        &format!(
            "[engine]\nengine = \"acp\"\nenv = [\"agent\"]\ntimeout = \"3m\"\n{limits}\n[acp]\npreset = \"{agent}\"\n\
             program = \"{}\"\n[install]\nenabled = true\n",
            program.display()
        ),
    );
    let (url, root) = (&models.url, house.root().display().to_string());
    let own = match agent {
        "gemini" => {
            let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false},
                "privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}"#;
            house.write("agent/.gemini/settings.json", settings);
            format!(
                "GOOGLE_GEMINI_BASE_URL = \"{url}\"\nGEMINI_API_KEY = {{ secret = \"model/key\" }}\n\
                     GEMINI_MODEL = \"gemini-3.8-flash\"\n"
            )
        }
        _ => {
            let config = format!(
                r#"{{"model":"stub/stub-model","small_model":"stub/stub-model","share":"disabled","autoupdate":false,
                "provider":{{"stub":{{"npm":"@ai-sdk/openai-compatible","name":"Stub",
                "options":{{"baseURL":"{url}/v1","apiKey":"{{env:STUB_KEY}}"}},"models":{{"stub-model":{{"name":"Stub"}}}}}}}}}}"#
            );
            house.write("agent/.config/opencode/opencode.json", &config);
            "STUB_KEY = { secret = \"model/key\" }\n".to_owned()
        }
    };
    house.unit(
        "agent.env.toml",
        &format!("[set]\nHOME = \"{root}/agent\"\nXDG_CONFIG_HOME = \"{root}/agent/.config\"\nXDG_DATA_HOME = \"{root}/agent/data\"\n\
                  XDG_CACHE_HOME = \"{root}/agent/cache\"\nXDG_STATE_HOME = \"{root}/agent/state\"\n{own}"),
    );
    house.secret("model/key", "CANARY-model-key-0002");
    house.write("in/new/1.host", MAIL);
    house
}

/// Runs a scene; what went otherwise than expected.
fn play(agent: &str, scene: &Scene) -> Result<String, String> {
    let begun = Instant::now();
    let models = Models::start(scene.mode, scene.stub);
    let house = house(agent, &models, scene.limits);
    let daemon = house.daemon(&[]);
    let record = || -> Option<CaseRecord> {
        let ran = house.run(&["case", "show", "c1", "--json"]);
        serde_json::from_str(&ran.out).ok()
    };
    let (mut stop_took, mut log) = (None, None);
    if scene.stopped {
        // It asked its model, which says nothing: from here it would hang for good.
        wait_until("the model to be asked", || models.asked() > 0);
        let since = Instant::now();
        log = Some(daemon.stop());
        stop_took = Some(since.elapsed());
    } else {
        let ended = |run: &Run| run.ended_at.is_some();
        wait_until("the first run", || record().is_some_and(|record| record.runs.first().is_some_and(ended)));
        log.get_or_insert_with(|| daemon.stop());
    }
    let record = record().unwrap();
    let left = left_behind(house.root());
    let run = record.runs.first().unwrap();
    let said = format!(
        "{agent} {}: {} / {} after {:.1?}{}: {}",
        scene.name,
        run.outcome,
        record.case.state.word(),
        begun.elapsed(),
        stop_took.map(|took| format!(", stopped within {took:.1?}")).unwrap_or_default(),
        run.detail
    );
    let draft = record.drafts.first().map(|draft| draft.body.trim().to_owned());
    let clean = !log.unwrap_or_default().contains("CANARY")
        && !house.run(&["case", "show", "c1", "--json"]).out.contains("CANARY-model");
    // Its own tools are taken away: a model that was talked into something can call none of them.
    let mut armed = models.tools();
    armed.retain(|tool| !tool.ends_with("workagent_submit_draft") && !tool.ends_with("workagent_read_case"));
    let right = run.outcome == scene.outcome
        && record.case.state == scene.state
        && run.detail.contains(scene.detail)
        && draft.as_deref() == scene.draft;
    if right && clean && left.is_empty() && armed.is_empty() {
        Ok(said)
    } else {
        Err(format!("{said}; draft {draft:?}, left behind {left:?}, clean {clean}, tools {armed:?}"))
    }
}

fn play_all(agent: &str, scenes: &[Scene]) {
    if !lab_is_on() {
        return;
    }
    if installed(agent).is_none() {
        #[expect(clippy::print_stdout, reason = "a ring that did not run must say so")]
        let () = println!("NOT RUN: {agent} is not installed; bash tests/lab/engines.sh install {agent}");
        return;
    }
    let mut wrong = Vec::new();
    for scene in scenes {
        match play(agent, scene) {
            #[expect(clippy::print_stdout, reason = "figures for whoever runs this ring by hand")]
            Ok(said) => println!("{said}"),
            Err(said) => wrong.push(said),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_gemini_works_cases_over_acp() {
    let none = Scene { draft: None, ..NORMAL };
    play_all(
        "gemini",
        &[
            NORMAL,
            Scene {
                name: "tool and permission",
                mode: "tool",
                stub: &["--log-bodies", "--tool", "mcp_workagent_submit_draft", "--tool-args", SUBMITTED],
                draft: Some("Friday suits me."),
                ..NORMAL
            },
            // It hides the refusal; without the marks it is no draft.
            Scene { name: "refusal", mode: "refusal", stub: &[], outcome: "protocol", state: PARKED, ..none },
            Scene { name: "quota", mode: "quota", outcome: "usage-limit", state: PARKED, ..none },
            Scene { name: "401", mode: "401", outcome: "auth", state: PARKED, ..none },
            Scene {
                name: "hang and stop",
                mode: "hang",
                outcome: "interrupted",
                state: QUEUED,
                stopped: true,
                ..none
            },
            Scene {
                name: "429 for ever",
                mode: "429",
                outcome: "timeout-idle",
                state: PARKED,
                limits: "idle_timeout = \"20s\"",
                ..none
            },
        ],
    );
}

#[test]
fn real_opencode_works_cases_over_acp() {
    let none = Scene { draft: None, ..NORMAL };
    play_all(
        "opencode",
        &[
            NORMAL,
            Scene {
                name: "tool and permission",
                mode: "tool",
                stub: &["--log-bodies", "--tool", "workagent_submit_draft", "--tool-args", SUBMITTED],
                draft: Some("Friday suits me."),
                ..NORMAL
            },
            Scene { name: "refusal", mode: "refusal", outcome: "refused", state: PARKED, ..none },
            Scene { name: "quota", mode: "quota", outcome: "billing", state: PARKED, ..none },
            Scene { name: "401", mode: "401", outcome: "auth", state: PARKED, ..none },
            Scene {
                name: "hang and stop",
                mode: "hang",
                outcome: "interrupted",
                state: QUEUED,
                stopped: true,
                ..none
            },
            Scene {
                // It gives up by itself after eight tries.
                name: "429 for ever",
                mode: "429",
                outcome: "rate-limited",
                state: PARKED,
                ..none
            },
        ],
    );
}
