//! The notifications inbox and what happened in its threads.

use workagent::model::item::Backlog;

use super::*;
use crate::support::http::Answer;

#[tokio::test]
async fn what_was_there_before_is_no_work_and_what_comes_is() {
    let mut scene = Scene::new();
    for number in 1..=3 {
        scene.issue(number);
        scene.later(MINUTE);
    }
    let first = scene.bench.poll().await.unwrap();
    assert_eq!((first.new.len(), first.baseline), (0, 3));
    assert_eq!(
        first.notes,
        ["first poll: 3 notifications found, 0 of them to be worked on (backlog = \"new\")"]
    );
    scene.later(MINUTE);
    scene.issue(4);
    let second = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&second.items), ["issue: It crashes."]);
    let item = &second.items[0];
    assert_eq!(item.title, "Crash 4 (acme/app#4)");
    assert_eq!(item.author.as_ref().unwrap().name, "kim (member)");
    assert_eq!(item.labels, ["reason:mention", "association:member"]);
    assert_eq!(item.url.as_deref(), Some("https://github.example/acme/app/issues/4"));
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
}

#[tokio::test]
async fn a_backlog_is_worked_through_as_far_as_the_unit_says() {
    for (backlog, work, before) in
        [(Backlog::All, 120, 0), (Backlog::Since(60 * MINUTE + MINUTE / 2), 60, 40), (Backlog::New, 0, 50)]
    {
        let mut scene = Scene::new();
        for number in 1..=120 {
            scene.issue(number);
            scene.later(MINUTE);
        }
        scene.bench.backlog = backlog;
        let first = scene.bench.poll().await.unwrap();
        assert_eq!((first.new.len(), first.baseline), (work, before), "{backlog:?}");
        if backlog == Backlog::All {
            assert_eq!(
                first.notes,
                ["first poll: 120 notifications found, 120 of them to be worked on (backlog = \"all\")"]
            );
            assert_eq!(first.new[0], "Crash 1 (acme/app#1)", "oldest first");
        }
        scene.later(MINUTE);
        scene.issue(500);
        assert_eq!(scene.bench.poll().await.unwrap().new, ["Crash 500 (acme/app#500)"], "{backlog:?}");
    }
}

#[tokio::test]
async fn a_restart_in_the_middle_of_a_backlog_changes_nothing() {
    let mut scene = Scene::new();
    for number in 1..=120 {
        scene.issue(number);
        scene.later(MINUTE);
    }
    scene.bench.backlog = Backlog::All;
    let mut keys = Vec::new();
    for _ in 0..3 {
        let page = scene.bench.page().await.unwrap();
        assert!(page.more);
        keys.extend(page.items.into_iter().map(|item| item.key));
    }
    let (before, asked) = (keys.len(), scene.hub.asked().len());
    assert!(before > 20 && asked < 90, "{before} items, {asked} requests");
    scene.bench.restart();
    scene.later(60 * MINUTE);
    keys.extend(scene.bench.poll().await.unwrap().items.into_iter().map(|item| item.key));
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!((all, keys.len()), (120, 120), "none missed, none read twice");
}

#[tokio::test]
async fn a_tie_over_the_border_of_a_page_loses_nothing() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    // 130 in one second: three pages, the borders inside the tie.
    for number in 1..=130 {
        scene.issue(number);
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(polled.new.len(), 130);
    let lists: Vec<String> =
        scene.hub.asked().into_iter().filter(|line| line.contains("/notifications")).collect();
    assert_eq!(lists.len(), 4, "{lists:?}");
    // A sibling of the same second that the list shows late.
    scene.issue(131);
    let changed_at = NOW.plus(MINUTE + Duration::from_secs(1));
    scene.hub.hub().changed_at = changed_at;
    assert_eq!(scene.bench.poll().await.unwrap().new, ["Crash 131 (acme/app#131)"]);
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
}

#[tokio::test]
async fn texts_since_the_last_look_and_no_others() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    scene.hub.hub().comment("acme/app", 1, "kim", "long ago");
    scene.later(100 * MINUTE);
    scene.bench.poll().await.unwrap();
    scene.later(20 * MINUTE);
    scene.hub.hub().comment("acme/app", 1, "lee", "Me too.");
    scene.later(MINUTE / 2);
    scene.hub.hub().comment("acme/app", 1, "kim", "And me.");
    scene.hub.hub().notify(9001, "acme/app", 1, "mention");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        ["(issue: It crashes.)", "(comment: long ago)", "comment: Me too.", "comment: And me."],
        "what was there before is context"
    );
    assert_eq!(polled.items[2].author.as_ref().unwrap().name, "lee (contributor)");
    // All of one case.
    let name = polled.items[0].threads[1].clone();
    assert!(polled.items.iter().all(|item| item.threads[1] == name), "{name}");
    // The next activity of the thread brings what is new, and nothing twice.
    scene.later(MINUTE);
    scene.hub.hub().comment("acme/app", 1, "lee", "Any news?");
    scene.hub.hub().notify(9001, "acme/app", 1, "comment");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!((polled.new, polled.seen), (vec!["Crash 1 (acme/app#1)".to_owned()], 4));
}

