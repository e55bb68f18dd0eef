#!/usr/bin/env python3
"""Counts the nodes that engines need to solve test positions, and finds such positions.

    solve.py run SUITE.epd ENGINE... [--nodes 1000000] [--worst 20] [--jobs 1]
    solve.py find ENGINE JUDGE GAMES.pgn OUT.epd [--positions 100] [--nodes 10000 300000] [--gain 150] [--seed 1]

`run` searches each position with an empty hash table. A position is solved by the first iteration that finds a move
after `bm` to which the engine keeps for ten times its nodes or up to --nodes; one that is not counts with --nodes. It
prints how many positions each engine solves within 1,000, 10,000, ... nodes, the geometric mean of the nodes, and the
positions that the first engine finds hardest, beside the others. An ENGINE may have options:
./kiln:Hash=64,EvalFile=x.nnue.zst

`find` takes positions of games in which a short search of ENGINE misses the only good move by a long search of JUDGE:
all others are worse by --gain centipawns.

Needs the Python package chess.
"""

import argparse
import contextlib
import math
import pathlib
import random
import re
import threading

import chess
import chess.engine
import chess.pgn


def start(engine):
    """Starts an engine with the options after its path."""
    path, _, options = engine.partition(":")
    process = chess.engine.SimpleEngine.popen_uci(path, timeout=60)
    one_thread = {"Threads": 1} if "Threads" in process.options else {}
    process.configure(one_thread | dict(option.split("=", 1) for option in options.split(",") if option))
    return process


def nodes_to_solution(engine, board, solutions, limit):
    """Returns after how many nodes the engine keeps to a solution, or `limit` if it does not."""
    solved = limit
    with engine.analysis(board, chess.engine.Limit(nodes=limit), game=object()) as analysis:
        for info in analysis:
            if "pv" not in info or "upperbound" in info or "nodes" not in info:
                continue
            if info["pv"][0] not in solutions:
                solved = limit
            else:
                solved = min(solved, info["nodes"])
                if info["nodes"] > max(10 * solved, 10_000):
                    break
    return max(solved, 1)


def read(path):
    """Returns the positions of an EPD with their solutions: name, board, moves."""
    positions = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        # Other operations may be of any kind, or broken.
        words = line.split(None, 4)
        operations = dict(re.findall(r'\b(bm|id)\s+"?([^;"]*)', words[-1]))
        if not operations.get("bm"):
            raise SystemExit(f"{path}:{number}: no move after \"bm\"")
        try:
            board = chess.Board(" ".join(words[:4]) + " 0 1")
            solutions = {board.parse_san(san) for san in operations["bm"].split()}
        except ValueError as error:
            raise SystemExit(f"{path}:{number}: {error}")
        positions.append((operations.get("id", str(number)), board, solutions))
    return positions


def run(arguments):
    positions = read(arguments.suite)
    results = [[None] * len(positions) for _ in arguments.engines]
    todo = iter([(e, p) for p in range(len(positions)) for e in range(len(arguments.engines))])
    lock = threading.Lock()

    def work():
        with contextlib.ExitStack() as stack:
            engines = [stack.enter_context(start(engine)) for engine in arguments.engines]
            while True:
                with lock:
                    task = next(todo, None)
                if task is None:
                    break
                engine, position = task
                _, board, solutions = positions[position]
                results[engine][position] = nodes_to_solution(engines[engine], board, solutions, arguments.nodes)
            for engine in engines:
                engine.quit()

    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(None in nodes for nodes in results):
        raise SystemExit("an engine failed")

    steps = [10**power for power in range(3, 10) if 10**power < arguments.nodes]
    print(f"solved of {len(positions)} within" + "".join(f" {step:>9,}" for step in [*steps, arguments.nodes]) + "  mean")
    for engine, nodes in zip(arguments.engines, results):
        solved = [sum(n <= step for n in nodes) for step in steps] + [sum(n < arguments.nodes for n in nodes)]
        mean = math.exp(sum(map(math.log, nodes)) / len(nodes))
        print(f"{pathlib.Path(engine).name[:24]:24}" + "".join(f" {count:9}" for count in solved) + f"  {mean:,.0f}")
    print("\nhardest for the first")
    order = sorted(range(len(positions)), key=lambda position: -results[0][position])
    for position in order[: arguments.worst]:
        name, board, solutions = positions[position]
        moves = ", ".join(board.san(move) for move in solutions)
        print(f"{name:12} {moves:16}" + "".join(f" {nodes[position]:12,}" for nodes in results))


def find(arguments):
    rng = random.Random(arguments.seed)
    boards = []
    with arguments.games.open(encoding="utf-8", errors="replace") as games:
        while (game := chess.pgn.read_game(games)) is not None:
            board = game.board()
            for move in game.mainline_moves():
                board.push(move)
                if not board.is_game_over() and board.ply() >= 8:
                    boards.append(board.copy(stack=False))
    rng.shuffle(boards)
    short, long = arguments.nodes
    count = 0
    with start(arguments.engine) as engine, start(arguments.judge) as judge, arguments.out.open("w") as out:
        def search(engine, board, nodes, moves=None):
            limit = chess.engine.Limit(nodes=nodes)
            result = engine.play(board, limit, game=object(), info=chess.engine.INFO_SCORE, root_moves=moves)
            return result.move, result.info["score"].pov(board.turn).score(mate_score=10_000)

        def missed_move(board):
            """Returns the only good move if the short search misses it."""
            first, _ = search(engine, board, short)
            # A tenth of the long search rules most positions out.
            for nodes in (long // 10, long):
                best, score = search(judge, board, nodes)
                if best == first or score < -arguments.gain:
                    return None
            _, other = search(judge, board, long, [move for move in board.legal_moves if move != best])
            return best if score - other >= arguments.gain else None

        for board in boards:
            if (best := missed_move(board)) is not None:
                count += 1
                print(board.epd(bm=[best], id=f"{arguments.out.stem}.{count:03}"), file=out, flush=True)
            if count == arguments.positions:
                break
    print(f"{count} positions in {arguments.out}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
command = commands.add_parser("run")
command.set_defaults(run=run)
command.add_argument("suite", type=pathlib.Path)
command.add_argument("engines", nargs="+", metavar="ENGINE")
command.add_argument("--nodes", type=int, default=1_000_000, help="of each search at most (default: 1,000,000)")
command.add_argument("--worst", type=int, default=20, help="positions to list (default: 20)")
command.add_argument("--jobs", type=int, default=1, help="searches at once (default: 1)")
command = commands.add_parser("find")
command.set_defaults(run=find)
command.add_argument("engine")
command.add_argument("judge")
command.add_argument("games", type=pathlib.Path)
command.add_argument("out", type=pathlib.Path)
command.add_argument("--positions", type=int, default=100, help="to find (default: 100)")
command.add_argument("--nodes", type=int, nargs=2, default=[10_000, 300_000], help="of both searches")
command.add_argument("--gain", type=int, default=150, help="in centipawns (default: 150)")
command.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
arguments.run(arguments)
