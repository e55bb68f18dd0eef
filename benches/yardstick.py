#!/usr/bin/env python3
"""Makes the positions of a yardstick: quiet ones from games, judged by a strong engine.

    yardstick.py judge ENGINE GAMES.pgn OUT [--positions 5000] [--nodes 1000000] [--per-game 2] [--seed 1] [--siblings]
    yardstick.py search ENGINE POSITIONS OUT --nodes 1000
    yardstick.py static ENGINE POSITIONS OUT [--option NAME=VALUE]... [--term "Final evaluation"]

`judge` takes at most two positions of each game, or --per-game, all after move 8, in which the side to move is not in
check and the engine's best move neither captures nor promotes. It judges them in random order, so that the beginning of
OUT is a fair sample, and appends a line FEN;W,D,L to OUT for each, with the engine's probabilities of win, draw and
loss for the side to move in thousandths; `kiln net yardstick NETWORK OUT` reads them. A run that was stopped goes on
where it was: the same seed draws the same positions. With --siblings the positions after all moves of each are judged
in its place, those that are quiet in the same sense, after a line `# FEN`. `kiln net yardstick` then also says how well
scores tell the moves of a position apart.

`search` and `static` append to each line of POSITIONS a score in centipawns of the side to move, that of a search with
a new hash table and that of an engine's command `eval`; `kiln net yardstick OUT` compares them. --term selects the line
of Stockfish's answer.

Needs the Python package chess and, to judge, an engine with UCI_ShowWDL.
"""

import argparse
import pathlib
import random
import re
import subprocess

import chess
import chess.engine
import chess.pgn


def candidates(path, per_game, seed):
    """Returns positions of the games in a PGN in random order, each once."""
    rng = random.Random(seed)
    drawn = {}
    with open(path, encoding="utf-8", errors="replace") as games:
        while (game := chess.pgn.read_game(games)) is not None:
            fens, board = [], game.board()
            for move in game.mainline_moves():
                board.push(move)
                if board.ply() >= 16 and not board.is_check() and not board.is_game_over():
                    fens.append(board.fen())
            for fen in rng.sample(fens, min(per_game, len(fens))):
                # Positions that differ in their counters only count once.
                drawn.setdefault(" ".join(fen.split()[:4]), fen)
    fens = list(drawn.values())
    rng.shuffle(fens)
    return fens


def children(fen):
    """Returns the positions after all moves, without those in check and those that are over."""
    board, fens = chess.Board(fen), []
    for move in list(board.legal_moves):
        board.push(move)
        if not board.is_check() and not board.is_game_over():
            fens.append(board.fen())
        board.pop()
    return fens


def verdicts(engine, fens, nodes):
    """Yields a line for each position in which the engine's best move neither captures nor promotes."""
    for fen in fens:
        board = chess.Board(fen)
        result = engine.play(board, chess.engine.Limit(nodes=nodes), info=chess.engine.INFO_ALL, game=object())
        wdl = result.info.get("wdl")
        if wdl is None or result.move is None or board.is_capture(result.move) or result.move.promotion:
            continue
        wdl = wdl.pov(board.turn)
        yield f"{fen};{wdl.wins},{wdl.draws},{wdl.losses}"


def judge(arguments):
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    done = [line.removeprefix("# ").split(";")[0] for line in lines if line.startswith("#") == arguments.siblings]
    fens = candidates(arguments.games, arguments.per_game, arguments.seed)
    if lines:
        if not done or done[-1] not in fens:
            raise SystemExit(f"{arguments.out} is of other games, another seed, or differs in --siblings or --per-game")
        # These were judged by an earlier run.
        fens = fens[fens.index(done[-1]) + 1 :]
    count = len(done)
    with chess.engine.SimpleEngine.popen_uci(arguments.engine) as engine, arguments.out.open("a") as out:
        engine.configure({"UCI_ShowWDL": True, "Hash": 256})
        for fen in fens:
            if count >= arguments.positions:
                break
            new = list(verdicts(engine, children(fen) if arguments.siblings else [fen], arguments.nodes))
            if arguments.siblings:
                new.insert(0, f"# {fen}")
            if new:
                print("\n".join(new), file=out, flush=True)
                count += 1
    print(f"{count} positions in {arguments.out}")


def read(path):
    """Returns the lines that are not empty, and how many of them are positions."""
    lines = [line for line in path.read_text().splitlines() if line]
    return lines, sum(not line.startswith("#") for line in lines)


def scored(lines, score):
    """Yields the lines, each position with what `score` returns for its FEN."""
    for line in lines:
        if not line.startswith("#"):
            fen, wdl = line.split(";")[:2]
            line = f"{fen};{wdl};{score(fen)}"
        yield f"{line}\n"


def search(arguments):
    lines, count = read(arguments.positions)
    limit = chess.engine.Limit(nodes=arguments.nodes)
    with chess.engine.SimpleEngine.popen_uci(arguments.engine) as engine, arguments.out.open("w") as out:

        def score(fen):
            return engine.analyse(chess.Board(fen), limit, game=object())["score"].relative.score(mate_score=32000)

        out.writelines(scored(lines, score))
    print(f"{count} positions in {arguments.out}")


def static(arguments):
    lines, count = read(arguments.positions)
    options = [option.split("=", 1) for option in arguments.option]
    pattern = re.compile(rf"{re.escape(arguments.term)}\s+([-+][0-9.]+) \(white side\)")
    with subprocess.Popen([arguments.engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        for command in ["uci"] + [f"setoption name {name} value {value}" for name, value in options]:
            print(command, file=engine.stdin)

        def score(fen):
            print(f"position fen {fen}\neval\nisready", file=engine.stdin, flush=True)
            found = None
            while (answer := engine.stdout.readline()).strip() != "readyok":
                if not answer:
                    raise SystemExit(f"{arguments.engine} ended at {fen}")
                if match := pattern.search(answer):
                    found = float(match[1])
            if found is None:
                raise SystemExit(f"{arguments.engine} shows no {arguments.term!r} at {fen}")
            return round(100 * found) * (1 if fen.split()[1] == "w" else -1)

        answers = "".join(scored(lines, score))
        print("quit", file=engine.stdin, flush=True)
    arguments.out.write_text(answers)
    print(f"{count} positions in {arguments.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("judge")
    command.set_defaults(run=judge)
    command.add_argument("engine")
    command.add_argument("games")
    command.add_argument("out", type=pathlib.Path)
    command.add_argument("--positions", type=int, default=5000)
    command.add_argument("--nodes", type=int, default=1_000_000)
    command.add_argument("--per-game", type=int, default=2)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--siblings", action="store_true")
    command = commands.add_parser("search")
    command.set_defaults(run=search)
    command.add_argument("engine")
    command.add_argument("positions", type=pathlib.Path)
    command.add_argument("out", type=pathlib.Path)
    command.add_argument("--nodes", type=int, required=True)
    command = commands.add_parser("static")
    command.set_defaults(run=static)
    command.add_argument("engine")
    command.add_argument("positions", type=pathlib.Path)
    command.add_argument("out", type=pathlib.Path)
    command.add_argument("--option", action="append", default=[])
    command.add_argument("--term", default="Final evaluation")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