#[tokio::test]
async fn an_edit_is_another_revision_of_the_same_text() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    let comment = scene.hub.hub().comment("acme/app", 1, "kim", "typo");
    assert_eq!(scene.bench.poll().await.unwrap().new.len(), 2);
    scene.later(10 * MINUTE);
    scene.hub.hub().edit("acme/app", 1, comment, "type");
    scene.hub.hub().issue("acme/app", 1).body = "It crashes hard.".into();
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0, "GitHub tells of no edit by itself");
    scene.later(MINUTE);
    scene.hub.hub().comment("acme/app", 1, "lee", "new");
    scene.hub.hub().notify(9001, "acme/app", 1, "comment");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.updated.len()), (1, 2), "{:?}", shown(&polled.items));
}

#[tokio::test]
async fn a_pull_request_with_reviews_and_comments_on_the_diff() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    {
        let mut hub = scene.hub.hub();
        hub.open("acme/app", 31, true, "kim", "Stricter", "See inside.");
        hub.notify(9031, "acme/app", 31, "review_requested");
        let top = hub.diff_comment("acme/app", 31, "lee", "Why?", None);
        hub.diff_comment("acme/app", 31, "kim", "Because.", Some(top));
        hub.review("acme/app", 31, "lee", "CHANGES_REQUESTED", "Not yet.");
        hub.review("acme/app", 31, "lee", "COMMENTED", "");
        hub.review("acme/app", 31, "pat", "PENDING", "mine, not sent");
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "pull-request: See inside.",
            "review-comment: On src/a.rs line 3:  Why?",
            "review-comment: On src/a.rs line 3:  Because.",
            "review: The review asks for changes.  Not yet.",
        ]
    );
    assert_eq!(
        scene.hub.asked().into_iter().filter(|line| line.contains("/31")).collect::<Vec<_>>(),
        [
            "GET /repos/acme/app/issues/31",
            "GET /repos/acme/app/issues/31/comments?per_page=50&since=2026-11-30T02%3A01%3A00Z",
            "GET /repos/acme/app/pulls/31/comments?per_page=50&sort=created&direction=asc&since=2026-11-30T02%3A01%3A00Z",
            "GET /repos/acme/app/pulls/31/reviews?per_page=50",
        ]
    );
}

#[tokio::test]
async fn activity_without_a_text_is_an_item_of_its_own_each_time() {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    for reason in ["assign", "state_change"] {
        scene.later(30 * MINUTE);
        scene.hub.hub().notify(9001, "acme/app", 1, reason);
        let polled = scene.bench.poll().await.unwrap();
        assert_eq!(polled.new.len() + polled.seen, 2, "{:?}", shown(&polled.items));
        assert_eq!(polled.items[1].kind, "notification");
        assert_eq!(polled.items[0].threads[1], polled.items[1].threads[1], "one case");
    }
}

#[tokio::test]
async fn what_is_no_issue_is_made_of_title_and_repository() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    for (thread, kind) in [(1, "CheckSuite"), (2, "Discussion"), (3, "RepositoryInvitation"), (4, "Novelty")]
    {
        scene.hub.hub().notify_other(thread, "acme/app", kind, "Something", "subscribed");
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "(notification: CheckSuite in acme/app. GitHub tells you of it: you watch the repository.)",
            "notification: Discussion in acme/app. GitHub tells you of it: you watch the repository.",
            "notification: RepositoryInvitation in acme/app. GitHub tells you of it: you watch the repository.",
            "notification: Novelty in acme/app. GitHub tells you of it: you watch the repository.",
        ]
    );
    assert_eq!(scene.hub.asked().len(), 3, "nothing was asked for beyond the lists");
}

#[tokio::test]
async fn a_discussion_is_read_where_it_can_be() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    let list = |at: &str| {
        Answer::ok(format!(
            r#"[{{"id": "5", "reason": "mention", "updated_at": "{at}", "subject": {{"title": "Plans", "type": "Discussion",
             "url": "/repos/acme/app/discussions/3", "latest_comment_url": null}}, "repository": {{"full_name": "acme/app"}}}}]"#
        ))
    };
    scene.hub.once("GET", "/notifications", list("2026-11-30T08:00:30Z"));
    let words = r#"{"id": 77, "title": "Plans", "body": "What next?", "user": {"id": 5, "login": "kim"}}"#;
    scene.hub.once("GET", "/repos/acme/app/discussions/3", Answer::ok(words));
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&polled.items), ["discussion: What next?"]);
    // Where the address leads nowhere, there is the title.
    scene.later(30 * MINUTE);
    scene.hub.once("GET", "/notifications", list("2026-11-30T08:30:30Z"));
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        ["notification: Discussion in acme/app. GitHub tells you of it: you were mentioned."]
    );
    assert!(polled.items[0].warnings.is_empty());
}

