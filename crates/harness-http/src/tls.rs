//! TLS: rustls with ring, trusting the platform's store and extra authorities.
#![expect(clippy::disallowed_methods, reason = "certificate files are read here and nowhere else")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::error::HttpError;

/// Client settings that read the platform's trust store only when a certificate must be checked.
pub(crate) fn client_config(extra_ca: &[PathBuf]) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut extra_roots = Vec::new();
    for path in extra_ca {
        extra_roots.extend(read_authorities(path)?);
    }
    let verifier = LazyVerifier { provider: Arc::clone(&provider), extra_roots, loaded: OnceLock::new() };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|source| HttpError::Tls { source })?
        .dangerous() // the verifier below is a full one; it only loads its roots later
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates of one PEM file, each of them checked to be usable as an authority.
fn read_authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let invalid = |reason: String| HttpError::ExtraCaInvalid { path: path.to_owned(), reason };
    let text = std::fs::read(path)
        .map_err(|source| HttpError::ExtraCaUnreadable { path: path.to_owned(), source })?;
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|fault| invalid(format!("{fault:?}")))?;
    if certificates.is_empty() {
        return Err(invalid("the file has no certificate block".to_owned()));
    }
    let mut trial = RootCertStore::empty();
    for certificate in &certificates {
        trial.add(certificate.clone()).map_err(|fault| invalid(fault.to_string()))?;
    }
    Ok(certificates)
}

/// The platform's verifier, made at the first check: reading hundreds of certificates would
/// dominate the start of a short program that may never speak TLS.
#[derive(Debug)]
struct LazyVerifier {
    provider: Arc<CryptoProvider>,
    extra_roots: Vec<CertificateDer<'static>>,
    loaded: OnceLock<Result<Verifier, rustls::Error>>,
}

impl LazyVerifier {
    fn load(&self) -> Result<&Verifier, rustls::Error> {
        let loaded = self.loaded.get_or_init(|| {
            Verifier::new_with_extra_roots(self.extra_roots.iter().cloned(), Arc::clone(&self.provider))
                .map_err(|fault| {
                    rustls::Error::General(format!(
                        "no certificate authorities to trust ({fault}); install the system's CA \
                         certificates or name a PEM file in `extra_ca`"
                    ))
                })
        });
        loaded.as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for LazyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.load()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(content: &[u8]) -> HttpError {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        client_config(&[file.path().to_owned()]).unwrap_err()
    }

    #[test]
    fn the_trust_store_is_not_read_before_a_certificate_must_be_checked() {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = LazyVerifier { provider, extra_roots: Vec::new(), loaded: OnceLock::new() };
        // All that a client asks of it before the server's certificate arrives.
        assert!(!verifier.supported_verify_schemes().is_empty());
        assert!(verifier.loaded.get().is_none());
    }

    #[test]
    fn a_bad_authority_file_is_named_with_the_remedy() {
        let garbage = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for content in [&b""[..], b"not a certificate", garbage, b"-----BEGIN CERTIFICATE-----\n"] {
            let fault = fault_of(content);
            assert_eq!(fault.code(), "HTTP_EXTRA_CA_INVALID", "{fault}");
            assert!(fault.to_string().contains("BEGIN CERTIFICATE"), "{fault}");
        }
        let fault = client_config(&["/nonexistent/ca.pem".into()]).unwrap_err();
        assert_eq!(fault.code(), "HTTP_EXTRA_CA_UNREADABLE");
        assert!(fault.to_string().contains("/nonexistent/ca.pem"), "{fault}");
    }
}
