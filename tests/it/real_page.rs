//! The page in a real browser: ten cases from arrival to receipt, by keys and buttons, every view looked at in light, in
//! dark and as wide as a phone. Runs where `WORKAGENT_LAB=1` is set; `bash tests/lab/browser.sh install` gets the browser.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use workagent::control::wire::OpenView;

use crate::support::binary::wait_until;
use crate::support::desk::{drafts, house, sent, ten_questions};
use crate::support::lab_script::lab_is_on;

/// What the browser saw.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    /// Errors on the console, and uncaught ones.
    errors: Vec<String>,
    /// Requests to anybody but the page.
    outside: Vec<String>,
    /// What axe-core found.
    violations: Vec<String>,
    /// Views wider than the window.
    wide: Vec<String>,
    views: usize,
    drafts_listed: usize,
    /// Presses from a draft shown to its approval.
    presses: Vec<u32>,
    sent: usize,
    /// What a second visitor with the same link was answered.
    replay: u16,
}

fn shots() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("lab").join("page")
}

/// Has the browser go through the page. The link is a secret: it goes by standard input.
fn browse(link: &str, shots: &Path) -> Seen {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/browser.sh");
    #[expect(clippy::disallowed_methods, reason = "the browser is no child of the program under test")]
    let mut child = std::process::Command::new("bash")
        .arg(script)
        .arg("page")
        .arg(shots)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(link.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the browser did not get through; see above");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn real_page_takes_ten_cases_from_arrival_to_receipt() {
    if !lab_is_on() {
        return;
    }
    let house = house();
    ten_questions(&house);
    // Whoever loads this would ask somebody outside.
    house.write(
        "mail/in/new/1.eml",
        "From: Pat 1 <pat1@example.org>\nTo: You <you@example.org>\nSubject: Question 1\n\
         Message-ID: <m1@example.org>\nDate: Mon, 30 Nov 2026 10:00:01 +0000\n\
         Content-Type: text/html; charset=utf-8\n\n<p>Can you come?</p>\
         <img src=\"http://198.51.100.7/pixel.png\"><script>document.title = 'alive'</script>\n",
    );
    let daemon = house.daemon(&[]);
    drafts(&house, 10);
    let opened: OpenView = serde_json::from_str(&house.ok(&["open", "--json"])).unwrap();
    let shots = shots();
    let seen = browse(&opened.url, &shots);
    println!(
        "presses from a draft shown to approved: {:?}; screenshots in {}",
        seen.presses,
        shots.display()
    );
    let none = [""; 0];
    assert_eq!(seen.errors, none);
    assert_eq!(seen.outside, none);
    assert_eq!(seen.violations, none);
    assert_eq!(seen.wide, none);
    assert_eq!((seen.drafts_listed, seen.sent, seen.replay), (10, 10, 403), "{seen:?}");
    assert!(seen.views >= 30 && seen.presses.iter().all(|presses| *presses <= 2), "{seen:?}");
    wait_until("ten receipts", || sent(&house) == 10);
    let texts: Vec<String> = std::fs::read_dir(house.path("mail/out/new"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(texts.iter().filter(|text| text.contains("Written in a browser.")).count(), 1, "{texts:?}");
    assert_eq!(texts.iter().filter(|text| text.contains("Thank you for Question")).count(), 5, "{texts:?}");
    daemon.stop();
}
