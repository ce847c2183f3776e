use serde_json::json;

use super::*;

fn view() -> View {
    View {
        viewer: "me".into(),
        name: "Kim".into(),
        workspace: "acme".into(),
        history: Timestamp::from_rfc3339("2026-11-30T08:00:00Z").unwrap(),
    }
}

/// What becomes of a comment with these fields, made after the connector began.
fn made(fields: Value) -> Item {
    let mut value = json!({ "id": "c1", "body": "Hello", "createdAt": "2026-11-30T09:00:00.000Z", "issueId": "i1",
        "user": { "id": "pat", "name": "Pat" } });
    for (name, field) in fields.as_object().unwrap() {
        value[name] = field.clone();
    }
    comment(&value, &view())
}

fn thread(item: &Item) -> String {
    match &item.reply {
        ReplyWay::To(envelope) => envelope.thread.to_string(),
        ReplyWay::Nowhere { reason } => reason.clone(),
    }
}

#[test]
fn an_answer_stands_under_the_first_comment_of_the_thread() {
    assert_eq!(thread(&made(json!({}))), r#"{"on":"issueId","id":"i1","parent":"c1"}"#);
    assert_eq!(thread(&made(json!({ "parentId": "c0" }))), r#"{"on":"issueId","id":"i1","parent":"c0"}"#);
    let update = json!({ "issueId": null, "projectUpdateId": "p1" });
    assert_eq!(thread(&made(update.clone())), r#"{"on":"projectUpdateId","id":"p1","parent":"c1"}"#);
    assert!(made(update).offers.is_empty(), "only an issue has a state");
    assert_eq!(
        thread(&made(json!({ "issueId": null }))),
        "it stands on something that takes no comments here"
    );
}

#[test]
fn who_wrote_it_decides() {
    let check = |fields: Value, expected: Disposition| assert_eq!(made(fields).disposition, expected);
    check(json!({}), Disposition::Work);
    check(json!({ "user": { "id": "me", "name": "Pat" } }), Disposition::Own);
    check(json!({ "user": { "id": "other", "name": "Kim" } }), Disposition::Work);
    let bot = json!({ "user": null, "botActor": { "name": "GitHub" } });
    check(bot, Disposition::NoReply { reason: "an integration wrote it".into() });
    check(json!({ "user": null, "externalUser": { "name": "Sam" } }), Disposition::Work);
    check(json!({ "user": null }), Disposition::Work);
}

#[test]
fn age_decides() {
    let old = "2026-11-29T09:00:00.000Z";
    assert_eq!(made(json!({ "createdAt": old })).disposition, Disposition::Baseline);
    assert_eq!(made(json!({ "createdAt": null, "updatedAt": old })).disposition, Disposition::Baseline);
    assert_eq!(made(json!({ "createdAt": null })).disposition, Disposition::Work);
}

#[test]
fn an_edit_is_another_revision_and_a_reaction_is_none() {
    let first = made(json!({}));
    assert_ne!(first.revision, made(json!({ "body": "Hello!" })).revision);
    assert_eq!(first.revision, made(json!({ "updatedAt": "2026-11-30T10:00:00.000Z" })).revision);
}

#[test]
fn what_is_deleted_is_told_to_those_who_know_it() {
    let item = made(json!({ "archivedAt": "2026-11-30T10:00:00.000Z" }));
    assert_eq!((item.disposition, item.revision.as_str()), (Disposition::Baseline, "deleted"));
    assert!(matches!(item.reply, ReplyWay::Nowhere { .. }));
}

#[test]
fn nulls_and_odd_shapes_are_kept_for_the_user() {
    for value in [json!(null), json!({}), json!([1]), json!({ "id": 7 }), json!({ "id": "c1", "body": {} })] {
        assert!(matches!(comment(&value, &view()).disposition, Disposition::Quarantined { .. }), "{value}");
        let seen = notification(&value, &view()).disposition;
        assert!(
            matches!(seen, Disposition::Quarantined { .. } | Disposition::NoReply { .. }),
            "{value}: {seen:?}"
        );
    }
}

#[test]
fn text_that_nobody_sees_is_shown_apart() {
    let item = made(json!({ "body": "Please\u{202e} pay", "quotedText": "the\nbill" }));
    assert_eq!(item.body, "> the\n> bill\n\nPlease pay");
    assert_eq!(item.hidden.len(), 1);
}
