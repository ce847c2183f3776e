//! What renews a token: kept beside it in the store, so that both change in one step.

use serde::{Deserialize, Serialize};

use super::value::SecretValue;
use crate::model::time::Timestamp;

/// How a stored token is renewed, and until when it need not be.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Given for a new token; servers may give a new one of these with it. `None`: the token lasts, or must be asked
    /// for anew.
    pub refresh: Option<SecretValue>,
    /// When the token ends, as the server said.
    pub expires_at: Option<Timestamp>,
    /// Where it is renewed, and as whom.
    pub client: GrantClient,
}

/// Who renews a token. No part of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantClient {
    /// The server's token endpoint.
    pub token_url: String,
    /// The client's public name.
    pub client_id: String,
    /// The name under which the client's secret is stored, if it has one.
    pub client_secret: Option<String>,
}

/// A stored token with what renews it.
#[derive(Clone, Debug)]
pub struct Token {
    /// The token itself.
    pub value: SecretValue,
    /// Raised by each change of it.
    pub version: u32,
    /// `None` for one that a person stored.
    pub grant: Option<Grant>,
}

/// As it is written into the file.
#[derive(Serialize)]
pub(super) struct GrantOut<'a> {
    refresh: Option<&'a str>,
    expires_at: Option<Timestamp>,
    client: &'a GrantClient,
}

/// As it is read from the file.
#[derive(Deserialize)]
pub(super) struct GrantIn {
    refresh: Option<String>,
    expires_at: Option<Timestamp>,
    client: GrantClient,
}

impl Grant {
    pub(super) fn out(&self) -> GrantOut<'_> {
        GrantOut {
            refresh: self.refresh.as_ref().map(SecretValue::expose_to_the_wire),
            expires_at: self.expires_at,
            client: &self.client,
        }
    }

    /// The bytes it takes in the file, at most.
    pub(super) fn room(&self) -> usize {
        let refresh = self.refresh.as_ref().map_or(0, |value| value.expose_to_the_wire().len());
        let client = &self.client;
        let secret = client.client_secret.as_ref().map_or(0, String::len);
        6 * (refresh + client.token_url.len() + client.client_id.len() + secret) + 256
    }
}

impl From<GrantIn> for Grant {
    fn from(given: GrantIn) -> Self {
        let GrantIn { refresh, expires_at, client } = given;
        Self { refresh: refresh.map(SecretValue::new), expires_at, client }
    }
}
