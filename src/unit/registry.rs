//! What the compiler knows of platforms and engines: plain views, filled from the catalog, so that this room needs
//! none of their types.

use super::schema::{KeyProblem, KeySpec};
use super::value::Settings;
use crate::model::outbound::Guarantee;

/// Everything that units can name.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Platforms of connectors.
    pub platforms: Vec<PlatformView>,
    /// Engines.
    pub engines: Vec<EngineView>,
    /// Channels.
    pub channels: Vec<ChannelView>,
    /// The unit files in the binary.
    pub shipped: &'static [ShippedUnit],
}

/// A platform as the compiler sees it.
#[derive(Clone, Copy, Debug)]
pub struct PlatformView {
    /// The word in `[connector] platform`, and the name of its own table.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Shortest sensible time between two polls, seconds.
    pub every_min_s: u64,
    /// The default of `[schedule] every`, seconds.
    pub every_default_s: u64,
    /// What is promised of its replies after a lost answer.
    pub guarantee: Guarantee,
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// What `[oauth]` lacks for a login at this platform, by its name, its own table and that one. Pure.
    pub login: fn(&str, &Settings, &Settings) -> Option<String>,
}

/// An engine as the compiler sees it.
#[derive(Clone, Copy, Debug)]
pub struct EngineView {
    /// The word in `[engine] engine`, and the name of its own table.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// Stays on this machine with these settings. Pure.
    pub is_local: fn(&Settings) -> bool,
    /// `[engine] model` must be given.
    pub needs_model: bool,
}

/// A channel as the compiler sees it.
#[derive(Clone, Copy, Debug)]
pub struct ChannelView {
    /// The word in `[channel] channel`, and the name of its own table.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
}

/// A unit file in the binary.
#[derive(Clone, Copy, Debug)]
pub struct ShippedUnit {
    /// `imap.connector.toml`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Registry {
    /// A platform by its word.
    #[must_use]
    pub fn platform(&self, name: &str) -> Option<&PlatformView> {
        self.platforms.iter().find(|view| view.name == name)
    }

    /// An engine by its word.
    #[must_use]
    pub fn engine(&self, name: &str) -> Option<&EngineView> {
        self.engines.iter().find(|view| view.name == name)
    }

    /// A channel by its word.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&ChannelView> {
        self.channels.iter().find(|view| view.name == name)
    }
}
