//! Channels: paired by a code, told once, decided by message. The channel is a program; the clock moves only when told.

#![expect(clippy::indexing_slicing, reason = "a test's helper fails the test")]

mod house;
mod matrix;
mod ntfy;
mod real;
mod telegram;

use std::time::Duration;

use serde_json::{Value, json};
use workagent::model::cycle::{ChannelSummary, RuntimeSummary};
use workagent::model::draft::Draft;
use workagent::model::time::Timestamp;
use workagent::runtime::notices::ChannelLoop;
use workagent::store::PairingTry;
use workagent::supervise::{Cycle as _, Next, Pass};

use crate::support::way::{INBOX, POLITE, ROUTE, START, Way, mail, shell};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

const SCRIPT: &str = r#"
read line
case "$line" in
*'"op":"hear"'*) cat {root}/say 2> /dev/null || true ;;
*) echo "$line" >> {root}/told ;;
esac
"#;

/// A house with an inbox and a channel `phone`, which is a program.
struct Phone {
    way: Way,
    said: std::cell::RefCell<Vec<Value>>,
}

fn phone_unit(more: &str, own: &str) -> String {
    format!(
        "[channel]\nchannel = \"command\"\n{more}\n[command]\nprogram = \"/bin/sh\"\nargs = [\"-c\", {SCRIPT:?}]\n{own}\n\
         [install]\nenabled = true\n"
    )
}

impl Phone {
    async fn new(more: &str, own: &str) -> Self {
        let unit = phone_unit(more, own);
        let units = [
            ("inbox.connector.toml", INBOX),
            ("polite.engine.toml", POLITE),
            ("answers.route.toml", ROUTE),
            ("phone.channel.toml", unit.as_str()),
        ];
        Self { way: Way::new(&units).await, said: Default::default() }
    }

    /// The channel is another one, `unit`, with these secrets in the environment.
    async fn by(unit: &str, secrets: &[(&str, &str)]) -> Self {
        let unit = format!("{unit}\n[install]\nenabled = true\n");
        let units = [
            ("inbox.connector.toml", INBOX),
            ("polite.engine.toml", POLITE),
            ("answers.route.toml", ROUTE),
            ("phone.channel.toml", unit.as_str()),
        ];
        Self { way: Way::with_environment(&units, secrets).await, said: Default::default() }
    }

    /// None of these stands in the record or anywhere in the database.
    async fn keeps(&self, canaries: &[&str]) {
        let journal = self.journal().await.join("\n");
        let path = self.way.assembly().store.life().path.clone();
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let kept: Vec<Vec<u8>> = files.filter_map(|file| std::fs::read(file).ok()).collect();
        assert!(!kept.is_empty());
        for canary in canaries {
            assert!(!journal.contains(canary), "{canary}");
            let has = |bytes: &Vec<u8>| bytes.windows(canary.len()).any(|part| part == canary.as_bytes());
            assert!(!kept.iter().any(has), "{canary}");
        }
    }

    /// One that hears and is paired with `me`.
    async fn paired(more: &str) -> Self {
        let phone = Self::new(more, "hear_every = \"1s\"").await;
        let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
        phone.say("me", &code);
        phone.pass().await;
        assert!(phone.user().await.is_some());
        phone.told();
        phone
    }

    fn channel(&self) -> std::sync::Arc<ChannelLoop> {
        self.way.assembly().bundle.channels.get()["phone"].clone()
    }

    async fn user(&self) -> Option<String> {
        self.channel().standing().await.unwrap().paired.map(|paired| paired.user)
    }

    fn say_at(&self, user: &str, text: &str, at: Timestamp) {
        let mut said = self.said.borrow_mut();
        let id = format!("m{}", said.len());
        said.push(json!({ "message": { "id": id, "user": user, "text": text, "at": at.to_string() } }));
        let lines: Vec<String> = said.iter().map(Value::to_string).collect();
        std::fs::write(self.way.path().join("say"), lines.join("\n")).unwrap();
    }

    fn say(&self, user: &str, text: &str) {
        self.say_at(user, text, self.way.clock.now());
    }

