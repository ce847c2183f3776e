//! Comments, replies on the diff, effects; lost answers.

use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::outbound::{Confirmation, OutboundAction, Receipt};

use super::*;
use crate::support::github::{ME, user};
use crate::support::http::Answer;

/// A scene with one item of this kind to be answered.
async fn with_item(kind: &str) -> (Scene, Item) {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    {
        let mut hub = scene.hub.hub();
        hub.open("acme/app", 1, true, "kim", "Crash", "It crashes.");
        hub.comment("acme/app", 1, "kim", "Please look.");
        let top = hub.diff_comment("acme/app", 1, "lee", "Why?", None);
        hub.diff_comment("acme/app", 1, "kim", "Because.", Some(top));
        hub.notify(9001, "acme/app", 1, "mention");
    }
    let items = scene.bench.poll().await.unwrap().items;
    let item = items.into_iter().rfind(|item| item.kind == kind).unwrap();
    scene.later(MINUTE);
    scene.hub.asked();
    (scene, item)
}

async fn sent(scene: &Scene, action: &OutboundAction) -> Result<Receipt, (ErrorClass, String)> {
    let payload = scene.bench.prepare(action);
    scene.bench.connector.deliver(action, &payload).await.map_err(|error| (error.class, chain(&error)))
}

#[tokio::test]
async fn a_comment_with_its_mark() {
    let (scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look.\n\ncc @acme/everyone");
    let receipt = sent(&scene, &action).await.unwrap();
    let hub = scene.hub.hub();
    let posted = hub.issues[&("acme/app".to_owned(), 1)].comments.last().unwrap();
    assert_eq!(
        posted.body,
        "I will look.\n\ncc @<!-- -->acme/everyone\n\n<!-- workagent:wa-7-0123456789abcdef -->\n"
    );
    assert_eq!(receipt.remote_id, format!("issue-comment:{}", posted.id));
    assert!(receipt.evidence.starts_with("posted, https://github.example/acme/app/issues/1#issuecomment-"));
}

#[tokio::test]
async fn a_reply_on_the_diff_goes_to_the_first_comment() {
    let (scene, item) = with_item("review-comment").await;
    assert!(item.body.contains("Because."), "the item answers a reply");
    let receipt = sent(&scene, &scene.bench.reply(&item, 7, "I see.")).await.unwrap();
    assert!(receipt.remote_id.starts_with("review-comment:"), "{receipt:?}");
    let hub = scene.hub.hub();
    let diff = &hub.issues[&("acme/app".to_owned(), 1)].diff;
    assert_eq!(diff.last().unwrap().in_reply_to, Some(diff[0].id));
}

#[tokio::test]
async fn effects_come_before_the_text_and_may_be_repeated() {
    let (scene, item) = with_item("comment").await;
    let mut action = scene.bench.reply(&item, 7, "Done.");
    for effect in ["label: bug", "assign: lee", "close"] {
        action.envelope.effects.push(Effect::parse(effect));
    }
    sent(&scene, &action).await.unwrap();
    assert_eq!(
        scene.hub.asked(),
        [
            "GET /repos/acme/app/labels/bug",
            "POST /repos/acme/app/issues/1/labels",
            "POST /repos/acme/app/issues/1/assignees",
            "PATCH /repos/acme/app/issues/1",
            "POST /repos/acme/app/issues/1/comments",
        ]
    );
    let mut undo = scene.bench.reply(&item, 8, "");
    for effect in ["unlabel: bug", "unlabel: bug", "unassign: lee", "reopen"] {
        undo.envelope.effects.push(Effect::parse(effect));
    }
    let receipt = sent(&scene, &undo).await.unwrap();
    assert_eq!(receipt.evidence, "acme/app: unlabel: bug, unlabel: bug, unassign: lee, reopen");
    let hub = scene.hub.hub();
    let issue = &hub.issues[&("acme/app".to_owned(), 1)];
    assert_eq!((issue.state, issue.labels.len(), issue.assignees.len()), ("open", 0, 0));
    assert_eq!(issue.comments.len(), 2, "effects alone post nothing");
}

#[tokio::test]
async fn an_effect_that_cannot_be_is_refused_before_the_text() {
    for (effect, why) in [
        ("label: nonsense", "the repository has no label `nonsense`"),
        ("assign: stranger", "GitHub did not assign stranger"),
        ("merge", "`merge` is nothing that can be done"),
    ] {
        let (scene, item) = with_item("comment").await;
        let mut action = scene.bench.reply(&item, 7, "Done.");
        action.envelope.effects = vec![Effect::parse("close"), Effect::parse(effect)];
        let (class, told) = sent(&scene, &action).await.unwrap_err();
        assert_eq!(class, ErrorClass::Permanent, "{told}");
        assert!(
            told.contains(why) && !told.contains("done before"),
            "what everybody sees comes last: {told}"
        );
        assert!(
            !scene.hub.asked().iter().any(|line| line.starts_with("POST") && line.ends_with("/comments"))
        );
    }
}

#[tokio::test]
async fn a_lost_answer_of_an_effect_is_no_question() {
    let (scene, item) = with_item("comment").await;
    let mut action = scene.bench.reply(&item, 7, "Done.");
    action.envelope.effects = vec![Effect::parse("close")];
    scene.hub.once("PATCH", "/repos/acme/app/issues/1", Answer::cut_after_body());
    let (class, _) = sent(&scene, &action).await.unwrap_err();
    assert!(matches!(class, ErrorClass::Network { .. }), "{class:?}: it is simply done again");
    sent(&scene, &action).await.unwrap();
}

#[tokio::test]
async fn what_a_failed_post_means() {
    let words = |message: &str| format!(r#"{{"message": "{message}", "errors": ["body is too long"]}}"#);
    for (answer, expected, told) in [
        (Answer::cut_after_body(), ErrorClass::Uncertain, "connection was lost"),
        (Answer::new(502, "<html>"), ErrorClass::Uncertain, "502"),
        (Answer::new(201, "<html>").header("Content-Type", "text/html"), ErrorClass::Uncertain, "web page"),
        (Answer::new(201, "{\"id\":"), ErrorClass::Uncertain, "not the expected JSON"),
        (Answer::new(201, "{}"), ErrorClass::Uncertain, "does not name the comment"),
        (
            Answer::new(403, words("Unable to create comment because issue is locked.")),
            ErrorClass::Permanent,
            "locked",
        ),
        (Answer::new(404, words("Not Found")), ErrorClass::Permanent, "Not Found"),
        (Answer::new(410, words("gone")), ErrorClass::Permanent, "gone"),
        (Answer::new(422, words("Validation Failed")), ErrorClass::Permanent, "body is too long"),
        (Answer::new(401, words("Bad credentials")), ErrorClass::Auth, "Bad credentials"),
        (
            Answer::new(301, "").header("Location", "/repos/acme/new/issues/1/comments"),
            ErrorClass::Config,
            "it has moved to http://127.0.0.1",
        ),
        (Answer::new(503, "").header("Retry-After", "20"), ErrorClass::Uncertain, "503"),
        (
            Answer::new(403, "<html>").header("Content-Type", "text/html").header("Retry-After", "20"),
            ErrorClass::Uncertain,
            "a web page that is not the API's",
        ),
    ] {
        let (scene, item) = with_item("comment").await;
        let shown = format!("{answer:?}");
        scene.hub.once("POST", "/repos/acme/app/issues/1/comments", answer);
        let (class, chain) = sent(&scene, &scene.bench.reply(&item, 7, "Hm.")).await.unwrap_err();
        assert_eq!(class, expected, "{shown}: {chain}");
        assert!(chain.contains(told), "{shown}: {chain}");
        assert_eq!(scene.hub.asked().len(), 1, "one try: {shown}");
    }
    let (scene, item) = with_item("comment").await;
    let limited = Answer::new(403, words("You have exceeded a secondary rate limit"));
    scene.hub.once("POST", "/repos/acme/app/issues/1/comments", limited);
    let (class, _) = sent(&scene, &scene.bench.reply(&item, 7, "Hm.")).await.unwrap_err();
    assert!(matches!(class, ErrorClass::RateLimited { .. }), "{class:?}");
}

#[tokio::test]
async fn after_a_lost_answer_the_comment_is_found() {
    for kind in ["comment", "review-comment"] {
        let (scene, item) = with_item(kind).await;
        let action = scene.bench.reply(&item, 7, "I will look.");
        let payload = scene.bench.prepare(&action);
        let since = scene.bench.clock.now();
        // The far side acts and the answer is lost.
        let receipt = scene.bench.connector.deliver(&action, &payload).await.unwrap();
        scene.later(Duration::from_secs(5));
        scene.bench.connector.confirm(&action, &payload, since).await.unwrap();
        let Confirmation::Sent(found) =
            scene.bench.connector.confirm(&action, &payload, since).await.unwrap()
        else {
            panic!("not found");
        };
        assert_eq!(found.remote_id, receipt.remote_id);
        let searched = scene.hub.asked().pop().unwrap();
        assert!(searched.contains("since=2026-11-30T07%3A57%3A"), "five minutes before: {searched}");
    }
}

#[tokio::test]
async fn absent_is_believed_at_the_second_look() {
    let (scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look.");
    let payload = scene.bench.prepare(&action);
    let since = scene.bench.clock.now();
    let ask = async || scene.bench.connector.confirm(&action, &payload, since).await.unwrap();
    assert_eq!(ask().await, Confirmation::AskAgain);
    scene.later(Duration::from_secs(9));
    assert_eq!(ask().await, Confirmation::AskAgain);
    scene.later(Duration::from_secs(1));
    assert_eq!(ask().await, Confirmation::NotSent);
    assert_eq!(ask().await, Confirmation::AskAgain, "a further doubt is looked at anew");
}

#[tokio::test]
async fn somebody_else_s_copy_of_the_mark_is_not_ours() {
    let (scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look.");
    let payload = scene.bench.prepare(&action);
    let since = scene.bench.clock.now();
    let ask = async || scene.bench.connector.confirm(&action, &payload, since).await.unwrap();
    let body = "I will look.\n\n<!-- workagent:wa-7-0123456789abcdef -->";
    scene.hub.hub().comment("acme/app", 1, "eve", body);
    scene.hub.hub().comment("acme/app", 1, ME.1, "<!-- workagent:wa-8-0123456789abcdef -->");
    assert_eq!(ask().await, Confirmation::AskAgain);
    // Under our id, whatever the name is by now.
    let id = scene.hub.hub().comment("acme/app", 1, ME.1, body);
    scene.hub.hub().issue("acme/app", 1).comments.last_mut().unwrap().user = (user(ME.1).0, "renamed".into());
    let Confirmation::Sent(found) = ask().await else { panic!("not found") };
    assert_eq!(found.remote_id, format!("issue-comment:{id}"));
}

#[tokio::test]
async fn a_clock_that_is_ahead_finds_it_all_the_same() {
    let (scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look.");
    let payload = scene.bench.prepare(&action);
    scene.bench.connector.deliver(&action, &payload).await.unwrap();
    // We believe it to be an hour later than it is at GitHub; another connector, which has asked nothing yet.
    let slow = Clock::manual(scene.bench.clock.now());
    scene.hub.hub().clock = slow;
    let mut late = scene;
    late.bench.restart();
    late.later(60 * MINUTE);
    let since = late.bench.clock.now();
    let found = late.bench.connector.confirm(&action, &payload, since).await.unwrap();
    assert!(matches!(found, Confirmation::Sent(_)), "{found:?}");
}

#[tokio::test]
async fn a_thread_that_is_gone_cannot_tell() {
    let (scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look.");
    let payload = scene.bench.prepare(&action);
    scene.hub.hub().issues.clear();
    let since = scene.bench.clock.now();
    let found = scene.bench.connector.confirm(&action, &payload, since).await.unwrap();
    assert_eq!(found, Confirmation::CannotTell);
}

#[tokio::test]
async fn what_is_too_long_or_nothing_is_refused_before_the_wire() {
    let (scene, item) = with_item("comment").await;
    let check = |body: &str, told: &str| {
        let action = scene.bench.reply(&item, 7, body);
        let error = scene.bench.connector.prepare(&action, NOW).unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
        assert!(chain(&error).contains(told), "{}", chain(&error));
    };
    check(&"ü".repeat(60_000), "longer than the 60000 characters");
    check(" \n", "nothing to send");
    let mut odd = scene.bench.reply(&item, 7, "x");
    for thread in
        [serde_json::json!(null), serde_json::json!({"repo": "../x", "number": 1}), serde_json::json!("x")]
    {
        odd.envelope.thread = thread;
        assert!(
            chain(&scene.bench.connector.prepare(&odd, NOW).unwrap_err()).contains("no thread of GitHub")
        );
    }
}

#[tokio::test]
async fn the_notification_stays_unless_the_unit_says_otherwise() {
    for (rule, expected) in [
        ("keep", None),
        ("read", Some("PATCH /notifications/threads/9001")),
        ("done", Some("DELETE /notifications/threads/9001")),
    ] {
        let mut scene = Scene::with(&[("after_reply", text(rule))]);
        scene.bench.poll().await.unwrap();
        scene.later(MINUTE);
        scene.issue(1);
        let item = scene.bench.poll().await.unwrap().items.remove(0);
        let action = scene.bench.reply(&item, 7, "Hm.");
        let payload = scene.bench.prepare(&action);
        let receipt = scene.bench.connector.deliver(&action, &payload).await.unwrap();
        scene.hub.asked();
        scene.bench.connector.delivered(&action, &payload, &receipt).await.unwrap();
        assert_eq!(scene.hub.asked().first().map(String::as_str), expected, "{rule}");
    }
}

#[tokio::test]
async fn our_own_comment_read_back_is_known() {
    let (mut scene, item) = with_item("comment").await;
    let action = scene.bench.reply(&item, 7, "I will look, @pat.");
    sent(&scene, &action).await.unwrap();
    scene.later(MINUTE);
    scene.hub.hub().comment("acme/app", 1, "kim", "Thanks!");
    scene.hub.hub().notify(9001, "acme/app", 1, "comment");
    let polled = scene.bench.poll().await.unwrap();
    let own = polled.items.iter().filter(|item| item.disposition == Disposition::Own).count();
    assert_eq!((own, polled.new), (1, vec!["Crash (acme/app#1)".to_owned()]));
}
