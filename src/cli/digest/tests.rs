use std::collections::BTreeMap;

use super::*;
use crate::control::wire::cost::CostRow;
use crate::control::wire::digest::DigestGroup;
use crate::model::case::CaseState;
use crate::model::ids::CaseId;

fn case(id: i64, title: &str, state: CaseState, events: &[&str]) -> DigestCase {
    let lines = events.iter().map(|event| DigestLine {
        at: Timestamp(0),
        event: (*event).to_owned(),
        detail: String::new(),
    });
    DigestCase {
        id: CaseId(id),
        connector: "inbox".into(),
        title: title.into(),
        author: "Pat".into(),
        state,
        reason: (state == CaseState::Parked).then(|| "which <b>day</b>?".to_owned()),
        lines: lines.collect(),
    }
}

fn view() -> DigestView {
    let cost =
        |key: &str, runs, cost| CostRow { key: key.into(), runs, cost_micro_usd: cost, ..CostRow::default() };
    DigestView {
        day: "2026-11-30".into(),
        from: Timestamp(0),
        to: Timestamp(1),
        now: Timestamp(2),
        groups: vec![
            DigestGroup {
                became: Became::Sent,
                cases: vec![case(1, "the plan", CaseState::Sent, &["item", "item", "draft", "sent"])],
            },
            DigestGroup {
                became: Became::Parked,
                cases: vec![case(2, "# [win](http://x.example)\u{1b}[31m", CaseState::Parked, &["item"])],
            },
        ],
        events: BTreeMap::new(),
        costs: vec![cost("claude", 2, 420_000)],
        total: cost("total", 2, 420_000),
        waits: vec!["1 case is parked: workagent case list --state parked".into()],
        cut: false,
    }
}

/// The hour depends on the zone of the machine that tests.
fn without_hours(text: &str) -> String {
    text.replace(&time_of_day(Timestamp(0)), "HH:MM")
}

#[test]
fn a_day_in_the_terminal() {
    let text = without_hours(&shown(&view(), Paint { colour: false }, 80));
    insta::assert_snapshot!(text, @r"
    2026-11-30
    2 cases: 1 answered, 1 parked · 2 runs, 0.42 USD

    Answered (1)
      c1    the plan · inbox, Pat
            HH:MM item, HH:MM draft, HH:MM sent

    Parked (1)
      c2    # [win](http://x.example)[31m · inbox, Pat
            HH:MM item
            which <b>day</b>?

    Now
      1 case is parked: workagent case list --state parked
    ");
}

#[test]
fn a_day_in_markdown_has_no_link_of_somebody_else() {
    let text = without_hours(&markdown::shown(&view()));
    insta::assert_snapshot!(text, @r"
    # 2026-11-30

    2 cases: 1 answered, 1 parked · 2 runs, 0.42 USD

    ## Answered (1)

    - **c1** the plan (inbox, Pat)
      HH:MM item, HH:MM draft, HH:MM sent

    ## Parked (1)

    - **c2** \# \[win\](http:\//x.example)\[31m (inbox, Pat)
      HH:MM item
      which \<b\>day\</b\>?

    ## Cost

    | engine | runs | USD |
    | --- | ---: | ---: |
    | claude | 2 | 0.42 |

    ## Now

    - 1 case is parked: workagent case list --state parked
    ");
}

#[test]
fn an_empty_day_says_so() {
    let view = DigestView { groups: Vec::new(), waits: Vec::new(), ..view() };
    assert!(shown(&view, Paint { colour: false }, 80).contains("nothing happened"));
    assert!(markdown::shown(&view).contains("Nothing happened."));
}

#[test]
fn yesterday_is_the_day_before() {
    let noon =
        crate::model::time::start_of_date("2026-11-30").unwrap().plus(std::time::Duration::from_secs(43_200));
    assert_eq!(named("today", noon), "2026-11-30");
    assert_eq!(named("yesterday", noon), "2026-11-29");
    assert_eq!(named("2026-01-01", noon), "2026-01-01");
}
