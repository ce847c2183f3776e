//! What is asked for each platform: few keys, and where what is asked for comes from. Types, defaults and help of a key
//! stand in the platform's own table; facts about tokens and their least rights in the documentation of each vendor.

use super::draft::Connect;
use super::mail_hosts;

/// One platform as a person names it.
#[derive(Debug)]
pub struct Guide {
    /// The word that is typed.
    pub what: &'static str,
    /// The platform.
    pub platform: &'static str,
    /// The usual name of its unit.
    pub unit: &'static str,
    /// For the heading and the unit's description.
    pub title: &'static str,
    /// What is needed and where it is made, with the least rights.
    pub needs: &'static str,
    /// The keys that are asked for, in order.
    pub asks: &'static [Ask],
    /// The key that says whose account it is.
    pub account: &'static str,
}

/// One key that is asked for.
#[derive(Debug)]
pub struct Ask {
    /// The key in the platform's own table.
    pub key: &'static str,
    /// The question, without what stands in brackets.
    pub question: &'static str,
    /// What Enter takes, where nothing was said before.
    pub usual: fn(&Connect) -> Option<String>,
    /// Enter alone may leave it out.
    pub optional: bool,
    /// Asked at all.
    pub shown: fn(&Connect) -> bool,
}

const fn ask(key: &'static str, question: &'static str) -> Ask {
    Ask { key, question, usual: |_| None, optional: false, shown: |_| true }
}

impl Ask {
    const fn usual(mut self, usual: fn(&Connect) -> Option<String>) -> Self {
        self.usual = usual;
        self
    }

    const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    const fn shown(mut self, shown: fn(&Connect) -> bool) -> Self {
        self.shown = shown;
        self
    }
}

/// By the words that are typed, in the order in which they are offered.
pub static GUIDES: [Guide; 11] = [
    Guide {
        what: "mail",
        platform: "imap",
        unit: "inbox",
        title: "mail",
        needs: "Your address and a password. Many providers want a password made for one program (an \"app password\").",
        asks: &[
            ask("user", "Your mail address"),
            ask("host", "IMAP server").usual(mail_hosts::imap_guess).shown(mail_hosts::is_unknown),
            ask("smtp_host", "SMTP server for replies, - for none")
                .usual(mail_hosts::smtp_guess)
                .shown(mail_hosts::is_unknown),
            ask("ca_file", "A PEM file with the certificate to trust")
                .optional()
                .shown(|connect| connect.wants_ca),
            ask("password", "Password"),
        ],
        account: "user",
    },
    Guide {
        what: "github",
        platform: "github",
        unit: "github",
        title: "GitHub",
        needs: "A classic token (github.com/settings/tokens): scope `notifications`, and `repo` to read and answer in \
                private repositories (`public_repo`: in public ones only). The inbox takes no fine-grained token.",
        asks: &[ask("login", "Your login, without @"), ask("token", "Token")],
        account: "login",
    },
    Guide {
        what: "gitlab",
        platform: "gitlab",
        unit: "gitlab",
        title: "GitLab",
        needs: "A personal access token (Preferences, Access tokens): scope `read_api` to read only, `api` to answer too.",
        asks: &[
            ask("url", "Server").usual(|_| Some("https://gitlab.com".to_owned())),
            ask("user", "Your user name"),
            ask("token", "Token"),
        ],
        account: "user",
    },
    Guide {
        what: "jira",
        platform: "jira",
        unit: "jira",
        title: "Jira",
        needs: "An API token (id.atlassian.com, Security): scopes `read:jira-work`, `read:jira-user`, and to answer \
                `write:jira-work`. One with scopes wants the site https://api.atlassian.com/ex/jira/CLOUDID. Tokens end \
                after a year at the latest.",
        asks: &[
            ask("url", "Your site, https://NAME.atlassian.net"),
            ask("email", "The address of your Atlassian account"),
            ask("token", "API token"),
        ],
        account: "email",
    },
    Guide {
        what: "linear",
        platform: "linear",
        unit: "linear",
        title: "Linear",
        needs: "A personal API key (Settings, Security & access), limited to \"Read\" for the inbox and \"Create \
                comments\" to answer; \"Write\" only for state, assignee and labels.",
        asks: &[ask("workspace", "Workspace, as in linear.app/WORKSPACE"), ask("key", "API key")],
        account: "workspace",
    },
    Guide {
        what: "slack",
        platform: "slack",
        unit: "slack",
        title: "Slack",
        needs: "An app of your own (api.slack.com/apps), user token: scopes channels:history, channels:read, \
                groups:history, groups:read, im:history, im:read, mpim:history, mpim:read, users:read; to answer \
                chat:write. For news at once an app-level token with connections:write.",
        asks: &[
            ask("workspace", "Workspace, as in WORKSPACE.slack.com"),
            ask("token", "Token, xoxp-…"),
            ask("app_token", "App-level token, xapp-…").optional(),
        ],
        account: "workspace",
    },
    Guide {
        what: "matrix",
        platform: "matrix",
        unit: "matrix",
        title: "Matrix",
        needs: "An access token of a device of its own: log in once for it, and do not log that device out. Encrypted \
                rooms are not read.",
        asks: &[
            ask("user", "Your user id, @name:server"),
            ask("homeserver", "The server's client API").usual(|connect| {
                let user = connect.text("user")?;
                let (_, server) = user.split_once(':')?;
                Some(format!("https://{server}"))
            }),
            ask("token", "Access token"),
        ],
        account: "user",
    },
    Guide {
        what: "caldav",
        platform: "caldav",
        unit: "calendar",
        title: "calendar (CalDAV)",
        needs: "The server's address and a password, best one made for this program.",
        asks: &[ask("url", "Server, https://…"), ask("user", "Login name"), ask("password", "Password")],
        account: "user",
    },
    Guide {
        what: "feed",
        platform: "feed",
        unit: "feed",
        title: "feed",
        needs: "An address of RSS, Atom or JSON Feed. Nothing can be answered there.",
        asks: &[ask("url", "Address of the feed")],
        account: "url",
    },
    Guide {
        what: "folder",
        platform: "directory",
        unit: "folder",
        title: "folder",
        needs: "A folder into which files are dropped; an answer becomes a file.",
        asks: &[
            ask("path", "Folder to read").usual(|_| Some("~/Inbox".to_owned())),
            ask("out", "Folder for answers").optional(),
        ],
        account: "path",
    },
    Guide {
        what: "maildir",
        platform: "maildir",
        unit: "maildir",
        title: "local mail (Maildir)",
        needs: "A Maildir on this machine, and your own addresses.",
        asks: &[
            ask("path", "The Maildir").usual(|_| Some("~/Maildir".to_owned())),
            ask("address", "Your own addresses, with commas between"),
            ask("out", "A Maildir for replies").optional(),
        ],
        account: "path",
    },
];

