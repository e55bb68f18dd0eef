//! FEN: positions are written as they were read, and invalid FENs are rejected with a reason.

use kiln::board::{FenError, FenField, Position};

fn read(fen: &str) -> Position {
    fen.parse().unwrap_or_else(|error: FenError| panic!("{fen}: {error}"))
}

#[test]
fn written_as_read() {
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 321",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
        "8/8/8/8/8/4k3/4p3/4K3 w - - 12 80",
        // Two rooks on one side of the king: X-FEN names the inner one by its file.
        "4k3/8/8/8/8/8/8/R3KR1R w FQ - 0 1",
    ] {
        assert_eq!(read(fen).fen(false), fen);
    }
    let shredder = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    assert_eq!(read(shredder).fen(true), shredder);
    assert_eq!(read(shredder).fen(false), shredder.replace("HFhf", "KQkq"));
    assert_eq!(read(&read(shredder).fen(false)), read(shredder));
}

#[test]
fn clocks_are_optional() {
    let four = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR  w\tKQkq -";
    assert_eq!(read(four), Position::startpos());
    assert_eq!(read("8/8/8/8/8/4k3/4p3/4K3 w - - 7 0").fullmove_number(), 1);
}

/// An en passant square where no capture is legal does not distinguish positions.
#[test]
fn unusable_en_passant_squares_are_dropped() {
    let after_e4 = read("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
    let without = read("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!(after_e4, without);
    // Capturing would expose the king on the rank.
    assert_eq!(read("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1").en_passant(), None);
    assert!(read("8/8/8/k7/3pP2R/8/8/4K3 b - e3 0 1").en_passant().is_some());
}

#[test]
fn invalid_fens_are_rejected_with_a_reason() {
    use FenField::*;
    let rank_of_eight = "eight squares in each rank";
    let right = "a rook on the king's rank for each castling right";
    let passed = "a square that an enemy pawn has just passed";
    let clock = "a whole number from 0 to 65535";
    #[rustfmt::skip]
    let bad = [
        ("", Whole, "", "four to six fields"),
        ("8/8/8/8/8/4k3/4p3/4K3 w -", Whole, "8/8/8/8/8/4k3/4p3/4K3 w -", "four to six fields"),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1 2", Whole, "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1 2", "four to six fields"),
        ("8/8/8/8/8/4k3/4K3 w - - 0 1", Placement, "8/8/8/8/8/4k3/4K3", "eight ranks separated by \"/\""),
        ("8/8/8/8/8/8/8/4k3/4K3 w - - 0 1", Placement, "8/8/8/8/8/8/8/4k3/4K3", "eight ranks separated by \"/\""),
        ("8/8/8/8/8/4k3/4p4/4K3 w - - 0 1", Placement, "4p4", rank_of_eight),
        ("8/8/8/8/8/4k3/4p2/4K3 w - - 0 1", Placement, "4p2", rank_of_eight),
        ("8/8/8/8/8/4k3/ppppppppp/4K3 w - - 0 1", Placement, "ppppppppp", rank_of_eight),
        ("8/8/8/8//4k3/8/4K3 w - - 0 1", Placement, "", rank_of_eight),
        ("8/8/8/8/8/4k3/44/4K3 w - - 0 1", Placement, "44", "empty squares as one digit from 1 to 8"),
        ("9/8/8/8/8/4k3/8/4K3 w - - 0 1", Placement, "9", "empty squares as one digit from 1 to 8"),
        ("8/8/8/8/8/4k3/8/0K7 w - - 0 1", Placement, "0K7", "empty squares as one digit from 1 to 8"),
        ("8/8/8/8/8/4k3/4x3/4K3 w - - 0 1", Placement, "4x3", "pieces as letters PNBRQKpnbrqk and empty squares as digits"),
        ("8/8/8/8/8/4k3/8/8 w - - 0 1", Placement, "8/8/8/8/8/4k3/8/8", "one king on each side"),
        ("8/8/8/8/8/4k3/8/K3K3 w - - 0 1", Placement, "8/8/8/8/8/4k3/8/K3K3", "one king on each side"),
        ("4k3/8/8/8/NNN5/NNN5/PPPPPPPP/NNN1K3 w - - 0 1", Placement, "4k3/8/8/8/NNN5/NNN5/PPPPPPPP/NNN1K3", "at most 16 pieces on each side"),
        ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", Placement, "4k3/8/8/8/8/P7/PPPPPPPP/4K3", "at most 8 pawns on each side"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", Placement, "P3k3/8/8/8/8/8/8/4K3", "no pawn on the first or last rank"),
        ("4k3/8/8/8/8/8/8/4K2p w - - 0 1", Placement, "4k3/8/8/8/8/8/8/4K2p", "no pawn on the first or last rank"),
        ("8/8/8/8/8/4k3/4p3/4K3 W - - 0 1", SideToMove, "W", "\"w\" or \"b\""),
        ("8/8/8/8/8/4k3/3p4/4K3 b - - 0 1", SideToMove, "b", "the side that is in check to be the side to move"),
        ("4k3/8/8/8/8/8/4K3/4k3 w - - 0 1", Placement, "4k3/8/8/8/8/8/4K3/4k3", "one king on each side"),
        ("8/8/8/8/8/8/3kK3/8 w - - 0 1", SideToMove, "w", "the side that is in check to be the side to move"),
        ("4k3/4r3/8/8/b7/5n2/8/4K2r w - - 0 1", SideToMove, "w", "at most two pieces giving check"),
        ("4k3/8/8/8/8/8/8/4K2R w X - 0 1", Castling, "X", "\"-\", or letters KQkq, or files A-H and a-h of the rooks"),
        ("4k3/8/8/8/8/8/8/4K2R w Q - 0 1", Castling, "Q", right),
        ("4k3/8/8/8/8/8/8/4K2R w G - 0 1", Castling, "G", right),
        ("4k3/8/8/8/8/8/4K3/7R w K - 0 1", Castling, "K", "castling rights only for a king on its own first rank"),
        ("4k3/8/8/8/8/8/8/4K2R w KH - 0 1", Castling, "H", "at most one right for each color and castling side"),
        ("4k3/8/8/8/4P3/8/8/4K3 b - e9 0 1", EnPassant, "e9", "\"-\" or a square such as e3"),
        ("4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", EnPassant, "e3", "a square on the third rank with Black to move, or on the sixth with White to move"),
        ("4k3/8/8/8/8/8/8/4K3 b - e3 0 1", EnPassant, "e3", passed),
        ("4k3/8/8/8/4N3/8/8/4K3 b - e3 0 1", EnPassant, "e3", passed),
        ("4k3/8/8/8/4P3/8/4P3/4K3 b - e3 0 1", EnPassant, "e3", "an empty square, with the empty square behind it from which the pawn came"),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - -1 1", HalfmoveClock, "-1", clock),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - +1 1", HalfmoveClock, "+1", clock),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 65536", FullmoveNumber, "65536", clock),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 one", FullmoveNumber, "one", clock),
    ];
    for (fen, field, text, expected) in bad {
        let error = fen.parse::<Position>().expect_err(fen);
        assert_eq!(error, FenError { field, text: text.into(), expected: expected.into() }, "{fen}");
        assert_eq!(error.to_string(), format!("bad {field} {text:?}: expected {expected}"));
    }
}

