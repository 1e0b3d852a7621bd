//! The weights of the linear blends, all in one place.

/// Weights of the three blends: words, lines and directories.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    pub(crate) frecency: f32,
    pub(crate) place: f32,
    pub(crate) native: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            frecency: 1.0,
            place: 1.0,
            native: 1e-4,
        }
    }
}