#[tokio::test]
async fn a_thread_that_is_gone_is_told_by_its_title() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    scene.issue(2);
    scene.hub.hub().issues.remove(&("acme/app".to_owned(), 1));
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "notification: Issue in acme/app. GitHub tells you of it: you were mentioned.",
            "issue: It crashes."
        ]
    );
    assert!(polled.items[0].warnings[0].contains("404"), "{:?}", polled.items[0].warnings);
}

#[tokio::test]
async fn reasons_that_are_not_wanted_are_recorded() {
    let mut scene = Scene::with(&[("reasons", Value::List(vec!["mention".into()]))]);
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    scene.issue(2);
    scene.hub.hub().notify(9002, "acme/app", 2, "subscribed");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&polled.items), ["issue: It crashes.", "(issue: It crashes.)"]);
}

#[tokio::test]
async fn a_thread_of_thousands_comes_page_by_page() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    for number in 0..3000 {
        scene.hub.hub().comment("acme/app", 1, "kim", &format!("comment {number}"));
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(polled.new.len(), 3001);
    assert!(polled.pages >= 15, "{}", polled.pages);
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
}

#[tokio::test]
async fn another_account_s_token_is_refused() {
    let mut scene = Scene::new();
    scene.hub.once("GET", "/user", Answer::ok(r#"{"id": 9, "login": "somebody"}"#));
    let error = scene.bench.poll().await.unwrap_err();
    let told = workagent::model::class::chain(&error);
    assert!(told.ends_with("the token belongs to somebody, and the unit says login = \"Pat\""), "{told}");
}

#[tokio::test]
async fn who_and_where() {
    let scene = Scene::new();
    let host = scene.hub.url().replace("http://", "");
    assert_eq!(scene.bench.connector.identity(), format!("pat@{host}"));
    assert_eq!(scene.bench.connector.destination(), format!("{host} as Pat"));
    let probed = scene.bench.connector.probe().await.unwrap();
    assert_eq!(probed, format!("logged in as pat at {host}, a classic token with notifications, repo"));
    assert_eq!(scene.hub.asked(), ["GET /user"]);
    let bench = Bench::new(
        &SPEC,
        "/nonexistent".as_ref(),
        &[("login", text("pat")), ("token", secret()), ("base_url", text("https://ghe.example.org/api/v3"))],
    );
    assert_eq!(bench.connector.identity(), "pat@ghe.example.org");
}

#[tokio::test]
async fn an_enterprise_server_has_its_api_below_a_path() {
    let fake = FakeGithub::start(&Clock::manual(NOW));
    let base = format!("{}/api/v3/", fake.url());
    let keys = [("login", text("pat")), ("token", secret()), ("base_url", text(&base))];
    fake.once("GET", "/api/v3/user", Answer::ok(r#"{"id": 1, "login": "pat"}"#));
    fake.once("GET", "/api/v3/notifications", Answer::ok("[]"));
    let list = format!(
        r#"[{{"id": "5", "updated_at": "2026-11-30T08:00:30Z", "subject": {{"type": "Issue",
         "url": "{base}repos/a/b/issues/3"}}, "repository": {{"full_name": "a/b"}}}}]"#
    );
    fake.once("GET", "/api/v3/notifications", Answer::ok(list));
    fake.once("GET", "/api/v3/repos/a/b/issues/3/comments", Answer::ok("[]"));
    fake.once(
        "GET",
        "/api/v3/repos/a/b/issues/3",
        Answer::ok(r#"{"id": 3, "title": "T", "body": "B", "created_at": "2026-11-30T08:00:30Z"}"#),
    );
    let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys);
    bench.poll().await.unwrap();
    bench.clock.advance(MINUTE);
    assert_eq!(bench.poll().await.unwrap().new, ["T (a/b#3)"]);
    let sent = fake.hub().log.clone();
    for asked in &sent {
        let header = |name: &str| {
            asked.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        assert_eq!(header("x-github-api-version"), Some("2022-11-28"));
        assert_eq!(header("accept"), Some("application/vnd.github+json"));
        assert_eq!(header("authorization"), Some("Bearer CANARY-secret-1"));
        assert!(header("user-agent").unwrap().starts_with("workagent/"));
    }
}
