//! Working memory.

/// Floats at the start of a line of the cache: a whole vector then never lies in two.
#[derive(Default)]
pub(crate) struct Buffer {
    data: Vec<f32>,
}

/// Floats in a line.
const LINE: usize = 16;

impl Buffer {
    /// Makes room for `len` numbers, whose values do not matter.
    pub(crate) fn room(&mut self, len: usize) -> &mut [f32] {
        if self.data.len() < len + LINE {
            self.data.resize(len + LINE, 0.0);
        }
        let skip = self.skip();
        &mut self.data[skip..skip + len]
    }

    /// What was written to [`Self::room`], which was at least as long.
    pub(crate) fn first(&self, len: usize) -> &[f32] {
        let skip = self.skip();
        &self.data[skip..skip + len]
    }

    fn skip(&self) -> usize {
        self.data.as_ptr().align_offset(4 * LINE).min(LINE)
    }
}
