//! Two surfaces, one draft, at the same moment: one decision counts, and the other surface is told.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Barrier;

use serde_json::json;
use workagent::control::wire::{OpenView, ReviewView};

use crate::page::browser::Visitor;
use crate::support::binary::wait_until;
use crate::support::scene::{Plan, Scene};

/// Pairs of decisions.
const PAIRS: usize = 1000;

/// A decision by the control socket, as the terminal makes it: the status of the answer, and what it says.
fn decide(socket: &Path, draft: &str, how: &str, body: &serde_json::Value) -> (u16, String) {
    let body = body.to_string();
    let mut stream = UnixStream::connect(socket).unwrap();
    let head = format!(
        "POST /v1/reviews/{draft}/{how} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), answer)
}

#[test]
fn of_a_thousand_pairs_of_decisions_each_has_one_winner() {
    let scene = Scene::new(Plan { outbound: "reviewed", ..Plan::default() });
    for nth in 0..PAIRS {
        scene.drop_note(&format!("n{nth}"));
    }
    let daemon = scene.daemon(&[]);
    let waiting = || -> Vec<ReviewView> { scene.json(&["review", "list", "--json"]) };
    wait_until("all drafts", || waiting().len() == PAIRS);
    let drafts = waiting();
    let visitor = Visitor::enter(&scene.json::<OpenView>(&["open", "--json"]).url);
    let socket = scene.path("state/run/control.sock");

    let start = Barrier::new(2);
    let (mut by_page, mut by_socket, mut approved) = (0, 0, 0);
    std::thread::scope(|scope| {
        let of_page = scope.spawn(|| {
            let one = |view: &ReviewView| {
                let (id, hash) = (view.draft.id.to_string(), view.draft.hash.as_str());
                start.wait();
                visitor.post(&format!("/review/{id}/decide"), &[("hash", hash), ("do", "approve")])
            };
            drafts.iter().map(one).collect::<Vec<_>>()
        });
        // Every other one says no, so that a winner can be told from a loser by what became of the draft as well.
        let of_socket = scope.spawn(|| {
            let one = |(nth, view): (usize, &ReviewView)| {
                let (id, hash) = (view.draft.id.to_string(), &view.draft.hash);
                start.wait();
                if nth % 2 == 0 {
                    decide(
                        &socket,
                        &id,
                        "approve",
                        &json!({ "hash": hash, "by": "socket", "stale_ok": false }),
                    )
                } else {
                    decide(&socket, &id, "reject", &json!({ "note": "no", "retry": false }))
                }
            };
            drafts.iter().enumerate().map(one).collect::<Vec<_>>()
        });
        let answers = of_page.join().unwrap().into_iter().zip(of_socket.join().unwrap());
        for (nth, ((page, (socket, said)), view)) in answers.zip(&drafts).enumerate() {
            let (page_won, socket_won) = (page.status == 303, socket == 200);
            approved += usize::from(page_won || nth % 2 == 0);
            assert!(page_won != socket_won, "{}: {page:?} {said}", view.draft.id);
            by_page += usize::from(page_won);
            by_socket += usize::from(socket_won);
            // Who came second is told so, and nothing else happened.
            let told = if page_won { said } else { page.body };
            let is_told = told.contains("is already approved") || told.contains("is already rejected");
            assert!(is_told, "{}: {told}", view.draft.id);
        }
    });
    assert_eq!(by_page + by_socket, PAIRS);
    // What was approved is sent, once each; what was refused is not.
    wait_until("everything approved to be sent", || scene.names("answers").len() >= approved);
    daemon.stop();
    assert_eq!(scene.names("answers").len(), approved);
    println!("{PAIRS} pairs: the page won {by_page}, the socket {by_socket}; {approved} sent");
}
