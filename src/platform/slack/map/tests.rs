use super::*;

fn me() -> Me {
    Me {
        user: "UME".into(),
        bot: "BME".into(),
        name: "kim".into(),
        workspace: "acme".into(),
        url: "https://acme.slack.com/".into(),
    }
}

fn channel(kind: &str) -> Channel {
    Channel { id: "C1".into(), name: "general".into(), kind: kind.into() }
}

fn made(kind: &str, fields: Value) -> Item {
    let mut value = json!({ "type": "message", "user": "UPAT", "text": "Hello", "ts": "1796025600.000100" });
    for (name, field) in fields.as_object().unwrap() {
        value[name] = field.clone();
    }
    let names = HashMap::from([("UPAT".to_owned(), "Pat".to_owned())]);
    item(&value, View { me: &me(), channel: &channel(kind), names: &names })
}

fn thread(item: &Item) -> String {
    match &item.reply {
        ReplyWay::To(envelope) => format!("{} | {}", envelope.thread, envelope.place),
        ReplyWay::Nowhere { reason } => reason.clone(),
    }
}

#[test]
fn answers_stand_in_the_thread_of_the_first_message() {
    let shown = [
        made("public_channel", json!({})),
        made("public_channel", json!({ "thread_ts": "1796000000.000000" })),
        made("im", json!({})),
        made("im", json!({ "thread_ts": "1796000000.000000" })),
    ]
    .map(|item| format!("{}\n  {}\n  {}", thread(&item), item.threads.join(" "), item.url.unwrap()))
    .join("\n");
    insta::assert_snapshot!(shown, @r#"
    {"channel":"C1","ts":"1796025600.000100","thread_ts":"1796025600.000100"} | a reply in a thread of #general in Slack (acme)
      C1:1796025600.000100
      https://acme.slack.com/archives/C1/p1796025600000100
    {"channel":"C1","ts":"1796025600.000100","thread_ts":"1796000000.000000"} | a reply in a thread of #general in Slack (acme)
      C1:1796000000.000000
      https://acme.slack.com/archives/C1/p1796025600000100?thread_ts=1796000000.000000&cid=C1
    {"channel":"C1","ts":"1796025600.000100"} | a message to @general in Slack (acme)
      C1:1796025600.000100 direct:C1
      https://acme.slack.com/archives/C1/p1796025600000100
    {"channel":"C1","ts":"1796025600.000100","thread_ts":"1796000000.000000"} | a reply in a thread of @general in Slack (acme)
      C1:1796000000.000000
      https://acme.slack.com/archives/C1/p1796025600000100?thread_ts=1796000000.000000&cid=C1
    "#);
}

#[test]
fn who_wrote_it_decides_by_id() {
    let check = |fields: Value, expected: &str| {
        let item = made("im", fields.clone());
        let word = match item.disposition {
            Disposition::NoReply { .. } => "no reply".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        assert_eq!(word, expected, "{fields}");
    };
    check(json!({}), "work");
    check(json!({ "user": "UME" }), "own");
    check(json!({ "user": null, "bot_id": "BME", "subtype": "bot_message" }), "own");
    check(
        json!({ "user": null, "bot_id": "BOTHER", "subtype": "bot_message", "username": "ci" }),
        "no reply",
    );
    check(json!({ "username": "kim" }), "work");
    check(json!({ "subtype": "tombstone" }), "baseline");
}

#[test]
fn an_edit_is_another_revision_and_keeps_its_key() {
    let (first, edited) =
        (made("im", json!({})), made("im", json!({ "text": "Hello!", "edited": { "ts": "1.2" } })));
    assert_eq!((first.key.as_str(), &first.key), ("C1:1796025600.000100", &edited.key));
    assert_ne!(first.revision, edited.revision);
    assert_eq!(made("im", json!({ "client_msg_id": "abc" })).identities, ["C1:1796025600.000100", "msg:abc"]);
}

#[test]
fn texts_of_apps_and_files() {
    let blocks = json!([{ "type": "section", "text": { "type": "mrkdwn", "text": "*Build* failed" } },
        { "type": "rich_text", "elements": [{ "elements": [{ "type": "text", "text": "see log" }] }] }]);
    assert_eq!(made("im", json!({ "text": "", "blocks": blocks })).body, "*Build* failed\nsee log");
    let attached = json!({ "attachments": [{ "title": "Ticket", "text": "is late" }, { "fallback": "x" }] });
    assert_eq!(made("im", attached).body, "Hello\n\nTicket\nis late\n\nx");
    let files =
        json!({ "files": [{ "name": "../../a.pdf", "mimetype": "application/pdf", "size": 12 }, null] });
    let item = made("im", files);
    assert_eq!((item.attachments.len(), item.attachments[0].size_bytes), (2, 12));
}

#[test]
fn odd_shapes_are_kept_for_the_user() {
    for value in [json!(null), json!({}), json!({ "ts": 1_796_025_600.000_1 }), json!({ "ts": "soon" })] {
        let item = item(&value, View { me: &me(), channel: &channel("im"), names: &HashMap::new() });
        assert!(matches!(item.disposition, Disposition::Quarantined { .. }), "{value}");
    }
}

#[test]
fn what_nobody_sees_is_shown_apart() {
    let item = made("im", json!({ "text": "pay\u{202e} <@UPAT>" }));
    assert_eq!((item.body.as_str(), item.hidden.len()), ("pay @Pat", 1));
}
