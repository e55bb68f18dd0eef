//! The board's queries, compared with the result of making moves and with slower computations.

use kiln::board::{Position, SEE_VALUES};
use kiln::tables::{attacks, between, line};
use kiln::types::{Bitboard, Color, Move, MoveKind, PieceType, Square};

/// Positions with pins, checks, en passant, promotions and castling of all kinds.
const POSITIONS: [&str; 26] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    // En passant: pinned on the rank, pinned on the diagonal, with sliders through all three squares, in reply to a
    // check.
    "8/8/8/K1Pp3r/8/8/8/7k w - d6 0 1",
    "8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1",
    "4k3/8/1b6/2Pp4/8/4K3/8/8 w - d6 0 1",
    "1b1r2k1/8/8/2Pp4/8/Q7/8/B2RK3 w - d6 0 1",
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
    "3k4/8/8/3pP3/8/8/8/3RK3 w - d6 0 1",
    // Promotions that capture, discover check, and are pinned.
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "2r1k3/1P6/8/8/8/8/8/4K2R w K - 0 1",
    "r3k3/1K3P2/8/8/8/8/8/8 b q - 0 1",
    "8/1kP4R/8/8/8/8/8/4K3 w - - 0 1",
    "8/2k1P3/8/8/8/8/8/3RK3 w - - 0 1",
    // Double check, and a slider captured along its ray.
    "4k3/8/8/8/4r3/5n2/8/R3K2R w KQ - 0 1",
    "4k3/4r3/8/8/4R3/8/8/4K3 w - - 0 1",
    // Castling in Chess960: king and rook swap squares, stay in place, or expose the king.
    "1k6/8/8/8/8/8/8/5KR1 w G - 0 1",
    "4k3/8/8/8/8/8/8/rR1K4 w B - 0 1",
    "4k3/8/8/8/8/8/8/1RK3R1 w GB - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "qqqr2k1/qqqqpppp/8/8/8/8/QQQQPPPP/QQQR2K1 w - - 0 1",
    "rn2kb1r/1bp1qppp/p3pn2/1p1N4/4P3/1B3N2/PPP2PPP/R1BQR1K1 b kq - 1 12",
];

/// Calls `visit` with the positions and their descendants: three plies deep where there are few moves, else two.
fn visit_all(mut visit: impl FnMut(&Position)) {
    fn walk(position: &Position, plies: u32, visit: &mut impl FnMut(&Position)) {
        visit(position);
        if plies > 0 {
            for &mv in &position.moves() {
                walk(&position.make(mv), plies - 1, visit);
            }
        }
    }
    for fen in POSITIONS.into_iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
        let position: Position = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
        let plies = match position.moves().len() {
            // Miri is about a million times slower.
            _ if cfg!(miri) => 0,
            0..12 => 3,
            _ => 2,
        };
        walk(&position, plies, &mut visit);
        if !position.in_check() {
            visit(&position.make_null());
        }
    }
}

#[test]
fn incremental_state_equals_recomputation() {
    let mut count = 0;
    visit_all(|position| {
        count += 1;
        assert!(position.is_consistent(), "{}", position.fen(true));
        if !position.in_check() {
            let null = position.make_null();
            assert!(null.is_consistent(), "{}", position.fen(true));
            assert_eq!(null.attacked(Color::White), position.attacked(Color::White));
        }
    });
    assert!(cfg!(miri) || count > 20_000, "only {count} positions");
}

#[test]
fn attack_tables_equal_attacks_of_all_pieces() {
    visit_all(|position| {
        for color in Color::ALL {
            let mut all = Bitboard::EMPTY;
            for kind in PieceType::ALL {
                let of = |square| attacks(kiln::types::Piece::new(color, kind), square, position.occupied());
                let squares = position.pieces(color, kind).into_iter();
                let expected = squares.clone().fold(Bitboard::EMPTY, |set, square| set | of(square));
                assert_eq!(position.attacked_by(color, kind), expected, "{}", position.fen(true));
                let mobility: u32 = squares.map(|square| (of(square) - position.color(color)).len()).sum();
                assert_eq!(position.mobility(color, kind, !position.color(color)), mobility);
                all |= expected;
            }
            assert_eq!(position.attacked(color), all);
        }
        for square in Square::ALL {
            let attackers = position.attackers(square, position.occupied());
            for color in Color::ALL {
                let own = attackers & position.color(color);
                assert_eq!(position.is_attacked(square, color), !own.is_empty());
                assert_eq!(position.attacker_count(square, color), own.len());
            }
        }
    });
}

#[test]
fn pieces_threatened_by_lesser_ones() {
    let position: Position = "4k3/2p5/3n4/1N2p3/3Q1R2/8/1B6/4K3 w - - 0 1".parse().unwrap();
    assert_eq!(position.threatened_by_lesser(Color::White), [Square::D4, Square::F4].into_iter().collect());
    assert_eq!(position.threatened_by_lesser(Color::Black), Bitboard::EMPTY);
    let position: Position = "4k3/8/3q4/2P5/8/3R1b2/6P1/4K3 w - - 0 1".parse().unwrap();
    assert_eq!(position.threatened_by_lesser(Color::Black), [Square::D6, Square::F3].into_iter().collect());
    assert_eq!(position.threatened_by_lesser(Color::White), Bitboard::EMPTY);
}

