//! Servers of mail providers by the address: the well-known ones by table, others guessed. No name is looked up; a login
//! shows whether it was right.

use super::draft::Connect;

/// A provider.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// The ends of its addresses.
    pub domains: &'static [&'static str],
    /// The IMAP server, on port 993 with TLS.
    pub imap: &'static str,
    /// The submission server.
    pub smtp: &'static str,
    /// Its port: 465 with TLS, 587 with STARTTLS.
    pub smtp_port: u16,
    /// What a person has to know before the password is asked for.
    pub note: &'static str,
}

const APP: &str = "wants a password made for one program, in the security settings of the account";

static PROVIDERS: [Provider; 12] = [
    Provider {
        domains: &["gmail.com", "googlemail.com"],
        imap: "imap.gmail.com",
        smtp: "smtp.gmail.com",
        smtp_port: 465,
        note: "wants an app password: myaccount.google.com/apppasswords (needs 2-step verification)",
    },
    Provider {
        domains: &["outlook.com", "hotmail.com", "live.com", "msn.com"],
        imap: "outlook.office365.com",
        smtp: "smtp-mail.outlook.com",
        smtp_port: 587,
        note: "takes no passwords over IMAP, only OAuth tokens: give `token` in the unit by hand instead",
    },
    Provider {
        domains: &["icloud.com", "me.com", "mac.com"],
        imap: "imap.mail.me.com",
        smtp: "smtp.mail.me.com",
        smtp_port: 587,
        note: "wants an app-specific password: account.apple.com, Sign-In and Security",
    },
    Provider {
        domains: &["fastmail.com", "fastmail.fm"],
        imap: "imap.fastmail.com",
        smtp: "smtp.fastmail.com",
        smtp_port: 465,
        note: "wants an app password: Settings, Privacy & Security",
    },
    Provider {
        domains: &["yahoo.com", "ymail.com"],
        imap: "imap.mail.yahoo.com",
        smtp: "smtp.mail.yahoo.com",
        smtp_port: 465,
        note: APP,
    },
    Provider {
        domains: &["gmx.de", "gmx.net", "gmx.at", "gmx.ch"],
        imap: "imap.gmx.net",
        smtp: "mail.gmx.net",
        smtp_port: 465,
        note: "lets programs in only after IMAP was switched on in its settings",
    },
    Provider {
        domains: &["web.de"],
        imap: "imap.web.de",
        smtp: "smtp.web.de",
        smtp_port: 587,
        note: "lets programs in only after IMAP was switched on in its settings",
    },
    Provider {
        domains: &["mailbox.org"],
        imap: "imap.mailbox.org",
        smtp: "smtp.mailbox.org",
        smtp_port: 465,
        note: "",
    },
    Provider {
        domains: &["posteo.de", "posteo.net"],
        imap: "posteo.de",
        smtp: "posteo.de",
        smtp_port: 465,
        note: "",
    },
    Provider {
        domains: &["zoho.com", "zohomail.com"],
        imap: "imap.zoho.com",
        smtp: "smtp.zoho.com",
        smtp_port: 465,
        note: APP,
    },
    Provider { domains: &["aol.com"], imap: "imap.aol.com", smtp: "smtp.aol.com", smtp_port: 465, note: APP },
    Provider {
        domains: &["yandex.com", "yandex.ru", "ya.ru"],
        imap: "imap.yandex.com",
        smtp: "smtp.yandex.com",
        smtp_port: 465,
        note: APP,
    },
];

/// The provider of an address, if it is one of the well-known.
#[must_use]
pub fn provider(address: &str) -> Option<&'static Provider> {
    let (_, domain) = address.rsplit_once('@')?;
    let domain = domain.to_ascii_lowercase();
    PROVIDERS.iter().find(|provider| provider.domains.contains(&domain.as_str()))
}

/// Its servers must be asked for: the provider is not known, or others were said before.
#[must_use]
pub fn is_unknown(connect: &Connect) -> bool {
    let known = connect.text("user").and_then(|user| provider(&user));
    known.is_none_or(|provider| connect.text("host").is_some_and(|host| host != provider.imap))
}

/// `imap.example.org` for `me@example.org`.
#[must_use]
pub fn imap_guess(connect: &Connect) -> Option<String> {
    let user = connect.text("user")?;
    let (_, domain) = user.rsplit_once('@')?;
    Some(format!("imap.{domain}"))
}

/// `smtp.` where the other is called `imap.`, else the same server.
#[must_use]
pub fn smtp_guess(connect: &Connect) -> Option<String> {
    let host = connect.text("host")?;
    Some(host.strip_prefix("imap.").map_or_else(|| host.clone(), |rest| format!("smtp.{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::init::guides::by_word;

    fn check(address: &str, unknown: bool, imap: &str, smtp: &str) {
        let mut connect = Connect::new(by_word("mail").unwrap(), "inbox");
        connect.put("user", address);
        assert_eq!(is_unknown(&connect), unknown, "{address}");
        let guess = imap_guess(&connect).unwrap_or_default();
        connect.put("host", &guess);
        assert_eq!((guess.as_str(), smtp_guess(&connect).unwrap_or_default().as_str()), (imap, smtp));
    }

    #[test]
    fn servers_are_known_or_guessed_from_the_address() {
        check("me@example.org", true, "imap.example.org", "smtp.example.org");
        assert_eq!(provider("Me@GMail.com").unwrap().imap, "imap.gmail.com");
        assert_eq!(provider("me@notgmail.com"), None);
        assert_eq!(provider("me"), None);
        let mut connect = Connect::new(by_word("mail").unwrap(), "inbox");
        connect.put("user", "me@gmail.com");
        assert!(!is_unknown(&connect));
        connect.put("host", "imap.elsewhere.org");
        assert!(is_unknown(&connect));
        connect.put("host", "mail.example.org");
        assert_eq!(smtp_guess(&connect).as_deref(), Some("mail.example.org"));
    }
}
