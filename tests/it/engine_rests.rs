//! What keeps an engine from being given cases: limits of its account, failures over several cases. One case's failure
//! spares the others a run; all of it holds over restarts and ends by hand.

use std::time::Duration;

use workagent::model::case::CaseState;
use workagent::model::time::Timestamp;

use crate::support::acp_agent::{LOGIN, ROLE};
use crate::support::way::{INBOX, POLITE, ROUTE, START, Way, mail, shell};

/// Counts its runs in a file, then does this.
fn counted(name: &str, script: &str) -> String {
    shell(&format!("cat >/dev/null; echo x >>{{root}}/{name}.runs; {script}"))
        .replace("[command]", "[command]\noutput = \"json\"")
}

fn in_account(unit: &str, account: &str) -> String {
    unit.replace("[engine]", &format!("[engine]\naccount = \"{account}\""))
}

fn limit(until: &str) -> String {
    format!(
        "echo '{{\"error\":{{\"class\":\"usage-limit\",\"message\":\"5-hour limit\",\"until\":\"{until}\"}}}}'"
    )
}

async fn way(units: &[(&str, &str)], route: &str, mails: usize) -> Way {
    let all = [&[("inbox.connector.toml", INBOX), ("answers.route.toml", route)], units].concat();
    let way = Way::new(&all).await;
    for number in 0..mails {
        deliver(&way, number);
    }
    way
}

fn deliver(way: &Way, number: usize) {
    way.deliver(&number.to_string(), &mail(&format!("m{number}"), &format!("plan {number}"), ""));
}

fn runs(way: &Way, name: &str) -> usize {
    std::fs::read_to_string(way.path().join(format!("{name}.runs"))).unwrap_or_default().lines().count()
}

async fn count(way: &Way, state: CaseState) -> usize {
    way.cases().await.iter().filter(|case| case.state == state).count()
}

/// Five hours after the start.
fn five_hours() -> Timestamp {
    START.plus(Duration::from_secs(5 * 3600))
}

#[tokio::test]
async fn a_limit_stops_all_engines_of_its_account_over_a_restart() {
    let once = format!(
        "if [ $(wc -l <{{root}}/first.runs) = 1 ]; then {}; else echo '{{\"reply\":\"yes\"}}'; fi",
        limit(&five_hours().to_string())
    );
    let spent = in_account(&counted("first", &once), "mine");
    let same = in_account(&counted("second", "echo '{\"reply\":\"yes\"}'"), "mine");
    let route = ROUTE.replace("polite", "first").replace("[match]", "[match]\nkind = [\"mail\"]");
    let notes = "[route]\nengines = [\"second\"]\npriority = -1\n[install]\nenabled = true\n";
    let units = [("first.engine.toml", &*spent), ("second.engine.toml", &*same), ("rest.route.toml", notes)];
    let mut way = way(&units, &route, 4).await;
    way.cycle().await;
    assert_eq!((runs(&way, "first"), count(&way, CaseState::Queued).await), (1, 3));

    // Other cases go to the other engine of the account: it waits too.
    way.unit("answers.route.toml", &route.replace("mail\"", "none\""));
    deliver(&way, 9);
    for _ in 0..3 {
        way.start().await;
        way.cycle().await;
        way.clock.advance(Duration::from_secs(3600));
    }
    assert_eq!((runs(&way, "first"), runs(&way, "second")), (1, 0));
    way.clock.advance(Duration::from_secs(2 * 3600));
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 5, "{}", way.shown().await);
    assert!(runs(&way, "second") >= 1);
}

#[tokio::test]
async fn a_declared_limit_sends_the_others_on_without_a_run() {
    let spent = counted("first", &limit(&five_hours().to_string()));
    let route = ROUTE.replace("[\"polite\"]", "[\"first\", \"polite\"]\non = [\"usage-limit\"]");
    let way = way(&[("first.engine.toml", &spent), ("polite.engine.toml", POLITE)], &route, 6).await;
    way.cycle().await;
    assert_eq!((runs(&way, "first"), way.drafts().await.len()), (1, 6));
    for draft in way.drafts().await {
        assert_eq!(draft.made_by, "polite (fell back from first: usage-limit)");
    }
}

#[tokio::test]
async fn an_undeclared_limit_sends_nothing_on() {
    let spent = counted("first", &limit(&five_hours().to_string()));
    let route = ROUTE.replace("[\"polite\"]", "[\"first\", \"polite\"]\non = [\"network\"]");
    let way = way(&[("first.engine.toml", &spent), ("polite.engine.toml", POLITE)], &route, 6).await;
    way.cycle().await;
    assert_eq!((runs(&way, "first"), way.drafts().await.len()), (1, 0));
    assert_eq!(count(&way, CaseState::Queued).await, 5);
}

#[tokio::test]
async fn a_private_route_sends_nothing_away_when_its_engine_rests() {
    let spent =
        counted("first", &limit(&five_hours().to_string())).replace("[command]", "[command]\nlocal = true");
    let route = ROUTE
        .replace("[\"polite\"]", "[\"first\", \"last\"]\non = [\"usage-limit\"]")
        .replace("[match]", "private = true\n[match]");
    let away = counted("away", "echo '{\"reply\":\"yes\"}'");
    let near = away.replace("away", "last").replace("[command]", "[command]\nlocal = true");
    let other = "[route]\nengines = [\"away\"]\npriority = -5\n[install]\nenabled = true\n";
    let units = [
        ("first.engine.toml", &*spent),
        ("last.engine.toml", &*near),
        ("away.engine.toml", &*away),
        ("other.route.toml", other),
    ];
    let way = way(&units, &route, 4).await;
    way.cycle().await;
    assert_eq!((runs(&way, "first"), runs(&way, "last"), runs(&way, "away")), (1, 4, 0));
}