    /// One pass, a little later.
    async fn run(&self) -> Pass<workagent::runtime::RuntimeRecord> {
        self.way.clock.advance(Duration::from_secs(2));
        let pass = self.channel().activate().await;
        assert_eq!(pass.fault, None);
        pass
    }

    async fn pass(&self) -> ChannelSummary {
        match self.run().await.record.summary {
            RuntimeSummary::Channel(summary) => summary,
            other => panic!("{other:?}"),
        }
    }

    /// What was told since this was asked last.
    fn told(&self) -> Vec<Value> {
        let path = self.way.path().join("told");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The texts of what was told since then.
    fn texts(&self) -> Vec<String> {
        self.told().iter().map(|notice| notice["text"].as_str().unwrap().to_owned()).collect()
    }

    /// A mail comes in and is drafted.
    async fn draft(&self, id: &str) -> Draft {
        self.drafts(&[id]).await
    }

    async fn drafts(&self, ids: &[&str]) -> Draft {
        for id in ids {
            self.way.deliver(id, &mail(id, &format!("plan {id}"), ""));
        }
        self.way.clock.advance(10 * MINUTE);
        self.way.cycle().await;
        self.way.drafts().await.pop().unwrap()
    }

    /// The references of the notice that is told after the batch.
    async fn references(&self) -> Vec<String> {
        self.way.clock.advance(MINUTE);
        self.pass().await;
        let told = self.told();
        let entries = told.last().unwrap()["entries"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["reference"].as_str().unwrap().to_owned()).collect()
    }

    /// Says it, and gives what is answered.
    async fn answer(&self, user: &str, text: &str) -> String {
        self.say(user, text);
        self.pass().await;
        self.texts().join("|")
    }

    async fn journal(&self) -> Vec<String> {
        let lines = self.way.assembly().store.journal_after(0, 1000).await.unwrap();
        lines.iter().map(|line| format!("{}: {}", line.event, line.detail)).collect()
    }
}

#[tokio::test]
async fn an_unpaired_channel_tells_nothing_and_hears_nothing() {
    let phone = Phone::new("", "hear_every = \"1s\"").await;
    let draft = phone.draft("a").await;
    phone.say("me", "approve 2222");
    phone.way.clock.advance(HOUR);
    let summary = phone.pass().await;
    assert_eq!((summary.told, summary.heard), (0, 0));
    assert_eq!(summary.notes, ["not paired, so it tells nothing: workagent pair phone"]);
    assert!(phone.told().is_empty());
    assert_eq!(phone.way.drafts().await, [draft]);
}

#[tokio::test]
async fn the_right_code_pairs_once_and_the_second_user_is_refused() {
    let phone = Phone::new("", "hear_every = \"1s\"").await;
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    phone.say("me", &code.to_uppercase());
    let summary = phone.pass().await;
    assert_eq!(phone.user().await.as_deref(), Some("me"));
    assert_eq!(summary.notes, ["paired with me"]);
    assert_eq!(phone.texts(), ["This channel is paired: what waits for you is told here from now on."]);
    // Somebody else says the same code: it was good for one.
    phone.say("mallory", &code);
    assert_eq!(phone.pass().await.refused, 1);
    assert_eq!(phone.user().await.as_deref(), Some("me"));
    assert!(phone.told().is_empty(), "whoever tries is told nothing");
}

#[tokio::test]
async fn wrong_codes_end_the_code() {
    let phone = Phone::new("", "hear_every = \"1s\"").await;
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    for wrong in ["2222-2222", "3333-3333", "4444-4444", "5555-5555", "6666-6666"] {
        phone.say("mallory", wrong);
    }
    phone.say("me", &code);
    assert_eq!(phone.pass().await.refused, 5 + 1, "five wrong ones, and the right one after them");
    assert_eq!(phone.user().await, None);
    assert!(phone.told().is_empty());
    // Words of others are not tries.
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    for _ in 0..9 {
        phone.say("mallory", "good morning everybody");
    }
    phone.say("me", &code);
    phone.pass().await;
    assert_eq!(phone.user().await.as_deref(), Some("me"));
}

#[tokio::test]
async fn a_late_code_is_refused_also_when_it_was_said_in_time() {
    let phone = Phone::new("", "hear_every = \"1s\"").await;
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    phone.say("me", &code);
    phone.way.clock.advance(11 * MINUTE);
    phone.pass().await;
    assert_eq!(phone.user().await, None);
    // Still nobody once another code waits.
    phone.channel().begin_pairing().await.unwrap();
    phone.pass().await;
    assert_eq!(phone.user().await, None);
}

#[tokio::test]
async fn what_only_tells_is_paired_by_a_code_that_is_told_there() {
    let phone = Phone::new("", "").await;
    let begun = phone.channel().begin_pairing().await.unwrap();
    assert_eq!(begun.code, None, "it is not shown here");
    let text = phone.texts().pop().unwrap();
    let code = text.rsplit(' ').next().unwrap();
    let typed = async |code: &str| phone.channel().confirm_pairing(code).await.unwrap();
    assert_eq!(typed("2222-2222").await, PairingTry::Wrong { left: 4 });
    assert_eq!(typed("").await, PairingTry::Wrong { left: 3 });
    assert_eq!(typed(code).await, PairingTry::Paired);
    assert_eq!(typed(code).await, PairingTry::NoCode);
    phone.channel().begin_pairing().await.unwrap();
    phone.way.clock.advance(11 * MINUTE);
    let late = phone.texts().pop().unwrap();
    assert_eq!(typed(late.rsplit(' ').next().unwrap()).await, PairingTry::Late);
    assert_eq!(phone.user().await.as_deref(), Some("whoever reads it"));
}

#[tokio::test]
async fn a_pairing_holds_for_the_place_it_was_made_in() {
    let mut phone = Phone::paired("").await;
    phone.way.unit("phone.channel.toml", &phone_unit("", "hear_every = \"1s\"").replace("\"-c\"", "\"-ec\""));
    phone.way.start().await;
    assert_eq!(phone.user().await, None, "another program may belong to somebody else");
    phone.way.unit("phone.channel.toml", &phone_unit("", "hear_every = \"1s\""));
    phone.way.start().await;
    assert_eq!(phone.user().await.as_deref(), Some("me"));
    assert!(phone.channel().unpair().await.unwrap() && !phone.channel().unpair().await.unwrap());
    assert_eq!(phone.user().await, None);
}

#[tokio::test]
async fn what_waits_is_told_together_once_and_over_restarts() {
    let mut phone = Phone::paired("batch = \"1m\"").await;
    phone.drafts(&["a", "b"]).await;
    let pass = phone.run().await;
    assert!(phone.told().is_empty(), "what else comes within a minute is told with it");
    assert_eq!(pass.next, Next::At(phone.way.clock.now().plus(Duration::from_secs(1))), "it hears meanwhile");
    phone.way.start().await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let told = phone.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["title"], "2 drafts wait for you");
    let lines: Vec<_> =
        told[0]["entries"].as_array().unwrap().iter().map(|entry| entry["line"].clone()).collect();
    assert_eq!(lines, ["to pat@example.org: Re: plan a", "to pat@example.org: Re: plan b"]);
    assert_eq!(told[0]["entries"][0]["body"], Value::Null, "detail = subject");
    phone.way.start().await;
    phone.way.clock.advance(HOUR);
    assert_eq!(phone.pass().await.told, 0, "told once");
}

