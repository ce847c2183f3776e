//! What changes between two looks.

use workagent::bundle::backlog::count;

use super::*;

#[tokio::test]
async fn what_was_there_is_no_work() {
    let server = HttpServer::start([user(), page(&[todo(2, 0), todo(1, 0)])]);
    let mut bench = bench(&server);
    let first = bench.poll().await.unwrap();
    assert_eq!((first.baseline, first.new.len()), (2, 0));
    // One of the old ones goes on; only what came since is read.
    server.push(page(&[todo(3, 9), todo(2, 9), todo(1, 0)]));
    server.push(notes(&[]));
    assert_eq!(bench.poll().await.unwrap().new, ["T3 (acme/app#3)"]);
}

#[tokio::test]
async fn a_week_of_what_was_there() {
    let old = |id, at: &str| {
        let mut todo = todo(id, 0);
        todo["created_at"] = json!(at);
        todo
    };
    let list =
        [old(3, "2026-11-30T07:00:00Z"), old(2, "2026-11-24T00:00:00Z"), old(1, "2026-11-22T00:00:00Z")];
    let server = HttpServer::start([user(), page(&list), notes(&[]), notes(&[])]);
    let week = Backlog::Since(std::time::Duration::from_secs(7 * 86_400));
    let polled = bench(&server).backlog(week).poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.baseline), (2, 1));
}

#[tokio::test]
async fn three_pages_that_shift_while_they_are_read() {
    let list = |ids: &[u64], next: &str| {
        let todos: Vec<Json> = ids.iter().map(|id| todo(*id, 0)).collect();
        Answer::ok(Json::from(todos).to_string()).header("x-next-page", next)
    };
    let server = HttpServer::start([
        user(),
        list(&[9, 8, 7], "2"),
        notes(&[]),
        notes(&[]),
        notes(&[]),
        // A new one came in front: 7 slid onto this page.
        list(&[7, 6, 5], "3"),
        notes(&[]),
        notes(&[]),
        list(&[4], ""),
        notes(&[]),
    ]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.pages), (6, 3));
    server.push(list(&[10, 9, 8], "2"));
    server.push(notes(&[]));
    server.push(list(&[7, 6, 5], "3"));
    server.push(list(&[4], ""));
    assert_eq!(bench.poll().await.unwrap().new, ["T10 (acme/app#10)"]);
}

#[tokio::test]
async fn a_list_beyond_its_bound_is_counted_as_at_least_so_many() {
    // Epics have no conversation to be read: one request a page.
    let epic = |id: u64| {
        let mut todo = todo(id, 0);
        todo["target_type"] = json!("Epic");
        todo
    };
    let list = |nth: u64, next: &str| {
        let todos = Json::from(vec![epic(2 * nth), epic(2 * nth + 1)]);
        Answer::ok(todos.to_string()).header("x-next-page", next)
    };
    let counted = async |lists: Vec<Answer>| {
        let server = HttpServer::start(std::iter::once(user()).chain(lists));
        let counted = count(&*bench(&server).connector, NOW, &[]).await.unwrap();
        (counted.items + counted.passed_over, counted.whole)
    };
    assert_eq!(counted(vec![list(1, "2"), list(2, "")]).await, (4, true));
    let endless = (1..=20).map(|nth| list(nth, &(nth + 1).to_string())).collect();
    assert_eq!(counted(endless).await, (24, false));
}

#[tokio::test]
async fn a_small_page_takes_more_turns_and_loses_nothing() {
    let server = HttpServer::start([user()]);
    let mut bench = bench(&server).backlog(Backlog::All);
    bench.items_max = 2;
    let list = || page(&(1..=5).rev().map(|id| todo(id, 0)).collect::<Vec<_>>());
    for looked in [2, 2, 1] {
        server.push(list());
        (0..looked).for_each(|_| server.push(notes(&[])));
    }
    let polled = bench.poll().await.unwrap();
    assert_eq!(polled.new, [1, 2, 3, 4, 5].map(|id| format!("T{id} (acme/app#{id})")));
    assert_eq!(polled.pages, 3);
}

