//! Fifty mates in 2 to 6 moves that a search to a limited depth must find.

use kiln::board::{GameHistory, Position};
use kiln::nnue::Network;
use kiln::search::{
    Limits, Probing, Report, STACK, SearchRequest, SearchResult, Signals, Sink, Threads, TranspositionTable,
};
use kiln::types::Move;
use std::thread;

/// The moves until mate, and a position from a game of Kiln against itself. Stockfish 15.1 found no shorter mate.
const MATES: [(u32, &str); 50] = [
    (2, "3r4/7K/4k3/8/8/8/8/8 b - - 5 107"),
    (2, "3k4/1pp2ppp/3b2r1/1PB4q/3Pp3/4Rn1P/P2P1P2/R2Q1K2 b - - 7 25"),
    (2, "8/3p3k/r2P2n1/5R2/4P1Np/8/1B1N2PP/3K4 w - - 1 38"),
    (2, "8/4R3/4P1k1/8/6pp/4n3/r5r1/1R5K b - - 2 42"),
    (2, "5Q2/R3N2k/5n1p/6p1/8/B4B1P/b4PP1/6K1 w - - 2 43"),
    (2, "5r1k/6Rp/2p3pP/5b2/r1PBp2P/8/5P2/4R1K1 w - - 7 40"),
    (2, "2r2k2/3Q3R/3b1q2/8/3P4/pb2PB2/P4PP1/4K3 w - - 2 36"),
    (2, "r2q3k/6pB/bpn1p1Q1/p1bpP3/2P2rP1/PP6/1B2p1KP/5R2 b - - 1 25"),
    (2, "8/5k2/4bp2/8/8/4K1p1/1r2n3/7q b - - 1 79"),
    (2, "6Q1/8/8/5K2/8/8/2R5/3k4 w - - 37 124"),
    (2, "3R2R1/2p5/pnk5/1p2p1q1/1P6/PB1P3P/2P3PK/4q3 b - - 5 38"),
    (2, "8/8/8/8/1b4pp/1k6/pBp3P1/K7 b - - 1 56"),
    (3, "8/3p4/r2P1Nnk/5R2/4P1pp/8/1B1N2PP/3K4 w - - 9 37"),
    (3, "8/4R3/4P1k1/8/6pp/4n3/r3r3/1R4K1 b - - 0 41"),
    (3, "1k6/rp1b3p/4p1p1/2qp1pP1/3R1P2/Np1nP3/P3B2P/1K4R1 b - - 3 37"),
    (3, "5Q2/R7/2N2nkp/6p1/8/B4B1P/b4PP1/6K1 w - - 0 42"),
    (3, "5rk1/4R2p/2p3pP/5b2/r1PBp2P/8/5P2/4R1K1 w - - 5 39"),
    (3, "2r1k3/7R/3b1q2/8/3P2Q1/pb2PB2/P4PP1/4K3 w - - 0 35"),
    (3, "8/5K2/8/1p2q3/1r6/3k4/2p5/8 b - - 3 64"),
    (3, "5R2/8/8/2k1pB2/K2b2Pp/3P2r1/8/5q2 b - - 2 91"),
    (3, "8/8/4k3/8/8/8/r5pK/5R2 b - - 0 137"),
    (3, "1k4r1/1pp4p/p7/P3p3/2P5/5bNQ/3q4/6K1 b - - 2 47"),
    (3, "5k2/6RP/8/1r1K1PpN/6P1/8/8/8 w - - 3 78"),
    (3, "8/8/k4K2/4N3/8/1Q6/8/8 w - - 93 166"),
    (4, "2r1kb2/7R/5q2/5N2/3P2Q1/pb2PB2/P4PP1/4K3 w - - 4 34"),
    (4, "8/5k2/1p4p1/1P1n2P1/2Qp1pr1/P2R2B1/4q3/7K b - - 5 63"),
    (4, "8/3q4/3PP3/3Q4/5kp1/8/6K1/8 w - - 1 71"),
    (4, "8/8/4k3/8/8/6p1/r6p/5R1K b - - 1 136"),
    (4, "5k2/6RP/8/5PpN/1r2K1P1/8/8/8 w - - 1 77"),
    (4, "4k3/5R2/4p3/1p4N1/2p3PP/8/2P1K3/8 w - - 0 43"),
    (4, "r7/ppk3p1/2pp1n2/4n3/4Pr2/1BP1b1N1/P5K1/4R3 b - - 7 35"),
    (4, "3rbrk1/pn4b1/2p4p/1p2P3/4P2R/1NP1p1Q1/PP2B1P1/K4R2 b - - 1 31"),
    (4, "8/PK6/3k4/7n/8/8/8/5q2 b - - 0 60"),
    (4, "4R1k1/6p1/p7/7p/1P6/P2p1rq1/1B1P4/7K b - - 1 45"),
    (4, "2k3K1/2p1qR2/8/8/p7/Pp5P/1r6/N4R2 b - - 1 47"),
    (4, "8/8/8/8/8/4k3/4p1K1/8 b - - 3 124"),
    (5, "5r1k/2qr3p/1p3p2/1PpppPp1/P2b2Pn/3PB1KP/4QP2/2R2R1B b - - 2 35"),
    (5, "2b5/q5k1/3N1b2/1B1Pp2p/p3Pp1n/B4P2/P2P4/7K b - - 0 52"),
    (5, "1r1krK2/PPp5/2P5/1B6/3P3p/7P/6PR/8 w - - 1 41"),
    (5, "k7/8/3p2p1/B1q3P1/4PK1R/1Q6/1Pp2p2/8 b - - 0 49"),
    (5, "2kr4/Qp1p4/n2P1pq1/1N1B2p1/5b1p/PP3P1P/2b3P1/NK1R4 w - - 0 30"),
    (5, "5k2/5p1p/4p2P/4Pp2/1p3K2/7r/8/8 b - - 1 51"),
    (5, "8/8/8/8/1k5R/2r3P1/1p1K4/2r5 b - - 3 88"),
    (5, "8/pkpp4/8/7P/3q4/4p3/P5P1/4R1K1 b - - 1 48"),
    (5, "8/7k/3P2pp/1p3b2/5P2/p2R2P1/P3qQKP/4r3 b - - 4 36"),
    (5, "2r1b3/4P2k/4Q1p1/6Rp/Pp1p3P/1Pq5/2P5/5RK1 w - - 1 50"),
    (5, "6k1/6p1/Q3p1rp/1b1pP3/1q1P4/7r/4R3/2R2KN1 b - - 3 43"),
    (6, "1r5k/4rP1p/2bQ4/1pp1p3/4Pp1P/qP3P2/K7/B2RN1R1 w - - 0 29"),
    (6, "4nk2/1r6/4P1Q1/3N1P2/8/2p4p/2P5/7K w - - 2 43"),
    (6, "8/6B1/8/2pp4/2bPk3/2P5/p1K1p3/3R4 b - - 0 79"),
];

