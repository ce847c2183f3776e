//! Submission of one mail over a connection of its own (RFC 6409), driven step by step, so that an error is known to
//! lie before or behind the moment from which the mail may be on its way.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::{Response, Severity};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_util::either::Either;

use super::net::{self, Metered, Stream};
use super::spec::{Endpoint, Login, Security};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits::SMTP_ANSWERS_BYTES_MAX;
use crate::model::text;
use crate::platform::mail::compose::Recipients;
use crate::secret::SecretValue;

/// A polite end may take so long; the mail is sent either way.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a submission server, logged in.
pub struct Submission {
    connection: AsyncSmtpConnection,
    endpoint: Endpoint,
    limit: Duration,
}

/// How far an exchange came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Greeting, EHLO, STARTTLS.
    Greeting,
    /// AUTH.
    Login,
    /// MAIL, RCPT, DATA: nothing of the mail has left.
    Envelope,
    /// The mail leaves, or left.
    Content,
}

impl Submission {
    /// Connects and logs in.
    ///
    /// # Errors
    /// `Network`, `Auth`, `Config`; never `Uncertain`.
    pub async fn open(
        endpoint: &Endpoint,
        login: &Login,
        secret: &SecretValue,
        tls: Arc<ClientConfig>,
        limit: Duration,
    ) -> Result<Self, PortError> {
        let tcp = net::connect(endpoint, limit).await?;
        let (stream, greeted) = match endpoint.security {
            Security::Tls => (net::protect(tcp, endpoint, tls, limit).await?, false),
            Security::None => (Either::Left(tcp), false),
            Security::StartTls => (start_tls(Either::Left(tcp), endpoint, tls, limit).await?, true),
        };
        let connection = hello(Handle::new(stream, greeted), endpoint, limit).await?;
        let mut submission = Self { connection, endpoint: endpoint.clone(), limit };
        submission.log_in(login, secret).await?;
        Ok(submission)
    }

    async fn log_in(&mut self, login: &Login, secret: &SecretValue) -> Result<(), PortError> {
        let doing = format!("log in to {} as {}", self.endpoint, login.user);
        let credentials = Credentials::new(login.user.clone(), secret.expose_to_the_wire().to_owned());
        let mechanisms: &[Mechanism] = if login.oauth { &[Mechanism::Xoauth2] } else { DEFAULT_MECHANISMS };
        let server = self.connection.server_info();
        if server.get_auth_mechanism(mechanisms).is_none() {
            return Err(PortError::caused(
                ErrorClass::Config,
                doing,
                "the server does not take this kind of login",
            ));
        }
        let auth = self.connection.auth(mechanisms, &credentials);
        outcome(Stage::Login, &doing, timeout(self.limit, auth).await)?;
        Ok(())
    }

    /// Sends a mail. What the server said to it: `250 2.0.0 Ok: queued as 4XyZ`.
    ///
    /// # Errors
    /// `Network`, `Auth`, `Permanent`: surely not sent. `Uncertain`: perhaps.
    pub async fn send(
        &mut self,
        to: &Recipients,
        mail: &[u8],
        last_limit: Duration,
    ) -> Result<String, PortError> {
        let doing = format!("send mail over {}", self.endpoint);
        let from = address(&doing, &to.from)?;
        let recipients = to.to.iter().map(|to| address(&doing, to)).collect::<Result<Vec<_>, _>>()?;
        let parameters = self.parameters(&doing, [&from].into_iter().chain(&recipients), mail)?;
        let command = self.connection.command(Mail::new(Some(from), parameters));
        outcome(Stage::Envelope, &doing, timeout(self.limit, command).await)?;
        for recipient in recipients {
            // One refused recipient: nobody gets it. A mail that went to some of them could not be sent again.
            let doing = format!("{doing} to {recipient}");
            let command = self.connection.command(Rcpt::new(recipient, Vec::new()));
            outcome(Stage::Envelope, &doing, timeout(self.limit, command).await)?;
        }
        let command = self.connection.command(Data);
        let go_ahead = outcome(Stage::Envelope, &doing, timeout(self.limit, command).await)?;
        if !go_ahead.has_code(354) {
            return Err(PortError::caused(ErrorClass::NETWORK, doing, shown(&go_ahead)));
        }
        // The end mark begins with a line end of its own.
        let mail = mail.strip_suffix(b"\r\n").unwrap_or(mail);
        let content = self.connection.message(mail);
        let said = outcome(Stage::Content, &doing, timeout(last_limit, content).await)?;
        if said.code().severity != Severity::PositiveCompletion {
            return Err(PortError::caused(ErrorClass::Uncertain, doing, shown(&said)));
        }
        Ok(shown(&said))
    }

