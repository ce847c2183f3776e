//! THE table of platforms, engines and channels. A new one is one line here, beside its own folder or file, its shipped unit
//! file in `units/` and its fixtures.

use crate::channel::ChannelSpec;
use crate::engine::EngineSpec;
use crate::model::class::PortError;
use crate::platform::{PlatformSpec, oauth};
use crate::unit::registry::{ChannelView, EngineView, PlatformView, Registry, ShippedUnit};

/// Everything that units can name.
#[derive(Clone, Copy)]
pub struct Catalog {
    /// Platforms of connectors.
    pub platforms: &'static [&'static PlatformSpec],
    /// Engines.
    pub engines: &'static [&'static EngineSpec],
    /// Channels.
    pub channels: &'static [&'static ChannelSpec],
}

/// Makes the catalog and the table of shipped unit files from one list, so that neither can miss a row of the other.
macro_rules! catalog {
    (
        platforms: { $($platform:ident,)* }
        engines: { $($engine:ident = $engine_file:literal,)* }
        channels: { $($channel:ident,)* }
        runtimes: { $($runtime:ident,)* }
        targets: { $($target:ident,)* }
    ) => {
        /// The catalog of this build.
        pub static CATALOG: Catalog = Catalog {
            platforms: &[$(&crate::platform::$platform::SPEC,)*],
            engines: &[$(&crate::engine::$engine::SPEC,)*],
            channels: &[$(&crate::channel::$channel::SPEC,)*],
        };

        /// The unit files in the binary, the lowest level of the search path.
        static SHIPPED: &[ShippedUnit] = &[
            $(shipped!(concat!(stringify!($platform), ".connector.toml")),)*
            $(shipped!(concat!($engine_file, ".engine.toml")),)*
            $(shipped!(concat!(stringify!($channel), ".channel.toml")),)*
            $(shipped!(concat!(stringify!($runtime), ".runtime.toml")),)*
            $(shipped!(concat!(stringify!($target), ".target.toml")),)*
            shipped!("workagent.daemon.toml"),
        ];
    };
}

macro_rules! shipped {
    ($file:expr) => {
        ShippedUnit { file: $file, text: include_str!(concat!("../units/", $file)) }
    };
}

catalog! {
    platforms: {
        caldav,
        command,
        directory,
        feed,
        github,
        gitlab,
        imap,
        jira,
        linear,
        maildir,
        matrix,
        mcp,
        slack,
    }
    engines: {
        claude = "claude",
        codex = "codex",
        template = "template",
        command = "command",
        acp = "acp",
        openai_chat = "openai-chat",
        anthropic = "anthropic",
        openai_responses = "openai-responses",
        gemini = "gemini",
    }
    channels: {
        command,
        desktop,
        matrix,
        ntfy,
        telegram,
    }
    runtimes: {
        sync,
        ingest,
        worker,
        review,
        outbound,
        pending,
        scheduler,
        rotation,
        onboarding,
    }
    targets: {
        default,
        offline,
        safe,
    }
}

impl Catalog {
    /// A platform by its word.
    #[must_use]
    pub fn platform(&self, name: &str) -> Option<&'static PlatformSpec> {
        self.platforms.iter().copied().find(|spec| spec.name == name)
    }

    /// An engine by its word.
    #[must_use]
    pub fn engine(&self, name: &str) -> Option<&'static EngineSpec> {
        self.engines.iter().copied().find(|spec| spec.name == name)
    }

    /// A channel by its word.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&'static ChannelSpec> {
        self.channels.iter().copied().find(|spec| spec.name == name)
    }

    /// What the compiler of units needs to know of it, and the unit files in the binary.
    #[must_use]
    pub fn registry(&self) -> Registry {
        Registry {
            platforms: self.platforms.iter().map(|spec| platform_view(spec)).collect(),
            engines: self.engines.iter().map(|spec| engine_view(spec)).collect(),
            channels: self.channels.iter().map(|spec| channel_view(spec)).collect(),
            shipped: SHIPPED,
        }
    }
}

fn platform_view(spec: &'static PlatformSpec) -> PlatformView {
    PlatformView {
        name: spec.name,
        summary: spec.summary,
        keys: spec.keys,
        every_min_s: spec.every_min_s,
        every_default_s: spec.every_default_s,
        guarantee: spec.guarantee,
        check: spec.check,
        login: |platform, own, oauth| oauth::Client::of(platform, own, oauth).err().map(cause),
    }
}

/// What is wrong, without what was being done.
fn cause(error: PortError) -> String {
    error.source.map_or(error.doing, |source| source.to_string())
}

fn engine_view(spec: &'static EngineSpec) -> EngineView {
    EngineView {
        name: spec.name,
        summary: spec.summary,
        keys: spec.keys,
        check: spec.check,
        is_local: spec.is_local,
        needs_model: spec.needs_model,
    }
}

fn channel_view(spec: &'static ChannelSpec) -> ChannelView {
    ChannelView { name: spec.name, summary: spec.summary, keys: spec.keys, check: spec.check }
}
