//! One IMAP connection: answers are read and parsed by `async-imap`, commands and what their answers mean are here.
//!
//! Its own command helpers are not used: they take a cut connection or a refused FETCH for a complete answer, and they
//! write passwords to a trace log.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_imap::Client;
use async_imap::imap_proto::{Capability, Outcome, Response, ResponseCode, Status};
use futures_util::FutureExt as _;
use rustls::ClientConfig;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;
use tokio_util::either::Either;

use super::net::{self, Metered};
use super::spec::{Endpoint, Security};
use super::status::{self, Refusal};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits::IMAP_ANSWER_BYTES_MAX;

/// A mail over a slow line takes longer than a wait for a sign of life; it may take so many of them.
const STRETCHES_MAX: usize = 20;

/// A connection.
#[derive(Debug)]
pub struct Wire {
    client: Client<Metered>,
    endpoint: Endpoint,
    limit: Duration,
    commands: u32,
    capabilities: Vec<String>,
    /// A command began and its end was not read: what comes next on the connection belongs to nobody.
    dirty: bool,
    /// The last answer could not be read, though the connection stood.
    garbled: bool,
}

impl Wire {
    /// Connects and reads the greeting; after this the connection is protected as the endpoint says.
    ///
    /// # Errors
    /// Class `Network`; `Config` where the server offers no STARTTLS.
    pub async fn open(
        endpoint: &Endpoint,
        tls: Arc<ClientConfig>,
        limit: Duration,
    ) -> Result<Self, PortError> {
        let tcp = net::connect(endpoint, limit).await?;
        let mut wire = match endpoint.security {
            Security::Tls => {
                let stream = net::protect(tcp, endpoint, tls, limit).await?;
                let mut wire = Self::over(Metered::new(stream), endpoint, limit);
                wire.greeting().await?;
                wire
            }
            Security::None => {
                let mut wire = Self::over(Metered::new(Either::Left(tcp)), endpoint, limit);
                wire.greeting().await?;
                wire
            }
            Security::StartTls => Self::upgrade(tcp, endpoint, tls, limit).await?,
        };
        wire.read_capabilities().await?;
        Ok(wire)
    }

    /// STARTTLS. The reader with all it holds from before the handshake is thrown away, so nothing that somebody put
    /// in on the way is taken for the server's word.
    async fn upgrade(
        tcp: tokio::net::TcpStream,
        endpoint: &Endpoint,
        tls: Arc<ClientConfig>,
        limit: Duration,
    ) -> Result<Self, PortError> {
        let mut wire = Self::over(Metered::new(Either::Left(tcp)), endpoint, limit);
        wire.greeting().await?;
        let doing = format!("start TLS with {endpoint}");
        wire.read_capabilities().await?;
        if !wire.can("STARTTLS") {
            return Err(PortError::caused(ErrorClass::Config, doing, "the server does not offer STARTTLS"));
        }
        wire.command(&doing, "STARTTLS", |_| ()).await?;
        match wire.client.into_inner().into_inner() {
            Either::Left(tcp) => {
                let stream = net::protect(tcp, endpoint, tls, limit).await?;
                Ok(Self::over(Metered::new(stream), endpoint, limit))
            }
            Either::Right(_) => Err(PortError::new(ErrorClass::Bug, doing)),
        }
    }

    fn over(stream: Metered, endpoint: &Endpoint, limit: Duration) -> Self {
        Self {
            client: Client::new(stream),
            endpoint: endpoint.clone(),
            limit,
            commands: 0,
            capabilities: Vec::new(),
            dirty: false,
            garbled: false,
        }
    }

