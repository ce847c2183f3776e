//! A connector that sends nothing, and answers that nobody answers: what comes back to the user.

use std::time::Duration;

use workagent::model::outbound::ActionState;
use workagent::model::parked::Waits;

use crate::support::way::{INBOX, Way, mail};

#[tokio::test]
async fn one_connector_in_the_shadow_sends_nothing_and_says_so() {
    let shadow = INBOX.replace("hold = \"0s\"", "hold = \"0s\"\nshadow = true");
    let mut way = Way::of_inbox(&shadow).await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    way.approve(&way.drafts().await[0]).await.unwrap();
    way.cycle().await;
    assert!(way.sent().is_empty());
    let action = way.actions().await.remove(0);
    assert_eq!(action.state, ActionState::Held);
    assert_eq!(action.last_error.as_deref(), Some("shadow: would have gone to pat@example.org"));

    way.unit("inbox.connector.toml", INBOX);
    way.start().await;
    way.deliver("2", &mail("b", "the other plan", ""));
    way.cycle().await;
    way.approve(&way.drafts().await[0]).await.unwrap();
    way.cycle().await;
    assert_eq!(way.sent().len(), 1);
}

#[tokio::test]
async fn an_answer_that_nobody_answers_brings_the_case_back() {
    let nudge = INBOX.replace("hold = \"0s\"", "hold = \"0s\"\nnudge = \"3d\"");
    let way = Way::of_inbox(&nudge).await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    way.approve(&way.drafts().await[0]).await.unwrap();
    way.cycle().await;
    way.clock.advance(Duration::from_secs(2 * 86_400));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 sent\n");
    way.clock.advance(Duration::from_secs(86_400));
    way.cycle().await;
    let parked = way.assembly().store.parked(10).await.unwrap();
    assert_eq!(parked.len(), 1);
    assert_eq!(parked[0].waits, Waits::Answer);
    assert!(parked[0].reason.starts_with("nobody answered since "), "{}", parked[0].reason);
    // Told once: it waits for the user, and is not closed behind their back.
    way.clock.advance(Duration::from_secs(30 * 86_400));
    way.cycle().await;
    assert!(way.shown().await.starts_with("c1 parked"), "{}", way.shown().await);

    way.deliver("2", &mail("b", "Re: the plan", "In-Reply-To: <a@example.org>\n"));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
}