#[tokio::test]
async fn what_was_decided_elsewhere_meanwhile_is_not_told() {
    let phone = Phone::paired("batch = \"1m\"").await;
    let draft = phone.draft("a").await;
    phone.pass().await;
    phone.way.approve(&draft).await.unwrap();
    phone.way.clock.advance(HOUR);
    let summary = phone.pass().await;
    assert_eq!((summary.told, summary.waiting), (0, 0));
    assert!(phone.told().is_empty());
}

#[tokio::test]
async fn quiet_hours_and_a_most_in_an_hour_make_it_wait() {
    // START is a Monday, 08:00 UTC.
    let phone =
        Phone::paired("batch = \"0s\"\nper_hour = 2\n[schedule]\nquiet = [\"09:00-10:00 UTC\"]").await;
    let mut told = Vec::new();
    for nth in 0..16 {
        phone.draft(&format!("n{nth}")).await;
        phone.pass().await;
        let minutes = phone.way.clock.now().since(START).as_secs() / 60;
        told.extend(
            phone.told().iter().map(|notice| (minutes, notice["title"].as_str().unwrap()[..2].to_owned())),
        );
    }
    let told: Vec<(u64, &str)> = told.iter().map(|(at, count)| (*at, count.trim())).collect();
    // Two in the first hour, none between nine and ten, then all that waited.
    assert_eq!(told, [(10, "1"), (20, "1"), (120, "10"), (130, "1")]);
}

