//! The full screens in a real terminal, by keys: ten cases from arrival to receipt; what happens when two decide at once;
//! and that the terminal is given back, however the screen ends. Runs where `WORKAGENT_LAB=1` is set; wants tmux.

use rustix::process::{Signal, kill_process};

use crate::support::binary::{Daemon, House, wait_until};
use crate::support::desk::{drafts, house, mail, sent, ten_questions};
use crate::support::lab_script::lab_is_on;
use crate::support::tmux::Terminal;

fn terminal(house: &House, columns: u16, lines: u16, more: &[(&str, &str)]) -> Terminal {
    let at = |name: &str| house.path(name).display().to_string();
    let (home, units, state, editor) = (at("home"), at("units"), at("state"), at("bin/editor"));
    let environment = [
        ("HOME", home.as_str()),
        ("WORKAGENT_UNIT_PATH", units.as_str()),
        ("WORKAGENT_STATE_DIR", state.as_str()),
        ("EDITOR", editor.as_str()),
    ];
    Terminal::open(columns, lines, &[&environment, more].concat())
}

fn opened(house: &House) -> (Daemon, Terminal) {
    let daemon = house.daemon(&[]);
    (daemon, terminal(house, 80, 24, &[]))
}

/// One draft waits.
fn with_a_question() -> (House, Daemon, Terminal) {
    let house = house();
    mail(&house, 1, "Question 1", "Can you come?");
    let (daemon, person) = opened(&house);
    drafts(&house, 1);
    (house, daemon, person)
}

#[test]
fn real_screens_take_ten_cases_from_arrival_to_receipt() {
    if !lab_is_on() {
        return;
    }
    let house = house();
    ten_questions(&house);
    let (daemon, mut person) = opened(&house);
    drafts(&house, 10);
    person.command("workagent review");
    person.shows("draft 1 of 10");
    let mut presses = Vec::new();
    let mut is_edited = false;
    for left in (1..=10).rev() {
        let place = format!("draft 1 of {left}");
        let screen =
            person.until("the next draft", |screen| screen.contains(&place) && screen.contains("a approve"));
        let before = person.keys;
        // Notes may come first, and the queue beside one names the mails.
        if !is_edited && screen.contains("Thank you for Question") {
            is_edited = true;
            person.press(&["e"]);
            person.until("the text written by hand", |screen| {
                screen.contains("+ Written by hand.") && screen.contains("a approve")
            });
            // The time it takes counts from the text that is to leave.
            person.keys = before;
        }
        person.press(&["a"]);
        presses.push(person.keys - before);
    }
    person.shows("No drafts wait for you");
    wait_until("ten receipts", || sent(&house) == 10);
    person.shows("more sent");
    println!("keys from \"draft ready\" to \"approved\", draft by draft: {presses:?}");
    assert!(presses.iter().all(|keys| *keys <= 2), "{presses:?}");
    person.press(&["q"]);
    person.shows("10 approved, 0 rejected, 0 put away, 0 left");
    let answers = std::fs::read_dir(house.path("mail/out/new")).unwrap();
    let texts: Vec<String> =
        answers.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("Written by hand.")).count(), 1, "{texts:?}");
    assert_eq!(texts.iter().filter(|text| text.contains("Thank you for Question")).count(), 5, "{texts:?}");
    daemon.stop();
}

#[test]
fn real_screens_decide_in_every_way() {
    if !lab_is_on() {
        return;
    }
    let house = house();
    for number in 1..=4 {
        mail(&house, number, &format!("Question {number}"), "Can you come?");
    }
    house.unit("inbox.connector.d/hold.toml", "[connector]\nhold = \"1h\"\n");
    let (daemon, mut person) = opened(&house);
    drafts(&house, 4);
    person.command("workagent review");
    let next = |person: &Terminal, left: usize| {
        let place = format!("draft 1 of {left}");
        person.until("the next draft", |screen| screen.contains(&place) && screen.contains("a approve"))
    };
    next(&person, 4);
    // Pasted letters decide nothing.
    person.paste("aaaa");
    person.shows("pasted text decides nothing");
    person.press(&["d", "C-u"]);
    person.types("2h");
    person.press(&["Enter"]);
    person.shows("comes back in 2h");
    next(&person, 3);
    person.press(&["r"]);
    person.types("not now");
    person.press(&["Enter"]);
    person.shows("is rejected, its case is dismissed");
    next(&person, 2);
    person.press(&["x"]);
    person.press(&["Enter"]);
    person.shows("is dismissed");
    next(&person, 1);
    person.press(&["a"]);
    // The undo window is open, and counts down.
    person.shows("(u takes it back)");
    person.press(&["u"]);
    person.shows("is taken back: nothing leaves");
    let action = house.ok(&["outbox", "list", "--json"]);
    assert!(action.contains("\"state\": \"cancelled\""), "{action}");
    person.press(&["q"]);
    person.shows("ready>");
    assert_eq!(std::fs::read_dir(house.path("mail/out/new")).unwrap().count(), 0);
    daemon.stop();
}

