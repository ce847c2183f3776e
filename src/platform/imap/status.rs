//! What the refusals of an IMAP server mean (RFC 3501, RFC 5530, and what servers say in words).

use crate::model::class::{ErrorClass, PortError};
use crate::model::text;

/// Words of a server kept for people.
const WORDS_BYTES_MAX: usize = 200;

/// A NO, BAD or BYE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// BAD: the command was not understood.
    pub bad: bool,
    /// The response code without brackets and arguments, upper case, or empty.
    pub code: String,
    /// One clean line for people.
    pub text: String,
}

impl Refusal {
    /// `code` as parsed; where it is empty, a code may still stand in front of the text.
    #[must_use]
    pub fn new(bad: bool, code: &str, said: &str) -> Self {
        let in_text = said.strip_prefix('[').and_then(|rest| rest.split([']', ' ']).next());
        let code = if code.is_empty() { in_text.unwrap_or_default() } else { code };
        Self { bad, code: code.to_ascii_uppercase(), text: text::one_line(said, WORDS_BYTES_MAX) }
    }
}

/// The error of a refused command that is not a login.
#[must_use]
pub fn refused(doing: &str, refusal: &Refusal) -> PortError {
    let class = match refusal.code.as_str() {
        "AUTHENTICATIONFAILED" | "AUTHORIZATIONFAILED" | "EXPIRED" => ErrorClass::Auth,
        "NONEXISTENT" | "TRYCREATE" | "OVERQUOTA" | "NOPERM" | "CANNOT" => ErrorClass::Config,
        _ => ErrorClass::NETWORK,
    };
    PortError::caused(class, doing, format!("the server says: {}", refusal.text))
}

/// The error of a refused login. Only a real "no" to the credentials is of class `Auth`: a server that is busy says
/// NO as well, and nobody shall lose a password for that.
#[must_use]
pub fn login_refused(doing: &str, refusal: &Refusal) -> PortError {
    let words = refusal.text.to_ascii_lowercase();
    let class = match refusal.code.as_str() {
        "UNAVAILABLE" | "INUSE" | "LIMIT" | "SERVERBUG" => ErrorClass::NETWORK,
        "PRIVACYREQUIRED" => ErrorClass::Config,
        "AUTHENTICATIONFAILED" | "AUTHORIZATIONFAILED" | "EXPIRED" => ErrorClass::Auth,
        _ if ["too many", "try again", "temporar", "internal error"]
            .iter()
            .any(|hint| words.contains(hint)) =>
        {
            ErrorClass::NETWORK
        }
        _ if refusal.bad => ErrorClass::Config,
        _ => ErrorClass::Auth,
    };
    PortError::caused(class, doing, format!("the server says: {}", refusal.text))
}

/// What an error of the parser tells people: not the whole buffer, which may hold mail.
#[must_use]
pub fn garbage(error: &std::io::Error) -> String {
    let shown = error.to_string();
    if shown.contains("during parsing of") {
        "the server's answer cannot be read".to_owned()
    } else {
        text::one_line(&shown, WORDS_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, login: &str, other: &str) {
        let refusal = Refusal::new(false, "", said);
        let words = (login_refused("x", &refusal).class.word(), refused("x", &refusal).class.word());
        assert_eq!(words, (login, other), "{said}");
    }

    #[test]
    fn only_a_real_no_is_about_credentials() {
        check("[AUTHENTICATIONFAILED] Authentication failed.", "auth", "auth");
        check("[authorizationfailed] no", "auth", "auth");
        check("Login failed", "auth", "network");
        check("Too many simultaneous connections. (Failure)", "network", "network");
        check("[UNAVAILABLE] Temporary authentication failure", "network", "network");
        check("[LIMIT] slow down", "network", "network");
        check("[NONEXISTENT] Mailbox doesn't exist: x", "auth", "config");
        check("[TRYCREATE] no such mailbox", "auth", "config");
        check("[OVERQUOTA] full", "auth", "config");
    }

    #[test]
    fn the_servers_words_become_one_clean_line() {
        let refusal = Refusal::new(false, "", &format!("no\u{1b}[31m\0 {}", "x".repeat(500)));
        let shown = crate::model::class::chain(&refused("open the mailbox", &refusal));
        assert!(shown.starts_with("open the mailbox: the server says: no[31m x"), "{shown}");
        assert!(shown.len() < 300);
    }
}
