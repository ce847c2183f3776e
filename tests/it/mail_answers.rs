//! Answers to mail: the right people, the right thread, the exact bytes, and nothing that was smuggled in.

use insta::assert_snapshot;
use proptest::prelude::*;
use workagent::model::draft::Envelope;
use workagent::model::item::{Disposition, Party, ReplyWay};
use workagent::platform::mail::compose::{compose, recipients};

use crate::support::mail::{ARRIVED, action, envelope, fixture, me, read, read_part, written};

/// The header fields that matter for a thread, by two libraries that share no code.
fn by_two_libraries(bytes: &[u8]) -> [[String; 6]; 2] {
    let ids = |value: &mail_parser::HeaderValue<'_>| match value {
        mail_parser::HeaderValue::Text(id) => format!("<{id}>"),
        mail_parser::HeaderValue::TextList(ids) => {
            ids.iter().map(|id| format!("<{id}>")).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    let boxes = |address: Option<&mail_parser::Address<'_>>| {
        let all = address
            .iter()
            .flat_map(|address| address.iter())
            .filter_map(|one| one.address())
            .collect::<Vec<_>>();
        all.join(", ")
    };
    let one = mail_parser::MessageParser::default().parse(bytes).unwrap();
    let one = [
        boxes(one.to()),
        boxes(one.cc()),
        ids(one.in_reply_to()),
        ids(one.references()),
        one.subject().unwrap_or_default().to_owned(),
        one.body_text(0).unwrap().trim_end().replace('\r', ""),
    ];
    let other = mailparse::parse_mail(bytes).unwrap();
    let header = |name: &str| {
        use mailparse::MailHeaderMap;
        other.headers.get_first_value(name).unwrap_or_default()
    };
    let body = other.get_body().unwrap().trim_end().replace('\r', "");
    [one, [header("To"), header("Cc"), header("In-Reply-To"), header("References"), header("Subject"), body]]
}

/// Checks the answer to a mail: what the envelope shows is what two libraries read in the bytes.
fn check_answer(name: &str, to: &str, parent: &str, references: &str, subject: &str) {
    let item = read(fixture(&format!("threading/{name}")));
    let envelope = envelope(&item);
    assert_eq!(envelope.to.join(", "), to, "{name}");
    assert!(envelope.cc.is_empty(), "{name}");
    let body = "Thank you — grüße.\n\nMe";
    let bytes = written(envelope, body);
    let expected = [to, "", parent, references, subject, body].map(str::to_owned);
    for library in by_two_libraries(&bytes) {
        assert_eq!(library, expected, "{name}");
    }
    assert_eq!(recipients(&action(envelope, body), &me()).unwrap().to, envelope.to, "{name}");
    assert!(String::from_utf8(bytes).unwrap().split("\r\n").all(|line| line.len() <= 998), "{name}");
}

#[test]
fn answers_go_to_the_right_people_in_the_right_thread() {
    let table = String::from_utf8(fixture("threading/expected.tsv")).unwrap();
    let mut checked = 0;
    for row in table.lines().skip(1) {
        let [name, to, _cc, parent, references, subject] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let to = to.split(" (").next().unwrap();
        match name {
            "long-references.eml" => {
                let kept = ["<r01@example.org>".to_owned()].into_iter();
                let kept = kept.chain((12..=30).map(|n| format!("<r{n:02}@example.org>")));
                let kept = kept.chain([parent.to_owned()]).collect::<Vec<_>>().join(" ");
                check_answer(name, to, parent, &kept, "Re: Plan");
            }
            "utf8-subject.eml" => check_answer(name, to, parent, references, "Re: План на неделю"),
            _ => check_answer(name, to, parent, references, subject),
        }
        checked += 1;
    }
    assert_eq!(checked, 7);
}

#[test]
fn answering_all_or_the_list_is_left_to_the_user() {
    let thread = |name: &str| envelope(&read(fixture(name))).thread.clone();
    assert_eq!(thread("threading/two-from-lines.eml")["reply_all"], serde_json::json!(["lee@example.org"]));
    assert_eq!(thread("threading/list.eml")["list_post"], "dev@lists.example.org");
}

