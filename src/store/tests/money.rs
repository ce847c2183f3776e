//! The ledger: what is set aside, settled, refused.

use proptest::prelude::*;

use super::*;
use crate::model::money::MICRO;

/// Midnight after [`START`], wherever the test runs: only the distance matters.
const TOMORROW: Timestamp = Timestamp(START.0 + 86_400_000);

fn day(micro_usd_max: u64, scope: CapScope) -> Cap {
    Cap { scope, since: START, until: Some(TOMORROW), micro_usd_max, span: "today" }
}

fn allow(reserve: u64, caps: &[Cap]) -> Allowance {
    Allowance { reserve: Ok(reserve), caps: caps.to_vec(), ..Allowance::default() }
}

impl Bench {
    /// So many cases, claimed for engine `e`.
    async fn claimed(&self, count: usize) -> Vec<Lease> {
        self.read((0..count).map(|number| item(&number.to_string())).collect()).await;
        self.route().await;
        self.store.claim("e", count, LEASE).await.unwrap()
    }

    async fn try_run(&self, lease: &Lease, engine: &str, allowance: Allowance) -> BeginRun {
        self.store.begin_run(lease.case.id, lease.token, engine, 1, allowance).await.unwrap()
    }

    async fn under(&self, cap: &Cap) -> u64 {
        self.store.spent("e", std::slice::from_ref(cap)).await.unwrap()[0]
    }
}

fn spent(lease: &Lease, run: RunId, spent_micro_usd: Option<u64>) -> FinishRun {
    FinishRun { spent_micro_usd, ..reply(lease, run, "Yes.") }
}

fn run_of(begun: &BeginRun) -> RunId {
    match begun {
        BeginRun::Started(run) => *run,
        BeginRun::OverBudget { reason, .. } => panic!("{reason}"),
    }
}

#[tokio::test]
async fn what_is_set_aside_is_settled() {
    let bench = Bench::new().await;
    let cap = day(MICRO, CapScope::Engine);
    let leases = bench.claimed(3).await;
    let one = bench.try_run(&leases[0], "e", allow(400_000, std::slice::from_ref(&cap))).await;
    assert_eq!(bench.under(&cap).await, 400_000);
    bench.store.finish_run(spent(&leases[0], run_of(&one), Some(50_000))).await.unwrap();
    assert_eq!(bench.under(&cap).await, 50_000);
    // What nobody knows counts for all that was set aside.
    let two = bench.try_run(&leases[1], "e", allow(400_000, std::slice::from_ref(&cap))).await;
    bench.store.finish_run(spent(&leases[1], run_of(&two), None)).await.unwrap();
    assert_eq!(bench.under(&cap).await, 450_000);
    // Another engine's money is its own.
    run_of(&bench.try_run(&leases[2], "f", allow(900_000, std::slice::from_ref(&cap))).await);
    assert_eq!(bench.under(&cap).await, 450_000);
    assert_eq!(bench.under(&day(MICRO, CapScope::All)).await, 1_350_000);
}

#[tokio::test]
async fn over_a_cap_the_case_waits_with_the_reason() {
    let bench = Bench::new().await;
    let caps = [day(MICRO, CapScope::Engine)];
    let leases = bench.claimed(2).await;
    let first = bench.try_run(&leases[0], "e", allow(900_000, &caps)).await;
    let first = run_of(&first);
    bench.store.finish_run(spent(&leases[0], first, None)).await.unwrap();
    let over = bench.try_run(&leases[1], "e", allow(100_001, &caps)).await;
    let reason = "e has 0.10 of 1.00 USD left today, and a run may cost up to 0.1000".to_owned();
    assert_eq!(over, BeginRun::OverBudget { until: Some(TOMORROW), reason: reason.clone() });
    let case = bench.case(leases[1].case.id).await;
    assert_eq!((case.state, case.until, case.reason), (CaseState::Parked, Some(TOMORROW), Some(reason)));
    assert_eq!(case.attempts, 0, "nothing was tried");
    // The next day it wakes, and there is money again.
    bench.clock.advance(Duration::from_secs(86_400));
    bench.store.wake_due(START).await.unwrap();
    assert_eq!(bench.case(case.id).await.state, CaseState::New);
}

/// What is set aside for a run under way is mostly more than it costs: who waits for that waits a minute.
#[tokio::test]
async fn who_waits_for_a_run_under_way_does_not_wait_for_the_next_day() {
    let bench = Bench::new().await;
    let caps = [day(MICRO, CapScope::Engine)];
    let leases = bench.claimed(2).await;
    let first = run_of(&bench.try_run(&leases[0], "e", allow(900_000, &caps)).await);
    let over = bench.try_run(&leases[1], "e", allow(500_000, &caps)).await;
    let BeginRun::OverBudget { until, reason } = over else { panic!("{over:?}") };
    let expected = "e has 0.10 of 1.00 USD left today beside 0.90 set aside for runs under way, and a run may cost up to 0.50";
    assert_eq!((until, reason.as_str()), (Some(START.plus(Duration::from_secs(60))), expected));
    bench.store.finish_run(spent(&leases[0], first, Some(20_000))).await.unwrap();
    bench.clock.advance(Duration::from_secs(60));
    bench.store.wake_due(START).await.unwrap();
    bench.route().await;
    let again = bench.claim().await;
    run_of(&bench.try_run(&again, "e", allow(500_000, &caps)).await);
}

