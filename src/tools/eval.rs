//! The network's score of a position, piece by piece.

use super::paint::{self, Paint, figurine};
use crate::board::Position;
use crate::nnue::{Evaluator, Network, OUTPUT_BUCKETS, output_bucket};
use crate::types::{File, Piece, PieceType, Rank, Score, Square};

/// Draws the board with the value of each piece: by how much the score would fall without it, in pawns from White's
/// point of view. Below follow the score of each output bucket, if there are several, and the score.
///
/// The values do not add up to the score, because the network is not linear.
pub fn describe(position: &Position, network: &Network, paint: Paint) -> String {
    let from_white = |score: Score| f64::from(position.side_to_move().white_pov(score).value()) / 100.0;
    let mut evaluator = Evaluator::new(network.clone());
    let total = evaluator.evaluate(position);
    let value_of = |square: Square| {
        let without = position.without(square);
        from_white(total) - from_white(Evaluator::new(network.clone()).evaluate(&without))
    };

    let value_of = |square: Square| {
        let piece = position.piece_on(square).filter(|piece| piece.kind() != PieceType::King);
        piece.map_or(String::new(), |_| format!("{:+.2}", value_of(square)))
    };
    let mut text = match paint {
        Paint::Plain => plain_board(position, value_of),
        Paint::Colored => paint::board(7, |square| {
            let piece = position.piece_on(square);
            let figurine = piece.map_or(String::new(), |piece| figurine(piece).to_string());
            paint::Cell { lines: vec![figurine, value_of(square)], ..paint::piece_cell(piece) }
        }),
    };
    text.push('\n');
    if OUTPUT_BUCKETS > 1 {
        for bucket in 0..OUTPUT_BUCKETS {
            let score = from_white(evaluator.evaluate_in_bucket(position, bucket));
            let used = if bucket == output_bucket(position) { "  in use at this number of pieces" } else { "" };
            text += &format!("output bucket {bucket}  {score:+.2}{used}\n");
        }
        text.push('\n');
    }
    let score = paint.bold(&format!("{:+.2}", from_white(total)));
    text + &format!("network {} says {score} for White, {total} for the side to move", network.name())
}

fn plain_board(position: &Position, value_of: impl Fn(Square) -> String) -> String {
    let border = format!(" {}+\n", "+-------".repeat(8));
    let mut text = border.clone();
    for rank in Rank::ALL.into_iter().rev() {
        let (mut pieces, mut values) = (String::new(), String::new());
        for file in File::ALL {
            let square = Square::new(file, rank);
            pieces += &format!(" |   {}  ", position.piece_on(square).map_or(' ', Piece::letter));
            values += &format!(" |{:>6}", value_of(square));
        }
        text += &format!("{pieces} | {}\n{values} |\n{border}", rank as u8 + 1);
    }
    text + &format!(" {}\n", File::ALL.map(|file| format!("    {}", file.letter())).join("   "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queen_has_a_high_value() {
        // The queen is the first piece that is drawn.
        let queen = "1Q6/5pkp/6p1/8/8/6P1/5PKP/8 b - - 0 1".parse().unwrap();
        let text = describe(&queen, &Network::embedded(), Paint::Plain);
        let values: Vec<f64> = text
            .split(|letter: char| letter.is_whitespace() || letter == '|')
            .filter_map(|word| word.parse().ok())
            .filter(|value: &f64| value.fract() != 0.0)
            .collect();
        // The values of the queen and the pawns, and the score.
        assert!(values.len() >= 8 && values[0] > 5.0, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with(" +---")).count(), 9);
    }

    #[test]
    fn a_pinned_piece_can_be_removed() {
        let pinned: Position = "4k3/4r3/8/8/8/8/4B3/4K3 b - - 0 1".parse().unwrap();
        assert!(describe(&pinned, &Network::embedded(), Paint::Plain).contains("  B  "));
        assert!(pinned.without(Square::E2).is_consistent());
        assert_eq!(pinned.without(Square::E2).fen(false), "4k3/4r3/8/8/8/8/8/4K3 b - - 0 1");
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1".parse::<Position>().unwrap().without(Square::A1);
        assert!(castling.is_consistent());
    }
}
