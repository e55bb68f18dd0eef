#!/usr/bin/env python3
"""Makes the positions of a yardstick: quiet ones from games, judged by a strong engine.

    yardstick.py ENGINE GAMES.pgn OUT [--positions 5000] [--nodes 1000000] [--seed 1]

Takes at most two positions of each game, both after move 8, in which the side to move is not in check and the engine's
best move neither captures nor promotes. Appends a line FEN;W,D,L to OUT for each, with the engine's probabilities of
win, draw and loss for the side to move in thousandths; `kiln net yardstick` reads them. A run that was stopped goes on
where it was: the same seed draws the same positions. Needs the Python package chess and an engine with UCI_ShowWDL.
"""

import argparse
import pathlib
import random

import chess
import chess.engine
import chess.pgn


def candidates(path, seed):
    """Yields positions of the games in a PGN, two of each."""
    rng = random.Random(seed)
    with open(path, encoding="utf-8", errors="replace") as games:
        while (game := chess.pgn.read_game(games)) is not None:
            boards, board = [], game.board()
            for move in game.mainline_moves():
                board.push(move)
                if board.ply() >= 16 and not board.is_check() and not board.is_game_over():
                    boards.append(board.copy(stack=False))
            yield from rng.sample(boards, min(2, len(boards)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("games")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--positions", type=int, default=5000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    last = lines[-1].split(";")[0] if lines else None
    count = len(lines)
    with chess.engine.SimpleEngine.popen_uci(arguments.engine) as engine, arguments.out.open("a") as out:
        engine.configure({"UCI_ShowWDL": True, "Hash": 256})
        for board in candidates(arguments.games, arguments.seed):
            if count >= arguments.positions:
                break
            if last is not None:
                # These were judged by an earlier run.
                last = None if board.fen() == last else last
                continue
            limit = chess.engine.Limit(nodes=arguments.nodes)
            result = engine.play(board, limit, info=chess.engine.INFO_ALL, game=object())
            wdl = result.info.get("wdl")
            if wdl is None or result.move is None or board.is_capture(result.move) or result.move.promotion:
                continue
            wdl = wdl.pov(board.turn)
            print(f"{board.fen()};{wdl.wins},{wdl.draws},{wdl.losses}", file=out, flush=True)
            count += 1
    print(f"{count} positions in {arguments.out}")


if __name__ == "__main__":
    main()
