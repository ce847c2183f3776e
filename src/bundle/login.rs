//! A person logs in at a platform with a client of their own.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::http::HttpRoom;
use crate::model::class::PortError;
use crate::model::time::Clock;
use crate::platform::oauth::{Client, Flow, Granted, browser, device};
use crate::secret::{Grant, SecretStore, SecretValue};
use crate::unit::value::Settings;

/// A client that can be asked for a token.
pub struct Login {
    client: Client,
}

/// What the person is shown, and has to do.
#[derive(Clone, Debug)]
pub enum Shown {
    /// To type a code.
    Code {
        /// The code.
        code: String,
        /// Where.
        url: String,
        /// The same with the code in it, where the platform gives it.
        url_complete: Option<String>,
        /// How long it is good.
        good_for: Duration,
    },
    /// To open a page, which comes back to this port of this machine.
    Page {
        /// The page.
        url: String,
        /// The port on 127.0.0.1.
        port: u16,
    },
}

/// A token that was given.
pub struct LoggedIn {
    /// The token.
    pub token: SecretValue,
    /// What renews it.
    pub grant: Grant,
}

impl Login {
    /// From the own table and `[oauth]` of a connector of this platform.
    ///
    /// # Errors
    /// `Config`: a key is missing.
    pub fn of(platform: &str, own: &Settings, oauth: &Settings) -> Result<Self, PortError> {
        Client::of(platform, own, oauth).map(|client| Self { client })
    }

    /// Shows the person what to do, and waits until it is done.
    ///
    /// # Errors
    /// The platform refuses, is not there, or the person does not come in time.
    pub async fn run(
        self,
        secrets: &dyn SecretStore,
        clock: &Clock,
        show: &(dyn Fn(Shown) + Sync),
    ) -> Result<LoggedIn, PortError> {
        let (client, http) = (self.client, HttpRoom::default());
        let granted = match client.flow {
            Flow::Device => {
                let pending = device::begin(&client, &http, secrets, clock).await?;
                let device::Shown { code, url, url_complete, good_for } = pending.shown.clone();
                show(Shown::Code { code, url, url_complete, good_for });
                let mut wait = |span| -> BoxFuture<'static, ()> { Box::pin(tokio::time::sleep(span)) };
                pending.granted(&client, &http, secrets, clock, &mut wait).await?
            }
            Flow::Browser => {
                let pending = browser::begin(&client).await?;
                show(Shown::Page { url: pending.url.clone(), port: pending.port });
                pending.granted(&client, &http, secrets, clock).await?
            }
        };
        let Granted { access, refresh, expires_at } = granted;
        Ok(LoggedIn { token: access, grant: Grant { refresh, expires_at, client: client.grant } })
    }
}
