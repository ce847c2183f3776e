//! Mail in a local Maildir; replies are put into another one or handed to a sendmail-like program.
//!
//! Reading changes nothing in the Maildir, no flags either.

mod known;
mod listing;
mod out;
mod poll;
mod sendmail;
mod spec;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use self::known::Known;
use self::out::{Found, Parcel};
use self::poll::Wanted;
use self::spec::{Account, Exit};
use super::mail::compose;
use super::{Connector, ConnectorContext, Guarantee, PlatformSpec};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::{cut, digest};
use crate::model::time::Timestamp;

/// The catalog row.
pub static SPEC: PlatformSpec = PlatformSpec {
    name: "maildir",
    summary: "A local Maildir, with replies into another one or through a sendmail-like program",
    keys: spec::KEYS,
    every_min_s: 1,
    every_default_s: 30,
    guarantee: Guarantee::Depends(
        "into a Maildir: once, by file name; through a program: held for you if unknown",
    ),
    check: spec::check,
    build,
};

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let account = Account::from_settings(&context.settings).map_err(|problem| {
        PortError::new(ErrorClass::Config, format!("`{}` {}", problem.key, problem.message))
    })?;
    Ok(Arc::new(Maildir { account: Arc::new(account), known: Arc::default(), context }))
}

struct Maildir {
    account: Arc<Account>,
    /// What the last poll loaded or added.
    known: Arc<Mutex<Option<Known>>>,
    context: ConnectorContext,
}

/// Runs work that waits for the disk on a thread that may wait.
async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, PortError> + Send + 'static,
) -> Result<T, PortError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(PortError::caused(ErrorClass::Bug, doing, error)),
    }
}

/// The file name of a reply, the same for every try.
fn file_name(action: &OutboundAction) -> String {
    format!("{}.{}.workagent", action.approved_at.0 / 1000, action.key)
}

fn no_exit() -> PortError {
    PortError::new(ErrorClass::Config, "the unit names neither `out` nor `sendmail`, so nothing can be sent")
}

impl Maildir {
    /// What is known about a reply in one of our Maildirs; puts it there if there are bytes.
    async fn at(
        &self,
        maildir: &Path,
        action: &OutboundAction,
        bytes: Option<&[u8]>,
    ) -> Result<Found, PortError> {
        let (maildir, bytes) = (maildir.to_owned(), bytes.map(<[u8]>::to_vec));
        let name = file_name(action);
        // A reply and its copy have one name, so each Maildir has notes of its own.
        let folder = digest(&[maildir.as_os_str().as_encoded_bytes()]);
        let notes = self.context.state_dir.join("put").join(cut(&folder, 16));
        blocking("put a mail into a Maildir", move || {
            let parcel = Parcel { maildir: &maildir, name: &name, notes: &notes };
            let failed = |doing: &str| {
                let doing = format!("{doing} {}", maildir.display());
                move |error: io::Error| PortError::caused(ErrorClass::NETWORK, doing, error)
            };
            match bytes {
                Some(bytes) => parcel.put(&bytes).map_err(failed("put a mail into the Maildir")),
                None => parcel.find().map_err(failed("look for a mail in the Maildir")),
            }
        })
        .await
    }

    async fn send(&self, action: &OutboundAction, payload: &Payload) -> Result<Receipt, PortError> {
        compose::recipients(action, &self.account.from)?;
        let mut evidence = match &self.account.exit {
            Exit::None => return Err(no_exit()),
            Exit::Out(out) => evidence(&self.at(out, action, Some(&payload.bytes)).await?),
            Exit::Sendmail { program, args } => {
                sendmail::hand_over(&self.context, &self.account, (program, args), &payload.bytes).await?
            }
        };
        // From here on the mail is sent, whatever happens to the copy.
        if let Some(sent) = &self.account.sent {
            match self.at(sent, action, Some(&payload.bytes)).await {
                Ok(_) => evidence.push_str("; a copy was kept"),
                Err(error) => {
                    evidence.push_str("; no copy was kept: ");
                    evidence.push_str(&crate::model::class::chain(&error));
                }
            }
        }
        Ok(Receipt { remote_id: payload.marker.clone(), evidence })
    }

    async fn look_for(&self, action: &OutboundAction, payload: &Payload) -> Result<Confirmation, PortError> {
        let (maildir, exact) = match (&self.account.exit, &self.account.sent) {
            (Exit::Out(out), _) => (out, true),
            // Our copy is made only after the program took the mail: it proves that, and its absence proves nothing.
            (Exit::Sendmail { .. }, Some(sent)) => (sent, false),
            (Exit::Sendmail { .. }, None) => return Ok(Confirmation::CannotTell),
            (Exit::None, _) => return Err(no_exit()),
        };
        Ok(match self.at(maildir, action, None).await? {
            Found::Absent if exact => Confirmation::NotSent,
            Found::Absent => Confirmation::CannotTell,
            found => {
                Confirmation::Sent(Receipt { remote_id: payload.marker.clone(), evidence: evidence(&found) })
            }
        })
    }
}

fn evidence(found: &Found) -> String {
    match found {
        Found::There(path) => format!("lies in {}", path.display()),
        Found::Taken => "was put into the Maildir and taken from it since".into(),
        Found::Absent => "is not there".into(),
    }
}

impl Connector for Maildir {
    fn identity(&self) -> String {
        format!("maildir:{}", self.account.path.display())
    }

    fn destination(&self) -> String {
        let from = &self.account.from.address;
        match &self.account.exit {
            Exit::Out(path) => format!("the Maildir {}, from {from}", path.display()),
            Exit::Sendmail { program, args } => {
                let words = std::iter::once(program).chain(args).map(|word| word.to_string_lossy());
                format!("the program {}, from {from}", words.collect::<Vec<_>>().join(" "))
            }
            Exit::None => String::new(),
        }
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        let account = Arc::clone(&self.account);
        Box::pin(blocking("look into the Maildir", move || {
            let mails = listing::list(&account.path)?.len();
            Ok(format!("{} holds {mails} mails", account.path.display()))
        }))
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        let (account, known) = (Arc::clone(&self.account), Arc::clone(&self.known));
        let file = self.context.state_dir.join("known");
        let wanted = Wanted {
            cursor: request.cursor.cloned(),
            backlog: request.backlog,
            now: request.now,
            items_max: request.items_max,
        };
        Box::pin(blocking("read the Maildir", move || {
            let mut kept = known.lock().unwrap_or_else(PoisonError::into_inner);
            poll::page(&account, &file, &mut kept, &wanted)
        }))
    }

    fn prepare(&self, action: &OutboundAction, now: Timestamp) -> Result<Payload, PortError> {
        if self.account.exit == Exit::None {
            return Err(no_exit());
        }
        let mut payload = compose::compose(action, &self.account.from, now)?;
        // Files in a Maildir and what sendmail reads end their lines with LF. A lone CR cannot be in there.
        payload.bytes.retain(|byte| *byte != b'\r');
        Ok(payload)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(self.send(action, payload))
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(self.look_for(action, payload))
    }
}
