//! The code for a device (RFC 8628): works over ssh, opens no port.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use url::Url;

use super::answer::{Granted, refused, seconds};
use super::client::{Client, Told, post, token};
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::{Clock, Timestamp};
use crate::secret::{SecretStore, SecretValue};

/// What a person is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// To be typed.
    pub code: String,
    /// Where.
    pub url: String,
    /// The same with the code in it, where the server gives it.
    pub url_complete: Option<String>,
    /// How long it is good.
    pub good_for: Duration,
}

/// A code that waits to be typed.
pub struct Pending {
    /// For the person.
    pub shown: Shown,
    device: SecretValue,
    interval: Duration,
    until: Timestamp,
}

/// Waits, and is told how long.
pub type Wait<'a> = dyn FnMut(Duration) -> BoxFuture<'static, ()> + Send + 'a;

/// Asks for a code.
///
/// # Errors
/// The server is not there, or does not know the client.
pub async fn begin(
    client: &Client,
    http: &HttpRoom,
    secrets: &dyn SecretStore,
    clock: &Clock,
) -> Result<Pending, PortError> {
    let doing = || format!("ask {} for a code", client.place());
    let Some(url) = &client.device_url else {
        return Err(PortError::new(ErrorClass::Config, "`device_url` is missing"));
    };
    let mut form = Vec::new();
    if !client.scope.is_empty() {
        form.push(("scope", client.scope.as_str()));
    }
    let (value, _) = post(http, secrets, clock, &client.grant, url, &form).await?;
    if let Some(refused) = refused(&value) {
        return Err(PortError::caused(refused.class(), doing(), refused));
    }
    let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let shown_url = text("verification_uri").or_else(|| text("verification_url"));
    let (Some(device), Some(code), Some(shown_url)) = (text("device_code"), text("user_code"), shown_url)
    else {
        return Err(PortError::caused(ErrorClass::Permanent, doing(), "the answer holds no code"));
    };
    // It is shown to be opened: nothing but a page on the web.
    let is_page = |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_page(shown_url) {
        return Err(PortError::caused(ErrorClass::Permanent, doing(), "the address to open is none"));
    }
    let good_for = seconds(&value, "expires_in").unwrap_or(limits::OAUTH_WAIT).min(limits::OAUTH_WAIT);
    Ok(Pending {
        shown: Shown {
            code: one_line(code, 60),
            url: one_line(shown_url, 300),
            url_complete: text("verification_uri_complete")
                .filter(|url| is_page(url))
                .map(|url| one_line(url, 400)),
            good_for,
        },
        device: SecretValue::new(device.to_owned()),
        interval: seconds(&value, "interval").unwrap_or(limits::OAUTH_INTERVAL).max(Duration::from_secs(1)),
        until: clock.now().plus(good_for),
    })
}

impl Pending {
    /// Waits until the person has typed the code, asking no more often than the server wants.
    ///
    /// # Errors
    /// `Permanent`: the person refused, or the code ran out. Lost answers are waited through.
    pub async fn granted(
        mut self,
        client: &Client,
        http: &HttpRoom,
        secrets: &dyn SecretStore,
        clock: &Clock,
        wait: &mut Wait<'_>,
    ) -> Result<Granted, PortError> {
        let doing = || format!("wait for the code to be typed at {}", client.place());
        loop {
            wait(self.interval).await;
            if clock.now() >= self.until {
                let why = "the code was not typed in time; ask for a new one";
                return Err(PortError::caused(ErrorClass::Permanent, doing(), why));
            }
            let form = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", self.device.expose_to_the_wire()),
            ];
            let refused = match token(http, secrets, clock, &client.grant, &form).await {
                Ok(Told::Granted(granted)) => return Ok(granted),
                Ok(Told::Refused(refused)) => refused,
                // The standard's advice: slower, until the code runs out.
                Err(error)
                    if matches!(error.class, ErrorClass::Network { .. } | ErrorClass::RateLimited { .. }) =>
                {
                    self.interval = (self.interval * 2).min(limits::OAUTH_INTERVAL_MAX);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match refused.word.as_str() {
                "authorization_pending" => {}
                "slow_down" => {
                    let slower = self.interval + limits::OAUTH_INTERVAL;
                    self.interval =
                        refused.interval.unwrap_or(slower).max(self.interval).min(limits::OAUTH_INTERVAL_MAX);
                }
                "access_denied" | "authorization_declined" => {
                    return Err(PortError::caused(ErrorClass::Permanent, doing(), "it was refused there"));
                }
                "expired_token" | "token_expired" => {
                    let why = "the code was not typed in time; ask for a new one";
                    return Err(PortError::caused(ErrorClass::Permanent, doing(), why));
                }
                _ => return Err(PortError::caused(ErrorClass::Permanent, doing(), refused)),
            }
        }
    }
}
