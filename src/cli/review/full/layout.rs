//! Which part of the screen is what.

/// From here on the queue stands beside the draft.
const WIDE: u16 = 110;

/// Smaller ones show nothing that could be decided on.
const MIN: (u16, u16) = (30, 8);

/// The parts, in columns and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Columns of the screen.
    pub width: usize,
    /// Lines of the screen.
    pub height: usize,
    /// Columns of the queue beside the draft; 0: it stands above.
    pub beside: usize,
    /// Lines of the queue above the draft.
    pub above: usize,
    /// Columns of the draft.
    pub sheet_width: usize,
    /// Lines of the draft.
    pub sheet_height: usize,
}

impl Layout {
    /// For a screen of this size; `queued` drafts, and whether a line tells of sends. `None`: too small.
    pub(super) fn new(size: (u16, u16), queued: usize, sends: bool) -> Option<Self> {
        if size.0 < MIN.0 || size.1 < MIN.1 {
            return None;
        }
        let (width, height) = (usize::from(size.0), usize::from(size.1));
        let beside = if size.0 >= WIDE { (width / 3).clamp(36, 48) } else { 0 };
        let most = match height {
            0..16 => 1,
            16..30 => 3,
            _ => 6,
        };
        let above = if beside > 0 { 0 } else { queued.clamp(1, most) };
        // The bar above; what is said and the keys below.
        let middle = height - 3 - usize::from(sends);
        Some(Self {
            width,
            height,
            beside,
            above,
            // A column each side of the line between.
            sheet_width: if beside > 0 { width - beside - 3 } else { width },
            sheet_height: middle - above,
        })
    }

    /// Lines of the queue.
    pub(super) fn queue_height(&self) -> usize {
        if self.beside > 0 { self.sheet_height } else { self.above }
    }
}
