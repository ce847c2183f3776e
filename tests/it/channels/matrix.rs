//! Matrix: a room at a homeserver that is played.

use std::sync::{Arc, Mutex};

use super::*;
use crate::support::http::{Answer, HttpServer, Seen};

const TOKEN: &str = "syt_canary_0123456789";
const ROOM: &str = "!room:example.org";

/// A homeserver with one room; the position is the number of events.
#[derive(Clone, Default)]
struct Homeserver {
    events: Arc<Mutex<Vec<Value>>>,
    encrypted: bool,
}

impl Homeserver {
    fn server(&self) -> HttpServer {
        let this = self.clone();
        HttpServer::by(move |seen: &Seen| this.answer(seen))
    }

    fn answer(&self, seen: &Seen) -> Answer {
        if seen.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return Answer::new(401, json!({ "errcode": "M_UNKNOWN_TOKEN" }).to_string());
        }
        let (path, query) = seen.target.split_once('?').unwrap_or((&seen.target, ""));
        let path = path.strip_prefix("/_matrix/client/v3").unwrap();
        let room = "/rooms/!room:example.org";
        let json = |value: Value| Answer::ok(value.to_string());
        if path == "/account/whoami" {
            return json(json!({ "user_id": "@agent:example.org" }));
        }
        if path == "/sync" {
            let since = query.split('&').find_map(|part| part.strip_prefix("since=s"));
            let events = self.events.lock().unwrap();
            let from = since.map_or(0, |since| since.parse().unwrap());
            let theirs: Vec<&Value> =
                events.iter().skip(from).filter(|event| event["sender"] != "@agent:example.org").collect();
            let rooms = json!({ "join": { ROOM: { "timeline": { "events": theirs } } } });
            return json(json!({ "next_batch": format!("s{}", events.len()), "rooms": rooms }));
        }
        match path.strip_prefix(room) {
            Some("/join") => json(json!({ "room_id": ROOM })),
            Some("/state/m.room.encryption") if self.encrypted => json(json!({ "algorithm": "m.megolm.v1" })),
            Some("/state/m.room.encryption") => {
                Answer::new(404, json!({ "errcode": "M_NOT_FOUND" }).to_string())
            }
            Some(rest) if rest.starts_with("/send/m.room.message/") => {
                let body = serde_json::from_slice::<Value>(seen.body.as_deref().unwrap()).unwrap();
                self.put("@agent:example.org", body, START);
                json(json!({ "event_id": "$sent" }))
            }
            _ => Answer::new(404, json!({ "errcode": "M_UNRECOGNIZED", "error": path }).to_string()),
        }
    }

    fn put(&self, sender: &str, content: Value, at: Timestamp) {
        let mut events = self.events.lock().unwrap();
        let id = format!("${}", events.len());
        events.push(json!({
            "type": "m.room.message", "event_id": id, "sender": sender, "origin_server_ts": at.0, "content": content,
        }));
    }

    fn say(&self, sender: &str, text: &str, at: Timestamp) {
        self.put(sender, json!({ "msgtype": "m.text", "body": text }), at);
    }

    /// What the agent has said.
    fn heard(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let own = events.iter().filter(|event| event["sender"] == "@agent:example.org");
        own.map(|event| event["content"]["body"].as_str().unwrap().to_owned()).collect()
    }
}

async fn phone(server: &HttpServer) -> Phone {
    let unit = format!(
        "[channel]\nchannel = \"matrix\"\ndetail = \"full\"\n[matrix]\nhomeserver = \"{}\"\nroom = \"{ROOM}\"\n\
         token = {{ env = \"MATRIX_TOKEN\" }}\n",
        server.url("")
    );
    Phone::by(&unit, &[("MATRIX_TOKEN", TOKEN)]).await
}

#[tokio::test]
async fn the_paired_user_approves_in_the_room_and_nobody_else() {
    let homeserver = Homeserver::default();
    let server = homeserver.server();
    let phone = phone(&server).await;
    homeserver.say("@ann:example.org", "hello", phone.way.clock.now());
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    homeserver.say("@me:example.org", &code, phone.way.clock.now());
    phone.pass().await;
    assert_eq!(phone.user().await.as_deref(), Some("@me:example.org"));
    phone.draft("a").await;
    phone.pass().await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let notice = homeserver.heard().pop().unwrap();
    assert!(notice.contains("to pat@example.org: Re: plan a\n\nThank you for plan a."), "{notice}");
    let reference = notice.split_once("approve ").unwrap().1.split(' ').next().unwrap().to_owned();
    let later = || phone.way.clock.advance(Duration::from_secs(10));
    homeserver.say("@mallory:example.org", &format!("approve {reference}"), phone.way.clock.now());
    // What others quote of the user, and an edit, are not the user's word.
    let edit = json!({ "msgtype": "m.text", "body": format!("approve {reference}"),
                       "m.relates_to": { "rel_type": "m.replace", "event_id": "$0" } });
    homeserver.put("@me:example.org", edit, phone.way.clock.now());
    later();
    assert_eq!(phone.pass().await.decided, 0);
    let answer = format!("> <@agent:example.org> 1 draft\n\napprove {reference}");
    homeserver.say("@me:example.org", &answer, phone.way.clock.now());
    later();
    assert_eq!(phone.pass().await.decided, 1);
    assert!(homeserver.heard().pop().unwrap().ends_with("d1 is approved and leaves, as a1."));
    let record = "approved: d1 by phone.channel (@me:example.org), as a1".to_owned();
    assert!(phone.journal().await.contains(&record));
    phone.keeps(&[TOKEN]).await;
}

#[tokio::test]
async fn an_encrypted_room_is_refused_by_name() {
    let server = Homeserver { encrypted: true, ..Homeserver::default() }.server();
    let phone = phone(&server).await;
    phone.channel().begin_pairing().await.unwrap();
    let fault = phone.channel().activate().await.fault.unwrap();
    assert_eq!(
        (fault.word, fault.message.as_str()),
        ("config", "look at the room !room:example.org: it is encrypted; a channel needs one that is not")
    );
}
