//! Where cases go and why, what engines are told, and what stays of it in the record.

use std::time::Duration;

use workagent::model::case::CaseState;
use workagent::model::ids::CaseId;
use workagent::model::run::Run;
use workagent::secret::SecretValue;

use crate::support::binary::House;
use crate::support::way::{INBOX, POLITE, ROUTE, Way, mail, shell};

/// A route to an engine that says its own name.
fn route(engine: &str, priority: i32, matches: &str) -> String {
    format!(
        "[route]\nengines = [\"{engine}\"]\npriority = {priority}\n[match]\n{matches}\n[install]\nenabled = true\n"
    )
}

fn says(text: &str) -> String {
    POLITE.replace("Thank you for {{ title }}.", text)
}

async fn engines(way: &Way) -> Vec<String> {
    way.cases()
        .await
        .into_iter()
        .map(|case| case.engine.unwrap_or_else(|| case.state.word().to_owned()))
        .collect()
}

async fn runs(way: &Way, case: i64) -> Vec<Run> {
    way.assembly().store.case_record(CaseId(case)).await.unwrap().runs
}

#[tokio::test]
async fn whoever_got_an_answer_is_no_stranger_any_more() {
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("near.engine.toml", &says("near")),
        ("far.engine.toml", &says("far")),
        ("known.route.toml", &route("near", 5, "trust = [\"known\", \"own\"]")),
        ("others.route.toml", &route("far", 0, "trust = [\"stranger\"]")),
        ("workagent.daemon.toml", "[trust]\nown = [\"me@*\"]\nknown = [\"*@friends.example\"]\n"),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.deliver("2", &mail("b", "another", "").replace("pat@example.org", "kim@friends.example"));
    way.cycle().await;
    assert_eq!(engines(&way).await, ["far", "near"]);
    let draft = way.drafts().await.into_iter().find(|draft| draft.body == "far").unwrap();
    way.approve(&draft).await.unwrap();
    way.cycle().await;
    way.cycle().await;
    way.deliver("3", &mail("c", "a third matter", "").replace("pat@", "PAT@"));
    way.cycle().await;
    assert_eq!(engines(&way).await, ["far", "near", "near"]);
}

#[tokio::test]
async fn language_and_size_choose() {
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", POLITE),
        ("german.engine.toml", &says("Danke")),
        ("long.engine.toml", &says("long")),
        ("a.route.toml", &route("long", 9, "size_min = 2000")),
        ("b.route.toml", &route("german", 5, "language = [\"de\"]")),
        ("c.route.toml", &route("polite", 0, "")),
    ])
    .await;
    let german = "Guten Tag,\nkönnen Sie uns bitte sagen, wie es mit der Rechnung für den Mai ist? Wir haben sie nicht.";
    way.deliver(
        "1",
        &format!("{}{german}\n", mail("a", "Rechnung", "Content-Type: text/plain; charset=utf-8\n")),
    );
    way.deliver("2", &mail("b", "the plan", ""));
    way.deliver("3", &format!("{}{}\n", mail("c", "much", ""), "word ".repeat(500)));
    way.cycle().await;
    assert_eq!(engines(&way).await, ["german", "polite", "long"]);
}

#[tokio::test]
async fn what_only_another_hour_takes_waits_for_it() {
    // The clock begins on a Monday at eight in UTC.
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", POLITE),
        ("night.route.toml", &route("polite", 0, "hours = \"20:00-06:00 UTC\"")),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let case = way.cases().await.remove(0);
    assert_eq!(case.state, CaseState::Parked);
    let wait = case.until.unwrap().since(way.clock.now());
    assert_eq!(case.until.unwrap().to_string().get(11..), Some("20:00:00Z"));
    way.clock.advance(wait);
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 1, "{}", way.shown().await);
}

#[tokio::test]
async fn a_prompt_is_filled_in_and_kept_as_it_was_told() {
    let route = ROUTE.replace(
        "[match]",
        "prompt = \"{% if trust == 'stranger' %}Promise nothing.{% endif %} This is {{ case }}, try {{ attempt }}, plan-secret-1234.\"\n[match]",
    );
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &shell("tee {root}/told >/dev/null; echo yes")),
        ("answers.route.toml", &route),
    ])
    .await;
    way.assembly().scrubber.register(&SecretValue::new("plan-secret-1234".into()));
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let told = std::fs::read_to_string(way.path().join("told")).unwrap_or_default();
    assert!(
        told.starts_with("Promise nothing. This is c1, try 1, plan-secret-1234.\n"),
        "{told}{}",
        way.shown().await
    );
    let kept = way.assembly().store.prompt_of(CaseId(1), None).await.unwrap().unwrap();
    assert_eq!(kept.prompt, told.replace("plan-secret-1234", "[masked]"));
    assert_eq!(kept.run, runs(&way, 1).await[0].id);
    // They go after a month.
    way.clock.advance(Duration::from_secs(31 * 24 * 3600));
    assert_eq!(way.assembly().store.prune_prompts().await.unwrap(), 1);
    assert_eq!(way.assembly().store.prompt_of(CaseId(1), None).await.unwrap(), None);
}

fn house() -> House {
    let house = House::new();
    house.unit("near.engine.toml", &says("near"));
    house.unit("vip.route.toml", &route("near", 9, "author = [\"*@vip.example\"]\nlabels = [\"urgent\"]"));
    house.unit("rest.route.toml", &route("near", 0, "size_max = 100"));
    house
}

#[test]
fn route_test_needs_no_daemon() {
    let house = house();
    let file = house.write("note.txt", "From: Pat <pat@example.org>\nLabels: urgent\n\nWhat about Friday?\n");
    let shown = house.ok(&["route", "test", file.to_str().unwrap()]);
    insta::assert_snapshot!(shown, @r#"
    What about Friday?
      from a stranger · language: not sure

      ✗ vip                         does not  near
        ✓ label `urgent`            is        `urgent`
        ✗ author `pat@example.org`  is not    `*@vip.example`
      ✓ rest                        takes it  near
        ✓ size 18                   is        at most 100 bytes

      → near (route rest)
    "#);
    let json = house.ok(&["route", "test", file.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["now"]["routing"]["to"]["route"], "rest");
    assert_eq!(json["now"]["routes"][0]["clauses"][0]["met"], true);
}

/// A route that names an engine nobody has: what it would have taken waits for the mending, also of a source that takes
/// no replies, whose items are otherwise only recorded.
#[test]
fn items_for_a_broken_route_wait_until_it_is_mended() {
    let house = House::new();
    house.write(
        "feed.xml",
        "<rss version=\"2.0\"><channel><title>t</title><item><title>News</title><guid>1</guid></item></channel></rss>",
    );
    house.unit(
        "news.connector.toml",
        "[connector]\nplatform = \"feed\"\nbacklog = \"all\"\n[feed]\nurl = \"file://{root}/feed.xml\"\n[install]\nenabled = true\n",
    );
    house.unit("local.engine.toml", &says("Read."));
    let routed = |engine: &str| route(engine, 1, "connector = [\"news\"]");
    house.unit("all.route.toml", &routed("loca"));
    house.run(&["run", "--once"]);
    let shown = house.ok(&["case", "list"]);
    assert!(shown.contains("parked") && shown.contains("no route takes it (all: dependency"), "{shown}");
    house.unit("all.route.toml", &routed("local"));
    house.run(&["run", "--once"]);
    house.run(&["run", "--once"]);
    let shown = house.ok(&["case", "show", "c1"]);
    assert!(shown.contains("Read."), "{shown}");
}
