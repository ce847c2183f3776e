//! A house with a mailbox and a folder whose items become drafts, for those who decide by a screen or the page.

use super::binary::{House, wait_until};

/// A mailbox and a folder that are made up, and an engine without an account.
pub fn house() -> House {
    let house = House::new();
    for dir in ["cur", "new", "tmp"] {
        std::fs::create_dir_all(house.path("mail/in").join(dir)).unwrap();
        std::fs::create_dir_all(house.path("mail/out").join(dir)).unwrap();
    }
    house.write("notes/.keep", "");
    house.unit(
        "inbox.connector.toml",
        "[connector]\nplatform = \"maildir\"\noutbound = \"reviewed\"\nbacklog = \"all\"\nhold = \"2s\"\n\
         [maildir]\npath = \"{root}/mail/in\"\naddress = [\"you@example.org\"]\nout = \"{root}/mail/out\"\n\
         [schedule]\nevery = \"1s\"\n[install]\nenabled = true\n",
    );
    house.unit(
        "notes.connector.toml",
        "[connector]\nplatform = \"directory\"\noutbound = \"reviewed\"\nbacklog = \"all\"\nhold = \"0s\"\n\
         [directory]\npath = \"{root}/notes\"\nsettle = \"100ms\"\n[schedule]\nevery = \"1s\"\n\
         [install]\nenabled = true\n",
    );
    house.unit(
        "polite.engine.toml",
        "[engine]\nengine = \"template\"\n[template]\ntext = \"Thank you for {{ title }}.\"\n\
         [install]\nenabled = true\n",
    );
    house.unit("all.route.toml", "[route]\nengines = [\"polite\"]\n[install]\nenabled = true\n");
    house.script("bin/editor", "printf 'Written by hand.\\n' > \"$1\"\n");
    house
}

pub fn mail(house: &House, number: usize, subject: &str, body: &str) {
    let text = format!(
        "From: Pat {number} <pat{number}@example.org>\nTo: You <you@example.org>\nSubject: {subject}\n\
         Message-ID: <m{number}@example.org>\nDate: Mon, 30 Nov 2026 10:00:0{number} +0000\n\
         Content-Type: text/plain; charset=utf-8\n\n{body}\n"
    );
    house.write(&format!("mail/in/new/{number}.eml"), &text);
}

/// Waits until so many drafts are open.
pub fn drafts(house: &House, count: usize) {
    wait_until("the drafts", || {
        house.ok(&["review", "list", "--json"]).matches("\"engine_body\"").count() == count
    });
}

/// Six mails and four notes.
pub fn ten_questions(house: &House) {
    for number in 1..=6 {
        mail(
            house,
            number,
            &format!("Question {number}"),
            "Can you come on Friday?\n日本語 e\u{301} \u{202e}turned",
        );
    }
    for number in 1..=4 {
        house.write(&format!("notes/n{number}.md"), &format!("Buy {number} things.\n"));
    }
}

/// Receipts in the outbox.
pub fn sent(house: &House) -> usize {
    house.ok(&["outbox", "list", "--state", "sent", "--json"]).matches("\"remote_id\"").count()
}