#[test]
fn legality_equals_membership_in_the_move_list() {
    let mut positions = 0;
    let mut visit = |position: &Position| {
        positions += 1;
        let moves = position.moves();
        for mv in (0..=u16::MAX).step_by(if cfg!(miri) { 97 } else { 1 }).filter_map(Move::from_word) {
            assert_eq!(position.is_legal(mv), moves.contains(&mv), "{mv:?} {}", position.fen(true));
        }
    };
    // All 16-bit words in a few positions; the previous position's moves in all positions.
    let mut number = 0;
    let mut others: Vec<Move> = Vec::new();
    visit_all(|position| {
        if number % 97 == 0 {
            visit(position);
        }
        number += 1;
        let moves = position.moves();
        for &mv in others.iter().chain(&moves) {
            assert_eq!(position.is_legal(mv), moves.contains(&mv), "{mv:?} {}", position.fen(true));
        }
        others = moves.to_vec();
    });
    assert!(cfg!(miri) || positions > 200, "only {positions} positions");
}

#[test]
fn gives_check_equals_making_the_move() {
    let mut checks = 0;
    visit_all(|position| {
        for &mv in &position.moves() {
            let expected = position.make(mv).in_check();
            assert_eq!(position.gives_check(mv), expected, "{mv:?} {}", position.fen(true));
            checks += usize::from(expected);
        }
    });
    assert!(cfg!(miri) || checks > 10_000, "only {checks} checks");
}

/// Legal moves never leave the king attacked, as computed by `attackers` rather than the attack tables.
#[test]
fn moves_leave_no_king_in_check() {
    visit_all(|position| {
        for &mv in &position.moves() {
            let next = position.make(mv);
            let king = next.king(position.side_to_move());
            let attackers = next.attackers(king, next.occupied()) & next.color(next.side_to_move());
            assert!(attackers.is_empty(), "{mv:?} {}", position.fen(true));
        }
    });
}

/// Returns the position with its squares mapped by `square`, and with the colors swapped if `swap`.
fn transformed(position: &Position, square: impl Fn(Square) -> Square, swap: bool) -> Position {
    let mut rows = vec![String::new(); 8];
    for target in Square::ALL {
        let piece = position.piece_on(square(target)).map_or('1', |piece| piece.letter());
        let swapped = if piece.is_ascii_uppercase() { piece.to_ascii_lowercase() } else { piece.to_ascii_uppercase() };
        rows[7 - target.rank() as usize].push(if swap { swapped } else { piece });
    }
    // Replaces runs of ones by their length, the longest first.
    let digits = |row: &String| (1..=8).rev().fold(row.clone(), |row, n| row.replace(&"1".repeat(n), &n.to_string()));
    let placement = rows.iter().map(digits).collect::<Vec<_>>().join("/");
    let fen = position.fen(true);
    let fields: Vec<&str> = fen.split(' ').collect();
    let side = if (fields[1] == "w") != swap { "w" } else { "b" };
    let castling: String = fields[2]
        .chars()
        .map(|c| {
            if !swap {
                c
            } else if c.is_ascii_uppercase() {
                c.to_ascii_lowercase()
            } else {
                c.to_ascii_uppercase()
            }
        })
        .collect();
    let en_passant = position.en_passant().map_or("-".into(), |target| square(target).to_string());
    format!("{placement} {side} {castling} {en_passant} {} {}", fields[4], fields[5]).parse().unwrap()
}

#[test]
fn moves_are_symmetric() {
    let mut number = 0;
    visit_all(|position| {
        number += 1;
        if number % 5 != 0 {
            return;
        }
        let has_no_castling = !Color::ALL.into_iter().any(|color| position.castling().any(color));
        for swap in [true, false].into_iter().take(if has_no_castling { 2 } else { 1 }) {
            let square = |square: Square| if swap { square.flip_rank() } else { square.flip_file() };
            let other = transformed(position, square, swap);
            let words = |mut words: Vec<u16>| {
                words.sort_unstable();
                words
            };
            let mapped = |mv: &Move| Move::new(square(mv.from()), square(mv.to()), mv.kind()).word();
            let expected = words(position.moves().iter().map(mapped).collect());
            assert_eq!(words(other.moves().iter().map(|mv| mv.word()).collect()), expected, "{}", position.fen(true));
        }
    });
}

/// A position with more moves than any that is reachable in a game.
#[test]
fn lists_have_room_for_the_moves_of_any_position() {
    let fen = "Q6Q/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBQQ1KB1 w - - 0 1";
    match fen.parse::<Position>() {
        Ok(position) => assert!(position.moves().len() > 218),
        Err(error) => panic!("{error}"),
    }
}

