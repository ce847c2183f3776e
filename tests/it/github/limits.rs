//! Asking politely: validators, pace, limits.

use workagent::model::class::{ErrorClass, chain};

use super::*;
use crate::support::github::{Outage, Trouble};
use crate::support::http::Answer;

fn seconds(scene: &Scene, class: ErrorClass) -> u64 {
    let ErrorClass::RateLimited { until } = class else { panic!("{class:?} is no limit") };
    until.since(scene.bench.clock.now()).as_secs()
}

fn outage(scene: &Scene, trouble: Trouble, span: Duration) {
    let from = scene.bench.clock.now();
    scene.hub.hub().outages = vec![Outage { from, until: from.plus(span), trouble }];
}

#[tokio::test]
async fn asks_for_what_has_changed_and_waits_as_told() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.hub.hub().poll_interval = 120;
    scene.bench.poll().await.unwrap();
    let before = scene.bench.cursor.clone();
    scene.later(2 * MINUTE);
    let page = scene.bench.page().await.unwrap();
    assert_eq!((page.items.len(), page.cursor, page.more), (0, None, false));
    assert_eq!(page.not_before, Some(2 * MINUTE));
    assert_eq!(scene.bench.cursor, before);
    let log = scene.hub.hub().log.clone();
    let last = log.last().unwrap();
    assert_eq!(
        (last.status, last.conditional, last.target.as_str()),
        (304, true, "/notifications?all=true&per_page=50")
    );
}

#[tokio::test]
async fn now_and_then_everything_is_asked_for() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    scene.later(30 * MINUTE);
    // GitHub says "not modified" although there is something: read-state and clock trouble do that.
    {
        let mut hub = scene.hub.hub();
        let changed_at = hub.changed_at;
        hub.open("acme/app", 2, false, "kim", "Hidden", "x");
        hub.notify(9002, "acme/app", 2, "mention");
        hub.changed_at = changed_at;
    }
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
    scene.later(31 * MINUTE);
    assert_eq!(scene.bench.poll().await.unwrap().new, ["Hidden (acme/app#2)"]);
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
    let conditional: Vec<bool> = {
        let hub = scene.hub.hub();
        let lists = hub.log.iter().filter(|asked| asked.target.starts_with("/notifications"));
        lists.map(|asked| asked.conditional).collect()
    };
    assert_eq!(conditional, [false, true, false, true]);
}

#[tokio::test]
async fn a_last_modified_that_goes_backwards_moves_no_cursor() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.later(MINUTE);
    scene.issue(2);
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.hub.hub().changed_at = NOW.minus(60 * MINUTE);
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
    scene.later(MINUTE);
    scene.issue(3);
    assert_eq!(scene.bench.poll().await.unwrap().new, ["Crash 3 (acme/app#3)"]);
}

#[tokio::test]
async fn a_limit_with_a_time_holds_for_all_that_use_the_token() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(2);
    let item = scene.bench.poll().await.unwrap().items.remove(0);
    outage(&scene, Trouble::SecondaryWithTime, Duration::from_secs(89));
    let error = scene.bench.page().await.unwrap_err();
    assert_eq!(seconds(&scene, error.class), 90);
    scene.hub.asked();
    // Another poll, a send and a question: no request leaves.
    scene.later(Duration::from_secs(89));
    let action = scene.bench.reply(&item, 1, "Thanks.");
    let payload = scene.bench.prepare(&action);
    let limited = [
        scene.bench.page().await.unwrap_err().class,
        scene.bench.connector.deliver(&action, &payload).await.unwrap_err().class,
        scene.bench.connector.confirm(&action, &payload, NOW).await.unwrap_err().class,
    ];
    for class in limited {
        assert_eq!(seconds(&scene, class), 1);
    }
    assert!(scene.hub.asked().is_empty());
    scene.later(Duration::from_secs(1));
    scene.bench.page().await.unwrap();
    assert_eq!(scene.hub.asked().len(), 1);
}

#[tokio::test]
async fn a_limit_without_a_time_is_waited_out_longer_each_time() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    outage(&scene, Trouble::Secondary, 20 * MINUTE);
    let mut waits = Vec::new();
    for _ in 0..3 {
        let error = scene.bench.page().await.unwrap_err();
        let wait = seconds(&scene, error.class);
        waits.push(wait);
        scene.later(Duration::from_secs(wait));
    }
    assert_eq!(waits, [60, 120, 240]);
    scene.hub.hub().outages.clear();
    scene.bench.page().await.unwrap();
    outage(&scene, Trouble::Secondary, MINUTE);
    let error = scene.bench.page().await.unwrap_err();
    assert_eq!(seconds(&scene, error.class), 60, "it went well in between");
}

#[tokio::test]
async fn the_hour_is_used_up() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    outage(&scene, Trouble::Primary, 10 * MINUTE);
    let error = scene.bench.page().await.unwrap_err();
    assert!((600..=602).contains(&seconds(&scene, error.class)), "{:?}", error.class);
}

#[tokio::test]
async fn a_part_of_the_hour_is_left_to_the_user() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    for number in 1..=40 {
        scene.issue(number);
    }
    scene.hub.hub().limit = 50;
    let polled = scene.bench.poll().await.unwrap();
    assert!((15..25).contains(&polled.new.len()), "{}", polled.new.len());
    assert!(polled.notes[0].contains("notifications wait for"), "{:?}", polled.notes);
    let wait = polled.last.unwrap().not_before.unwrap();
    assert!(wait > 50 * MINUTE, "{wait:?}");
    let used = scene.hub.hub().used;
    assert!((44..=48).contains(&used), "{used} of 50");
    scene.later(wait);
    let mut rest = polled.new.len();
    for _ in 0..3 {
        rest += scene.bench.poll().await.unwrap().new.len();
        scene.later(60 * MINUTE);
    }
    assert_eq!(rest, 40);
}

