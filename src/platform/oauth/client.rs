//! The user's client at a platform, and requests to its server.

use std::collections::BTreeMap;

use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::Value;
use url::Url;
use url::form_urlencoded::Serializer;

use super::answer::{Granted, Refused, granted, refused};
use super::presets::{PRESETS, Preset, UNKNOWN};
use crate::http::{HttpRequest, HttpRoom, is_loopback, masked, status_class};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Clock, Timestamp};
use crate::secret::{GrantClient, SecretStore, SecretValue};
use crate::unit::value::{Setting, Settings};

/// How a person logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// By a code that is typed on any device.
    Device,
    /// By a browser that comes back to this machine.
    Browser,
}

/// The client, as the unit and the platform's preset have it.
#[derive(Clone, Debug)]
pub struct Client {
    /// Usual way to log in.
    pub flow: Flow,
    /// Who renews tokens later.
    pub grant: GrantClient,
    pub(super) device_url: Option<Url>,
    pub(super) authorize_url: Option<Url>,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) scope: String,
    pub(super) redirect_host: String,
    pub(super) redirect_port: u16,
}

/// What became of asking the token endpoint.
pub(super) enum Told {
    /// A token.
    Granted(Granted),
    /// A word of the protocol why not.
    Refused(Refused),
}

impl Client {
    /// From the own table and `[oauth]` of a connector of this platform.
    ///
    /// # Errors
    /// `Config`: a key is missing or is not a URL that a secret may go to.
    pub fn of(platform: &str, own: &Settings, settings: &Settings) -> Result<Self, PortError> {
        let preset: &Preset = PRESETS.iter().find(|preset| preset.platform == platform).unwrap_or(&UNKNOWN);
        let config = |why: String| PortError::caused(ErrorClass::Config, "read `[oauth]`", why);
        let Some(client_id) = settings.text("client_id").filter(|id| !id.is_empty()) else {
            return Err(config(
                "`client_id` is missing: the id of the client that you registered".to_owned(),
            ));
        };
        let client_secret = match settings.secret("client_secret") {
            None => None,
            Some(SecretRef::Stored(name)) => Some(name.clone()),
            Some(SecretRef::Env(_)) => {
                return Err(config(
                    "`client_secret` is used whenever a token is renewed: keep it in the store".to_owned(),
                ));
            }
        };
        let elsewhere = preset.is_elsewhere(own);
        let url = |key: &str, usual: &str| {
            let usual = if elsewhere { "" } else { usual };
            let text = settings.text(key).unwrap_or(usual);
            if text.is_empty() {
                return Ok(None);
            }
            let url = Url::parse(text).map_err(|error| config(format!("`{key}` is not a URL: {error}")))?;
            if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
                return Err(config(format!("`{key}` is not https")));
            }
            Ok(Some(url))
        };
        let Some(token_url) = url("token_url", preset.token_url)? else {
            let why = if elsewhere {
                "the unit names a server of its own"
            } else {
                "nothing is known of this platform"
            };
            return Err(config(format!(
                "`token_url` is missing: {why}, so `[oauth]` must say where it logs people in"
            )));
        };
        let flow = match settings.text("flow") {
            Some("device") => Flow::Device,
            Some("browser") => Flow::Browser,
            _ => preset.flow,
        };
        let device_url = url("device_url", preset.device_url)?;
        let authorize_url = url("authorize_url", preset.authorize_url)?;
        match flow {
            Flow::Device if device_url.is_none() => return Err(config("`device_url` is missing".to_owned())),
            Flow::Browser if authorize_url.is_none() => {
                return Err(config("`authorize_url` is missing".to_owned()));
            }
            Flow::Device | Flow::Browser => {}
        }
        let scopes = settings.list("scopes");
        let scope = if scopes.is_empty() {
            preset.scopes.join(preset.separator)
        } else {
            scopes.join(preset.separator)
        };
        let mut parameters: BTreeMap<String, String> =
            preset.parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for (name, setting) in settings.map("parameters").into_iter().flatten() {
            if let Setting::Text(text) = setting {
                parameters.insert(name.clone(), text.clone());
            }
        }
        Ok(Self {
            flow,
            grant: GrantClient {
                token_url: token_url.to_string(),
                client_id: client_id.to_owned(),
                client_secret,
            },
            device_url,
            authorize_url,
            parameters: parameters.into_iter().collect(),
            scope,
            redirect_host: settings.text("redirect_host").unwrap_or("127.0.0.1").to_owned(),
            redirect_port: settings
                .integer("redirect_port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(0),
        })
    }

