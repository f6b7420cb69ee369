//! The way in: connections from outside of the walls to a program that serves a port inside.

use std::io;
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use godel_model::Mint;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use uuid::Uuid;

/// What is asked to find out whether somebody answers.
const HELLO: &[u8] = b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

/// Bytes in both directions.
trait Both: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Both for T {}

/// The way to a port that a command of a sandbox serves.
#[derive(Debug, Clone)]
pub struct Inlet(Way);

#[derive(Debug, Clone)]
enum Way {
    /// There are no walls: the port is that of the machine.
    Port(u16),
    /// A socket at which somebody behind the walls listens. It has no place in any folder, and is gone with them.
    Socket(SocketAddr),
}

impl Inlet {
    /// Returns the way to a port of the machine.
    pub(crate) fn to_port(port: u16) -> Self {
        Self(Way::Port(port))
    }

    /// Opens a socket for somebody behind walls.
    ///
    /// A socket of the network would be a way out, too: whoever listens on it can connect it to any
    /// place of the machine instead. This kind cannot be connected.
    pub(crate) fn open() -> io::Result<(Self, UnixListener)> {
        let name = format!("godel-inlet-{}", Mint::system().id::<Uuid>());
        let address = SocketAddr::from_abstract_name(name)?;
        let listener = UnixListener::bind_addr(&address)?;
        Ok((Self(Way::Socket(address)), listener))
    }

    async fn connect(&self) -> io::Result<Box<dyn Both>> {
        match &self.0 {
            Way::Port(port) => {
                Ok(Box::new(TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).await?))
            }
            Way::Socket(address) => {
                let stream = UnixStream::connect_addr(address)?;
                stream.set_nonblocking(true)?;
                Ok(Box::new(tokio::net::UnixStream::from_std(stream)?))
            }
        }
    }

    /// Leads a connection in, until one side has ended.
    ///
    /// # Errors
    /// If nobody listens inside, or one side breaks off.
    pub async fn lead_in(&self, outside: &mut TcpStream) -> io::Result<()> {
        let mut inside = self.connect().await?;
        tokio::io::copy_bidirectional(outside, &mut inside).await.map(drop)
    }

    /// Tells whether somebody answers inside, as servers of pages do.
    pub async fn answers(&self) -> bool {
        let ask = async {
            let mut inside = self.connect().await?;
            inside.write_all(HELLO).await?;
            inside.read_u8().await
        };
        ask.await.is_ok()
    }
}
