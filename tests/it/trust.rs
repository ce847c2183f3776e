//! What goes without a person: by kind and recipient, after a record, but for a sample; and why the rest is shown.

use crate::support::way::{INBOX, Way, mail};

/// An inbox that sends by itself what `[auto]` says.
fn inbox(auto: &str) -> String {
    INBOX
        .replace("hold = \"0s\"", "hold = \"0s\"\noutbound = \"auto\"")
        .replace("[maildir]", &format!("[auto]\n{auto}\n[maildir]"))
}

/// Another mail with another subject, from somebody else if said.
fn from(id: &str, author: &str) -> String {
    mail(id, id, "").replace("pat@example.org", author)
}

async fn told(way: &Way) -> Vec<String> {
    way.drafts().await.into_iter().flat_map(|draft| draft.remarks).collect()
}

#[tokio::test]
async fn only_to_those_who_are_named() {
    let way = Way::of_inbox(&inbox("recipients = [\"*@example.org\"]")).await;
    way.deliver("1", &from("a", "pat@example.org"));
    way.deliver("2", &from("b", "kim@example.net"));
    way.cycle().await;
    way.cycle().await;
    assert_eq!(way.sent().len(), 1);
    let told = told(&way).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("[auto] recipients does not name") && told[0].contains("kim@example.net"),
        "{told:?}"
    );
    // It is for a person from here on, and a person may.
    let draft = way.drafts().await.remove(0);
    assert!(!draft.auto);
    way.approve(&draft).await.unwrap();
    way.cycle().await;
    assert_eq!(way.sent().len(), 2);
}

#[tokio::test]
async fn only_kinds_that_are_named() {
    let way = Way::of_inbox(&inbox("kinds = [\"note\"]")).await;
    way.deliver("1", &mail("a", "a", ""));
    way.cycle().await;
    way.cycle().await;
    assert_eq!(way.sent().len(), 0);
    assert!(told(&way).await[0].contains("[auto] kinds does not name"), "{:?}", told(&way).await);
}

#[tokio::test]
async fn a_trial_comes_first_and_what_waited_in_it_waits_on() {
    let way = Way::of_inbox(&inbox("after = 3\nagreement = 60")).await;
    for id in ["a", "b", "c", "d"] {
        way.deliver(id, &mail(id, id, ""));
    }
    way.cycle().await;
    way.cycle().await;
    let drafts = way.drafts().await;
    assert_eq!((drafts.len(), way.sent().len()), (4, 0));
    assert!(told(&way).await[0].contains("after 3 more decisions of yours"), "{:?}", told(&way).await);
    // Two as written, one edited first: two of three is more than 60 in a hundred.
    way.approve(&drafts[0]).await.unwrap();
    way.approve(&drafts[1]).await.unwrap();
    let store = &way.assembly().store;
    let edited = store.edit_draft(drafts[2].id, &drafts[2].hash, "Otherwise.".into(), None).await.unwrap();
    way.approve(&edited).await.unwrap();
    way.cycle().await;
    assert_eq!(
        (way.drafts().await.len(), way.sent().len()),
        (1, 3),
        "what was shown is not sent behind one's back"
    );
    way.deliver("e", &mail("e", "e", ""));
    way.cycle().await;
    way.cycle().await;
    assert_eq!((way.drafts().await.len(), way.sent().len()), (1, 4));
    // Two refusals make it two of five.
    for id in ["f", "g"] {
        let draft = way.drafts().await.remove(0);
        store.reject(draft.id, "no", false).await.unwrap();
        way.deliver(id, &mail(id, id, ""));
        way.cycle().await;
        way.cycle().await;
    }
    assert_eq!(way.sent().len(), 4, "{:?}", told(&way).await);
    assert!(told(&way).await[0].contains("you left 2 as written"), "{:?}", told(&way).await);
}

#[tokio::test]
async fn some_are_shown_by_lot() {
    let way = Way::of_inbox(&inbox("show_one_in = 2")).await;
    for nth in 0..12 {
        let id = format!("m{nth}");
        way.deliver(&id, &mail(&id, &id, ""));
    }
    for _ in 0..3 {
        way.cycle().await;
    }
    let (shown, sent) = (way.drafts().await.len(), way.sent().len());
    assert_eq!(shown + sent, 12);
    assert!((2..=10).contains(&shown), "{shown}");
    assert!(told(&way).await.iter().all(|remark| remark.contains("by lot")), "{:?}", told(&way).await);
}

#[tokio::test]
async fn drawn_up_anew_without_a_word_says_nothing_of_the_text() {
    let way = Way::of_inbox(&inbox("after = 3")).await;
    way.deliver("1", &mail("a", "a", ""));
    let store = &way.assembly().store;
    for (note, judged) in [("", 0), ("shorter, please", 1)] {
        way.cycle().await;
        way.cycle().await;
        store.reject(way.drafts().await.remove(0).id, note, true).await.unwrap();
        assert_eq!(store.decided("inbox").await.unwrap().len(), judged, "{note}");
    }
}