    /// For people: where one logs in.
    #[must_use]
    pub fn place(&self) -> String {
        let url = match self.flow {
            Flow::Device => self.device_url.as_ref(),
            Flow::Browser => self.authorize_url.as_ref(),
        };
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// Asks an endpoint with a form, in the client's name, once. A lost answer is worth another try: nothing but a token
/// comes of it.
pub(super) async fn post(
    http: &HttpRoom,
    secrets: &dyn SecretStore,
    clock: &Clock,
    client: &GrantClient,
    url: &Url,
    form: &[(&str, &str)],
) -> Result<(Value, u16), PortError> {
    let doing = format!("POST {}", masked(url));
    let secret: Option<SecretValue> = match &client.client_secret {
        None => None,
        Some(name) => {
            let read = secrets.read(&SecretRef::Stored(name.clone())).await;
            Some(read.map_err(|error| PortError::caused(error.class(), "read `client_secret`", error))?)
        }
    };
    let request = HttpRequest::writing(Method::POST, url.clone())
        .reading()
        .header(ACCEPT, "application/json")
        .body("application/x-www-form-urlencoded", form_body(form, client, secret.as_ref()))
        .body_bytes_max(limits::OAUTH_ANSWER_BYTES_MAX);
    if url.scheme() != "https" && !is_loopback(url) {
        return Err(PortError::caused(ErrorClass::Config, doing, "a secret is not sent over plain http"));
    }
    let answer = http.send(request).await?;
    let parsed = serde_json::from_slice::<Value>(&answer.body).ok().filter(Value::is_object);
    match parsed {
        // An error of the protocol has the status 400, 401 or 200; its word tells more than that.
        Some(value) if value.get("error").is_some() || answer.status < 300 => Ok((value, answer.status)),
        _ => match status_class(answer.status, &answer.headers, crate::http::Effect::Read, clock.now()) {
            Some(class) => {
                Err(PortError::caused(class, doing, format!("the server answered {}", answer.status)))
            }
            None => Err(PortError::caused(ErrorClass::NETWORK, doing, "the answer is no JSON object")),
        },
    }
}

fn form_body(form: &[(&str, &str)], client: &GrantClient, secret: Option<&SecretValue>) -> Vec<u8> {
    let mut body = Serializer::new(String::new());
    body.extend_pairs(form).append_pair("client_id", &client.client_id);
    if let Some(secret) = secret {
        body.append_pair("client_secret", secret.expose_to_the_wire());
    }
    body.finish().into_bytes()
}

/// Parts of a form that everybody may read.
const OPEN: [&str; 4] = ["grant_type", "redirect_uri", "scope", "client_id"];

/// Shorter ones are no secrets, and would make holes in any text.
const SECRET_BYTES_MIN: usize = 6;

/// Takes what we sent out of a server's words: some repeat the code, or what proves that it is ours. Before anything is cut.
fn mask_words(answer: &mut Value, form: &[(&str, &str)]) {
    for key in ["error", "error_description"] {
        let Some(Value::String(text)) = answer.get_mut(key) else { continue };
        for (name, value) in form {
            if OPEN.contains(name) || value.len() < SECRET_BYTES_MIN {
                continue;
            }
            let written: String = Serializer::new(String::new()).append_key_only(value).finish();
            *text = text.replace(value, "[masked]").replace(&written, "[masked]");
        }
    }
}

/// Asks the token endpoint.
pub(super) async fn token(
    http: &HttpRoom,
    secrets: &dyn SecretStore,
    clock: &Clock,
    client: &GrantClient,
    form: &[(&str, &str)],
) -> Result<Told, PortError> {
    let url = Url::parse(&client.token_url)
        .map_err(|error| PortError::caused(ErrorClass::Config, "use the token endpoint", error))?;
    let (mut value, status) = post(http, secrets, clock, client, &url, form).await?;
    mask_words(&mut value, form);
    if let Some(refused) = refused(&value) {
        return Ok(Told::Refused(refused));
    }
    let now: Timestamp = clock.now();
    match granted(&value, now) {
        Some(granted) => Ok(Told::Granted(granted)),
        None => Err(PortError::caused(
            ErrorClass::Permanent,
            format!("POST {}", masked(&url)),
            format!("the answer ({status}) holds no token"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_repeats_nothing_that_was_sent() {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", "CANARY+code/1"),
            ("code_verifier", "CANARY-verifier"),
            ("redirect_uri", "http://127.0.0.1:1/callback"),
        ];
        let said =
            "the code CANARY+code/1 (CANARY%2Bcode%2F1) is not CANARY-verifier's for authorization_code";
        let mut answer = serde_json::json!({ "error": "bad_CANARY-verifier", "error_description": said });
        mask_words(&mut answer, &form);
        let told = refused(&answer).unwrap().to_string();
        assert!(!told.contains("CANARY"), "{told}");
        assert!(told.ends_with("is not [masked]'s for authorization_code"), "{told}");
    }
}
