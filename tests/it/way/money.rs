//! Money and engines over the whole way: caps are kept through a daemon's life, and text goes nowhere that was not said.

use std::path::Path;

use workagent::model::time::Timestamp;

use super::*;
use crate::support::http::{Answer, HttpServer};

/// A model of Anthropic's at a server of the test, with a price by which the answer below costs 0.06 USD: 33 tokens read
/// (12 of them from a cache) and 27 written.
fn paid(server: &HttpServer, more: &str) -> String {
    format!(
        "[engine]\nengine = \"anthropic\"\nmodel = \"stub-model\"\nconcurrency = 8\n\
         [anthropic]\nbase_url = \"{}\"\nmax_tokens = 100\n\
         [price]\ninput = \"0\"\noutput = \"2222.222222\"\nas_of = \"2026-11-30\"\n\
         {more}\n[install]\nenabled = true\n",
        server.url("")
    )
}

fn answers() -> HttpServer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines/anthropic/normal.sse");
    let answer = Answer::ok(std::fs::read(path).unwrap());
    HttpServer::always(answer.header("content-type", "text/event-stream"))
}

async fn with(engine: &str, daemon: &str) -> Way {
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", engine),
        ("answers.route.toml", ROUTE),
        ("workagent.daemon.toml", daemon),
    ])
    .await;
    for number in 0..8 {
        way.deliver(&number.to_string(), &mail(&format!("m{number}"), &format!("plan {number}"), ""));
    }
    way
}

async fn parked(way: &Way) -> Vec<Case> {
    way.cases().await.into_iter().filter(|case| case.state == CaseState::Parked).collect()
}

/// A run may cost 0.22 USD and does cost 0.06: with 0.50 two may begin at once, and five one after another.
#[tokio::test]
async fn a_cap_in_dollars_is_kept_and_ends_with_the_day() {
    let server = answers();
    let mut way = with(&paid(&server, "[budget]\ndaily_usd = 0.5"), "[daemon]\nworkers = 8\n").await;
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 2);
    for _ in 0..6 {
        way.clock.advance(Duration::from_secs(61));
        way.cycle().await;
    }
    let drafts = way.drafts().await.len();
    let runs = way.assembly().store.run_costs(Timestamp(0), 100).await.unwrap();
    let spent: u64 = runs.iter().map(|run| run.spent_micro_usd).sum();
    assert!(spent <= 500_000, "{spent}");
    assert_eq!((runs.len(), spent), (drafts, drafts as u64 * 60_000), "what was set aside is settled");
    assert!(runs.iter().all(|run| run.usage.cost_source == "price"));
    assert_eq!(drafts, 5);
    let waiting = parked(&way).await;
    assert_eq!(waiting.len(), 8 - drafts, "none is lost");
    for case in &waiting {
        let reason = case.reason.as_deref().unwrap();
        assert!(reason.starts_with("polite has 0."), "{reason}");
        assert!(reason.ends_with("of 0.50 USD left today, and a run may cost up to 0.2222"), "{reason}");
        assert!(case.until.is_some());
    }
    assert_eq!(server.seen().len(), drafts, "a refused run asks nobody");
    // A restart forgets nothing.
    way.start().await;
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), drafts);
    way.clock.advance(Duration::from_secs(86_400));
    for _ in 0..6 {
        way.cycle().await;
    }
    assert!(way.drafts().await.len() > drafts, "a new day has new money");
}

#[tokio::test]
async fn a_cap_over_all_engines_is_one_sum() {
    let server = answers();
    let way = with(&paid(&server, ""), "[budget]\nmonthly_usd = \"0.25\"\n").await;
    way.cycle().await;
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 1);
    let reason = parked(&way).await[0].reason.clone().unwrap();
    assert!(reason.starts_with("the budget of all engines has 0."), "{reason}");
    assert!(reason.contains("this month"), "{reason}");
}

#[tokio::test]
async fn a_cap_over_a_price_that_nobody_knows_refuses() {
    let server = answers();
    let engine = "[engine]\nengine = \"command\"\n[command]\nprogram = \"/bin/cat\"\n[budget]\ndaily_usd = 5\n\
                  [install]\nenabled = true\n";
    let way = with(engine, "").await;
    way.cycle().await;
    assert!(way.drafts().await.is_empty() && server.seen().is_empty());
    let waiting = parked(&way).await;
    assert_eq!(waiting.len(), 8, "{}", way.shown().await);
    let expected = "polite has a budget, and its price is not known";
    assert!(waiting.iter().all(|case| case.reason.as_deref() == Some(expected)), "{waiting:?}");
}

// Nothing goes to an engine that was not named.

const LOCAL_DOWN: &str = "[engine]\nengine = \"openai-chat\"\nmodel = \"m\"\n[openai-chat]\n\
                          base_url = \"http://127.0.0.1:1\"\n[install]\nenabled = true\n";

async fn two_engines(cloud: &HttpServer, route: &str) -> Way {
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", LOCAL_DOWN),
        ("cloud.engine.toml", &paid(cloud, "")),
        ("answers.route.toml", route),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way
}

/// Runs cycles over the waits of retries.
async fn patiently(way: &Way) {
    for _ in 0..8 {
        way.cycle().await;
        way.clock.advance(Duration::from_secs(1200));
    }
}

#[tokio::test]
async fn without_a_word_of_it_no_case_goes_to_the_cloud() {
    let cloud = answers();
    let mut way = two_engines(&cloud, ROUTE).await;
    patiently(&way).await;
    let shown = way.shown().await;
    assert!(shown.contains("polite: network:"), "the case waits with the reason: {shown}");
    // Its engine is taken away by an edit while it waits.
    std::fs::remove_file(way.path().join("units/polite.engine.toml")).unwrap();
    std::fs::remove_file(way.path().join("units/answers.route.toml")).unwrap();
    way.start().await;
    patiently(&way).await;
    assert!(way.drafts().await.is_empty());
    assert!(cloud.seen().is_empty(), "nothing left for another engine");
}

#[tokio::test]
async fn a_declared_fall_back_is_for_the_classes_that_it_names_and_says_so() {
    let cloud = answers();
    let other = ROUTE.replace("[\"polite\"]", "[\"polite\", \"cloud\"]\non = [\"auth\"]");
    let way = two_engines(&cloud, &other).await;
    patiently(&way).await;
    assert!(cloud.seen().is_empty(), "a failure of the network was not among them");

    let named = ROUTE.replace("[\"polite\"]", "[\"polite\", \"cloud\"]\non = [\"network\"]");
    let way = two_engines(&cloud, &named).await;
    patiently(&way).await;
    assert_eq!(cloud.seen().len(), 1);
    let draft = way.drafts().await.remove(0);
    assert!(
        draft.made_by.starts_with("cloud (") && draft.made_by.contains("polite: network"),
        "{}",
        draft.made_by
    );
}
