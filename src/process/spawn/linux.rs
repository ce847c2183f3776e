//! By `posix_spawn`, which does not copy our memory maps as a fork does: the larger the daemon, the more a fork costs
//! (10 ms at a gigabyte), and it holds up every thread that touches memory meanwhile. The standard library takes this
//! way too, but not for a child that shall have a session of its own.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use rustix::process::Pid;
use zeroize::Zeroizing;

use crate::process::tree::MARK;
use crate::process::{ChildSpec, EnvValue};

/// Starts it with these as its standard descriptors.
pub(super) fn launch(program: &Path, spec: &ChildSpec, mark: &str, theirs: [OwnedFd; 3]) -> io::Result<Pid> {
    let path = text(program.as_os_str())?;
    let args = spec.args.iter().map(|arg| text(arg)).collect::<io::Result<Vec<CString>>>()?;
    let argv: Vec<&CStr> = std::iter::once(&path).chain(&args).map(CString::as_c_str).collect();
    let env = variables(spec, mark)?;
    let env = env.iter().map(|variable| c_str(variable)).collect::<io::Result<Vec<&CStr>>>()?;
    let mut actions = Actions::new()?;
    for (place, descriptor) in (0..).zip(&theirs) {
        actions.give(descriptor, place)?;
    }
    actions.change_dir(&text(spec.cwd.as_os_str())?)?;
    let attributes = Attributes::new()?;
    seal();
    let (argv, env) = (pointers(&argv), pointers(&env));
    let mut pid = 0;
    #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
    // SAFETY: both lists end with a null pointer and point to strings that live until the call is over; the actions
    // and attributes are initialised.
    let code = unsafe {
        libc::posix_spawn(&mut pid, path.as_ptr(), &actions.0, &attributes.0, argv.as_ptr(), env.as_ptr())
    };
    done(code)?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("no such number"))
}

/// `NAME=value` and a NUL each; wiped when they are no longer needed, since some are secret.
fn variables(spec: &ChildSpec, mark: &str) -> io::Result<Vec<Zeroizing<Vec<u8>>>> {
    let one = |name: &str, value: &[u8]| {
        // A whole capacity from the start: a vector that grows leaves its old bytes behind.
        let mut variable = Zeroizing::new(Vec::with_capacity(name.len() + value.len() + 2));
        variable.extend_from_slice(name.as_bytes());
        variable.push(b'=');
        variable.extend_from_slice(value);
        variable.push(0);
        variable
    };
    let given = spec.env.0.iter().filter(|(name, _)| *name != MARK).map(|(name, value)| match value {
        EnvValue::Plain(value) => one(name, value.as_bytes()),
        EnvValue::Secret(value) => one(name, value.expose_to_the_wire().as_bytes()),
    });
    Ok(given.chain([one(MARK, mark.as_bytes())]).collect())
}

fn text(given: &OsStr) -> io::Result<CString> {
    CString::new(given.as_bytes()).map_err(|_| nul())
}

fn c_str(bytes: &[u8]) -> io::Result<&CStr> {
    CStr::from_bytes_with_nul(bytes).map_err(|_| nul())
}

fn nul() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in an argument or in the environment")
}

/// As C takes a list: with a null pointer at its end.
fn pointers(texts: &[&CStr]) -> Vec<*mut c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// Ours are close-on-exec already; this is for those that whoever started the daemon left open. Kernels before 5.11
/// answer with an error, which is fine.
fn seal() {
    #[expect(unsafe_code, reason = "close_range has no safe form")]
    // SAFETY: only marks descriptors, touches no memory.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}

/// These calls return the error instead of setting `errno`.
fn done(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// What happens in the child before the program is there.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: the call initialises what it is given, or fails.
        unsafe {
            done(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    /// The descriptor becomes the child's `place`. It is never that number itself: 0 to 2 are open in every Rust
    /// program from its start.
    fn give(&mut self, descriptor: &OwnedFd, place: i32) -> io::Result<()> {
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: the actions are initialised; the descriptor is open until the child is started.
        done(unsafe { libc::posix_spawn_file_actions_adddup2(&mut self.0, descriptor.as_raw_fd(), place) })
    }

    fn change_dir(&mut self, directory: &CStr) -> io::Result<()> {
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: the actions are initialised; the text is copied by the call.
        done(unsafe { libc::posix_spawn_file_actions_addchdir_np(&mut self.0, directory.as_ptr()) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: initialised in `new`, destroyed once.
        unsafe {
            libc::posix_spawn_file_actions_destroy(&mut self.0);
        }
    }
}

/// A session of its own, no blocked signal, and SIGPIPE as a program expects it (ours is ignored).
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let signals = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        let flags = i32::from(libc::POSIX_SPAWN_SETSID) | signals;
        let mut attributes = MaybeUninit::uninit();
        let (mut none, mut pipe) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: each call initialises what it is given before it is used, or fails.
        unsafe {
            done(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let mut attributes = Self(attributes.assume_init());
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigemptyset(pipe.as_mut_ptr());
            libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
            done(libc::posix_spawnattr_setsigmask(&mut attributes.0, none.as_ptr()))?;
            done(libc::posix_spawnattr_setsigdefault(&mut attributes.0, pipe.as_ptr()))?;
            // Small numbers that C keeps in a short.
            let flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
            done(libc::posix_spawnattr_setflags(&mut attributes.0, flags))?;
            Ok(attributes)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "posix_spawn has no safe form")]
        // SAFETY: initialised in `new`, destroyed once.
        unsafe {
            libc::posix_spawnattr_destroy(&mut self.0);
        }
    }
}