    fn parameters<'a>(
        &self,
        doing: &str,
        mut addresses: impl Iterator<Item = &'a Address>,
        mail: &[u8],
    ) -> Result<Vec<MailParameter>, PortError> {
        let server = self.connection.server_info();
        let mut parameters = Vec::new();
        if addresses.any(|address| !AsRef::<str>::as_ref(address).is_ascii()) {
            if !server.supports_feature(Extension::SmtpUtfEight) {
                let why = "the server does not take addresses with letters beyond ASCII";
                return Err(PortError::caused(ErrorClass::Permanent, doing, why));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        if !mail.is_ascii() && server.supports_feature(Extension::EightBitMime) {
            parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        Ok(parameters)
    }

    /// Says goodbye; whether the server minds does not matter any more.
    pub async fn close(mut self) {
        let _ = timeout(QUIT_TIMEOUT, self.connection.quit()).await;
    }
}

fn address(doing: &str, text: &str) -> Result<Address, PortError> {
    text.parse().map_err(|error| PortError::caused(ErrorClass::Permanent, doing, error))
}

async fn hello(
    handle: Handle,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<AsyncSmtpConnection, PortError> {
    let doing = format!("greet {endpoint}");
    let me = ClientId::default();
    let connect = AsyncSmtpConnection::connect_with_transport(Box::new(handle), &me);
    outcome(Stage::Greeting, &doing, timeout(limit, connect).await)
}

/// STARTTLS. The plain connection's reader is thrown away with all it holds, and the conversation begins anew inside
/// TLS: lettre's own STARTTLS keeps what was buffered before the handshake.
async fn start_tls(
    stream: Stream,
    endpoint: &Endpoint,
    tls: Arc<ClientConfig>,
    limit: Duration,
) -> Result<Stream, PortError> {
    let doing = format!("start TLS with {endpoint}");
    let handle = Handle::new(stream, false);
    let mut plain = hello(handle.clone(), endpoint, limit).await?;
    if !plain.can_starttls() {
        return Err(PortError::caused(ErrorClass::Config, doing, "the server does not offer STARTTLS"));
    }
    outcome(Stage::Greeting, &doing, timeout(limit, plain.command(Starttls)).await)?;
    match handle.take() {
        Some(Either::Left(tcp)) => net::protect(tcp, endpoint, tls, limit).await,
        _ => Err(PortError::new(ErrorClass::Bug, doing)),
    }
}

/// The result of one step: an answer, or an error whose class says what is known of the mail.
fn outcome<T>(
    stage: Stage,
    doing: &str,
    result: Result<Result<T, SmtpError>, tokio::time::error::Elapsed>,
) -> Result<T, PortError> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let said = text::one_line(&error.to_string(), 300);
            Err(PortError::caused(class(stage, code(&error), error.is_client(), &said), doing, said))
        }
        Err(_) => Err(PortError::caused(class(stage, None, false, ""), doing, "no answer in time")),
    }
}

/// The three digits of a 4xx or 5xx answer; `None` for anything that is not an answer.
fn code(error: &SmtpError) -> Option<u16> {
    error.status().and_then(|code| code.to_string().parse().ok())
}

