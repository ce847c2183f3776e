//! What an entry of a keyring holds: the value with its version and what renews it, as one text, so that they change in
//! one step. An entry that another program wrote is a bare value.

use serde::Serialize;
use zeroize::Zeroizing;

use crate::model::time::Timestamp;
use crate::secret::backend::Kept;
use crate::secret::entry::EntryIn;
use crate::secret::grant::GrantOut;
use crate::secret::{Grant, Scrubber, SecretError, SecretValue, Token};

/// The layout inside; the text begins with it.
const LAYOUT: u32 = 1;
const BEGIN: &[u8] = b"{\"workagent\":1,";

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub value: SecretValue,
    /// 0 for a bare value.
    pub version: u32,
    pub set_at: Option<Timestamp>,
    pub grant: Option<Grant>,
}

#[derive(Serialize)]
struct Out<'a> {
    workagent: u32,
    value: &'a str,
    version: u32,
    set_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantOut<'a>>,
}

impl Envelope {
    /// From the bytes of an entry; `None` where they are no text.
    pub fn open(bytes: Vec<u8>) -> Option<Self> {
        let bytes = Zeroizing::new(bytes);
        if bytes.starts_with(BEGIN)
            && let Ok(entry) = serde_json::from_slice::<EntryIn>(&bytes)
        {
            let EntryIn { value, version, set_at, grant } = entry;
            let (value, grant) = (SecretValue::new(value), grant.map(Grant::from));
            return Some(Self { value, version, set_at: Some(set_at), grant });
        }
        let text = std::str::from_utf8(&bytes).ok()?;
        let value = SecretValue::new(text.to_owned());
        Some(Self { value, version: 0, set_at: None, grant: None })
    }

    /// The bytes of an entry.
    pub fn seal(&self) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let value = self.value.expose_to_the_wire();
        let Some(set_at) = self.set_at else { return Ok(Zeroizing::new(value.as_bytes().to_vec())) };
        let grant = self.grant.as_ref();
        let room = 6 * value.len() + grant.map_or(0, Grant::room) + 256;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        let grant = grant.map(Grant::out);
        let out = Out { workagent: LAYOUT, value, version: self.version, set_at, grant };
        serde_json::to_writer(&mut *bytes, &out).map_err(|_| SecretError::Unavailable {
            why: "the secret cannot be written as JSON".to_owned(),
        })?;
        Ok(bytes)
    }

    /// The same value under the same version.
    pub fn same(&self, other: &Self) -> bool {
        self.version == other.version
            && self.value.expose_to_the_wire() == other.value.expose_to_the_wire()
            && self.grant.is_some() == other.grant.is_some()
    }

    /// Masks it from now on; whether the value is long enough for it.
    pub fn mask(&self, scrubber: &Scrubber) -> bool {
        if let Some(refresh) = self.grant.as_ref().and_then(|grant| grant.refresh.as_ref()) {
            scrubber.register(refresh);
        }
        scrubber.register(&self.value)
    }

    /// As readers take it.
    pub fn kept(self) -> Kept {
        let Self { value, version, set_at, grant } = self;
        Kept { token: Token { value, version, grant }, set_at }
    }
}