#[tokio::test]
async fn one_that_is_gone_is_told_and_comes_back_as_the_same() {
    let server = HttpServer::start([user(), page(&[todo(2, 0), todo(1, 0)]), notes(&[]), notes(&[])]);
    let mut bench = bench(&server).backlog(Backlog::All);
    bench.poll().await.unwrap();
    server.push(page(&[todo(2, 0)]));
    let gone = bench.poll().await.unwrap();
    assert_eq!(gone.notes, ["1 to-do item is done or gone"]);
    server.push(page(&[todo(2, 0), todo(1, 0)]));
    server.push(notes(&[]));
    let back = bench.poll().await.unwrap();
    assert_eq!((back.new.len(), back.seen), (0, 1));
}

#[tokio::test]
async fn comments_that_come_later_and_edits() {
    let server = HttpServer::start([user(), page(&[todo(1, 1)]), notes(&[note(50, 12, 0, "Old")])]);
    let mut bench = bench(&server).backlog(Backlog::All);
    bench.clock.advance(std::time::Duration::from_secs(3600));
    bench.poll().await.unwrap();
    let old = || note(50, 12, 0, "Old");
    server.push(page(&[todo(1, 10)]));
    server.push(notes(&[note(51, 12, 10, "New"), old()]));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.seen), (1, 1));
    let news = item(&polled, "note:51");
    assert_eq!(news.body, "New");
    assert_eq!(news.threads, item(&polled, "todo:1").threads);
    assert_eq!(news.url.as_deref(), Some("https://gitlab.example.org/acme/app/-/issues/1#note_51"));
    // Another text of the same comment, and of the description.
    let mut edited = note(51, 12, 10, "New and better");
    edited["updated_at"] = json!("2026-11-30T08:20:00.000Z");
    let mut described = todo(1, 20);
    described["target"]["description"] = json!("Now with a description");
    server.push(page(&[described]));
    server.push(notes(&[edited, old()]));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.updated.len()), (0, 2));
}

#[tokio::test]
async fn the_comment_that_made_the_item_is_the_item() {
    let (server, mut bench, _) = fixtures().await;
    let mut list: Vec<Json> =
        serde_json::from_slice(&std::fs::read("tests/fixtures/gitlab/todos.json").unwrap()).unwrap();
    list[3]["target"]["updated_at"] = json!("2026-11-30T08:10:00.000Z");
    list.push(todo(1, 0));
    server.push(page(&list));
    server.push(notes(&[]));
    let mention = json!({"id": 503, "body": "@me is it the cache?\r\n\r\n@all have a look", "type": null,
        "system": false, "author": {"id": 13}, "created_at": "2026-11-30T07:40:00.000Z",
        "updated_at": "2026-11-30T08:10:00.000Z"});
    server.push(notes(&[mention]));
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new, polled.updated.len(), polled.seen), (vec!["T1 (acme/app#1)".to_owned()], 0, 1));
}

#[tokio::test]
async fn what_we_wrote_is_no_news_and_what_a_machine_wrote_neither() {
    let key = "wa-7-0123456789abcdef";
    let marked = format!("Yes.\n\n<!-- workagent:{key} -->");
    let mut system = note(55, 12, 10, "changed the milestone");
    system["system"] = json!(true);
    let server = HttpServer::start([user(), page(&[todo(1, 1)]), notes(&[])]);
    let mut first = bench(&server).backlog(Backlog::All);
    first.poll().await.unwrap();
    let later = [
        note(51, 7, 10, &marked),
        note(52, 7, 10, "Typed by hand"),
        note(53, 12, 10, &format!("> {}\n\nWhich one?", marked.replace('\n', "\n> "))),
        // Somebody else's agent, or a copy of our text.
        note(54, 12, 10, &marked),
        system,
    ];
    let server_again = |bench: &mut Bench| {
        server.push(page(&[todo(1, 10)]));
        server.push(notes(&later));
        bench.cursor.clone()
    };
    let cursor = server_again(&mut first);
    let polled = first.poll().await.unwrap();
    let own: Vec<&str> = polled
        .items
        .iter()
        .filter(|item| item.disposition == Disposition::Own)
        .map(|item| item.key.as_str())
        .collect();
    assert_eq!(own, ["note:51", "note:52"]);
    assert_eq!(polled.new.len(), 2);
    // Who wants to, has what he types himself as news.
    let mut typed = with(&server, &[("own_comments", workagent::unit::value::Value::Bool(true))]);
    typed.cursor = cursor;
    server.push(user());
    server_again(&mut first);
    let polled = typed.poll().await.unwrap();
    assert_eq!(item(&polled, "note:51").disposition, Disposition::Own);
    assert_eq!(item(&polled, "note:52").disposition, Disposition::Work);
}

