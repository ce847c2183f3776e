//! TLS settings for everything that speaks TLS: HTTP, IMAP, SMTP.
//!
//! rustls with ring; certificates are checked against the system's roots, plus those of an extra file where a unit
//! names one. There is no way to switch the check off.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;

use crate::model::class::{ErrorClass, PortError};
use crate::model::limits::CA_FILE_BYTES_MAX;

/// Client settings that trust the system's roots and the certificates in `extra_ca`, a PEM file.
///
/// Reads the system's roots anew, which takes some milliseconds: keep the result.
///
/// # Errors
/// Class `Config`: the file cannot be read or holds no certificate, or the system has no roots and no file was given.
pub fn client_config(extra_ca: Option<&Path>) -> Result<ClientConfig, PortError> {
    let extra = extra_ca.map(read_certificates).transpose()?.unwrap_or_default();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = |source| PortError::caused(ErrorClass::Config, "set up TLS", source);
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider)).map_err(config)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(config)?;
    // "dangerous" is rustls' word for any verifier of one's own; this one is stricter than none and asks the system.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// All certificates of a PEM file; at least one.
fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, PortError> {
    let doing = || format!("read certificates from {}", path.display());
    let mut pem = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(CA_FILE_BYTES_MAX).read_to_end(&mut pem))
        .map_err(|error| PortError::caused(ErrorClass::Config, doing(), error))?;
    let certificates = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| PortError::caused(ErrorClass::Config, doing(), error.to_string()))?;
    if certificates.is_empty() {
        return Err(PortError::caused(
            ErrorClass::Config,
            doing(),
            "the file holds no certificate in PEM form",
        ));
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::class::chain;

    fn check(content: Option<&str>, expected: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let error = client_config(Some(&path)).unwrap_err();
        assert_eq!(error.class, ErrorClass::Config);
        let shown = chain(&error).replace(path.to_str().unwrap(), "ca.pem");
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn a_missing_file_is_named() {
        check(None, "read certificates from ca.pem: No such file");
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        check(Some("hello\n"), "read certificates from ca.pem: the file holds no certificate in PEM form");
    }

    #[test]
    fn a_broken_certificate_is_refused() {
        check(
            Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            "set up TLS: invalid peer certificate",
        );
    }
}