    /// Offered by the server? Upper case.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|offered| offered == capability)
    }

    /// May be used for another command.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.dirty
    }

    /// Failed because of what the server said, not because of the way to it: the same question would fail again.
    #[must_use]
    pub fn is_garbled(&self) -> bool {
        self.garbled
    }

    async fn greeting(&mut self) -> Result<(), PortError> {
        let doing = format!("read the greeting of {}", self.endpoint);
        self.client.get_mut().allow(IMAP_ANSWER_BYTES_MAX);
        let fault = self
            .read(&doing, self.limit, |answer| match answer {
                Response::Data { status: Status::Ok, .. } => None,
                Response::Data { status: Status::PreAuth, .. } => {
                    Some("somebody is logged in already; such connections are not supported")
                }
                _ => Some("this is not an IMAP server"),
            })
            .await?;
        fault.map_or(Ok(()), |fault| Err(PortError::caused(ErrorClass::Config, doing, fault)))
    }

    /// Asks anew what the server offers: it differs before and after TLS, before and after login.
    ///
    /// # Errors
    /// Class `Network`.
    pub async fn read_capabilities(&mut self) -> Result<(), PortError> {
        let doing = format!("ask {} what it offers", self.endpoint);
        let mut offered = Vec::new();
        self.command(&doing, "CAPABILITY", |response| {
            if let Response::Capabilities(list) = response {
                offered = list.iter().map(capability_word).collect();
            }
        })
        .await?;
        self.capabilities = offered;
        Ok(())
    }

    /// Runs a command to its end, giving each untagged answer to `on`.
    ///
    /// # Errors
    /// As [`status::refused`] says, or `Network` when the connection fails.
    pub async fn command(
        &mut self,
        doing: &str,
        command: &str,
        on: impl FnMut(&Response<'_>),
    ) -> Result<(), PortError> {
        self.long_command(doing, command, IMAP_ANSWER_BYTES_MAX, on).await
    }

    /// As [`Wire::command`], for an answer of up to `bytes` bytes.
    ///
    /// # Errors
    /// As [`Wire::command`].
    pub async fn long_command(
        &mut self,
        doing: &str,
        command: &str,
        bytes: u64,
        on: impl FnMut(&Response<'_>),
    ) -> Result<(), PortError> {
        let tag = self.begin(doing, command, bytes).await?;
        let refusal = self.finish(doing, &tag, on).await?;
        refusal.map_or(Ok(()), |refusal| Err(status::refused(doing, &refusal)))
    }

    /// Sends a command and gives its tag.
    ///
    /// # Errors
    /// Class `Network`.
    pub async fn begin(&mut self, doing: &str, command: &str, bytes: u64) -> Result<String, PortError> {
        self.commands = self.commands.wrapping_add(1);
        let tag = format!("w{}", self.commands);
        // Until the tagged answer was read; also when this future is dropped half-way.
        self.dirty = true;
        self.client.get_mut().allow(bytes);
        self.send(doing, format!("{tag} {command}\r\n").as_bytes()).await?;
        Ok(tag)
    }

    /// Writes raw bytes: a continuation.
    ///
    /// # Errors
    /// Class `Network`.
    pub async fn send(&mut self, doing: &str, bytes: &[u8]) -> Result<(), PortError> {
        let stream = self.client.get_mut();
        let write = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        match timeout(self.limit, write).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PortError::caused(ErrorClass::NETWORK, doing, error)),
            Err(_) => Err(PortError::caused(ErrorClass::NETWORK, doing, "the server takes nothing in time")),
        }
    }

    /// Reads up to the tagged answer; `None` is OK.
    ///
    /// # Errors
    /// Class `Network`.
    pub async fn finish(
        &mut self,
        doing: &str,
        tag: &str,
        mut on: impl FnMut(&Response<'_>),
    ) -> Result<Option<Refusal>, PortError> {
        loop {
            let end = self
                .read(doing, self.limit, |answer| {
                    let end = tagged(answer, tag);
                    if end.is_none() {
                        on(answer);
                    }
                    end
                })
                .await?;
            if let Some(end) = end {
                self.dirty = false;
                return Ok(end);
            }
        }
    }

    /// Reads up to the request for the rest of a command; the tagged answer instead is a refusal.
    ///
    /// # Errors
    /// Class `Network`.
    pub async fn wait_for_go_ahead(&mut self, doing: &str, tag: &str) -> Result<GoAhead, PortError> {
        loop {
            let next = self
                .read(doing, self.limit, |answer| match answer {
                    Response::Continue(_) => Some(GoAhead::Yes),
                    _ => tagged(answer, tag).map(GoAhead::Ended),
                })
                .await?;
            if let Some(next) = next {
                self.dirty = !matches!(next, GoAhead::Ended(_));
                return Ok(next);
            }
        }
    }

    /// What `on` makes of one answer. It may take longer than `limit` while bytes of it keep coming. Dropping the future
    /// loses nothing.
    ///
    /// # Errors
    /// Class `Network`: closed, silent, garbage, or the server said goodbye.
    pub async fn read<R>(
        &mut self,
        doing: &str,
        limit: Duration,
        on: impl FnOnce(&Response<'_>) -> R,
    ) -> Result<R, PortError> {
        match self.read_if_any(doing, limit, on).await? {
            Some(answer) => Ok(answer),
            None => Err(self.broken(doing, "no answer in time")),
        }
    }

    /// As [`Wire::read`]; `None` when nothing came within `limit`.
    ///
    /// # Errors
    /// As [`Wire::read`].
    pub async fn read_if_any<R>(
        &mut self,
        doing: &str,
        limit: Duration,
        on: impl FnOnce(&Response<'_>) -> R,
    ) -> Result<Option<R>, PortError> {
        let mut read = None;
        for _ in 0..STRETCHES_MAX {
            let left = self.client.get_ref().left();
            // The parser has places that panic on odd answers (`INTERNALDATE NIL`, a code without a blank behind it).
            let next = AssertUnwindSafe(self.client.read_response()).catch_unwind();
            read = timeout(limit, next).await.ok();
            if read.is_some() || self.client.get_ref().left() == left {
                break;
            }
        }
        let Some(read) = read else { return Ok(None) };
        let cause = match read {
            Ok(Ok(Some(answer))) => match answer.parsed() {
                Response::Data { status: Status::Bye, outcome } => {
                    format!("the server closes the connection: {}", Refusal::of(&Status::Bye, outcome).text)
                }
                answer => return Ok(Some(on(answer))),
            },
            Ok(Ok(None)) => "the server closed the connection".to_owned(),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::Other => {
                self.garbled = true;
                status::garbage(&error)
            }
            Ok(Err(error)) => return Err(self.broken(doing, error)),
            Err(_panic) => {
                self.garbled = true;
                "the server's answer cannot be read".to_owned()
            }
        };
        Err(self.broken(doing, cause))
    }

    fn broken(
        &mut self,
        doing: &str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> PortError {
        self.dirty = true;
        PortError::caused(ErrorClass::NETWORK, doing, cause)
    }
}

/// The answer to the first part of a command.
#[derive(Debug)]
pub enum GoAhead {
    /// Send the rest.
    Yes,
    /// The command ended early; `None` is OK.
    Ended(Option<Refusal>),
}

/// Is this the end of the command `tag`? `Some(None)` is OK.
fn tagged(response: &Response<'_>, tag: &str) -> Option<Option<Refusal>> {
    match response {
        Response::Done { tag: got, status, outcome } if got.0 == tag => {
            Some((*status != Status::Ok).then(|| Refusal::of(status, outcome)))
        }
        _ => None,
    }
}

fn capability_word(capability: &Capability<'_>) -> String {
    match capability {
        Capability::Imap4rev1 => "IMAP4REV1".to_owned(),
        Capability::Auth(mechanism) => format!("AUTH={}", mechanism.to_ascii_uppercase()),
        Capability::Atom(word) => word.to_ascii_uppercase(),
    }
}

impl Refusal {
    /// From what the server said.
    #[must_use]
    pub fn of(status: &Status, outcome: &Outcome<'_>) -> Self {
        let text = outcome.information.as_deref().unwrap_or_default();
        let try_create = matches!(outcome.code, Some(ResponseCode::TryCreate));
        Self::new(*status == Status::Bad, if try_create { "TRYCREATE" } else { "" }, text)
    }
}