#[tokio::test]
async fn full_detail_tells_the_text_and_none_tells_only_that_there_is_something() {
    let phone = Phone::paired("detail = \"full\"").await;
    phone.draft("a").await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    assert_eq!(phone.told()[0]["entries"][0]["body"], "Thank you for plan a.");
    let phone = Phone::paired("detail = \"none\"").await;
    phone.draft("a").await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let told = phone.told();
    assert_eq!((told[0]["title"].as_str(), &told[0]["entries"]), (Some("1 draft waits for you"), &json!([])));
}

#[tokio::test]
async fn the_user_approves_by_message_and_the_record_says_who() {
    let phone = Phone::paired("").await;
    let draft = phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    assert_eq!(reference.len(), 4);
    // Somebody else, with the right reference.
    assert_eq!(phone.answer("mallory", &format!("approve {reference}")).await, "");
    assert_eq!(phone.way.drafts().await, [draft]);
    let said = phone.answer("me", &format!("Approve {}", reference.to_uppercase())).await;
    assert_eq!(said, "d1 is approved and leaves, as a1.");
    assert!(phone.journal().await.contains(&"approved: d1 by phone.channel (me), as a1".to_owned()));
    phone.way.cycle().await;
    assert_eq!(phone.way.sent().len(), 1);
    // Once more, as another message: the reference is used.
    let said = phone.answer("me", &format!("approve {reference}")).await;
    assert_eq!(said, format!("Refused: `{reference}` was used already."));
    assert_eq!(phone.way.actions().await.len(), 1);
}

#[tokio::test]
async fn the_same_message_twice_counts_once() {
    let phone = Phone::paired("").await;
    phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    phone.say("me", &format!("defer {reference} 2h"));
    let first = phone.pass().await;
    assert_eq!((first.heard, first.decided), (1, 1));
    phone.told();
    // The program prints everything each time.
    let again = phone.pass().await;
    assert_eq!((again.heard, again.decided, again.refused), (0, 0, 0));
    assert!(again.repeated > 0 && phone.told().is_empty());
    assert_eq!(phone.journal().await.iter().filter(|line| line.starts_with("deferred")).count(), 1);
}

#[tokio::test]
async fn a_message_that_is_read_late_decides_nothing() {
    let phone = Phone::paired("").await;
    let draft = phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    phone.say("me", &format!("approve {reference}"));
    phone.way.clock.advance(13 * HOUR);
    phone.pass().await;
    assert_eq!(phone.texts(), ["Refused: it was said 13h ago; say it again if it still holds."]);
    phone.say_at("me", &format!("approve {reference}"), START.minus(HOUR));
    phone.pass().await;
    assert_eq!(phone.way.drafts().await, [draft]);
}

#[tokio::test]
async fn a_reference_to_an_older_version_is_refused_and_show_gives_the_new_one() {
    let phone = Phone::paired("detail = \"full\"").await;
    let draft = phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    let store = &phone.way.assembly().store;
    store.edit_draft(draft.id, &draft.hash, "Another text.".to_owned(), None).await.unwrap();
    for verb in ["approve", "reject", "defer"] {
        let said = phone.answer("me", &format!("{verb} {reference} 1h")).await;
        assert_eq!(
            said,
            format!("Refused: d1 changed since it was told: `show {reference}` tells it as it is now.")
        );
    }
    phone.say("me", &format!("show {reference}"));
    phone.pass().await;
    let told = phone.told();
    let entry = &told[0]["entries"][0];
    assert_eq!(entry["body"], "Another text.");
    let newer = entry["reference"].as_str().unwrap();
    assert_ne!(newer, reference);
    assert_eq!(phone.answer("me", &format!("approve {newer}")).await, "d1 is approved and leaves, as a1.");
}

