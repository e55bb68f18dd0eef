//! The network's score of a position, piece by piece.

use crate::board::Position;
use crate::nnue::{Evaluator, Network, OUTPUT_BUCKETS, output_bucket};
use crate::types::{Color, File, Piece, PieceType, Rank, Score, Square};

/// Draws the board with the value of each piece: by how much the score would fall without it, in pawns from White's
/// point of view. Below follow the score of each output bucket, if there are several, and the score.
///
/// The values do not add up to the score, because the network is not linear.
pub fn describe(position: &Position, network: &Network) -> String {
    let from_white = |score: Score| {
        let value = score.value();
        f64::from(if position.side_to_move() == Color::White { value } else { -value }) / 100.0
    };
    let mut evaluator = Evaluator::new(network.clone());
    let total = evaluator.evaluate(position);
    let value_of = |square: Square| {
        let without = position.without(square);
        from_white(total) - from_white(Evaluator::new(network.clone()).evaluate(&without))
    };

    let border = format!(" {}+\n", "+-------".repeat(8));
    let mut text = border.clone();
    for rank in Rank::ALL.into_iter().rev() {
        let (mut pieces, mut values) = (String::new(), String::new());
        for file in File::ALL {
            let square = Square::new(file, rank);
            let piece = position.piece_on(square);
            let is_scored = piece.is_some_and(|piece| piece.kind() != PieceType::King);
            pieces += &format!(" |   {}  ", piece.map_or(' ', Piece::letter));
            values += &format!(" |{:>6}", if is_scored { format!("{:+.2}", value_of(square)) } else { String::new() });
        }
        text += &format!("{pieces} | {}\n{values} |\n{border}", rank as u8 + 1);
    }
    text += &format!(" {}\n\n", File::ALL.map(|file| format!("    {}", file.letter())).join("   "));
    if OUTPUT_BUCKETS > 1 {
        for bucket in 0..OUTPUT_BUCKETS {
            let score = from_white(evaluator.evaluate_in_bucket(position, bucket));
            let used = if bucket == output_bucket(position) { "  in use at this number of pieces" } else { "" };
            text += &format!("output bucket {bucket}  {score:+.2}{used}\n");
        }
        text.push('\n');
    }
    text + &format!("network {} says {:+.2} for White, {total} for the side to move", network.name(), from_white(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queen_has_a_high_value() {
        let queen = "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1".parse().unwrap();
        let text = describe(&queen, &Network::embedded());
        let values: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .filter(|value: &f64| value.fract() != 0.0)
            .collect();
        // The value of the queen, and the score.
        assert!(values.len() >= 2 && values[0] > 5.0, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with(" +---")).count(), 9);
    }

    #[test]
    fn a_pinned_piece_can_be_removed() {
        let pinned: Position = "4k3/4r3/8/8/8/8/4B3/4K3 b - - 0 1".parse().unwrap();
        assert!(describe(&pinned, &Network::embedded()).contains("  B  "));
        assert!(pinned.without(Square::E2).is_consistent());
        assert_eq!(pinned.without(Square::E2).fen(false), "4k3/4r3/8/8/8/8/8/4K3 b - - 0 1");
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1".parse::<Position>().unwrap().without(Square::A1);
        assert!(castling.is_consistent());
    }
}
