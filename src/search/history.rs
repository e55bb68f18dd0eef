use crate::types::{Color, Move};

/// Largest value of an entry.
const LIMIT: i32 = 16_384;

/// How well quiet moves did in other places of the tree, by side, from and to (the butterfly board).
#[derive(Clone, Debug)]
pub struct Butterfly(Box<[[[i16; 64]; 64]; 2]>);

impl Butterfly {
    pub fn new() -> Self {
        Self(Box::new([[[0; 64]; 64]; 2]))
    }

    #[inline]
    pub fn get(&self, side: Color, mv: Move) -> i32 {
        self.0[side][mv.from()][mv.to()].into()
    }

    /// Moves an entry towards the limit, or its negative, by a share that falls as it nears it.
    #[inline]
    pub fn update(&mut self, side: Color, mv: Move, bonus: i32) {
        let entry = &mut self.0[side][mv.from()][mv.to()];
        let value = i32::from(*entry);
        *entry = (value + bonus - value * bonus.abs() / LIMIT) as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MoveKind, Square};

    #[test]
    fn stays_within_the_limit() {
        let mv = Move::new(Square::E2, Square::E4, MoveKind::DoublePush);
        let mut butterfly = Butterfly::new();
        for bonus in [2000, -2000] {
            for _ in 0..100 {
                butterfly.update(Color::White, mv, bonus);
            }
            let value = butterfly.get(Color::White, mv);
            assert!(value.abs() <= LIMIT && value.signum() == bonus.signum());
        }
        assert_eq!(butterfly.get(Color::Black, mv), 0);
    }
}
