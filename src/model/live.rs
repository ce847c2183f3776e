//! A value that is replaced while others read it: what a reload hands to runtimes that go on.

use std::sync::{Arc, PoisonError, RwLock};

/// The present version of something. Cheap to clone; clones are the same place. Whoever took a version keeps it, so work
/// that began with one ends with it.
#[derive(Debug)]
pub struct Live<T>(Arc<RwLock<Arc<T>>>);

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Live<T> {
    /// With a first version.
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// The present version.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces it for whoever asks from now on.
    pub fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_took_a_version_keeps_it() {
        let live = Live::new(1);
        let (taken, same) = (live.get(), live.clone());
        same.set(2);
        assert_eq!((*taken, *live.get()), (1, 2));
    }
}