#[test]
fn real_screens_tell_the_one_who_decides_second() {
    if !lab_is_on() {
        return;
    }
    let house = house();
    mail(&house, 1, "Question 1", "Can you come?");
    mail(&house, 2, "Question 2", "Can you come?");
    // While the text is in the editor, somebody else approves the draft.
    let binary = env!("CARGO_BIN_EXE_workagent");
    house.script(
        "bin/editor",
        &format!("{binary} review approve d1 > /dev/null; printf 'My own words.\\n' > \"$1\"\n"),
    );
    let (daemon, mut person) = opened(&house);
    drafts(&house, 2);
    person.command("workagent review");
    person.until("a draft", |screen| screen.contains("── d1 ") && screen.contains("a approve"));
    person.press(&["e"]);
    let screen =
        person.until("who was first", |screen| screen.contains("d1 is approved already, decided elsewhere"));
    assert!(screen.contains("── d2 "), "{screen}");
    // The other one is decided on elsewhere while it is looked at.
    house.ok(&["review", "reject", "d2"]);
    person.shows("d2 is rejected already, decided elsewhere");
    person.press(&["q"]);
    let screen = person.shows("My own words.");
    assert!(screen.contains("your text for d1 was not taken"), "{screen}");
    daemon.stop();
}

#[test]
fn real_screens_give_the_terminal_back() {
    if !lab_is_on() {
        return;
    }
    let (house, daemon, mut person) = with_a_question();
    let usual = |person: &mut Terminal, what: &str| {
        person.command("stty -a | grep -o -- '.icanon' && stty -a | grep -o -- '.echo '");
        let screen = person.until(what, |screen| screen.contains("echo"));
        assert!(!screen.contains("-icanon") && !screen.contains("-echo"), "{what}: {screen}");
    };
    let open = |person: &mut Terminal, command: &str| {
        person.command(command);
        person.shows("a approve");
    };
    open(&mut person, "workagent review");
    person.resize(40, 12);
    person.until("the small screen", |screen| {
        screen.lines().count() <= 12 && screen.contains("workagent review")
    });
    person.resize(20, 5);
    person.shows("this terminal is");
    person.resize(80, 24);
    person.shows("Can you come?");
    person.press(&["C-z"]);
    person.shows("Stopped");
    usual(&mut person, "stopped by Ctrl-Z");
    person.command("fg");
    person.shows("Can you come?");
    kill_process(person.child(), Signal::TSTP).unwrap();
    usual(&mut person, "stopped from outside");
    person.command("fg");
    person.shows("Can you come?");
    kill_process(person.child(), Signal::TERM).unwrap();
    usual(&mut person, "ended from outside");
    open(&mut person, "workagent review");
    person.press(&["C-c"]);
    usual(&mut person, "left by Ctrl-C");
    if cfg!(debug_assertions) {
        person.command("WORKAGENT_PANIC_AT=screen-shown:3 workagent review");
        person.shows("panic at screen-shown");
        usual(&mut person, "ended by a fault");
    }
    // Where nothing can be drawn, questions are asked line by line.
    person.command("TERM=dumb workagent review");
    person.shows("[s]kip");
    person.types("q");
    person.press(&["Enter"]);
    drop(person);
    let mut plain = terminal(&house, 80, 24, &[("NO_COLOR", "1")]);
    open(&mut plain, "workagent review");
    let painted = plain.painted();
    // 39 is the terminal's own colour.
    let coloured = (30..38).any(|code| painted.contains(&format!("\x1b[{code}m")));
    assert!(!coloured && painted.contains("\x1b[7m"), "{painted:?}");
    plain.press(&["q"]);
    daemon.stop();
}

#[test]
fn real_screens_watch_the_daemon() {
    if !lab_is_on() {
        return;
    }
    let (house, daemon, mut person) = with_a_question();
    person.command("workagent top");
    let screen = person.shows("d1 by polite");
    for part in ["CONNECTORS", "ENGINES", "DRAFTS 1", "JOURNAL", "● inbox", "● polite"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    // What happens appears by itself.
    house.ok(&["review", "approve", "d1"]);
    person.shows("outbox  1 sent");
    daemon.stop();
    person.shows("NO ANSWER");
    let daemon = house.daemon(&[]);
    person.shows("live");
    person.press(&["q"]);
    person.until("the shell", |screen| screen.contains("ready>") && !screen.contains("JOURNAL"));
    daemon.stop();
}