/// The guide for a word.
#[must_use]
pub fn by_word(word: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.what == word)
}

/// The guide for a platform.
#[must_use]
pub fn by_platform(platform: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.platform == platform)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;
    use crate::unit::schema::ValueType;

    /// Their mappings are written by hand; nobody answers that in a dialogue.
    const BY_HAND: [&str; 2] = ["command", "mcp"];

    #[test]
    fn every_platform_has_a_guide_and_asks_for_what_it_must() {
        for spec in CATALOG.platforms {
            let Some(guide) = by_platform(spec.name) else {
                assert!(BY_HAND.contains(&spec.name), "{} has no guide", spec.name);
                continue;
            };
            let asked: Vec<&str> = guide.asks.iter().map(|ask| ask.key).collect();
            for key in spec.keys.iter().filter(|key| key.required) {
                assert!(asked.contains(&key.name), "{}: {} is not asked for", spec.name, key.name);
            }
            for key in asked.iter().chain([&guide.account]) {
                assert!(spec.keys.iter().any(|spec| spec.name == *key), "{}: no key {key}", spec.name);
            }
        }
    }

    #[test]
    fn the_account_is_known_before_the_secret_that_is_named_by_it() {
        for guide in &GUIDES {
            let spec = CATALOG.platform(guide.platform).unwrap();
            let place = |wanted: &dyn Fn(&Ask) -> bool| guide.asks.iter().position(wanted);
            let is_secret =
                |ask: &Ask| spec.keys.iter().any(|key| key.name == ask.key && key.value == ValueType::Secret);
            if let Some(secret) = place(&is_secret) {
                assert!(place(&|ask| ask.key == guide.account).unwrap() < secret, "{}", guide.what);
            }
        }
    }
}
