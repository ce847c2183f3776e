//! Who we are, who others are, which conversations there are.

use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::SlackConnector;
use super::memory::{Channel, Me, Memory};
use super::position::CHANNELS_MAX;
use super::wire::{Conversation, listed};
use crate::model::class::{ErrorClass, PortError};
use crate::model::text::one_line;

/// Whose token it is hardly changes.
const ME_AGE_MAX: Duration = Duration::from_secs(3600);

/// A new conversation is met after at most so long; with the socket, at once.
const LISTING_AGE_MAX: Duration = Duration::from_secs(300);

/// Pages of a listing: 200 conversations each.
const LISTING_PAGES_MAX: usize = 10;

/// Names asked for in one round; the others show as ids until the next.
const NAMES_ASKED_MAX: usize = 20;

impl SlackConnector {
    /// By `auth.test`, remembered for a while and as long as the token is the same: what another account can see goes with
    /// it. The workspace must be the unit's.
    pub(super) async fn me(&self) -> Result<Me, PortError> {
        let (now, mark) = (self.client.api().now(), self.client.api().token_mark().await?);
        {
            let mut memory = self.memory();
            if memory.mark != mark {
                *memory = Memory::under(mark);
            }
            if let Some((me, at)) = &memory.me
                && now.since(*at) < ME_AGE_MAX
            {
                return Ok(me.clone());
            }
        }
        let reply = self.client.read("auth.test", &[]).await.map_err(PortError::from);
        if reply.as_ref().is_err_and(|error| error.class == ErrorClass::Auth) {
            self.memory().me = None;
        }
        let reply = reply?;
        let part = |name: &str| reply.body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let url = part("url");
        let host =
            url.parse::<Url>().ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let named = host.split('.').next().unwrap_or_default();
        if !named.eq_ignore_ascii_case(&self.workspace) && part("team_id") != self.workspace {
            let why = format!(
                "the token belongs to the workspace {}, not to {}",
                one_line(named, 80),
                self.workspace
            );
            return Err(PortError::caused(ErrorClass::Config, "see whose token it is", why));
        }
        if part("user_id").is_empty() {
            let why = "Slack did not say who we are";
            return Err(PortError::caused(ErrorClass::NETWORK, "see whose token it is", why));
        }
        let me = Me {
            user: part("user_id"),
            bot: part("bot_id"),
            name: one_line(&part("user"), 200),
            workspace: self.workspace.clone(),
            url: one_line(&url, 300),
        };
        self.memory().me = Some((me.clone(), now));
        Ok(me)
    }

    /// Lists the conversations anew, if that is due. `true`: it was done.
    pub(super) async fn list(&self) -> Result<bool, PortError> {
        let now = self.client.api().now();
        let unknown = {
            let memory = self.memory();
            memory.hints.keys().any(|target| !memory.channels.contains_key(&target.channel))
        };
        let fresh = self.memory().listed_at.is_some_and(|at| now.since(at) < LISTING_AGE_MAX);
        if fresh && !unknown {
            return Ok(false);
        }
        let kinds = self.kinds.join(",");
        let mut cursor = String::new();
        let mut found = Vec::new();
        for _ in 0..LISTING_PAGES_MAX {
            let arguments = [
                ("types", kinds.as_str()),
                ("exclude_archived", "true"),
                ("limit", "200"),
                ("cursor", &cursor),
            ];
            let arguments = if cursor.is_empty() { &arguments[..3] } else { &arguments[..] };
            let reply = self.client.read("users.conversations", arguments).await?;
            let (list, next) = listed(&reply.body, "channels");
            found.extend(list.iter().filter_map(|value| serde_json::from_value(value.clone()).ok()));
            match next {
                Some(next) if next != cursor && !list.is_empty() => cursor = next,
                _ => break,
            }
        }
        let mut channels: Vec<Channel> = found.into_iter().filter_map(conversation).collect();
        channels.retain(|channel| self.wants(channel));
        let mut memory = self.memory();
        if channels.len() > CHANNELS_MAX {
            memory.notes.insert(format!(
                "{} conversations: {CHANNELS_MAX} of them are read; name those of interest in `channels`",
                channels.len()
            ));
            // Direct ones first: what is said there is said to us.
            channels.sort_by_key(|channel| !channel.is_direct());
            channels.truncate(CHANNELS_MAX);
        }
        memory.channels = channels.into_iter().map(|channel| (channel.id.clone(), channel)).collect();
        memory.listed_at = Some(now);
        let known: Vec<String> = memory.channels.keys().cloned().collect();
        memory.hints.retain(|target, _| known.contains(&target.channel));
        Ok(true)
    }

    fn wants(&self, channel: &Channel) -> bool {
        let named = |wish: &String| {
            let wish = wish.trim_start_matches(['#', '@']);
            wish == channel.id || wish.eq_ignore_ascii_case(&channel.name)
        };
        self.only.is_empty() || self.only.iter().any(named)
    }

    /// Looks up the names of people that are not known yet, as far as a round allows.
    pub(super) async fn learn(&self, users: Vec<String>) -> Result<(), PortError> {
        let mut unknown: Vec<String> = Vec::new();
        {
            let memory = self.memory();
            if memory.nameless {
                return Ok(());
            }
            for user in users {
                if !memory.names.contains_key(&user) && !unknown.contains(&user) {
                    unknown.push(user);
                }
            }
        }
        for user in unknown.into_iter().take(NAMES_ASKED_MAX) {
            match self.client.read("users.info", &[("user", &user)]).await {
                Ok(reply) => {
                    let shown = [
                        "/user/profile/display_name",
                        "/user/profile/real_name",
                        "/user/real_name",
                        "/user/name",
                    ];
                    let name = shown
                        .iter()
                        .filter_map(|place| reply.body.pointer(place).and_then(Value::as_str))
                        .find(|name| !name.trim().is_empty());
                    let name = one_line(name.unwrap_or(&user), 200);
                    self.memory().learn(user, name);
                }
                Err(refusal) if refusal.word == "missing_scope" => {
                    let mut memory = self.memory();
                    memory.nameless = true;
                    memory
                        .notes
                        .insert("names of people are not shown: the app has not the scope users:read".into());
                    return Ok(());
                }
                // A person who cannot be seen stays an id; so does everybody while Slack is asked too much.
                Err(refusal) if refusal.is_of_one_place() => self.memory().learn(user.clone(), user),
                Err(refusal) if refusal.error.class == ErrorClass::Auth => return Err(refusal.error),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

fn conversation(found: Conversation) -> Option<Channel> {
    let id = found.id.filter(|id| !id.is_empty() && id.len() <= 40 && !found.is_archived)?;
    let kind = match (found.is_im, found.is_mpim) {
        (true, _) => "im",
        (_, true) => "mpim",
        _ => "channel",
    };
    let name = found.name.or(found.user).unwrap_or_default();
    Some(Channel { id, name: one_line(&name, 100), kind: kind.to_owned() })
}
