"""Prints what python-chess reads in Syzygy tables, one position per line.

Fields, separated by tabs: FEN, WDL (-2 to 2), DTZ, then each move with its WDL.

usage: tablebases.py FOLDER COUNT    COUNT random legal positions from all tables, always the same ones
       tablebases.py FOLDER all      all legal positions with three pieces of which White has two, without mirror images
"""

import itertools
import pathlib
import random
import sys

import chess
import chess.syzygy


def material(name):
    """Returns the pieces of a table such as KQvKR."""
    strong, weak = name.split("v")
    kinds = chess.PIECE_SYMBOLS
    return [(kinds.index(letter.lower()), colour) for side, colour in ((strong, True), (weak, False)) for letter in side]


def setup(pieces, squares, turn):
    """Returns the position, or None if it is illegal."""
    board = chess.Board(None)
    board.turn = turn
    for (kind, colour), square in zip(pieces, squares):
        if kind == chess.PAWN and not 8 <= square < 56:
            return None
        board.set_piece_at(square, chess.Piece(kind, colour))
    return board if board.is_valid() else None


def en_passant(rng):
    """Returns a random position with a legal en passant capture in KPvKP."""
    while True:
        turn = rng.random() < 0.5
        rank, back = (4, 8) if turn else (3, -8)
        file = rng.randrange(7)
        passed, passing = rng.sample((chess.square(file, rank), chess.square(file + 1, rank)), 2)
        pieces = [(chess.PAWN, turn), (chess.PAWN, not turn), (chess.KING, True), (chess.KING, False)]
        board = setup(pieces, [passed, passing, *rng.sample(range(64), 2)], turn)
        if board and not any(map(board.piece_at, (passing + back, passing + 2 * back))):
            board.ep_square = passing + back
            if board.is_valid() and board.has_legal_en_passant():
                return board


def sample(names, count, seed=1):
    rng = random.Random(seed)
    while count > 0:
        name = rng.choice(names)
        pieces = material(name)
        if rng.random() < 0.5:
            pieces = [(kind, not colour) for kind, colour in pieces]
        if name == "KPvKP" and rng.random() < 0.5:
            board = en_passant(rng)
        else:
            board = setup(pieces, rng.sample(range(64), len(pieces)), rng.random() < 0.5)
        if board:
            count -= 1
            yield board


def everything(names):
    for name in names:
        pieces = material(name)
        if len(pieces) != 3:
            continue
        # The first piece is White's king. Boards with pawns have one mirror, others three.
        half = [square for square in range(64) if chess.square_file(square) < 4]
        triangle = [square for square in half if chess.square_rank(square) <= chess.square_file(square)]
        kings = half if "P" in name else triangle
        for turn, king, third, other in itertools.product(chess.COLORS, kings, range(64), range(64)):
            board = setup(pieces, (king, third, other), turn) if len({king, third, other}) == 3 else None
            if board:
                yield board


def main(folder, count):
    names = sorted(path.stem for path in pathlib.Path(folder).glob("*.rtbw"))
    boards = everything(names) if count == "all" else sample(names, int(count))
    with chess.syzygy.open_tablebase(folder) as tables:
        for number, board in enumerate(boards):
            moves = []
            # Only every tenth position, for speed.
            if number % 10 == 0:
                for move in list(board.legal_moves):
                    board.push(move)
                    moves.append(f"{move.uci()}:{-tables.probe_wdl(board)}")
                    board.pop()
            print(board.fen(), tables.probe_wdl(board), tables.probe_dtz(board), *moves, sep="\t")


main(*sys.argv[1:])
