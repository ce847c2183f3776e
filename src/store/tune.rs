//! The C allocator under SQLite.

/// Lets the C heap keep freed memory up to 64 MiB: SQLite's short-lived trees make its top shrink and grow with a
/// system call at every claim otherwise, which more than doubles the cost of one. Once, at process start.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "mallopt has no safe wrapper; it takes two integers and may be called at any time"
)]
pub fn tune_allocator() {
    const KEPT_BYTES_MAX: libc::c_int = 64 * 1024 * 1024;
    // SAFETY: mallopt takes integers, touches only the allocator's own settings under its own lock.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES_MAX);
    }
}

/// Other allocators need nothing.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn tune_allocator() {}
