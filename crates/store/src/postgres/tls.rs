//! TLS to PostgreSQL.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use godel_tls::rustls::ClientConfig;
use godel_tls::rustls::pki_types::ServerName;
use godel_tls::{Trust, client_config, client_config_without_names, unproven_client_config};
use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as Encrypted;

use super::address::Encryption;
use crate::Result;

/// Starts TLS on a connection to PostgreSQL.
#[derive(Clone)]
pub(super) struct Connector(Arc<ClientConfig>);

impl Connector {
    /// Sets up what the address asks for; `root` names the authorities to trust.
    pub(super) fn new(encryption: Encryption, root: Option<&Path>) -> Result<Self> {
        let trust = || -> Result<Trust> {
            Ok(match root {
                Some(path) => Trust::Authorities(godel_tls::read_certificates(path)?),
                None => Trust::System,
            })
        };
        let mut config = match encryption {
            Encryption::VerifyFull => client_config(&trust()?)?,
            Encryption::VerifyCa => client_config_without_names(&trust()?)?,
            Encryption::Require if root.is_some() => client_config_without_names(&trust()?)?,
            Encryption::Require | Encryption::Prefer | Encryption::Disable => {
                unproven_client_config()
            }
        };
        // Since version 17 the server wants to know what will be spoken.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), domain: domain.into() })
    }
}

/// One handshake to come.
pub(super) struct Handshake {
    connector: TlsConnector,
    domain: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.domain).map_err(io::Error::other)?;
            Ok(Stream(self.connector.connect(name, socket).await?))
        })
    }
}

/// An encrypted connection.
pub(super) struct Stream(Encrypted<Socket>);

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        // It would need the hash of the certificate's own signature; `verify-full` proves as much.
        ChannelBinding::none()
    }
}

/// Tells whether a connection failed at TLS; the driver has no other way to ask.
pub(super) fn is_tls(error: &postgres::Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

/// Says why a connection failed, if it failed at TLS.
pub(super) fn tls_failure(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let failed = error.downcast_ref::<postgres::Error>().filter(|error| is_tls(error))?;
    let said = std::error::Error::source(failed).map(ToString::to_string);
    godel_tls::refusal(failed).or(said)
}
