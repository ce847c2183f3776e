//! What is known of platforms: where their servers are, and the least that a connector needs.

use url::Url;

use super::client::Flow;
use crate::unit::value::Settings;

/// A platform's own.
pub struct Preset {
    /// The platform's name in the catalog.
    pub platform: &'static str,
    /// The vendor's hosts, with those below them; a unit with another base URL has a server of its own.
    pub hosts: &'static [&'static str],
    /// Usual way.
    pub flow: Flow,
    /// Where codes for devices are given; empty: it gives none.
    pub device_url: &'static str,
    /// Where a browser is sent.
    pub authorize_url: &'static str,
    /// Where tokens are given.
    pub token_url: &'static str,
    /// What a connector needs.
    pub scopes: &'static [&'static str],
    /// Between scopes.
    pub separator: &'static str,
    /// Further parameters of the page that a browser is sent to.
    pub parameters: &'static [(&'static str, &'static str)],
}

const BLANK: &str = " ";

/// By the names of platforms.
pub static PRESETS: [Preset; 5] = [
    Preset {
        platform: "github",
        hosts: &["github.com"],
        flow: Flow::Device,
        device_url: "https://github.com/login/device/code",
        authorize_url: "https://github.com/login/oauth/authorize",
        token_url: "https://github.com/login/oauth/access_token",
        scopes: &["notifications", "repo"],
        separator: BLANK,
        parameters: &[],
    },
    Preset {
        platform: "gitlab",
        hosts: &["gitlab.com"],
        flow: Flow::Device,
        device_url: "https://gitlab.com/oauth/authorize_device",
        authorize_url: "https://gitlab.com/oauth/authorize",
        token_url: "https://gitlab.com/oauth/token",
        scopes: &["api"],
        separator: BLANK,
        parameters: &[],
    },
    Preset {
        platform: "jira",
        hosts: &["atlassian.net", "atlassian.com"],
        flow: Flow::Browser,
        device_url: "",
        authorize_url: "https://auth.atlassian.com/authorize",
        token_url: "https://auth.atlassian.com/oauth/token",
        scopes: &["read:jira-work", "write:jira-work", "read:jira-user", "offline_access"],
        separator: BLANK,
        parameters: &[("audience", "api.atlassian.com"), ("prompt", "consent")],
    },
    Preset {
        platform: "linear",
        hosts: &["linear.app"],
        flow: Flow::Browser,
        device_url: "",
        authorize_url: "https://linear.app/oauth/authorize",
        token_url: "https://api.linear.app/oauth/token",
        scopes: &["read", "comments:create"],
        separator: ",",
        parameters: &[],
    },
    Preset {
        platform: "slack",
        hosts: &["slack.com"],
        flow: Flow::Browser,
        device_url: "",
        authorize_url: "https://slack.com/oauth/v2/authorize",
        token_url: "https://slack.com/api/oauth.v2.access",
        scopes: &["channels:history", "channels:read", "chat:write", "im:history", "im:read", "users:read"],
        separator: ",",
        parameters: &[],
    },
];

/// A platform that is not among them: the unit says everything.
pub static UNKNOWN: Preset = Preset {
    platform: "",
    hosts: &[],
    flow: Flow::Browser,
    device_url: "",
    authorize_url: "",
    token_url: "",
    scopes: &[],
    separator: BLANK,
    parameters: &[],
};

impl Preset {
    /// The connector's own table names a server that is not the vendor's: nothing is known of where that logs people in,
    /// and the vendor must not hear of it.
    #[must_use]
    pub fn is_elsewhere(&self, own: &Settings) -> bool {
        let named = ["base_url", "url"].into_iter().find_map(|key| own.text(key));
        let host = named.and_then(|text| Url::parse(text).ok()?.host_str().map(str::to_owned));
        let is_vendors = |host: &str| {
            self.hosts.iter().any(|vendor| host == *vendor || host.ends_with(&format!(".{vendor}")))
        };
        host.is_some_and(|host| !is_vendors(&host))
    }
}
