//! The desktop this runs on: notifications over D-Bus, or through `osascript` on macOS. It only tells.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{Channel, ChannelContext, ChannelSpec, Heard, Hearing};
use crate::model::channel::Notice;
use crate::model::class::PortError;
use crate::unit::schema::KeyProblem;
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: ChannelSpec = ChannelSpec {
    name: "desktop",
    summary: "Notifications on the desktop of this machine",
    keys: &[],
    check: |settings| check(settings),
    build,
};

/// A desktop that does not answer by then is not there.
const PATIENCE: Duration = Duration::from_secs(10);

struct Desktop {
    context: ChannelContext,
}

fn check(_settings: &Settings) -> Vec<KeyProblem> {
    Vec::new()
}

fn build(context: ChannelContext) -> Result<Arc<dyn Channel>, PortError> {
    Ok(Arc::new(Desktop { context }))
}

impl Channel for Desktop {
    fn place(&self) -> String {
        "the desktop of this machine".to_owned()
    }

    fn hearing(&self) -> Hearing {
        Hearing::Deaf
    }

    fn tell<'a>(&'a self, notice: &'a Notice, _address: &'a str) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(system::show(&self.context, notice))
    }

    fn hear<'a>(
        &'a self,
        _cursor: Option<&'a str>,
        _wait: Duration,
    ) -> BoxFuture<'a, Result<Heard, PortError>> {
        Box::pin(async { Ok(Heard::default()) })
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;

    use zbus::Connection;
    use zbus::connection::Builder;
    use zbus::zvariant::Value;

    use super::PATIENCE;
    use crate::channel::ChannelContext;
    use crate::model::channel::Notice;
    use crate::model::class::{ErrorClass, PortError};
    use crate::model::environment::Environment;

    const NAME: &str = "org.freedesktop.Notifications";
    const PATH: &str = "/org/freedesktop/Notifications";

    pub(super) async fn show(context: &ChannelContext, notice: &Notice) -> Result<(), PortError> {
        let failed = |class, why: String| PortError::caused(class, "show a notification", why);
        let Some(address) = address(&context.environment) else {
            let why = "the session has no D-Bus (DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR)";
            return Err(failed(ErrorClass::Config, why.to_owned()));
        };
        match tokio::time::timeout(PATIENCE, notify(&address, notice)).await {
            Ok(Ok(())) => Ok(()),
            // Nobody is logged in, or no desktop shows notifications: later somebody may.
            Ok(Err(error)) => Err(failed(ErrorClass::NETWORK, error.to_string())),
            Err(_) => Err(failed(ErrorClass::NETWORK, "the desktop does not answer".to_owned())),
        }
    }

    fn address(environment: &Environment) -> Option<String> {
        let named = environment.get("DBUS_SESSION_BUS_ADDRESS").map(str::to_owned);
        named.or_else(|| Some(format!("unix:path={}/bus", environment.get("XDG_RUNTIME_DIR")?)))
    }

    async fn notify(address: &str, notice: &Notice) -> zbus::Result<()> {
        let bus = Builder::address(address)?.build().await?;
        let body = notice.body();
        let body = if takes_markup(&bus).await? { escaped(&body) } else { body };
        let (actions, hints): (Vec<&str>, HashMap<&str, Value<'_>>) = Default::default();
        let call = ("workagent", 0_u32, "mail-unread", notice.title.as_str(), body, actions, hints, -1_i32);
        bus.call_method(Some(NAME), PATH, Some(NAME), "Notify", &call).await?;
        bus.close().await
    }

    async fn takes_markup(bus: &Connection) -> zbus::Result<bool> {
        let answer = bus.call_method(Some(NAME), PATH, Some(NAME), "GetCapabilities", &()).await?;
        let all: Vec<String> = answer.body().deserialize()?;
        Ok(all.iter().any(|one| one == "body-markup"))
    }

    /// What strangers wrote is text, no markup.
    fn escaped(text: &str) -> String {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_bus_is_the_sessions() {
            let of = |pairs: &[(&str, &str)]| address(&Environment::of(pairs.iter().copied()));
            assert_eq!(of(&[]), None);
            assert_eq!(of(&[("XDG_RUNTIME_DIR", "/run/user/7")]).unwrap(), "unix:path=/run/user/7/bus");
            let both = [("XDG_RUNTIME_DIR", "/x"), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/y")];
            assert_eq!(of(&both).unwrap(), "unix:path=/y");
        }

        #[test]
        fn text_is_no_markup() {
            assert_eq!(escaped("<b>a & b</b>"), "&lt;b&gt;a &amp; b&lt;/b&gt;");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use tokio_util::sync::CancellationToken;

    use super::PATIENCE;
    use crate::channel::ChannelContext;
    use crate::model::channel::Notice;
    use crate::model::class::{ErrorClass, PortError};
    use crate::model::limits;
    use crate::process::{ChildEnd, ChildLimits, ChildSpec, env};

    pub(super) async fn show(context: &ChannelContext, notice: &Notice) -> Result<(), PortError> {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let script = format!(
            "display notification \"{}\" with title \"{}\"\n",
            quoted(&notice.body()),
            quoted(&notice.title)
        );
        let spec = ChildSpec {
            program: "/usr/bin/osascript".into(),
            args: vec!["-".into()],
            env: env::build(&context.environment, &[], context.secrets.as_ref()).await?,
            cwd: "/".into(),
            stdin: script.into_bytes(),
            limits: ChildLimits {
                first_output: PATIENCE,
                idle: PATIENCE,
                total: PATIENCE,
                line_bytes_max: limits::COMMAND_LINE_BYTES_MAX,
                stdout_bytes_max: limits::COMMAND_STDOUT_BYTES_MAX,
            },
        };
        let report = context.process.run(spec, &CancellationToken::new(), &mut |_| {}).await?;
        match report.end {
            ChildEnd::Exited(0) => Ok(()),
            _ => Err(PortError::caused(
                ErrorClass::NETWORK,
                "show a notification",
                "osascript did not end well; is somebody logged in?",
            )),
        }
    }
}
