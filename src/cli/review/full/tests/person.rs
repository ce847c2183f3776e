//! Somebody before the screen, drafts and a clock.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::deeds::{Answer, Deed, Done, Looked, Request, Situation};
use super::super::model::{Model, SETTLES_AFTER};
use crate::cli::screen::{Input, Look, Machine as _, Order, columns, draw};
use crate::control::wire::ReviewView;
use crate::model::draft::{Draft, DraftState, Envelope};
use crate::model::ids::{ActionId, CaseId, DraftId, RunId};
use crate::model::item::{Disposition, Item, Party, ReplyWay};
use crate::model::outbound::{ActionState, OutboundAction, Receipt};
use crate::model::time::Timestamp;

pub(super) const NOW: Timestamp = Timestamp(1_796_025_600_000);

pub(super) fn card(id: i64, body: &str) -> ReviewView {
    let envelope = Envelope {
        from: "me@example.org".into(),
        to: vec!["pat@example.org".into()],
        subject: "Re: Plan".into(),
        place: "mail".into(),
        ..Envelope::default()
    };
    let item = Item {
        key: format!("k{id}"),
        revision: "1".into(),
        identities: Vec::new(),
        threads: Vec::new(),
        kind: "mail".into(),
        title: "Plan".into(),
        author: Some(Party { name: "Pat".into(), address: "pat@example.org".into() }),
        at: Some(NOW.minus(Duration::from_secs(7200))),
        url: None,
        body: "Can we meet on Thursday?\n\nPat".into(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::To(envelope.clone()),
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    };
    let draft = Draft {
        id: DraftId(id),
        case: CaseId(id + 10),
        run: RunId(1),
        connector: "inbox".into(),
        destination: "mail.example.org".into(),
        auto: false,
        envelope,
        body: body.into(),
        engine_body: body.into(),
        made_by: "claude".into(),
        remarks: Vec::new(),
        state: DraftState::Open,
        stale: false,
        deferred_until: None,
        made_at: NOW.minus(Duration::from_secs(180)),
        hash: format!("{id:064}"),
        generation: 1,
    };
    let route = Some("to claude: route all".into());
    ReviewView {
        draft,
        items: vec![item],
        route,
        hold: Some(Duration::from_secs(30)),
        blocked: None,
        account: "me@example.org".into(),
        run: None,
        diff: None,
        items_left_out: 0,
        items_since: 0,
        effects: Vec::new(),
        attachments: Vec::new(),
        hidden: Vec::new(),
    }
}

pub(super) fn send(id: i64, state: ActionState, leaves_in_s: u64) -> OutboundAction {
    OutboundAction {
        id: ActionId(id),
        case: CaseId(1),
        draft: DraftId(1),
        connector: "inbox".into(),
        destination: String::new(),
        envelope: Envelope { to: vec!["pat@example.org".into()], ..Envelope::default() },
        body: String::new(),
        key: String::new(),
        hash: String::new(),
        state,
        not_before: NOW.plus(Duration::from_secs(leaves_in_s)),
        attempts: 0,
        payload: None,
        receipt: (state == ActionState::Sent)
            .then(|| Receipt { remote_id: "<x@example.org>".into(), evidence: String::new() }),
        last_error: None,
        approved_at: NOW,
        sending_at: None,
    }
}

/// A screen, a clock, and what was asked.
pub(super) struct Person {
    pub(super) model: Model,
    pub(super) now: Timestamp,
}

impl Person {
    /// With these drafts on the screen, looked at for a while.
    pub(super) fn before(cards: Vec<ReviewView>) -> Self {
        let mut person = Self { model: Model::new(NOW), now: NOW };
        assert_eq!(person.gets(Input::Tick), [Order::Ask(Request::Look { situation: true })]);
        person.looks(cards);
        person.waits(SETTLES_AFTER);
        person
    }

    pub(super) fn gets(&mut self, input: Input<Answer>) -> Vec<Order<Request>> {
        self.model.update(input, self.now)
    }

    /// A look brings this.
    pub(super) fn looks(&mut self, cards: Vec<ReviewView>) -> Vec<Order<Request>> {
        let situation = Some(Situation { running: true, paused: false, rehearsal: false });
        let sends = self.model.sends.clone();
        self.gets(Input::Answer(Answer::Looked(Ok(Looked { cards, sends, situation }))))
    }

    pub(super) fn waits(&mut self, span: Duration) {
        self.now = self.now.plus(span);
    }

    pub(super) fn presses(&mut self, code: KeyCode) -> Vec<Order<Request>> {
        self.gets(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    /// Types letters; what the last one asked for.
    pub(super) fn types(&mut self, letters: &str) -> Vec<Order<Request>> {
        letters.chars().map(|c| self.presses(KeyCode::Char(c))).last().unwrap_or_default()
    }

    pub(super) fn done(&mut self, deed: Deed, done: Done) -> Vec<Order<Request>> {
        self.gets(Input::Answer(Answer::Done(deed, Ok(done))))
    }

    pub(super) fn refused(&mut self, deed: Deed, why: &str) -> Vec<Order<Request>> {
        self.gets(Input::Answer(Answer::Done(deed, Err(why.into()))))
    }

    pub(super) fn said(&self) -> &str {
        self.model.said.as_ref().map_or("", |said| said.text.as_str())
    }

    pub(super) fn shows(&self) -> Option<i64> {
        self.model.card().map(|card| card.draft.id.0)
    }

    pub(super) fn screen(&mut self, width: u16, height: u16, colour: bool) -> Terminal<TestBackend> {
        self.gets(Input::Size(width, height));
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let page = self.model.view(Look { colour }, self.now);
        terminal.draw(|frame| draw(&page, frame)).unwrap();
        terminal
    }

    pub(super) fn text(&mut self, width: u16, height: u16) -> String {
        let terminal = self.screen(width, height, false);
        let buffer = terminal.backend().buffer();
        let line = |y: u16| {
            let mut text = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                text.push_str(symbol);
                // A wide character covers the cell behind it.
                x += u16::try_from(columns(symbol)).unwrap().max(1);
            }
            text.trim_end().to_owned()
        };
        (0..height).map(line).collect::<Vec<_>>().join("\n")
    }
}
