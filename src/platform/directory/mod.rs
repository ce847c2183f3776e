//! A drop-box folder: each complete file is an item; replies appear beside it or in another folder.
//!
//! A file is complete once nothing about it has changed for `settle`. Its key is the digest of its content, so the
//! same content dropped twice is one case. After they are recorded files may be moved away (`done`); those that were
//! there before the connector was switched on stay where they are.

mod memory;
mod place;
mod read;
mod scan;
mod spec;
mod watch;
mod write;

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;

use self::memory::Memory;
use self::place::Place;
pub use self::spec::SPEC;
use self::write::Names;
use super::{Connector, ConnectorContext};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Cursor, Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;

/// One folder.
struct DirectoryConnector {
    place: Arc<Place>,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let config = |why: String| PortError::new(ErrorClass::Config, why);
    let ConnectorContext { settings, .. } = context;
    let path = settings.path("path").cloned().ok_or_else(|| config("`path` is missing".into()))?;
    let place = Place {
        out: settings.path("out").unwrap_or(&path).clone(),
        done: settings.path("done").cloned(),
        settle: settings.duration("settle").unwrap_or(Duration::from_secs(2)),
        patterns: spec::patterns(&settings).map_err(config)?,
        seen: Mutex::default(),
        path,
    };
    Ok(Arc::new(DirectoryConnector { place: Arc::new(place) }))
}

/// Blocking work on files, off the runtime's threads.
async fn blocking<T: Send + 'static>(
    doing: impl Fn() -> String,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, PortError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        // Folders come and go with their disks, and rights are given without touching the unit: try again.
        Ok(Err(error)) => Err(PortError::caused(ErrorClass::NETWORK, doing(), error)),
        Err(error) => Err(PortError::caused(ErrorClass::Bug, doing(), error)),
    }
}

fn names(action: &OutboundAction) -> Result<Names, PortError> {
    let name = read::name_of(&action.envelope.thread).ok_or_else(|| {
        PortError::new(ErrorClass::Permanent, "the reply handle names no file: it is of another connector")
    })?;
    Ok(Names::new(&name, &action.key))
}

fn receipt(folder: &Path, name: &OsString, how: &str) -> Receipt {
    let path = folder.join(name);
    Receipt { remote_id: name.to_string_lossy().into_owned(), evidence: format!("{how} {}", path.display()) }
}

impl Connector for DirectoryConnector {
    fn identity(&self) -> String {
        self.place.path.to_string_lossy().into_owned()
    }

    fn destination(&self) -> String {
        format!("the folder {}", self.place.out.display())
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let place = Arc::clone(&self.place);
            let shown = self.place.path.display().to_string();
            let found = blocking(
                || format!("look into {shown}"),
                move || {
                    let count = scan::list(&place.path, place.patterns.as_ref())?.0.len();
                    if place.out != place.path && place.out.exists() && !place.out.is_dir() {
                        return Err(std::io::Error::other(format!("{} is no folder", place.out.display())));
                    }
                    Ok(count)
                },
            );
            Ok(format!("{} files in {}", found.await?, self.place.path.display()))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        let place = Arc::clone(&self.place);
        let memory = Memory::of(request.cursor, request.now);
        let (backlog, now, items_max) = (request.backlog, request.now, request.items_max);
        let doing = || format!("look into {}", self.place.path.display());
        Box::pin(blocking(doing, move || place.poll(&memory, backlog, now, items_max)))
    }

    fn committed<'a>(&'a self, keys: &'a [String]) -> BoxFuture<'a, Result<(), PortError>> {
        let place = Arc::clone(&self.place);
        let keys = keys.to_vec();
        let doing = || match &self.place.done {
            Some(done) => format!("move files from {} to {}", self.place.path.display(), done.display()),
            None => "remember recorded files".to_owned(),
        };
        Box::pin(blocking(doing, move || place.committed(&keys)))
    }

    fn changed<'a>(&'a self, cursor: Option<&'a Cursor>) -> Option<BoxFuture<'a, Result<(), PortError>>> {
        let memory: Option<Memory> = cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok());
        Some(Box::pin(async move {
            if memory.as_ref().is_some_and(|memory| !memory.restless.is_empty()) {
                // Something is being written: look again once it can have come to rest.
                tokio::time::sleep(self.place.settle + Duration::from_millis(100)).await;
                return Ok(());
            }
            watch::change(&self.place.path, || {
                let Some(memory) = &memory else { return false };
                // What came between the last look and the watch.
                let now = scan::list(&self.place.path, self.place.patterns.as_ref());
                now.is_ok_and(|(files, _)| scan::mark(&files) != memory.listing)
            })
            .await
        }))
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        let names = names(action)?;
        let bytes = format!("{}\n", action.body.trim_end()).into_bytes();
        Ok(Payload { marker: names.first().to_string_lossy().into_owned(), bytes })
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(async {
            let names = names(action)?;
            let (place, bytes) = (Arc::clone(&self.place), payload.bytes.clone());
            let doing = || format!("write a reply into {}", self.place.out.display());
            let written = blocking(doing, move || {
                std::fs::create_dir_all(&place.out)?;
                write::write(&place.out, &names, &bytes)
            });
            let written = written.await?;
            let how = if written.found { "found" } else { "written" };
            Ok(receipt(&self.place.out, &written.name, how))
        })
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(async {
            let names = names(action)?;
            let (place, bytes) = (Arc::clone(&self.place), payload.bytes.clone());
            let doing = || format!("look for a reply in {}", self.place.out.display());
            let found = blocking(doing, move || {
                // A folder that was not made yet holds nothing.
                if place.out.exists() { write::find(&place.out, &names, &bytes) } else { Ok(None) }
            });
            Ok(match found.await? {
                Some(name) => Confirmation::Sent(receipt(&self.place.out, &name, "found")),
                None => Confirmation::NotSent,
            })
        })
    }
}