/// What a failed step means. The table of the library's outcomes does not matter here: before the content any failure
/// means "not sent", and behind its beginning only a well-formed refusal does.
fn class(stage: Stage, code: Option<u16>, by_us: bool, said: &str) -> ErrorClass {
    let credentials = matches!(code, Some(432 | 530 | 534 | 535 | 538))
        || ["5.7.8", "5.7.9", "5.7.30"].iter().any(|status| said.contains(status));
    match (stage, code) {
        (Stage::Content, None) => ErrorClass::Uncertain,
        (_, Some(400..=499)) if !credentials => ErrorClass::NETWORK,
        (_, Some(_)) if credentials => ErrorClass::Auth,
        (Stage::Login, Some(_)) => ErrorClass::Auth,
        // XOAUTH2: the refusal comes as a challenge, which the library takes for its own mistake.
        (Stage::Login, None) if by_us => ErrorClass::Auth,
        (Stage::Envelope | Stage::Content, Some(_)) => ErrorClass::Permanent,
        (Stage::Greeting | Stage::Login | Stage::Envelope, _) => ErrorClass::NETWORK,
    }
}

fn shown(response: &Response) -> String {
    let words = response.message().collect::<Vec<_>>().join(" ");
    text::one_line(&format!("{} {words}", response.code()), 300)
}

/// A stream that can be taken back from the library. Behind STARTTLS it plays the greeting that the library waits for
/// and the server has given already.
#[derive(Clone, Debug)]
struct Handle(Arc<Mutex<Slot>>);

#[derive(Debug)]
struct Slot {
    greeting: &'static [u8],
    stream: Option<Metered>,
}

impl Handle {
    fn new(stream: Stream, greeted: bool) -> Self {
        let mut metered = Metered::new(stream);
        metered.allow(SMTP_ANSWERS_BYTES_MAX);
        let greeting: &[u8] = if greeted { b"220 go on\r\n" } else { b"" };
        Self(Arc::new(Mutex::new(Slot { greeting, stream: Some(metered) })))
    }

    fn take(&self) -> Option<Stream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stream.take().map(Metered::into_inner)
    }

    fn with<R>(
        &self,
        poll: impl FnOnce(Pin<&mut Metered>, &mut &'static [u8]) -> Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Slot { greeting, stream } = &mut *slot;
        match stream {
            Some(stream) => poll(Pin::new(stream), greeting),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl AsyncRead for Handle {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|stream, greeting| {
            if greeting.is_empty() {
                return stream.poll_read(cx, buf);
            }
            let (now, later) = greeting.split_at(buf.remaining().min(greeting.len()));
            buf.put_slice(now);
            *greeting = later;
            Poll::Ready(Ok(()))
        })
    }
}

impl AsyncWrite for Handle {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|stream, _| stream.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream, _| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream, _| stream.poll_shutdown(cx))
    }
}

impl AsyncTokioStream for Handle {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stage: Stage, code: Option<u16>, said: &str, expected: &str) {
        assert_eq!(class(stage, code, false, said).word(), expected, "{stage:?} {code:?} {said}");
    }

    #[test]
    fn before_the_content_nothing_is_uncertain() {
        for stage in [Stage::Greeting, Stage::Login, Stage::Envelope] {
            check(stage, None, "incomplete response", "network");
            check(stage, Some(421), "", "network");
        }
        check(Stage::Login, Some(535), "", "auth");
        check(Stage::Login, Some(454), "", "network");
        check(Stage::Greeting, Some(554), "", "network");
        check(Stage::Envelope, Some(530), "", "auth");
        check(Stage::Envelope, Some(550), "5.7.30 Basic authentication is not supported", "auth");
        check(Stage::Envelope, Some(550), "5.1.1 no such user", "permanent");
    }

    #[test]
    fn behind_its_beginning_only_a_refusal_is_certain() {
        check(Stage::Content, Some(451), "", "network");
        check(Stage::Content, Some(552), "", "permanent");
        check(Stage::Content, None, "incomplete response", "uncertain");
    }
}
