//! One typing error: a letter wrong, missing, too many, or two swapped (one
//! step of the optimal string alignment distance), the first letter right.

/// Shorter text has too many neighbours.
pub(super) const SHORTEST: usize = 3;

/// Whether `typed` becomes a prefix of `name` by mending one error.
///
/// An error at the very end says nothing on its own (`sra` would be one away
/// from every name in `sr…`), so there the whole name has to fit.
pub(super) fn is_one_off<T: Copy + PartialEq + Fold>(typed: &[T], name: &[T], fold: bool) -> bool {
    let same = |a: T, b: T| a == b || (fold && a == b.fold());
    let starts = |typed: &[T], name: &[T]| {
        typed.len() <= name.len() && typed.iter().zip(name).all(|(a, b)| same(*a, *b))
    };
    if typed.len() < SHORTEST {
        return false;
    }
    let equal = typed
        .iter()
        .zip(name)
        .take_while(|(a, b)| same(**a, **b))
        .count();
    if equal == 0 || equal == typed.len() {
        return false;
    }
    let (typed, name) = (&typed[equal..], &name[equal..]);
    if typed.len() == 1 {
        return name.len() <= 1;
    }
    let swapped = name.len() >= 2
        && same(typed[0], name[1])
        && same(typed[1], name[0])
        && starts(&typed[2..], &name[2..]);
    let wrong = !name.is_empty() && starts(&typed[1..], &name[1..]);
    let missing = name.len() > 1 && starts(typed, &name[1..]);
    let extra = starts(&typed[1..], name);
    swapped || wrong || missing || extra
}

/// Lower case of one unit of text.
pub(super) trait Fold {
    fn fold(self) -> Self;
}

impl Fold for u8 {
    fn fold(self) -> Self {
        self.to_ascii_lowercase()
    }
}

impl Fold for char {
    fn fold(self) -> Self {
        let mut lower = self.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(char), None) => char,
            _ => self,
        }
    }
}