#[tokio::test]
async fn repositories_leave_that_part_too() {
    let names = Value::List(vec!["acme/app".into()]);
    let mut scene = Scene::with(&[("repositories", names)]);
    scene.hub.hub().limit = 28;
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    for number in 1..=30 {
        scene.hub.hub().open("acme/app", number, true, "kim", "New", "x");
        scene.later(Duration::from_secs(1));
    }
    let polled = scene.bench.poll().await.unwrap();
    let wait = polled.last.as_ref().unwrap().not_before.unwrap();
    assert!(wait > 40 * MINUTE && polled.new.len() == 20, "{wait:?}, {}", polled.new.len());
    scene.hub.hub().limit = 5000;
    scene.later(wait);
    assert_eq!(scene.bench.poll().await.unwrap().new.len(), 10);
}

#[tokio::test]
async fn a_refusal_is_no_limit() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    let refused = r#"{"message": "Resource not accessible by personal access token", "status": "403"}"#;
    let answer = Answer::new(403, refused).header("x-ratelimit-remaining", "4910");
    scene.hub.once("GET", "/notifications", answer);
    let error = scene.bench.page().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth, "it waits for another token");
    let told = chain(&error);
    assert!(told.contains("not accessible") && told.contains("classic token"), "{told}");
    // In one thread it is that thread's matter.
    scene.later(MINUTE);
    scene.issue(1);
    scene.issue(2);
    let sso = Answer::new(403, r#"{"message": "Resource protected by organization SAML enforcement."}"#)
        .header("X-GitHub-SSO", "required; url=https://github.example/orgs/acme/sso");
    scene.hub.once("GET", "/repos/acme/app/issues/1", sso);
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(polled.new.len(), 2);
    assert!(polled.items[0].warnings[0].contains("https://github.example/orgs/acme/sso"));
}

#[tokio::test]
async fn bad_credentials_wait_and_heal() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    let refused = || Answer::new(401, r#"{"message": "Bad credentials", "status": "401"}"#);
    scene.hub.once("GET", "/notifications", refused());
    scene.later(MINUTE);
    scene.issue(2);
    let error = scene.bench.page().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(chain(&error).ends_with("401 Unauthorized: Bad credentials"), "{}", chain(&error));
    assert_eq!(scene.bench.poll().await.unwrap().new, ["Crash 2 (acme/app#2)"]);
    assert!(scene.hub.asked().contains(&"GET /user".to_owned()));
}

#[tokio::test]
async fn lists_that_leave_organisations_out_say_so() {
    let mut scene = Scene::new();
    let partial = Answer::ok("[]").header("X-GitHub-SSO", "partial-results; organizations=1,2");
    scene.hub.once("GET", "/notifications", partial);
    let notes = scene.bench.poll().await.unwrap().notes;
    assert!(notes[0].contains("single sign-on"), "{notes:?}");
}

#[tokio::test]
async fn an_outage_in_the_middle_loses_nothing() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    for number in 1..=30 {
        scene.issue(number);
    }
    let page = scene.bench.page().await.unwrap();
    let before = page.items.len();
    assert!(page.more && before < 30);
    for trouble in [Trouble::BadGateway, Trouble::Cut, Trouble::ThreadsFail] {
        outage(&scene, trouble, 5 * MINUTE);
        let error = scene.bench.page().await.unwrap_err();
        assert!(matches!(error.class, ErrorClass::Network { .. }), "{trouble:?}: {:?}", error.class);
        scene.later(5 * MINUTE);
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(polled.new.len() + before, 30);
}

#[tokio::test]
async fn one_thread_that_always_fails_holds_up_no_other() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    scene.later(MINUTE);
    scene.issue(2);
    let mut new = Vec::new();
    let mut failures = 0;
    for _ in 0..40 {
        scene.hub.hub().once.retain(|(_, target, _)| !target.ends_with("issues/1"));
        scene.hub.once("GET", "/repos/acme/app/issues/1", Answer::new(500, "{}"));
        match scene.bench.poll().await {
            Ok(polled) => new.extend(polled.items),
            Err(_) => failures += 1,
        }
        scene.later(31 * MINUTE);
    }
    assert_eq!(failures, 2, "then it is put off");
    assert_eq!(
        shown(&new),
        [
            "issue: It crashes.",
            "notification: Issue in acme/app. GitHub tells you of it: you were mentioned."
        ]
    );
    assert!(new[1].warnings[0].contains("500"), "{:?}", new[1].warnings);
}

#[tokio::test]
async fn a_reset_in_years_is_an_hour_at_most() {
    let hour = Duration::from_secs(3_601);
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    let reset = (scene.bench.clock.now().0 / 1000 + 10 * 365 * 86_400).to_string();
    let spent = |answer: Answer| {
        answer
            .header("x-ratelimit-limit", "5000")
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", &reset)
    };
    let refused = Answer::new(403, "{\"message\":\"API rate limit exceeded for user ID 1.\"}");
    scene.hub.once("GET", "/notifications", spent(refused));
    let error = scene.bench.page().await.unwrap_err();
    let wait = Duration::from_secs(seconds(&scene, error.class));
    assert!(wait > MINUTE && wait <= hour, "{wait:?}");
    scene.later(wait);
    scene.bench.page().await.unwrap();
}
