//! `[oauth]` of connectors: the user's own client at a platform, for `workagent secret login`.

use crate::unit::schema::{KeySpec, TableSpec, ValueType};

/// Its name.
pub(crate) const NAME: &str = "oauth";

/// The table.
pub(crate) const CONNECTOR: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "client_id",
            ValueType::Text,
            "The id of the client that you registered at the platform",
        ),
        KeySpec::new("client_secret", ValueType::Secret, "Its secret, where the platform gave one"),
        KeySpec::new(
            "scopes",
            ValueType::List,
            "What the token may do; absent: the least the connector needs",
        ),
        KeySpec::new(
            "flow",
            ValueType::Choice(&["device", "browser"]),
            "`device` shows a code to type on any device; `browser` comes back to this machine. Absent: the platform's own",
        ),
        KeySpec::new(
            "device_url",
            ValueType::Url,
            "Where codes for devices are given; for servers of your own",
        ),
        KeySpec::new("authorize_url", ValueType::Url, "Where the browser is sent; for servers of your own"),
        KeySpec::new("token_url", ValueType::Url, "Where tokens are given; for servers of your own"),
        KeySpec::new(
            "parameters",
            ValueType::EnvMap,
            "Further parameters of the page that the browser is sent to",
        ),
        KeySpec::new(
            "redirect_host",
            ValueType::Choice(&["127.0.0.1", "localhost"]),
            "How this machine is called in the address that the browser comes back to; absent: 127.0.0.1",
        ),
        KeySpec::new(
            "redirect_port",
            ValueType::Integer { min: 0, max: 65_535 },
            "The port in that address, where the platform wants it registered; absent: any free one",
        ),
    ],
    "The client that you registered at the platform, for `workagent secret login`.",
);
