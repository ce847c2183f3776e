//! What an answer does beside its text: offered by the item, proposed by the engine, decided on by a person.

use workagent::model::effect::Effect;

use crate::support::way::{Way, shell};

/// A tracker that is a program: one issue, and a log of what it was asked to send.
const TRACKER: &str = r#"
[connector]
platform = "command"
backlog = "all"
outbound = "OUTBOUND"
hold = "0s"
[command]
program = "{root}/tracker"
send = true
[install]
enabled = true
"#;

const PROGRAM: &str = r#"#!/bin/sh
read -r request
case $request in
*'"op":"poll"'*)
    echo '{"type":"item","id":"7","title":"It crashes","body":"on start","reply_handle":7,"offers":["close",{"verb":"state","what":"Move it","values":["open","done"]}]}'
    echo '{"type":"state","value":1}'
    echo '{"type":"done"}' ;;
*'"op":"send"'*)
    printf '%s\n' "$request" >> "$(dirname "$0")/sent"
    echo '{"type":"sent","remote_id":"c-1"}' ;;
esac
"#;

const ROUTE: &str = "[route]\nengines = [\"hand\"]\n[install]\nenabled = true\n";

/// A tracker whose issue is answered by a program that prints this.
async fn tracker(outbound: &str, answer: &str) -> Way {
    let way = Way::new(&[]).await;
    let program = way.path().join("tracker");
    std::fs::write(&program, PROGRAM).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    way.unit("tracker.connector.toml", &TRACKER.replace("OUTBOUND", outbound));
    way.unit("hand.engine.toml", &shell(&format!("cat > /dev/null; printf '{answer}'")));
    way.unit("all.route.toml", ROUTE);
    let mut way = way;
    way.start().await;
    way.cycle().await;
    way
}

impl Way {
    /// Effects and text of the one draft.
    async fn proposed(&self) -> String {
        let draft = self.drafts().await.remove(0);
        let effects: Vec<String> = draft.envelope.effects.iter().map(ToString::to_string).collect();
        format!("{effects:?} {:?} {:?}", draft.body, draft.remarks)
    }

    fn told(&self) -> String {
        let text = std::fs::read_to_string(self.path().join("sent")).unwrap_or_default();
        let sent = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let part = |sent: &serde_json::Value, key| sent.get(key).cloned().unwrap_or_default();
        sent.map(|sent| format!("{} {}\n", part(&sent, "effects"), part(&sent, "body"))).collect()
    }
}

#[tokio::test]
async fn chosen_effects_go_with_the_text() {
    let way = tracker("reviewed", r"ALSO: state: done\nALSO: delete\n\nMended.").await;
    assert_eq!(
        way.proposed().await,
        r#"["state: done"] "Mended." ["the engine also proposed what is not offered here: delete"]"#
    );
    way.approve(&way.drafts().await.remove(0)).await.unwrap();
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 sent\n");
    assert!(way.told().starts_with(r#"["state: done"] "Mended."#), "{}", way.told());
}

#[tokio::test]
async fn effects_without_a_text() {
    let way = tracker("reviewed", r"ALSO: close\n").await;
    assert_eq!(way.proposed().await, r#"["close"] "" []"#);
    way.approve(&way.drafts().await.remove(0)).await.unwrap();
    way.cycle().await;
    assert_eq!(way.told(), "[\"close\"] \"\"\n");
}

#[tokio::test]
async fn a_person_takes_effects_out_and_the_approval_of_before_is_void() {
    let way = tracker("reviewed", r"ALSO: close\nMended.").await;
    let seen = way.drafts().await.remove(0);
    let none: Option<Vec<Effect>> = Some(Vec::new());
    let edited = way.assembly().store.edit_draft(seen.id, &seen.hash, seen.body.clone(), none).await.unwrap();
    assert!(way.approve(&seen).await.is_err());
    way.approve(&edited).await.unwrap();
    way.cycle().await;
    assert!(way.told().starts_with("null \"Mended."), "{}", way.told());
}

#[tokio::test]
async fn what_acts_waits_for_a_person_where_texts_go_by_themselves() {
    let way = tracker("auto", r"ALSO: close\nMended.").await;
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
    assert_eq!(way.told(), "");
}

#[tokio::test]
async fn nothing_but_what_is_not_offered_is_nothing() {
    let way = tracker("reviewed", r"ALSO: delete\n").await;
    assert_eq!(way.shown().await, "c1 closed\n");
}