/// Plies of depth beyond the mate itself: the search prunes and reduces on the way.
const EXTRA_DEPTH: u32 = 18;

/// The principal variation of the last report.
#[derive(Default)]
struct LastLine(Vec<Move>);

impl Sink for LastLine {
    fn report(&mut self, report: &Report) {
        self.0 = report.pv.to_vec();
    }
}

fn search(position: &Position, depth: u32, line: &mut LastLine) -> SearchResult {
    let request = SearchRequest {
        position,
        history: &GameHistory::new(),
        search_moves: &[],
        multi_pv: 1,
        limits: &Limits { depth: Some(depth), ..Limits::default() },
        network: &Network::embedded(),
        tt: &TranspositionTable::new(16).unwrap(),
        tablebases: None,
        probing: Probing::default(),
        signals: &Signals::default(),
    };
    Threads::new(1).unwrap().search(&request, line)
}

fn find_mates() {
    let mut missed = Vec::new();
    for (moves, fen) in MATES {
        let position: Position = fen.parse().unwrap();
        let depth = 2 * moves - 1 + EXTRA_DEPTH;
        let mut line = LastLine::default();
        let result = search(&position, depth, &mut line);
        if !result.score.is_win() || result.score.mate_distance() != Some(moves) {
            missed.push(format!("mate in {moves}, depth {depth}: {} for {fen}", result.score));
            continue;
        }
        // The variation ends with the mate.
        let end = line.0.iter().fold(position.clone(), |position, &mv| position.make(mv));
        assert!(end.in_check() && !end.has_legal_move(), "{:?} for {fen}", line.0);
        assert_eq!(line.0.len() as u32, 2 * moves - 1, "{fen}");
        // The move that is played keeps the mate.
        let next = position.make(result.best().expect("a mate has a first move"));
        let reply = search(&next, depth, &mut line);
        assert!(reply.score.is_loss() && reply.score.mate_distance() == Some(moves - 1), "{} for {fen}", reply.score);
    }
    assert!(missed.is_empty(), "{} mates are missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn mates_are_found_at_limited_depth() {
    thread::Builder::new().stack_size(STACK).spawn(find_mates).unwrap().join().unwrap();
}
