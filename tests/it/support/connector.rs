//! A connector by itself: built from keys, polled page by page, its items told apart as a store would.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use workagent::http::HttpRoom;
use workagent::model::class::PortError;
use workagent::model::draft::Envelope;
use workagent::model::environment::Environment;
use workagent::model::ids::{ActionId, CaseId, DraftId};
use workagent::model::item::{Backlog, Cursor, Disposition, Item, Page, PollRequest, ReplyWay};
use workagent::model::outbound::{ActionState, OutboundAction, Payload};
use workagent::model::secret_ref::SecretRef;
use workagent::model::time::{Clock, Timestamp};
use workagent::platform::{Connector, ConnectorContext, PlatformSpec};
use workagent::process::ProcessRoom;
use workagent::secret::{SecretError, SecretStore, SecretValue};
use workagent::unit::value::{Settings, Value};

/// 2026-11-30T08:00:00Z.
pub const NOW: Timestamp = Timestamp(1_796_025_600_000);

struct Secrets(Mutex<BTreeMap<String, String>>);

impl SecretStore for Secrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move {
            let name = reference.to_string();
            let value = self.0.lock().unwrap().get(&name).cloned();
            value.map(SecretValue::new).ok_or(SecretError::Missing { name })
        })
    }
}

/// A connector under test with what is remembered of it between polls.
pub struct Bench {
    spec: &'static PlatformSpec,
    context: ConnectorContext,
    secrets: Arc<Secrets>,
    pub connector: Arc<dyn Connector>,
    pub clock: Clock,
    pub backlog: Backlog,
    pub items_max: usize,
    pub cursor: Option<Cursor>,
    /// Every identity ever seen, with the key of the item it belongs to.
    names: HashMap<String, String>,
    /// The last revision of each item, by key.
    revisions: HashMap<String, String>,
}

/// What one poll to its end came to.
#[derive(Debug, Default)]
pub struct Polled {
    /// Never seen before and to be worked on: titles.
    pub new: Vec<String>,
    /// Known, with another revision: titles.
    pub updated: Vec<String>,
    /// Never seen before and not to be worked on.
    pub baseline: usize,
    /// Known, nothing new.
    pub seen: usize,
    pub notes: Vec<String>,
    pub items: Vec<Item>,
    pub pages: usize,
    pub last: Option<Page>,
}

impl Bench {
    pub fn new(spec: &'static PlatformSpec, dir: &Path, keys: &[(&str, Value)]) -> Self {
        Self::with_secrets(spec, dir, keys, &[("canary", "CANARY-secret-1")])
    }

    pub fn with_secrets(
        spec: &'static PlatformSpec,
        dir: &Path,
        keys: &[(&str, Value)],
        secrets: &[(&str, &str)],
    ) -> Self {
        let clock = Clock::manual(NOW);
        let settings = keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let secrets = Arc::new(Secrets(Mutex::new(secrets)));
        let context = ConnectorContext {
            unit: "test".into(),
            settings: Settings(settings),
            secrets: secrets.clone(),
            clock: clock.clone(),
            state_dir: dir.join("state"),
            http: HttpRoom::default(),
            process: ProcessRoom::new(dir.join("children")),
            environment: Environment::of([("PATH", "/usr/local/bin:/usr/bin:/bin")]),
        };
        assert_eq!((spec.check)(&context.settings), []);
        let connector = (spec.build)(context.clone()).unwrap_or_else(|error| panic!("{error}"));
        Self {
            spec,
            context,
            secrets,
            connector,
            clock,
            backlog: Backlog::New,
            items_max: 200,
            cursor: None,
            names: HashMap::new(),
            revisions: HashMap::new(),
        }
    }

    pub fn backlog(mut self, backlog: Backlog) -> Self {
        self.backlog = backlog;
        self
    }

    /// Another value under this name.
    pub fn store(&self, name: &str, value: &str) {
        self.secrets.0.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// A new daemon: all that is remembered is the cursor and what the store has.
    pub fn restart(&mut self) {
        self.connector = (self.spec.build)(self.context.clone()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// One page, its cursor kept.
    pub async fn page(&mut self) -> Result<Page, PortError> {
        let request = PollRequest {
            cursor: self.cursor.as_ref(),
            backlog: self.backlog,
            now: self.clock.now(),
            items_max: self.items_max,
        };
        let page = self.connector.poll(request).await?;
        assert!(page.items.len() <= self.items_max);
        if let Some(cursor) = &page.cursor {
            assert!(cursor.0.len() <= workagent::model::limits::CURSOR_BYTES_MAX);
            self.cursor = Some(cursor.clone());
        }
        Ok(page)
    }

    /// All pages there are now.
    pub async fn poll(&mut self) -> Result<Polled, PortError> {
        let mut polled = Polled::default();
        loop {
            let page = self.page().await?;
            polled.pages += 1;
            polled.notes.extend(page.notes.iter().cloned());
            for item in &page.items {
                self.sort(item, &mut polled);
            }
            polled.items.extend(page.items.iter().cloned());
            let more = page.more;
            polled.last = Some(page);
            if !more {
                return Ok(polled);
            }
            assert!(polled.pages < 100, "pages without end");
        }
    }

    /// As the store does: a known key, else a known identity.
    fn sort(&mut self, item: &Item, polled: &mut Polled) {
        let by_identity = || item.identities.iter().find_map(|name| self.names.get(name)).cloned();
        let known =
            if self.revisions.contains_key(&item.key) { Some(item.key.clone()) } else { by_identity() };
        let key = known.clone().unwrap_or_else(|| item.key.clone());
        for name in &item.identities {
            self.names.entry(name.clone()).or_insert_with(|| key.clone());
        }
        let before = self.revisions.insert(key, item.revision.clone());
        match (known, &item.disposition) {
            (Some(_), _) if before.as_ref() == Some(&item.revision) => polled.seen += 1,
            (_, Disposition::Own) => {}
            (Some(_), _) => polled.updated.push(item.title.clone()),
            (None, Disposition::Baseline) => polled.baseline += 1,
            (None, _) => polled.new.push(item.title.clone()),
        }
    }

    /// An approved reply to an item.
    pub fn reply(&self, item: &Item, number: i64, body: &str) -> OutboundAction {
        let ReplyWay::To(envelope) = &item.reply else { panic!("no reply way: {:?}", item.reply) };
        action(envelope.clone(), number, body)
    }

    pub fn prepare(&self, action: &OutboundAction) -> Payload {
        self.connector.prepare(action, self.clock.now()).unwrap_or_else(|error| panic!("{error}"))
    }
}

pub fn action(envelope: Envelope, number: i64, body: &str) -> OutboundAction {
    OutboundAction {
        destination: String::new(),
        id: ActionId(number),
        case: CaseId(number),
        draft: DraftId(number),
        connector: "test".into(),
        envelope,
        body: body.into(),
        key: format!("wa-{number}-0123456789abcdef"),
        hash: String::new(),
        state: ActionState::Approved,
        not_before: NOW,
        attempts: 0,
        payload: None,
        receipt: None,
        last_error: None,
        approved_at: NOW,
        sending_at: None,
    }
}

pub fn text(value: &str) -> Value {
    Value::Text(value.into())
}

pub fn secret() -> Value {
    Value::Secret(SecretRef::Stored("canary".into()))
}
