"""Plays many very short games between two engine processes that run throughout, while their options change.

Arguments: the engine's binary, the number of games, a seed, and the clock as base and increment in seconds, by default
0.4 and 0.01. Before each game the threads (1, 2, 4), hash, MultiPV and pondering are drawn at random. Fails at a crash,
an illegal move or, after all games, a loss on time. At the end it prints how often each number of threads played, and
how much memory the engines used from time to time with the same options.
"""

import collections
import pathlib
import queue
import random
import subprocess
import sys
import threading
import time

import chess

# The longest wait for a line in seconds.
TIMEOUT = 20.0
# A game ends after MAX_PLIES, or when the score was beyond DECISIVE_SCORE centipawns for DECISIVE_PLIES in a row.
MAX_PLIES, DECISIVE_PLIES, DECISIVE_SCORE = 120, 4, 400


class Engine:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = queue.Queue()
        self.score = 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.send("uci")
        self.wait_for("uciok")
        # Eight threads may run at once, whatever the number of cores.
        self.send("setoption name Move Overhead value 100")

    def listen(self):
        for line in self.process.stdout:
            self.lines.put((time.perf_counter(), line.split()))
        self.lines.put((time.perf_counter(), ["end"]))

    def send(self, text):
        self.process.stdin.write(text + "\n")

    def wait_for(self, word):
        """Waits for a line that begins with a word. Returns its time and words."""
        while True:
            when, line = self.lines.get(timeout=TIMEOUT)
            assert line[:1] != ["end"], f"the engine exited with status {self.process.wait()}"
            if line[:1] == [word]:
                return when, line
            if "score" in line and "multipv" in line and line[line.index("multipv") + 1] == "1":
                kind, value = line[line.index("score") + 1:][:2]
                self.score = int(value) * (DECISIVE_SCORE if kind == "mate" else 1)

    def set(self, **options):
        for name, value in options.items():
            self.send(f"setoption name {name} value {value}")
        self.send("ucinewgame\nisready")
        self.wait_for("readyok")

    def memory(self):
        """Returns the resident memory in megabytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def play(engines, ponders, board, base, increment):
    """Plays a game. Returns its number of plies, and by how many seconds a move was late or None."""
    clocks, late = [base, base], None
    moves, expected, decided = [], [None, None], 0
    while not board.is_game_over(claim_draw=True) and len(moves) < MAX_PLIES and decided < DECISIVE_PLIES:
        side = len(moves) % 2
        engine = engines[side]
        position = f"position fen {board.root().fen()} moves {' '.join(moves)}"
        start = time.perf_counter()
        if expected[side] is not None and expected[side] == moves[-1]:
            engine.send("ponderhit")
        else:
            if expected[side] is not None:
                engine.send("stop")
                engine.wait_for("bestmove")
                start = time.perf_counter()
            engine.send(f"{position}\ngo {times(clocks, increment)}")
        end, answer = engine.wait_for("bestmove")
        clocks[side] -= end - start
        if clocks[side] <= 0:
            late = -clocks[side]
            expected[side] = None
            break
        clocks[side] += increment
        move = chess.Move.from_uci(answer[1])
        assert move in board.legal_moves, (board.fen(), answer)
        board.push(move)
        moves.append(answer[1])
        decided = decided + 1 if abs(engine.score) >= DECISIVE_SCORE else 0
        expected[side] = None
        if ponders and len(answer) == 4:
            expected[side] = answer[3]
            engine.send(f"{position} {answer[1]} {answer[3]}\ngo ponder {times(clocks, increment)}")
    for engine, move in zip(engines, expected):
        if move is not None:
            engine.send("stop")
            engine.wait_for("bestmove")
    return len(moves), late


def times(clocks, increment):
    """Returns the clocks as arguments of `go`."""
    white, black, more = (round(1000 * seconds) for seconds in (*clocks, increment))
    return f"wtime {white} btime {black} winc {more} binc {more}"


def main(path, games, seed, base=0.4, increment=0.01):
    random.seed(int(seed))
    engines = [Engine(path), Engine(path)]
    counts, plies, memory, lost = collections.Counter(), 0, [], []
    for game in range(int(games)):
        if game % 100 == 0:
            for engine in engines:
                engine.set(Threads=1, Hash=16, MultiPV=1)
            memory.append(round(max(engine.memory() for engine in engines)))
        threads = random.choice([1, 2, 4])
        ponders = random.random() < 0.5
        for engine in engines:
            engine.set(Threads=threads, Hash=random.choice([1, 4, 16, 64]), MultiPV=random.choice([1, 1, 3]))
        board = chess.Board()
        for _ in range(8):
            board.push(random.choice(list(board.legal_moves)))
            if board.is_game_over():
                board = chess.Board()
        board = chess.Board(board.fen())
        if board.turn == chess.BLACK:
            board.push(random.choice(list(board.legal_moves)))
            board = chess.Board(board.fen())
        if not board.is_game_over():
            moves, late = play(engines, ponders, board, float(base), float(increment))
            plies += moves
            counts[threads, ponders] += 1
            if late is not None:
                lost.append((threads, ponders, round(late, 3)))
    for engine in engines:
        engine.send("quit")
        assert engine.process.wait(timeout=TIMEOUT) == 0
    print(f"{sum(counts.values())} games, {plies} plies, by (threads, pondering) {dict(counts)}, "
          f"memory {memory} MB, lost on time {lost}")
    sys.exit(bool(lost))


main(*sys.argv[1:])
