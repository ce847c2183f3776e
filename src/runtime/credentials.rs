//! Whether refused credentials were replaced: by a digest of the present values, never by the values.

use crate::model::secret_ref::SecretRef;
use crate::model::text;
use crate::secret::SecretStore;

/// A digest of the present values behind these references. What cannot be read counts as its error, so that a store that
/// opens, or a name that is filled, is a change too.
pub async fn fingerprint(secrets: &dyn SecretStore, references: &[SecretRef]) -> String {
    let mut parts = Vec::new();
    for reference in references {
        parts.push(match secrets.read(reference).await {
            Ok(value) => value.fingerprint(),
            Err(error) => error.to_string(),
        });
    }
    let bytes: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    text::digest(&bytes)
}
