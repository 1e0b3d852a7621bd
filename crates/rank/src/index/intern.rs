//! Byte strings, each kept once, known by a number.

/// Stands for "no number" in every column of the index.
pub(crate) const NONE: u32 = u32::MAX;
/// A slot whose string was taken out.
const GONE: u32 = u32::MAX - 1;

/// Interned byte strings: one arena, one offset per string, one open-addressing table.
///
/// About `len + 12` bytes per string. Numbers are given in order from 0 and are never given again.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    arena: Vec<u8>,
    ends: Vec<u32>,
    slots: Vec<u32>,
    /// Slots that are not `NONE`.
    filled: usize,
}

impl Interner {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.arena.capacity() + 4 * (self.ends.capacity() + self.slots.capacity())
    }

    pub(crate) fn text(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 {
            0
        } else {
            self.ends[id - 1] as usize
        };
        &self.arena[start..self.ends[id] as usize]
    }

    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        self.slot_of(text).map(|slot| self.slots[slot])
    }

    /// The number of `text`, new or old. `None` when 4 GiB of text are held already.
    pub(crate) fn intern(&mut self, text: &[u8]) -> Option<u32> {
        if let Some(id) = self.get(text) {
            return Some(id);
        }
        let end = u32::try_from(self.arena.len() + text.len()).ok()?;
        let id = u32::try_from(self.ends.len())
            .ok()
            .filter(|id| *id < GONE)?;
        if (self.filled + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        reserve_tight(&mut self.arena, text.len());
        self.arena.extend_from_slice(text);
        push_tight(&mut self.ends, end);
        self.place(id, hash(text));
        Some(id)
    }

    /// Takes a string out and overwrites its bytes; its number then stands for zero bytes.
    pub(crate) fn wipe(&mut self, id: u32) {
        let text = self.text(id).to_vec();
        if let Some(slot) = self.slot_of(&text) {
            self.slots[slot] = GONE;
        }
        let end = self.ends[id as usize] as usize;
        self.arena[end - text.len()..end].fill(0);
    }

    fn slot_of(&self, text: &[u8]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(text) as usize & mask;
        loop {
            match self.slots[slot] {
                NONE => return None,
                GONE => {}
                id if self.text(id) == text => return Some(slot),
                _ => {}
            }
            slot = (slot + 1) & mask;
        }
    }

    fn place(&mut self, id: u32, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != NONE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = id;
        self.filled += 1;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let old = std::mem::replace(&mut self.slots, vec![NONE; size]);
        self.filled = 0;
        for id in old.into_iter().filter(|id| *id < GONE) {
            self.place(id, hash(self.text(id)));
        }
    }
}

/// FNV-1a over 8 bytes at a time, with a final mix (the multiplier is that of 64-bit FNV).
pub(crate) fn hash(text: &[u8]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut chunks = text.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        state = (state ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23);
    }
    for byte in chunks.remainder() {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state ^= state >> 29;
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (state >> 32)
}

/// Pushes, growing by an eighth instead of doubling: a million rows must not hold room for two.
pub(crate) fn push_tight<T>(column: &mut Vec<T>, value: T) {
    reserve_tight(column, 1);
    column.push(value);
}

fn reserve_tight<T>(column: &mut Vec<T>, more: usize) {
    if column.capacity() - column.len() < more {
        column.reserve_exact(more + column.len() / 8 + 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_number() {
        let mut interner = Interner::default();
        for round in 0..2 {
            for i in 0..1000_u32 {
                let text = format!("command number {i}");
                assert_eq!(interner.intern(text.as_bytes()), Some(i), "round {round}");
            }
        }
        assert_eq!(interner.text(999), b"command number 999");
        assert_eq!(interner.get(b"command number 1000"), None);
    }

    #[test]
    fn a_wiped_string_is_gone_and_others_stay() {
        let mut interner = Interner::default();
        let secret = interner.intern(b"secret").unwrap();
        let other = interner.intern(b"other").unwrap();
        interner.wipe(secret);
        assert_eq!(interner.get(b"secret"), None);
        assert_eq!(interner.get(b"other"), Some(other));
        assert_eq!(interner.text(secret), &[0; 6]);
        assert!(interner.intern(b"secret").unwrap() > other);
    }
}
