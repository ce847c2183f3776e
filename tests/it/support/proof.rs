//! What must hold of a scene that came to rest, whatever happened on the way: nothing lost, nothing twice, nothing
//! stuck, every record whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;

use mail_parser::MessageParser;
use workagent::model::case::CaseState;
use workagent::model::draft::DraftState;
use workagent::model::outbound::{ActionState, OutboundAction};
use workagent::store::CaseRecord;

use super::binary::wait_until;
use super::scene::Scene;

/// What was put in, and what has to come out.
#[derive(Default)]
pub struct Expected {
    /// Mails by id, with how many answers to this very mail there may be.
    pub mails: BTreeMap<String, RangeInclusive<usize>>,
    /// Notes by id; each is answered once.
    pub notes: BTreeSet<String>,
}

impl Expected {
    pub fn mail(&mut self, id: &str, answers: RangeInclusive<usize>) {
        self.mails.insert(id.to_owned(), answers);
    }

    pub fn note(&mut self, id: &str) {
        self.notes.insert(id.to_owned());
    }

    pub fn items(&self) -> usize {
        self.mails.len() + self.notes.len()
    }
}

/// Waits until the scene has come to rest, and looks at everything. Gives the records of all cases.
pub fn check(scene: &Scene, expected: &Expected) -> Vec<CaseRecord> {
    let cases = scene.settled(expected.items());
    let records: Vec<CaseRecord> = cases.iter().map(|case| scene.record(case)).collect();
    for record in &records {
        check_record(record);
    }
    check_items(&records, expected);
    let actions = records.iter().flat_map(|record| &record.actions).cloned();
    let (mails, notes): (Vec<_>, Vec<_>) = actions.partition(|action| action.connector == "inbox");
    check_mails(scene, &mails, expected);
    check_answers(scene, &notes, expected);

    wait_until("the notes to be put away", || scene.names("notes").is_empty());
    let done: BTreeSet<String> = scene.names("done").iter().map(|name| name[13..].to_owned()).collect();
    let dropped: BTreeSet<String> = expected.notes.iter().map(|id| format!("{id}.md")).collect();
    assert_eq!((scene.names("done").len(), done), (dropped.len(), dropped));
    for leftovers in ["mail/out/tmp", "state/runs", "state/children"] {
        assert_eq!(scene.names(leftovers), [""; 0], "in {leftovers}");
    }
    assert_eq!(scene.living_engines(), [0; 0]);
    records
}

/// Every item belongs to exactly one case.
fn check_items(records: &[CaseRecord], expected: &Expected) {
    let bodies: Vec<&str> =
        records.iter().flat_map(|record| record.items.iter().map(|item| item.body.as_str())).collect();
    assert_eq!(bodies.len(), expected.items());
    for id in expected.mails.keys().chain(&expected.notes) {
        let token = format!("[{id}]");
        assert_eq!(bodies.iter().filter(|body| body.contains(&token)).count(), 1, "{id}");
    }
}

/// Every send is one mail and every mail is one send; each answers what it should, to whom it should.
fn check_mails(scene: &Scene, actions: &[OutboundAction], expected: &Expected) {
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for folder in ["mail/out/new", "mail/out/cur"] {
        for name in scene.names(folder) {
            let bytes = fs::read(scene.path(folder).join(&name)).unwrap();
            let mail = MessageParser::default().parse(&bytes).unwrap();
            let answered = mail.in_reply_to().as_text().unwrap().trim_end_matches("@example.org").to_owned();
            let to = mail.to().and_then(|to| to.first()).and_then(|to| to.address()).unwrap();
            assert_eq!(to, format!("{answered}@example.org"), "{name}");
            *answers.entry(answered).or_default() += 1;
            let twice = found.insert(format!("<{}>", mail.message_id().unwrap()), bytes);
            assert!(twice.is_none(), "{name} is there twice");
        }
    }
    for (id, range) in &expected.mails {
        let count = answers.remove(id).unwrap_or(0);
        assert!(range.contains(&count), "{count} answers to {id}, not {range:?}");
    }
    assert!(answers.is_empty(), "answers to nobody: {answers:?}");
    assert_eq!(actions.len(), found.len());
    for action in actions {
        let (receipt, payload) = (action.receipt.as_ref().unwrap(), action.payload.as_ref().unwrap());
        assert_eq!(found.get(&receipt.remote_id), Some(&payload.bytes), "{action:?}");
    }
}

