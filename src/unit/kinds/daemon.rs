//! `workagent.daemon.toml`: the daemon's own settings.

use std::time::Duration;

use crate::model::keep::Keep;
use crate::unit::kinds::{money, secret};
use crate::unit::plan::{DaemonUnit, LogSettings, OtlpSettings, WebSettings};
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::value::Settings;

/// The one name.
pub(crate) const NAME: &str = "workagent";

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec::new("daemon", DAEMON, "Mode and limits."),
        money::DAEMON_BUDGET,
        TableSpec::new("store", STORE, "Where the record is kept."),
        secret::DAEMON,
        TableSpec::new("log", LOG, "What is logged."),
        TableSpec::new(
            "otlp",
            OTLP,
            "The log, and jobs and sends as traces, for an OpenTelemetry collector too.",
        ),
        TableSpec::new("web", WEB, "The page, for a browser on this machine."),
        TableSpec::new("trust", TRUST, "Whom routes take for known."),
    ],
    enabled: true,
    doc: "The daemon's own settings.",
};

const DAEMON: &[KeySpec] = &[
    KeySpec::new(
        "mode",
        ValueType::Choice(&["live", "rehearsal"]),
        "Rehearsal reads for real and sends nothing",
    )
    .default("\"live\""),
    KeySpec::new(
        "workers",
        ValueType::Integer { min: 1, max: 256 },
        "Cases worked on at once, over all engines",
    )
    .default("4"),
    KeySpec::new("senders", ValueType::Integer { min: 1, max: 64 }, "Sends at once").default("2"),
    KeySpec::new("stop_timeout", ValueType::Duration { min_s: 1, max_s: 3600 }, "Time for an orderly stop")
        .default("\"20s\""),
];

const STORE: &[KeySpec] = &[
    KeySpec::new(
        "path",
        ValueType::Path,
        "The database file; `workagent.db` in the state directory by default",
    )
    .at_start(),
    KeySpec::new(
        "synchronous",
        ValueType::Choice(&["full", "normal"]),
        "`full` survives a loss of power; `normal` may lose the last moment before one",
    )
    .default("\"full\"")
    .at_start(),
    KeySpec::new(
        "keep_texts",
        ValueType::Duration { min_s: DAY_S, max_s: CENTURY_S },
        "Texts of items, drafts and sends stay for so long after their case is over; absent: for ever",
    ),
    KeySpec::new(
        "keep_journal",
        ValueType::Duration { min_s: DAY_S, max_s: CENTURY_S },
        "Lines of the journal, likewise",
    ),
    KeySpec::new(
        "keep_runs",
        // Budgets of a month are counted from them.
        ValueType::Duration { min_s: 62 * DAY_S, max_s: CENTURY_S },
        "Runs and what they cost, likewise",
    ),
    KeySpec::new(
        "backup_every",
        ValueType::Duration { min_s: 3600, max_s: 366 * DAY_S },
        "Time between two backups that the daemon makes by itself, in `backups` in the state directory; absent: none",
    ),
    KeySpec::new("backups", ValueType::Integer { min: 1, max: 1000 }, "Of these, so many are kept")
        .default("7"),
];

const DAY_S: u64 = 86_400;

const CENTURY_S: u64 = 36_525 * DAY_S;

const LOG: &[KeySpec] = &[
    KeySpec::new(
        "level",
        ValueType::LogFilter,
        "`off`, `error`, `warn`, `info`, `debug` or `trace`; with others for single units and parts of the program, as in \
         `info,inbox.connector=debug,workagent::store=trace`",
    )
    .default("\"info\""),
    KeySpec::new(
        "format",
        ValueType::Choice(&["text", "json"]),
        "Lines for people, or one JSON object a line; the journal has its fields anyway",
    )
    .default("\"text\"")
    .at_start(),
    KeySpec::new(
        "file",
        ValueType::Path,
        "Write the log to this file instead of standard error or the journal; it is rotated, 20 MB in all",
    )
    .at_start(),
];

const OTLP: &[KeySpec] = &[
    KeySpec::new(
        "endpoint",
        ValueType::Url,
        "Where it listens for OTLP over HTTP; `/v1/logs` and `/v1/traces` are put behind. Absent: nothing is sent",
    ),
    KeySpec::new("token", ValueType::Secret, "Sent as `Authorization: Bearer`"),
];

const WEB: &[KeySpec] = &[
    KeySpec::new(
        "enabled",
        ValueType::Bool,
        "Listen on 127.0.0.1 all the time; `workagent open` works without it too",
    )
    .default("false"),
    KeySpec::new(
        "port",
        ValueType::Integer { min: 0, max: 65_535 },
        "The port; 0: any that is free, told by `workagent open`",
    )
    .default("0"),
];

const TRUST: &[KeySpec] = &[
    KeySpec::new("own", ValueType::List, "Your own addresses, or globs: `trust = [\"own\"]` of routes"),
    KeySpec::new(
        "known",
        ValueType::List,
        "Addresses that count as known although nothing was sent to them yet, or globs such as `*@example.org`",
    ),
];

/// The unit of the plan, from checked values; tables that are absent give the defaults.
pub(crate) fn build(table: impl Fn(&str) -> Settings) -> DaemonUnit {
    let (daemon, store, log) = (table("daemon"), table("store"), table("log"));
    let (trust, web, otlp) = (table("trust"), table("web"), table("otlp"));
    let number = |key, default| daemon.integer(key).and_then(|n| usize::try_from(n).ok()).unwrap_or(default);
    DaemonUnit {
        rehearsal: daemon.text("mode") == Some("rehearsal"),
        workers: number("workers", 4),
        senders: number("senders", 2),
        budget: money::budget(&table(money::BUDGET)),
        stop_timeout: daemon.duration("stop_timeout").unwrap_or(Duration::from_secs(20)),
        store_path: store.path("path").cloned(),
        store_normal: store.text("synchronous") == Some("normal"),
        keep: Keep {
            texts: store.duration("keep_texts"),
            journal: store.duration("keep_journal"),
            runs: store.duration("keep_runs"),
            backup_every: store.duration("backup_every"),
            backups: store.integer("backups").and_then(|n| usize::try_from(n).ok()).unwrap_or(7),
        },
        log: LogSettings {
            filter: log.text("level").and_then(|text| text.parse().ok()).unwrap_or_default(),
            json: log.text("format") == Some("json"),
            file: log.path("file").cloned(),
        },
        otlp: OtlpSettings {
            endpoint: otlp.text("endpoint").map(str::to_owned),
            token: otlp.secret("token").cloned(),
        },
        secrets: secret::defaults(&table(secret::DAEMON.name)),
        web: WebSettings {
            enabled: web.flag("enabled"),
            port: web.integer("port").and_then(|port| u16::try_from(port).ok()).unwrap_or(0),
        },
        own: trust.list("own").to_vec(),
        known: trust.list("known").to_vec(),
    }
}
