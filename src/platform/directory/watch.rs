//! Waiting for something to happen in the folder, without looking at it again and again.

use std::path::Path;

use crate::model::class::PortError;

/// Resolves when a name that counts has come or a file was written. `look` is called once the watch stands; `true`
/// from it means that something happened before.
#[cfg(target_os = "linux")]
pub async fn change(path: &Path, look: impl FnOnce() -> bool + Send) -> Result<(), PortError> {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use tokio::io::unix::AsyncFd;

    use super::scan::ignored;
    use crate::model::class::ErrorClass;

    let fault = |error: std::io::Error| {
        PortError::caused(ErrorClass::NETWORK, format!("watch {}", path.display()), error)
    };
    let descriptor =
        init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(|error| fault(error.into()))?;
    let what = WatchFlags::CLOSE_WRITE
        | WatchFlags::MOVED_TO
        | WatchFlags::CREATE
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    add_watch(&descriptor, path, what).map_err(|error| fault(error.into()))?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe for types that swap their descriptor; this one cannot"
    )]
    let descriptor = AsyncFd::new(descriptor).map_err(fault)?;
    if look() {
        return Ok(());
    }
    loop {
        let mut ready = descriptor.readable().await.map_err(fault)?;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(descriptor.get_ref(), &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let lost = event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::IGNORED);
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    if lost || !name.is_some_and(ignored) {
                        return Ok(());
                    }
                }
                Err(rustix::io::Errno::WOULDBLOCK) => break,
                Err(error) => return Err(fault(error.into())),
            }
        }
        ready.clear_ready();
    }
}

/// Elsewhere the schedule does.
#[cfg(not(target_os = "linux"))]
pub async fn change(_path: &Path, _look: impl FnOnce() -> bool + Send) -> Result<(), PortError> {
    std::future::pending().await
}