#[tokio::test]
async fn rejecting_and_deferring() {
    let phone = Phone::paired("").await;
    phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    let said = phone.answer("me", &format!("defer {reference}")).await;
    assert_eq!(said, format!("Refused: it does not say for how long: `defer {reference} 2h`."));
    assert_eq!(phone.answer("me", &format!("defer {reference} 2h")).await, "d1 comes back in 2h.");
    assert!(phone.way.drafts().await.is_empty());
    // It comes back, and is told anew.
    phone.way.clock.advance(2 * HOUR);
    phone.pass().await;
    let reference = phone.references().await.pop().unwrap();
    let said = phone.answer("me", &format!("reject {reference} shorter, please")).await;
    assert_eq!(said, "d1 is rejected and goes back for another try.");
    let journal = phone.journal().await;
    assert!(
        journal.contains(&"rejected: d1 by phone.channel (me): shorter, please".to_owned()),
        "{journal:#?}"
    );
    phone.way.cycle().await;
    phone.pass().await;
    let reference = phone.references().await.pop().unwrap();
    assert_eq!(phone.answer("me", &format!("reject {reference}")).await, "d2 is rejected.");
}

#[tokio::test]
async fn the_first_decision_wins_wherever_it_was_made() {
    let phone = Phone::paired("").await;
    let draft = phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    phone.way.approve(&draft).await.unwrap();
    let said = phone.answer("me", &format!("reject {reference}")).await;
    assert_eq!(said, "Refused: draft d1 is already approved.");
    assert_eq!(phone.answer("me", &format!("show {reference}")).await, "d1 is approved.");
}

#[tokio::test]
async fn a_question_is_answered_by_message_once() {
    let unit = phone_unit("detail = \"full\"", "hear_every = \"1s\"");
    let asks = shell("cat > /dev/null; echo '{\"question\": \"Which day?\"}'")
        .replace("[install]", "output = \"json\"\n[install]");
    let units = [
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", asks.as_str()),
        ("answers.route.toml", ROUTE),
        ("phone.channel.toml", unit.as_str()),
    ];
    let phone = Phone { way: Way::new(&units).await, said: Default::default() };
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    phone.say("me", &code);
    phone.pass().await;
    phone.way.deliver("a", &mail("a", "plan a", ""));
    phone.way.clock.advance(10 * MINUTE);
    phone.way.cycle().await;
    phone.pass().await;
    phone.told();
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let told = phone.told();
    let entry = &told[0]["entries"][0];
    assert_eq!((entry["body"].as_str(), entry["verbs"][0].as_str()), (Some("Which day?"), Some("answer")));
    let reference = entry["reference"].as_str().unwrap();
    let said = phone.answer("me", &format!("approve {reference}")).await;
    assert_eq!(said, format!("Refused: `{reference}` is a question: `answer {reference} TEXT`."));
    assert_eq!(
        phone.answer("me", &format!("answer {reference} Monday")).await,
        "c1 goes on with your answer."
    );
    assert!(phone.journal().await.iter().any(|line| line.ends_with("the answer is: Monday")));
    assert!(phone.journal().await.contains(&"answered-by: phone.channel (me)".to_owned()));
    let said = phone.answer("me", &format!("answer {reference} Tuesday")).await;
    assert_eq!(said, format!("Refused: `{reference}` was used already."));
}

#[tokio::test]
async fn guessing_references_shuts_the_channel_for_an_hour() {
    let phone = Phone::paired("").await;
    phone.draft("a").await;
    let reference = phone.references().await.pop().unwrap();
    for _ in 0..20 {
        phone.say("me", "approve 22222222");
    }
    phone.pass().await;
    phone.told();
    let said = phone.answer("me", &format!("approve {reference}")).await;
    assert_eq!(said, "Refused: too many references that there are not were said; wait an hour.");
    phone.way.clock.advance(HOUR);
    assert_eq!(
        phone.answer("me", &format!("approve {reference}")).await,
        "d1 is approved and leaves, as a1."
    );
}