/// FENs edited by hand keep castling rights and en passant squares that the position no longer has.
#[test]
fn lenient_parsing_ignores_what_is_not_in_place() {
    let right = "a rook on the king's rank for each castling right";
    let king = "castling rights only for a king on its own first rank";
    let rank = "a square on the third rank with Black to move, or on the sixth with White to move";
    for (fen, expected, ignored) in [
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", vec![]),
        ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", vec![("Qkq", right)]),
        ("r3k2r/8/8/8/8/8/4K3/R6R w KQkq - 0 1", "r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1", vec![("KQ", king)]),
        ("4k3/8/8/8/4P3/8/8/4K3 w K e3 0 2", "4k3/8/8/8/4P3/8/8/4K3 w - - 0 2", vec![("K", right), ("e3", rank)]),
    ] {
        let (position, errors) = Position::from_fen_lenient(fen).unwrap();
        assert_eq!(position.fen(false), expected);
        assert!(position.is_consistent());
        let errors: Vec<_> = errors.iter().map(|error| (error.text.as_str(), error.expected.as_str())).collect();
        assert_eq!(errors, ignored, "{fen}");
        assert_eq!(
            fen.parse::<Position>().map_err(|error| error.text),
            match ignored.first() {
                Some(&(text, _)) => Err(text.into()),
                None => Ok(position),
            }
        );
    }
    for fen in ["4k3/8/8/8/8/8/8/4K2R w X - 0 1", "4k3/8/8/8/8/8/8/4K2R w K e9 0 1", "4k3/8/8/8/8/8/8/4R3 w - - 0 1"] {
        assert_eq!(Position::from_fen_lenient(fen).unwrap_err(), fen.parse::<Position>().unwrap_err());
    }
}