#[tokio::test]
async fn a_thread_on_a_later_page_is_found() {
    let mention = |minute| {
        let mut todo = todo(1, minute);
        todo["target_url"] = json!("https://gitlab.example.org/acme/app/-/issues/1#note_90");
        todo["body"] = json!("?");
        todo
    };
    let mut threaded = note(90, 12, 1, "?");
    threaded["type"] = json!("DiffNote");
    threaded["position"] = json!({"new_path": "src/a.rs", "new_line": 7});
    let thread = |id: &str, note: u64| Answer::ok(json!([{"id": id, "notes": [{"id": note}]}]).to_string());
    let server = HttpServer::start([
        user(),
        page(&[mention(1)]),
        notes(&[]),
        Answer::ok(threaded.to_string()),
        thread("first", 1).header("x-total-pages", "7"),
        thread("last", 2),
        thread("last but one", 90),
    ]);
    let polled = bench(&server).backlog(Backlog::All).poll().await.unwrap();
    let ReplyWay::To(envelope) = &polled.items[0].reply else { panic!() };
    assert_eq!(envelope.thread["thread"], "last but one");
    let pages: Vec<String> =
        asked(&server).iter().filter_map(|url| url.split("&page=").nth(1).map(str::to_owned)).collect();
    assert_eq!(pages, ["1", "1", "1", "7", "6"]);
}

#[tokio::test]
async fn an_internal_comment_is_answered_internally() {
    let mut internal = note(51, 12, 10, "Not for customers");
    internal["internal"] = json!(true);
    let server = HttpServer::start([user(), page(&[todo(1, 1)]), notes(&[])]);
    let mut bench = bench(&server).backlog(Backlog::All);
    bench.poll().await.unwrap();
    server.push(page(&[todo(1, 10)]));
    server.push(notes(&[internal]));
    let polled = bench.poll().await.unwrap();
    let news = item(&polled, "note:51");
    assert!(news.warnings[0].contains("internal"), "{:?}", news.warnings);
    assert!(news.threads != item(&polled, "todo:1").threads, "a conversation of its own");
    let public = &item(&polled, "todo:1").body;
    assert!(!public.contains("Not for customers"), "{public}");
    let payload = bench.prepare(&bench.reply(news, 1, "Understood."));
    let body: Json = serde_json::from_slice(&payload.bytes).unwrap();
    assert_eq!(body["internal"], true);
}

#[tokio::test]
async fn a_change_of_next_year_hides_no_comment_of_this_one() {
    let mut odd = todo(1, 0);
    odd["target"]["updated_at"] = json!("2027-11-30T08:00:00.000Z");
    let server = HttpServer::start([user(), page(&[odd.clone()]), notes(&[])]);
    let mut bench = bench(&server).backlog(Backlog::All);
    bench.poll().await.unwrap();
    for minute in [20, 40] {
        bench.clock.advance(std::time::Duration::from_secs(1200));
        server.push(page(&[odd.clone()]));
        server.push(notes(&[note(50 + minute, 12, minute - 5, "Said meanwhile")]));
        assert_eq!(bench.poll().await.unwrap().new.len(), 1, "{minute}");
    }
}
