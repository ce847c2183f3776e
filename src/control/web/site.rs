//! Whether the page listens, and where: by the daemon unit, and for as long as somebody uses what `workagent open` opened.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use super::doors::Doors;
use super::events::Streams;
use super::port::Port;
use super::render::Templates;
use super::{Page, router};
use crate::control::api::Present;
use crate::control::client::Client;
use crate::control::server::Fault;
use crate::control::wire::OpenView;
use crate::model::live::Live;
use crate::model::time::Clock;
use crate::secret::Scrubber;
use crate::supervise::Group;
use crate::unit::plan::WebSettings;

/// How often it is looked whether a visitor for whom it listens is still there, and whether a port can be had after all.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The page as the daemon sees it. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    doors: Arc<Doors>,
    templates: Option<Arc<Templates>>,
    clock: Clock,
    group: Group,
    /// Set once, when the API's router is whole.
    client: OnceLock<Client>,
    listening: Mutex<Option<Listening>>,
    /// Another plan counts, or a visitor came.
    woken: Arc<Notify>,
}

struct Listening {
    port: u16,
    /// As the unit says, by which it listens; `None`: for a visitor only.
    by_unit: Option<u16>,
    stop: CancellationToken,
}

impl Site {
    /// Listens nowhere yet. Connections are served in `group`.
    #[must_use]
    pub fn new(clock: Clock, scrubber: &Scrubber, group: Group) -> Self {
        let templates = match Templates::new(scrubber.clone()) {
            Ok(templates) => Some(Arc::new(templates)),
            Err(error) => {
                tracing::error!("the page's templates: {error}");
                None
            }
        };
        let doors = Arc::new(Doors::new(clock.clone()));
        let (client, listening) = (OnceLock::new(), Mutex::default());
        let woken = Arc::default();
        Self(Arc::new(Inner { doors, templates, clock, group, client, listening, woken }))
    }

    /// To be told when another plan counts.
    #[must_use]
    pub fn woken(&self) -> Arc<Notify> {
        Arc::clone(&self.0.woken)
    }

    /// The API's router with the request that opens the page; from here on the page asks `router`.
    pub fn beside(&self, router: Router, scrubber: &Scrubber) -> Router {
        let _ = self.0.client.set(Client::in_process(router.clone(), scrubber.clone()));
        router.merge(Router::new().route("/v1/open", post(open)).with_state(self.clone()))
    }

    /// Makes it as the daemon unit says: called after every reload, and while a visitor is there. What a visitor opened stays until
    /// nobody is logged in.
    ///
    /// # Errors
    /// The port cannot be had; it is tried again with the next call.
    pub async fn follow(&self, settings: WebSettings) -> io::Result<()> {
        let mut listening = self.0.listening.lock().await;
        let wanted = settings.enabled.then_some(settings.port);
        match &mut *listening {
            Some(now) if now.by_unit == wanted && wanted.is_some() => return Ok(()),
            // What a visitor opened serves as well, if any port will do.
            Some(now) if now.by_unit.is_none() && wanted == Some(0) => {
                now.by_unit = wanted;
                return Ok(());
            }
            Some(now) if wanted.is_none() => {
                now.by_unit = None;
                if self.0.doors.is_awaited() {
                    return Ok(());
                }
            }
            _ => {}
        }
        if let Some(now) = listening.take() {
            now.stop.cancel();
            tracing::info!(port = now.port, "the page is closed");
        }
        if wanted.is_some() {
            *listening = Some(self.listen(wanted).await?);
        }
        Ok(())
    }

    /// Where a person may look, once.
    ///
    /// # Errors
    /// It listens nowhere, and no port can be had.
    async fn open(&self) -> io::Result<OpenView> {
        let mut listening = self.0.listening.lock().await;
        let port = match &*listening {
            Some(now) => now.port,
            None => {
                let port = listening.insert(self.listen(None).await?).port;
                self.0.woken.notify_one();
                port
            }
        };
        let token = self.0.doors.token();
        Ok(OpenView {
            url: format!("http://127.0.0.1:{port}/login?token={}", token.token),
            until: token.until,
        })
    }

    async fn listen(&self, by_unit: Option<u16>) -> io::Result<Listening> {
        let missing = || io::Error::other("the page is not ready");
        let client = self.0.client.get().ok_or_else(missing)?.clone();
        let templates = Arc::clone(self.0.templates.as_ref().ok_or_else(missing)?);
        let port = Port::bind(by_unit.unwrap_or(0)).await?;
        let number = port.number()?;
        let stop = CancellationToken::new();
        let page = Arc::new(Page {
            client,
            doors: Arc::clone(&self.0.doors),
            templates,
            clock: self.0.clock.clone(),
            port: number,
            news: Mutex::default(),
            streams: Streams::default(),
            stop: stop.clone(),
        });
        let stopped = stop.clone();
        self.0.group.spawn("page", async move {
            let serving = axum::serve(port, router(page));
            if let Some(Err(error)) = stopped.run_until_cancelled(serving.into_future()).await {
                tracing::error!("the page failed: {error}");
            }
        });
        tracing::info!(port = number, "the page listens on 127.0.0.1");
        Ok(Listening { port: number, by_unit, stop })
    }

    /// Follows the daemon unit as it is at each moment. Never ends by itself, and rests while there is nothing to see to.
    pub async fn keep(&self, present: Live<Present>) {
        let mut said = None;
        loop {
            let wanted = present.get().plan.daemon.web;
            let is_settled = match self.follow(wanted).await {
                Ok(()) => {
                    said = None;
                    wanted.enabled || self.0.listening.lock().await.is_none()
                }
                Err(error) => {
                    // Once for each thing wanted, not with every look.
                    if said != Some(wanted) {
                        said = Some(wanted);
                        tracing::error!(
                            port = wanted.port,
                            "the page cannot listen, and is tried again: {error}"
                        );
                    }
                    false
                }
            };
            if is_settled {
                self.0.woken.notified().await;
            } else {
                let _ = tokio::time::timeout(LOOK_EVERY, self.0.woken.notified()).await;
            }
        }
    }

    /// Listens no longer.
    pub async fn close(&self) {
        if let Some(now) = self.0.listening.lock().await.take() {
            now.stop.cancel();
        }
    }
}

/// `POST /v1/open`
async fn open(State(site): State<Site>) -> Result<Json<OpenView>, Fault> {
    site.open().await.map(Json).map_err(|error| {
        let text = format!("the page finds no port on this machine: {error}");
        Fault::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "network", text)
    })
}