#[tokio::test]
async fn a_sick_engine_gets_one_case_at_a_time_until_it_is_well() {
    let sick =
        counted("sick", "if [ -e {root}/well ]; then echo '{\"reply\":\"yes\"}'; else echo nonsense; fi");
    let mut way = way(&[("polite.engine.toml", &sick)], ROUTE, 30).await;
    way.cycle().await;
    assert_eq!((runs(&way, "sick"), count(&way, CaseState::Queued).await), (3, 27));
    // Nobody is left to the user: it was not the cases' fault.
    assert!(way.cases().await.iter().all(|case| case.state != CaseState::Parked || case.until.is_some()));

    // A minute, then two: one probe each, also when the daemon begins anew meanwhile.
    for (wait, expected) in [(59, 3), (1, 4), (119, 4), (1, 5)] {
        way.clock.advance(Duration::from_secs(wait));
        way.start().await;
        way.cycle().await;
        assert_eq!(runs(&way, "sick"), expected, "after {wait} s more");
    }
    std::fs::write(way.path().join("well"), "").unwrap();
    way.clock.advance(Duration::from_secs(240));
    for _ in 0..3 {
        way.cycle().await;
    }
    assert_eq!(way.drafts().await.len(), 30, "{}", way.shown().await);
}

#[tokio::test]
async fn one_bad_case_holds_up_no_other() {
    let poison = counted(
        "poison",
        "if [ $(wc -l <{root}/poison.runs) = 1 ]; then exit 3; fi; echo '{\"reply\":\"yes\"}'",
    );
    let way = way(&[("polite.engine.toml", &poison)], ROUTE, 20).await;
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 19);
}

#[tokio::test]
async fn a_rest_ends_by_hand_with_all_that_waits_for_it() {
    let spent = counted(
        "first",
        &format!(
            "if [ -e {{root}}/well ]; then echo '{{\"reply\":\"yes\"}}'; else {}; fi",
            limit(&five_hours().to_string())
        ),
    );
    let way = way(&[("polite.engine.toml", &spent)], ROUTE, 3).await;
    way.cycle().await;
    let plan = &way.assembly().bundle.plan;
    let (engines, account) = plan.sharing("polite").unwrap();
    assert_eq!((engines.as_slice(), account.as_str()), (&["polite".to_owned()][..], "polite.engine"));
    std::fs::write(way.path().join("well"), "").unwrap();
    way.assembly().store.end_rests(engines, &account).await.unwrap();
    for _ in 0..2 {
        way.cycle().await;
    }
    assert_eq!(way.drafts().await.len(), 3, "{}", way.shown().await);
}

/// Cases wait for an agent that lost its login (S35): one run finds it out, nobody's tries are used up, and all go on
/// when it is mended, without a word to us.
async fn check_logged_out(units: &[(&str, &str)], runs: impl Fn(&Way) -> usize) {
    let mut way = way(units, ROUTE, 20).await;
    for _ in 0..3 {
        way.cycle().await;
    }
    assert_eq!((runs(&way), count(&way, CaseState::Queued).await), (1, 19));
    let waiting = way.cases().await.into_iter().find(|case| case.state == CaseState::Parked).unwrap();
    assert!(waiting.until.is_some() && waiting.attempts == waiting.attempts_extra, "{waiting:?}");
    assert!(waiting.reason.as_ref().unwrap().contains("auth"), "{waiting:?}");
    let failed = way.assembly().bundle.board.get("polite.engine").unwrap();
    assert_eq!((failed.failures, failed.fault.unwrap().word), (1, "auth"));
    // A quarter of an hour later it is tried by another case, once, also by a daemon that begins anew.
    way.clock.advance(Duration::from_secs(15 * 60));
    way.start().await;
    for _ in 0..3 {
        way.cycle().await;
    }
    assert_eq!((runs(&way), count(&way, CaseState::Queued).await), (2, 18));

    std::fs::write(way.path().join("well"), "").unwrap();
    way.clock.advance(Duration::from_secs(16 * 60));
    for _ in 0..4 {
        way.cycle().await;
    }
    assert_eq!(way.drafts().await.len(), 20, "{}", way.shown().await);
    assert!(way.cases().await.iter().all(|case| !case.is_used_up(2)), "{:?}", way.cases().await);
}

#[tokio::test]
async fn a_program_that_lost_its_login_uses_up_no_case() {
    let script = "if [ -e {root}/well ]; then echo '{\"reply\":\"yes\"}'; \
                  else echo '{\"error\":{\"class\":\"auth\",\"message\":\"not logged in\"}}'; fi";
    let unit = counted("polite", script);
    check_logged_out(&[("polite.engine.toml", &unit)], |way| runs(way, "polite")).await;
}

#[tokio::test]
async fn an_agent_that_lost_its_login_uses_up_no_case() {
    let program = std::env::current_exe().unwrap().display().to_string();
    let unit = format!(
        "[engine]\nengine = \"acp\"\nenv = [\"role\"]\n[acp]\npreset = \"custom\"\nprogram = \"/bin/sh\"\n\
         args = [\"-c\", \"echo x >> {{root}}/polite.runs; exec {program} engine_acp::the_agent --exact --ignored --nocapture\"]\n\
         [sandbox]\nfiles = \"all\"\n[install]\nenabled = true\n"
    );
    let env = format!("[set]\n{ROLE} = \"{LOGIN}{{root}}/well\"\n[install]\nenabled = true\n");
    check_logged_out(&[("polite.engine.toml", &unit), ("role.env.toml", &env)], |way| runs(way, "polite"))
        .await;
}