/// Every note has its answer, once, and nothing else lies there, hidden files neither.
fn check_answers(scene: &Scene, actions: &[OutboundAction], expected: &Expected) {
    let answers: BTreeSet<String> = expected.notes.iter().map(|id| format!("{id}.md.reply.md")).collect();
    assert_eq!(scene.names("answers"), Vec::from_iter(answers.clone()));
    let receipts: Vec<&String> =
        actions.iter().map(|action| &action.receipt.as_ref().unwrap().remote_id).collect();
    assert_eq!((receipts.len(), BTreeSet::from_iter(receipts)), (answers.len(), answers.iter().collect()));
    for id in &expected.notes {
        let text = fs::read_to_string(scene.path(&format!("answers/{id}.md.reply.md"))).unwrap();
        assert_eq!(text, format!("Thank you for {id}.md.\n"));
    }
}

/// The record of one case from item to receipt, without a gap and without anything that is not there.
fn check_record(record: &CaseRecord) {
    let id = record.case.id;
    let lines: Vec<String> =
        record.journal.iter().map(|row| format!("{} {}", row.event, row.detail)).collect();
    let told = || lines.join("\n");
    let at = |beginning: &str| {
        let mut found = lines.iter().enumerate().filter(|(_, line)| line.starts_with(beginning));
        let first = found.next().unwrap_or_else(|| panic!("{id}: no `{beginning}…` in:\n{}", told()));
        assert!(found.next().is_none(), "{id}: `{beginning}…` twice in:\n{}", told());
        first.0
    };
    let count = |event: &str| record.journal.iter().filter(|row| row.event == event).count();

    assert!(lines.iter().position(|line| line.starts_with("item ")) == Some(0), "{id}: {}", told());
    assert_eq!(count("item"), record.items.len(), "{id}: {}", told());
    assert_eq!(record.case.items as usize, record.items.len(), "{id}");

    // Each try began with a claim and came to exactly one end.
    assert_eq!(count("claimed"), record.case.attempts as usize, "{id}: {}", told());
    assert_eq!(
        count("claimed"),
        count("draft") + count("interrupted") + count("given back"),
        "{id}: {}",
        told()
    );
    assert!(record.runs.len() <= count("claimed"), "{id}: {}", told());
    for run in &record.runs {
        assert!(run.ended_at.is_some(), "{id}: {run:?}");
        assert!(["reply", "interrupted"].contains(&run.outcome.as_str()), "{id}: {run:?}");
    }
    let replies: Vec<_> = record.runs.iter().filter(|run| run.outcome == "reply").collect();
    assert_eq!(replies.len(), record.drafts.len(), "{id}: a draft for each answered run\n{}", told());

    for (draft, run) in record.drafts.iter().zip(replies) {
        assert!(matches!(draft.state, DraftState::Approved | DraftState::Superseded), "{id}: {draft:?}");
        let drafted = at(&format!("draft {} by {}, {}", draft.id, draft.made_by, run.id));
        let order = |event: &str| lines.iter().take(drafted).any(|line| line.starts_with(event));
        assert!(order("routed ") && order("claimed "), "{id}: {}", told());
        let actions: Vec<_> = record.actions.iter().filter(|action| action.draft == draft.id).collect();
        if draft.state == DraftState::Superseded {
            assert!(actions.is_empty(), "{id}: {actions:?}");
            continue;
        }
        let [action] = actions[..] else { panic!("{id}: {actions:?}") };
        assert_eq!((action.state, &action.hash), (ActionState::Sent, &draft.hash), "{id}: {action:?}");
        assert!(action.receipt.is_some() && action.payload.is_some(), "{id}: {action:?}");
        let approved = at(&format!("approved {} by ", draft.id));
        let line = lines.get(approved).map(String::as_str).unwrap_or_default();
        assert!(line.ends_with(&format!(", as {}", action.id)), "{id}: {}", told());
        let tries: Vec<usize> =
            (1..=action.attempts).map(|number| at(&format!("sending {}, try {number}", action.id))).collect();
        let sent = at(&format!("sent {}: ", action.id));
        let chain: Vec<usize> = [drafted, approved].into_iter().chain(tries).chain([sent]).collect();
        assert!(chain.len() > 3 && chain.is_sorted(), "{id}: {}", told());
    }
    assert_eq!(count("sent"), record.actions.len(), "{id}: {}", told());
    let end = if record.actions.is_empty() { CaseState::Dismissed } else { CaseState::Sent };
    assert_eq!(record.case.state, end, "{id}: {}", told());
}
