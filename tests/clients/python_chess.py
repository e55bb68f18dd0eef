"""Drives the engine through the Python package chess.

Arguments: the engine's binary, then the names of tasks, which are the functions below. Fails with an exception.
"""

import pathlib
import random
import sys
import tempfile

import chess
import chess.engine


def analysis(engine):
    """Analyses without a limit, with limits, and in a position that is over."""
    with engine.analysis(chess.Board(), chess.engine.Limit()) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 4:
                break
    best = analysis.wait()
    assert best.move in chess.Board().legal_moves, best
    board = chess.Board("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")
    info = engine.analyse(board, chess.engine.Limit(depth=4))
    assert info["score"].white() == chess.engine.Mate(1), info
    for key in ["depth", "seldepth", "nodes", "nps", "time", "hashfull", "tbhits", "pv"]:
        assert key in info, (key, info)
    assert info["pv"] == [chess.Move.from_uci("e1e8")], info
    over = chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert engine.play(over, chess.engine.Limit(time=0.1)).move is None
    assert engine.analyse(over, chess.engine.Limit(depth=3))["score"].white() == chess.engine.MateGiven


def wdl(engine):
    """Asks for win, draw and loss probabilities."""
    engine.configure({"UCI_ShowWDL": True})
    board = chess.Board("4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1")
    found = engine.analyse(board, chess.engine.Limit(depth=2))["wdl"]
    assert found.white().total() == 1000 and found.white().wins > 900, found


def play(engine):
    """Plays a game with a clock and pondering; the opponent mostly plays the expected move."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "debug log"
        engine.configure({"Debug Log File": str(log)})
        board = chess.Board()
        while not board.is_game_over(claim_draw=True) and board.ply() < 60:
            limit = chess.engine.Limit(
                white_clock=0.5, black_clock=0.5, white_inc=0.02, black_inc=0.02,
                remaining_moves=10 if board.ply() % 3 == 0 else None)
            result = engine.play(board, limit, ponder=True)
            board.push(result.move)
            if board.is_game_over(claim_draw=True):
                break
            assert result.ponder is None or result.ponder in board.legal_moves, (board.fen(), result)
            is_expected = result.ponder is not None and board.ply() % 8 != 1
            board.push(result.ponder if is_expected else next(iter(board.legal_moves)))
        text = log.read_text()
        assert ">> go ponder " in text and ">> ponderhit" in text and ">> stop" in text, text
        engine.configure({"Debug Log File": None})


def chess960(engine):
    """Plays a few moves of Chess960, and all castling moves of a position."""
    board = chess.Board.from_chess960_pos(17)
    for _ in range(24):
        if board.is_game_over(claim_draw=True):
            break
        board.push(engine.play(board, chess.engine.Limit(nodes=2000)).move)
    castling = chess.Board("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", chess960=True)
    for mv in [m for m in castling.legal_moves if castling.is_castling(m)]:
        result = engine.play(castling, chess.engine.Limit(depth=1), root_moves=[mv])
        assert result.move in castling.legal_moves
        after = castling.copy()
        after.push(mv)
        engine.play(after, chess.engine.Limit(depth=1))


def root_moves(engine):
    """Restricts the search to some root moves."""
    board = chess.Board()
    allowed = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h3")]
    result = engine.play(board, chess.engine.Limit(depth=4), root_moves=allowed)
    assert result.move in allowed, result


def multi_pv(engine):
    """Asks for the three best lines."""
    board = chess.Board()
    infos = engine.analyse(board, chess.engine.Limit(depth=5), multipv=3)
    assert [info["multipv"] for info in infos] == [1, 2, 3], infos
    assert len({info["pv"][0] for info in infos}) == 3, infos
    scores = [info["score"].white().score() for info in infos]
    assert scores == sorted(scores, reverse=True), infos


def rounds(engine, count=2000, seed=1):
    """Asks for moves and analyses in random ways, in positions of random games, from one process."""
    rng = random.Random(seed)
    board = chess.Board()
    for _ in range(count):
        if board.is_game_over(claim_draw=True) or board.ply() > 200:
            board = chess.Board.from_chess960_pos(rng.randrange(960)) if rng.random() < 0.2 else chess.Board()
            engine.configure({"Hash": rng.choice([1, 16, 33]), "Threads": rng.choice([1, 2])})
        limit = rng.choice([
            chess.engine.Limit(nodes=rng.randrange(1, 5000)), chess.engine.Limit(depth=rng.randrange(1, 8)),
            chess.engine.Limit(time=0.01), chess.engine.Limit(white_clock=0.3, black_clock=0.3, white_inc=0.01)])
        lines = rng.randrange(1, 6)
        kind = rng.randrange(4)
        if kind == 0:
            # A copy: the package keeps the board to see whether an expected move has come, also when it analyses next.
            result = engine.play(board.copy(), limit, ponder=rng.random() < 0.5, info=chess.engine.INFO_ALL)
            assert result.move in board.legal_moves and "score" in result.info, (board.fen(), result)
            board.push(result.move)
        elif kind == 1:
            infos = engine.analyse(board, limit, multipv=lines)
            assert len({info["pv"][0] for info in infos}) == len(infos), infos
            # A search may end before it has all lines, but not by its depth.
            assert not limit.depth or len(infos) == min(lines, board.legal_moves.count()), infos
        elif kind == 2:
            with engine.analysis(board, multipv=lines) as analysis:
                for _, info in zip(range(rng.randrange(1, 20)), analysis):
                    after = board.copy()
                    for mv in info.get("pv", []):
                        after.push(after.parse_uci(mv.uci()))
            assert analysis.wait().move in board.legal_moves
        else:
            moves = rng.sample(list(board.legal_moves), rng.randrange(1, board.legal_moves.count() + 1))
            assert engine.play(board, limit, root_moves=moves).move in moves
        if not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))


def main():
    binary, *tasks = sys.argv[1:]
    for task in tasks:
        with chess.engine.SimpleEngine.popen_uci(binary, timeout=60) as engine:
            assert engine.id["name"].startswith("Kiln "), engine.id
            globals()[task](engine)
            engine.ping()
        print(task)


main()
