//! What was made and approved for one place does not go to another, and what was made for review stays for review.

use super::*;

const ELSEWHERE: &str = "out = \"{root}/other\"";

async fn with_a_draft() -> Way {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    way
}

impl Way {
    /// The connector edited, and the daemon started again.
    async fn edited(&mut self, from: &str, to: &str) {
        for folder in ["new", "cur", "tmp"] {
            std::fs::create_dir_all(self.path().join("other").join(folder)).unwrap();
        }
        self.unit("inbox.connector.toml", &INBOX.replace(from, to));
        self.start().await;
    }

    async fn events(&self) -> Vec<String> {
        let case = self.cases().await.remove(0).id;
        let record = self.assembly().store.case_record(case).await.unwrap();
        record.journal.into_iter().map(|row| format!("{}: {}", row.event, row.detail)).collect()
    }
}

#[tokio::test]
async fn a_draft_made_for_review_is_not_sent_by_a_rule_that_came_later() {
    let mut way = with_a_draft().await;
    way.edited("hold = \"0s\"", "hold = \"0s\"\noutbound = \"auto\"").await;
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
    // What comes from now on goes by the rule.
    way.deliver("2", &mail("b", "lunch", ""));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\nc2 sent\n");
    way.approve(&way.drafts().await[0]).await.unwrap();
    way.cycle().await;
    assert_eq!(way.sent().len(), 2);
}

#[tokio::test]
async fn a_draft_for_another_place_is_looked_at_again_before_it_goes_there() {
    let mut way = with_a_draft().await;
    let seen = way.drafts().await.remove(0);
    way.edited("out = \"{root}/out\"", ELSEWHERE).await;
    let error = way.approve(&seen).await.unwrap_err().to_string();
    assert!(error.contains("/out, from me@example.org; it sends to the Maildir"), "{error}");
    let again = way.drafts().await.remove(0);
    assert_ne!(seen.hash, again.hash);
    assert!(way.approve(&seen).await.is_err(), "the version that was seen is another one");
    way.approve(&again).await.unwrap();
    way.cycle().await;
    assert!(way.sent().is_empty());
    assert_eq!(way.shown().await, "c1 sent\n");
    assert!(way.events().await.iter().any(|event| event.starts_with("readdressed: d1 was for the Maildir")));
}

#[tokio::test]
async fn an_automatic_draft_for_another_place_waits_for_a_person() {
    let mut way = Way::new(&[
        ("inbox.connector.toml", &INBOX.replace("hold = \"0s\"", "hold = \"1h\"\noutbound = \"auto\"")),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    // Approved by the rule, and not gone yet.
    assert_eq!(way.shown().await, "c1 approved\n");
    way.edited("out = \"{root}/out\"", &format!("{ELSEWHERE}\n# auto")).await;
    way.clock.advance(Duration::from_secs(3601));
    way.cycle().await;
    let action = way.actions().await.remove(0);
    let why = action.last_error.unwrap();
    assert_eq!(action.state, ActionState::Held);
    assert!(
        why.starts_with("it was approved for the Maildir") && why.contains("sends to the Maildir"),
        "{why}"
    );
    // The user says: send it there.
    way.assembly().bundle.desk.release(action.id, "inbox", false).await.unwrap();
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 sent\n");
    assert!(way.sent().is_empty());
}

#[tokio::test]
async fn a_draft_made_while_its_connector_is_off_is_as_if_it_had_been_on() {
    let auto = INBOX.replace("hold = \"0s\"", "hold = \"0s\"\noutbound = \"auto\"");
    let mut way = Way::new(&[("inbox.connector.toml", &auto)]).await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    way.unit("inbox.connector.toml", &auto.replace("enabled = true", "enabled = false"));
    way.unit("polite.engine.toml", POLITE);
    way.unit("answers.route.toml", ROUTE);
    way.start().await;
    let case = way.cases().await[0].id;
    way.assembly().store.retry_case(case).await.unwrap();
    way.cycle().await;
    let draft = way.drafts().await.remove(0);
    assert!(draft.auto && draft.destination.ends_with("/out, from me@example.org"), "{draft:?}");
    way.unit("inbox.connector.toml", &auto);
    way.start().await;
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 sent\n");
}

#[tokio::test]
async fn connectors_that_swap_their_names_do_not_swap_their_drafts() {
    let mut way = with_a_draft().await;
    let seen = way.drafts().await.remove(0);
    std::fs::remove_file(way.path().join("units/inbox.connector.toml")).unwrap();
    way.unit("old.connector.toml", INBOX);
    way.unit("inbox.connector.toml", &INBOX.replace("me@example.org", "boss@example.org"));
    way.start().await;
    let error = way.approve(&seen).await.unwrap_err().to_string();
    assert!(error.contains("from me@example.org; it sends to"), "{error}");
}