#[test]
fn the_bytes_are_these() {
    let item = read(fixture("threading/utf8-subject.eml"));
    let bytes = String::from_utf8(written(envelope(&item), "Да.\n")).unwrap();
    assert_eq!(bytes, String::from_utf8(written(envelope(&item), "Да.\n")).unwrap());
    assert_snapshot!(bytes.replace("\r\n", "\n"), @r#"
    Message-ID: <wa-7-0123456789abcdef@example.org>
    Date: Mon, 30 Nov 2026 08:00:00 +0000
    From: "Me Example" <me@example.org>
    To: joerg@example.org
    Subject: Re: =?utf-8?b?0J/Qu9Cw0L0g0L3QsCDQvdC10LTQtdC70Y4=?=
    In-Reply-To: <u8@example.org>
    References: <u8@example.org>
    Auto-Submitted: auto-replied
    X-Workagent-Action: wa-7-0123456789abcdef
    MIME-Version: 1.0
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: base64

    0JTQsC4NCg==
    "#);
}

#[test]
fn nothing_in_an_answer_can_write_a_header() {
    let envelope = Envelope {
        to: vec!["pat@example.org".into()],
        subject: "Re: a\r\nBcc: eve@example.net\r\n\r\nbody".into(),
        thread: serde_json::json!({
            "in_reply_to": "<a@x>\r\nBcc: eve@example.net",
            "references": ["<a b@x>", "<ok@x>", "<a@x>\r\nBcc: e@x"],
        }),
        ..Envelope::default()
    };
    let name = "Me\r\nBcc: eve@example.net, \"x\" <y@z>";
    let from = Party { name: name.into(), address: "me@example.org".into() };
    let bytes = compose(&action(&envelope, ".\r\n\r\nBcc: eve@example.net"), &from, ARRIVED).unwrap().bytes;
    let message = mail_parser::MessageParser::default().parse(&bytes).unwrap();
    let names =
        message.headers().iter().map(|header| header.name.as_str().to_lowercase()).collect::<Vec<_>>();
    let expected = "message-id date from to subject references auto-submitted x-workagent-action mime-version \
        content-type content-transfer-encoding";
    assert_eq!(names.join(" "), expected);
    assert_eq!(message.references().as_text(), Some("ok@x"));
    assert_eq!(message.from().unwrap().iter().count(), 1);
    for bad in ["", "pat", "pat@example.org\r\nRCPT TO:<eve@example.net>", "a@x,b@x"] {
        let envelope = Envelope { to: vec![bad.into()], ..Envelope::default() };
        assert!(compose(&action(&envelope, "Hi"), &me(), ARRIVED).is_err(), "{bad}");
    }
    assert!(compose(&action(&Envelope::default(), "Hi"), &me(), ARRIVED).is_err());
}

#[test]
fn a_megabyte_on_one_line_stays_within_the_line_limit() {
    let envelope = Envelope { to: vec!["pat@example.org".into()], ..Envelope::default() };
    for body in ["x".repeat(1_000_000), "ü".repeat(500_000), "\n.\n..\nFrom me\n".into()] {
        let bytes = written(&envelope, &body);
        assert!(bytes.split(|b| *b == b'\n').all(|line| line.len() <= 998));
        assert!(bytes.iter().all(u8::is_ascii));
        let message = mail_parser::MessageParser::default().parse(&bytes).unwrap();
        assert_eq!(message.body_text(0).unwrap().replace('\r', "").trim_end(), body.trim_end());
    }
}

/// What mail, MIME and HTML are made of.
const PIECES: &[&str] = &[
    "From: ",
    "Reply-To: ",
    "Message-ID: <a@x>",
    "References: ",
    "<b@y> ",
    "Subject: ",
    "Date: Mon, 30 Nov 2026",
    "Content-Type: multipart/mixed; boundary=b",
    "Content-Type: text/html",
    "--b",
    "--b--",
    "pat@example.org",
    "Content-Transfer-Encoding: base64",
    "message/rfc822",
    "=?utf-8?Q?=FC?=",
    "=?x?B?",
    "<div style='display:none'>",
    "<!--",
    "-->",
    "<style>.a{",
    "}",
    "</p>",
    "<a href=http://x>",
    "\u{202e}",
    "\u{e0041}",
    "\0",
    "\r\n",
    "\n",
    " ",
    "\t",
    ":",
    "<",
    ">",
    "\"",
    ",",
    ";",
    "(",
    ")",
];

/// Bytes with such pieces in them.
fn mail_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_make_an_item_within_bounds(raw in mail_like(), total in prop::option::of(0_u64..1_000_000)) {
        let item = read_part(&raw, total);
        let texts = [&item.title, &item.body].into_iter().chain(item.hidden.iter().map(|part| &part.text));
        for text in texts {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        }
        let invisible = item.body.contains(['\u{202e}', '\u{e0041}']);
        prop_assert!(!invisible);
        prop_assert!(!item.title.contains('\n'));
        prop_assert!(!item.title.is_empty());
        prop_assert_eq!(&item, &read_part(&raw, total));
        if let ReplyWay::To(envelope) = &item.reply {
            let bytes = written(envelope, &item.body);
            let answer = read(&bytes);
            prop_assert_eq!(answer.disposition, Disposition::Own);
            prop_assert_eq!(&recipients(&action(envelope, ""), &me()).unwrap().to, &envelope.to);
            prop_assert!(bytes.is_ascii() && bytes.split(|byte| *byte == b'\n').all(|line| line.len() <= 998));
        }
    }
}
