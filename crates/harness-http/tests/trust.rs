//! TLS against a real handshake: which authorities are trusted, and when they are read.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::disallowed_methods, reason = "writes a certificate file")]

use std::sync::Arc;

use harness_http::{HttpConfig, TransportError, TransportKind, client};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Serves one TLS connection after another under `localhost`, signed by a fresh authority.
/// Returns the port and the authority's certificate.
async fn serve_tls() -> (u16, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            // A client that refuses the certificate ends the handshake here.
            let Ok(mut connection) = acceptor.accept(connection).await else { continue };
            let mut head = [0; 1024];
            let _ = connection.read(&mut head).await.unwrap();
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await.unwrap();
            connection.shutdown().await.unwrap();
        }
    });
    (port, authority.pem())
}

#[tokio::test]
async fn an_unknown_authority_is_refused_and_an_extra_one_is_trusted() {
    let (port, authority) = serve_tls().await;
    let url = format!("https://localhost:{port}/");

    let error = client(&HttpConfig::default()).unwrap().get(&url).send().await.unwrap_err();
    let fault = TransportError::from(error);
    assert_eq!(fault.kind, TransportKind::Tls, "{fault}");

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority).unwrap();
    let config = HttpConfig { extra_ca: vec![file.path().to_owned()], ..HttpConfig::default() };
    let body = client(&config).unwrap().get(&url).send().await.unwrap().text().await.unwrap();
    assert_eq!(body, "hello");

    // The name is checked too, not only the signature.
    let error = client(&config).unwrap().get(format!("https://127.0.0.1:{port}/")).send().await.unwrap_err();
    let fault = TransportError::from(error);
    assert_eq!(fault.kind, TransportKind::Tls, "{fault}");
}
