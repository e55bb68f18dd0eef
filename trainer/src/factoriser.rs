//! The factoriser: parts of feature weights that several features share.
//!
//! A feature is a piece on a square, in a king bucket and a threat state. Most of what it is worth does not depend on
//! all of these, so its weights are the sum of its own and of parts that it shares with other features. All parts are
//! learnt, rare features mostly by those that they share, and the asset has only the sums.

use crate::network::{Row, TILE, Tensor, add};

/// Squares of a plane.
const SQUARES: usize = 64;

/// The parts that the features of some sets share. A set of features is one king bucket with one threat state, and a
/// class joins sets: those of any bucket and state, of one bucket, or of one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// By set: the class.
    classes: Vec<usize>,
    /// One row per (class, plane, square).
    squares: Tensor,
    /// One row per (class, plane, rank).
    ranks: Tensor,
    /// One row per (class, plane, file).
    files: Tensor,
}

impl Family {
    /// Creates the families of a network, and takes from the features' weights what they begin with: for each piece on
    /// each square the mean of all sets, then for each king bucket and threat state the mean of what is left. `sets`
    /// are the numbers of king buckets and of threat states. There are no families if there is only one set.
    pub fn split(features: &mut [Row], [buckets, states]: [usize; 2], limit: f32) -> Vec<Self> {
        let sets = buckets * states;
        let families: &[fn(usize, usize) -> usize] = match (buckets, states) {
            (1, 1) => &[],
            (1, _) | (_, 1) => &[|_, _| 0],
            _ => &[|_, _| 0, |bucket, _| bucket, |_, state| state],
        };
        let rows = features.len() / sets;
        let families = families.iter().map(|class| {
            let classes: Vec<usize> = (0..sets).map(|set| class(set / states, set % states)).collect();
            let count = 1 + classes.iter().max().expect("there is a set");
            let mut squares = vec![[0.0; TILE]; count * rows];
            let share = (count as f32) / (sets as f32);
            for (&class, features) in classes.iter().zip(features.chunks_exact(rows)) {
                for (mean, row) in squares[class * rows..].iter_mut().zip(features) {
                    add(mean, &row.map(|weight| share * weight));
                }
            }
            for (&class, features) in classes.iter().zip(features.chunks_exact_mut(rows)) {
                for (row, mean) in features.iter_mut().zip(&squares[class * rows..]) {
                    add(row, &mean.map(|mean| -mean));
                }
            }
            let lines = Tensor::new(&vec![0.0; squares.len() / 8 * TILE], limit);
            let squares = Tensor::new(squares.as_flattened(), limit);
            Self { classes, squares, ranks: lines.clone(), files: lines }
        });
        families.collect()
    }

    /// Returns the tensors.
    pub fn tensors_mut(&mut self) -> [&mut Tensor; 3] {
        let Self { classes: _, squares, ranks, files } = self;
        [squares, ranks, files]
    }

    /// Adds the shared weights to those of the features.
    pub fn add_to(&self, features: &mut [Row]) {
        let rows = features.len() / self.classes.len();
        let mut sums = self.squares.rows().to_vec();
        for (i, sum) in sums.iter_mut().enumerate() {
            let (rank, file) = lines(i);
            add(sum, &self.ranks.rows()[rank]);
            add(sum, &self.files.rows()[file]);
        }
        for (&class, features) in self.classes.iter().zip(features.chunks_exact_mut(rows)) {
            features.iter_mut().zip(&sums[class * rows..]).for_each(|(row, sum)| add(row, sum));
        }
    }

    /// Sums the gradients of the features for their shared weights, whose gradients must be zero before.
    pub fn sum_gradients(&mut self, features: &[Row]) {
        let rows = features.len() / self.classes.len();
        let Self { classes, squares, ranks, files } = self;
        let [squares, ranks, files] = [squares, ranks, files].map(Tensor::gradient_rows);
        for (&class, features) in classes.iter().zip(features.chunks_exact(rows)) {
            squares[class * rows..].iter_mut().zip(features).for_each(|(sum, row)| add(sum, row));
        }
        for (i, square) in squares.iter().enumerate() {
            let (rank, file) = lines(i);
            add(&mut ranks[rank], square);
            add(&mut files[file], square);
        }
    }
}

/// Returns the rows of a square's rank and file, given that of the square.
fn lines(square: usize) -> (usize, usize) {
    let plane = square / SQUARES * 8;
    (plane + square % SQUARES / 8, plane + square % 8)
}
