"""Drives the engine through the Python package chess.

Arguments: the engine's binary, then the names of tasks, which are the functions below. Fails with an exception.
"""

import pathlib
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


def main():
    binary, *tasks = sys.argv[1:]
    for task in tasks:
        with chess.engine.SimpleEngine.popen_uci(binary, timeout=60) as engine:
            assert engine.id["name"].startswith("Kiln "), engine.id
            globals()[task](engine)
            engine.ping()
        print(task)


main()