#[tokio::test]
async fn a_budget_over_an_unknown_price_refuses() {
    let bench = Bench::new().await;
    let leases = bench.claimed(2).await;
    let unknown =
        |caps: &[Cap]| Allowance { reserve: Err("its price is not known".into()), ..allow(0, caps) };
    let refused = bench.try_run(&leases[0], "e", unknown(&[day(MICRO, CapScope::All)])).await;
    let reason = "e has a budget, and its price is not known".to_owned();
    assert_eq!(refused, BeginRun::OverBudget { until: None, reason });
    run_of(&bench.try_run(&leases[1], "e", unknown(&[])).await);
}

#[tokio::test]
async fn a_case_has_its_own_cap() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench
        .store
        .finish_run(FinishRun { spent_micro_usd: Some(700_000), ..reply(&lease, run, "Yes.") })
        .await
        .unwrap();
    let draft = bench.store.open_drafts(true).await.unwrap().remove(0);
    bench.store.reject(draft.id, "shorter", true).await.unwrap();
    bench.route().await;
    let again = bench.claim().await;
    let cap = Cap { since: Timestamp(0), until: None, span: "for this case", ..day(MICRO, CapScope::Case) };
    let over = bench.try_run(&again, "f", allow(400_000, &[cap])).await;
    let reason =
        "the budget of all engines has 0.30 of 1.00 USD left for this case, and a run may cost up to 0.40";
    assert_eq!(over, BeginRun::OverBudget { until: None, reason: reason.into() });
}

/// The money of a run may be spent although its end was never seen.
#[tokio::test]
async fn a_run_whose_end_nobody_saw_counts_for_all_that_was_set_aside() {
    let mut bench = Bench::new().await;
    let cap = day(MICRO, CapScope::Engine);
    let leases = bench.claimed(1).await;
    run_of(&bench.try_run(&leases[0], "e", allow(400_000, std::slice::from_ref(&cap))).await);
    bench.reopen().await;
    bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap();
    let record = bench.store.case_record(leases[0].case.id).await.unwrap();
    assert_eq!(record.runs[0].outcome, "interrupted");
    assert_eq!(bench.under(&cap).await, 400_000);
}

/// An engine that overshoots its own cap is recorded as it was, and the next run is refused for it.
#[tokio::test]
async fn an_overshoot_is_recorded_and_ends_the_day() {
    let bench = Bench::new().await;
    let caps = [day(250_000, CapScope::Engine)];
    let leases = bench.claimed(2).await;
    let run = run_of(&bench.try_run(&leases[0], "e", allow(250_000, &caps)).await);
    bench.store.finish_run(spent(&leases[0], run, Some(370_000))).await.unwrap();
    assert_eq!(bench.under(&caps[0]).await, 370_000);
    let over = bench.try_run(&leases[1], "e", allow(1, &caps)).await;
    let BeginRun::OverBudget { reason, until: Some(_) } = over else { panic!("{over:?}") };
    assert_eq!(reason, "e has 0.00 of 0.25 USD left today, and a run may cost up to 0.0001");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Eight engines at once on one budget, each with its own worst case; runs end as they like, within it. What is spent
    /// and set aside never passes the budget, at no moment.
    #[test]
    fn eight_engines_at_once_never_pass_a_budget(
        runs in proptest::collection::vec((1..400_000u64, 0..=100u64, any::<bool>()), 8..64),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            let cap = day(MICRO, CapScope::All);
            let leases = bench.claimed(runs.len()).await;
            let mut started = 0;
            for eight in runs.iter().zip(&leases).collect::<Vec<_>>().chunks(8) {
                let begin = eight.iter().enumerate().map(|(engine, ((reserve, ..), lease))| {
                    let (bench, cap) = (&bench, cap.clone());
                    async move { bench.try_run(lease, &format!("e{engine}"), allow(*reserve, &[cap])).await }
                });
                let begun = futures_util::future::join_all(begin).await;
                assert!(bench.under(&cap).await <= MICRO, "{}", bench.under(&cap).await);
                let ends = begun.iter().zip(eight).filter_map(|(begun, ((reserve, percent, known), lease))| {
                    let BeginRun::Started(run) = begun else { return None };
                    Some(bench.store.finish_run(spent(lease, *run, known.then(|| reserve * percent / 100))))
                });
                for end in futures_util::future::join_all(ends).await {
                    end.unwrap();
                    started += 1;
                }
                assert!(bench.under(&cap).await <= MICRO);
            }
            assert!(started > 0);
        });
    }
}