/// Computes the exact SEE of a move by recursion.
fn exact_see(position: &Position, mv: Move) -> i32 {
    let (from, to) = (mv.from(), mv.to());
    if mv.kind() == MoveKind::Castle {
        return 0;
    }
    let value = |kind: PieceType| SEE_VALUES[kind];
    let side = position.side_to_move();
    let mover = position.piece_on(from).unwrap().kind();
    let mut occupied = (position.occupied() - from.into()) | to.into();
    let mut gain = position.piece_on(to).map_or(0, |piece| value(piece.kind()));
    if mv.kind() == MoveKind::EnPassant {
        gain = value(PieceType::Pawn);
        occupied = occupied - to.forward(!side).into();
    }
    let mut at_risk = mover;
    if let Some(kind) = mv.promotion() {
        gain += value(kind) - value(PieceType::Pawn);
        at_risk = kind;
    }
    let mut kings = Color::ALL.map(|color| position.king(color));
    if mover == PieceType::King {
        kings[side] = to;
    }
    gain - recapture(position, to, !side, occupied, at_risk, kings)
}

/// Returns what `side` wins by recapturing on `to`, or 0 if that does not pay.
fn recapture(
    position: &Position,
    to: Square,
    side: Color,
    occupied: Bitboard,
    at_risk: PieceType,
    kings: [Square; 2],
) -> i32 {
    let attackers = |side: Color| position.attackers(to, occupied) & occupied & position.color(side);
    let king = kings[side];
    let is_pinned = |square: Square| {
        let snipers = (occupied & position.color(!side)) - to.into();
        snipers.into_iter().any(|sniper| {
            let piece = position.piece_on(sniper).unwrap();
            let is_slider = matches!(piece.kind(), PieceType::Bishop | PieceType::Rook | PieceType::Queen);
            let path = between(king, sniper);
            is_slider
                && path.has(square)
                && attacks(piece, sniper, occupied - square.into()).has(king)
                && !line(king, sniper).has(to)
        })
    };
    let free = attackers(side).into_iter().filter(|&square| !is_pinned(square));
    let kind_on = |square: Square| position.piece_on(square).unwrap().kind();
    let Some(square) = free.min_by_key(|&square| (kind_on(square), square)) else { return 0 };
    let kind = kind_on(square);
    if kind == PieceType::King && !attackers(!side).is_empty() {
        return 0;
    }
    let won = SEE_VALUES[at_risk] - recapture(position, to, !side, occupied - square.into(), kind, kings);
    won.max(0)
}

#[test]
fn see_ge_equals_recursion() {
    let mut differing = 0;
    visit_all(|position| {
        for &mv in &position.moves() {
            let exact = exact_see(position, mv);
            for threshold in [exact - 1, exact, exact + 1, -100, 0, 1, 100, 300] {
                assert_eq!(
                    position.see_ge(mv, threshold),
                    exact >= threshold,
                    "{mv:?} {threshold} {exact} {}",
                    position.fen(true)
                );
            }
            differing += usize::from(exact != 0);
        }
    });
    assert!(cfg!(miri) || differing > 100_000, "only {differing} exchanges win or lose");
}

#[test]
fn the_piece_of_a_promotion_may_be_a_capital() {
    let position: Position = "8/3P4/8/8/8/8/k7/4K3 w - - 0 1".parse().unwrap();
    assert_eq!(position.parse_move("d7d8Q"), position.parse_move("d7d8q"));
    assert!(position.parse_move("d7d8Q").is_some() && position.parse_move("d7d8K").is_none());
    assert_eq!(position.parse_move("d7D8q"), None);
}

#[test]
fn see_of_known_positions() {
    let gain = |fen: &str, text: &str| {
        let position: Position = fen.parse().unwrap();
        let mv = position.parse_move(text).unwrap();
        (-2000..2000)
            .step_by(if cfg!(miri) { 50 } else { 1 })
            .rev()
            .find(|&threshold| position.see_ge(mv, threshold))
            .unwrap()
    };
    // An undefended pawn, a defended one, and one defended only by a pinned piece.
    assert_eq!(gain("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5"), 100);
    assert_eq!(gain("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5"), -200);
    assert_eq!(gain("4k3/4n3/8/3p4/8/8/4R3/3RK3 w - - 0 1", "d1d5"), 100);
    // A king does not recapture a defended piece.
    assert_eq!(gain("8/3k4/3p4/8/8/8/3Q4/3RK3 w - - 0 1", "d2d6"), 100);
    assert_eq!(gain("8/3k4/3p4/8/8/8/3Q4/4K3 w - - 0 1", "d2d6"), -800);
    // A promotion, and one in which the promoted piece is lost.
    assert_eq!(gain("8/3P4/8/8/8/8/k7/4K3 w - - 0 1", "d7d8q"), 800);
    assert_eq!(gain("r7/3P4/8/8/8/8/k7/4K3 w - - 0 1", "d7d8q"), -100);
    assert_eq!(gain("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"), 100);
}
