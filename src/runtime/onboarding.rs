//! The onboarding runtime: says what the next step of setting up is, if there is one. It asks no model, sends nothing and
//! has no timer; it looks when the plan changes, and `status` looks through the same eyes whenever it is asked.

use std::fmt;

use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::{RuntimeRecord, store_fault, well};
use crate::model::case::CaseState;
use crate::model::class::ErrorClass;
use crate::model::cycle::{OnboardingSummary, RuntimeSummary};
use crate::model::live::Live;
use crate::store::{Counts, Store};
use crate::supervise::{Board, Cycle, Next, Pass};
use crate::unit::plan::{Plan, Standing};

/// What is to be done next by the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// No connector is on.
    Connect,
    /// Connectors are on, and no route says who answers.
    Route,
    /// The far side of a connector (its name) does not take what it logs in with, or the secret is not there.
    Login(String),
    /// A rehearsal came so far with so many cases.
    GoLive(u64),
}

impl Step {
    /// What is missing, without the command.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Connect => "nothing is connected yet".to_owned(),
            Self::Route => "no route says which engine answers".to_owned(),
            Self::Login(name) => format!("{name}.connector waits for its login"),
            Self::GoLive(1) => "the rehearsal came to a draft for 1 case, and sends nothing".to_owned(),
            Self::GoLive(cases) => {
                format!("the rehearsal came to drafts for {cases} cases, and sends nothing")
            }
        }
    }

    /// What to type.
    #[must_use]
    pub fn command(&self) -> String {
        match self {
            Self::Connect | Self::Route => "workagent init".to_owned(),
            Self::Login(name) => format!("workagent init {name}"),
            Self::GoLive(_) => "workagent init --live".to_owned(),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what(), self.command())
    }
}

/// How far a plan is set up. Read off it once: with a thousand units, going through them would be most of an idle cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// Connectors that are on, by name.
    on: Vec<String>,
    /// A route is on.
    routed: bool,
    rehearsal: bool,
}

impl SetUp {
    /// That of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let on = plan.connectors.iter().filter(|(_, standing)| is_on(standing));
        Self {
            on: on.map(|(name, _)| name.clone()).collect(),
            routed: plan.routes.values().any(is_on),
            rehearsal: plan.daemon.rehearsal,
        }
    }

    /// Connectors that are on and failed last because of what they log in with.
    #[must_use]
    pub fn logged_out(&self, board: &Board<RuntimeRecord>) -> Vec<String> {
        let waits = |name: &&String| {
            let status = board.get(&format!("{name}.connector"));
            let fault = status.and_then(|status| status.fault);
            fault.is_some_and(|fault| fault.word == ErrorClass::Auth.word())
        };
        self.on.iter().filter(waits).cloned().collect()
    }
}

/// The steps that are open, the most pressing first. `logged_out`: connectors that wait for their login.
#[must_use]
pub fn steps(setup: &SetUp, counts: &Counts, logged_out: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    if setup.on.is_empty() {
        return vec![Step::Connect];
    }
    if !setup.routed {
        steps.push(Step::Route);
    }
    steps.extend(logged_out.iter().cloned().map(Step::Login));
    if setup.rehearsal {
        let drafted = [CaseState::Review, CaseState::Approved, CaseState::Sent, CaseState::Closed];
        let cases =
            counts.cases.iter().filter(|(state, _)| drafted.contains(state)).map(|(_, count)| count).sum();
        if cases > 0 {
            steps.push(Step::GoLive(cases));
        }
    }
    steps
}

fn is_on<U>(standing: &Standing<U>) -> bool {
    matches!(standing, Standing::Active(_))
}

/// Says what is next.
pub struct OnboardingRuntime {
    store: Store,
    setup: Live<SetUp>,
    board: Board<RuntimeRecord>,
    woken: Notify,
}

impl OnboardingRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "onboarding.runtime";

    /// Over a store, a plan and the board on which connectors stand.
    #[must_use]
    pub fn new(store: Store, plan: &Plan, board: Board<RuntimeRecord>) -> Self {
        Self { store, setup: Live::new(SetUp::of(plan)), board, woken: Notify::new() }
    }

    /// Takes over another plan.
    pub fn adopt(&self, plan: &Plan) {
        self.setup.set(SetUp::of(plan));
        self.woken.notify_one();
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let setup = self.setup.get();
        // Only a rehearsal is counted: whatever else is next stands in the plan, and costs no look into the record.
        let counts = match setup.rehearsal {
            true => self.store.counts().await,
            false => Ok(Counts::default()),
        };
        match counts {
            Ok(counts) => {
                let steps = steps(&setup, &counts, &setup.logged_out(&self.board));
                let next = steps.iter().map(ToString::to_string).collect();
                well(RuntimeSummary::Onboarding(OnboardingSummary { next }), Next::WhenWoken, false)
            }
            Err(error) => Pass {
                fault: Some(store_fault("look what is next", &error)),
                ..well(RuntimeSummary::Onboarding(OnboardingSummary::default()), Next::WhenWoken, false)
            },
        }
    }
}

impl Cycle for OnboardingRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.woken.notified())
    }
}
