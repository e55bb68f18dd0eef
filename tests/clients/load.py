"""Plays many very short games between two engines, which stay the same processes throughout, while their options change.

Arguments: the engine's binary, how many games, a seed, and the clock, by default 0.4 and 0.01 seconds. Before each game threads (1, 2, 4), hash, lines
and whether to ponder are drawn by lot. Fails at a crash, an illegal move or, after all games, a loss on time; at the end it says how often each number of
threads played, and how much memory the engines held along the way with the same options.
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

SILENCE = 20.0
# A game is over after 120 plies, or when so many in a row were thought to be won or lost by so many centipawns.
PLIES, CENTIPAWNS = 4, 400


class Engine:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = queue.Queue()
        self.score = 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.say("uci")
        self.hear("uciok")
        # Eight threads may be at work at once, whatever the machine has.
        self.say("setoption name Move Overhead value 100")

    def listen(self):
        for line in self.process.stdout:
            self.lines.put((time.perf_counter(), line.split()))
        self.lines.put((time.perf_counter(), ["end"]))

    def say(self, text):
        self.process.stdin.write(text + "\n")

    def hear(self, word):
        """Waits for a line that begins with a word: when it came, and the line."""
        while True:
            when, line = self.lines.get(timeout=SILENCE)
            assert line[:1] != ["end"], f"the engine has ended with status {self.process.wait()}"
            if line[:1] == [word]:
                return when, line
            if "score" in line and "multipv" in line and line[line.index("multipv") + 1] == "1":
                kind, value = line[line.index("score") + 1:][:2]
                self.score = int(value) * (CENTIPAWNS if kind == "mate" else 1)

    def set(self, **options):
        for name, value in options.items():
            self.say(f"setoption name {name} value {value}")
        self.say("ucinewgame\nisready")
        self.hear("readyok")

    def memory(self):
        """Megabytes that are in memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def play(engines, ponders, board, base, increment):
    """Plays a game to its end; returns how many moves it had, and by how many seconds one was too late, if any was."""
    clocks, late = [base, base], None
    moves, expected, decided = [], [None, None], 0
    while not board.is_game_over(claim_draw=True) and len(moves) < 120 and decided < PLIES:
        side = len(moves) % 2
        engine = engines[side]
        position = f"position fen {board.root().fen()} moves {' '.join(moves)}"
        start = time.perf_counter()
        if expected[side] is not None and expected[side] == moves[-1]:
            engine.say("ponderhit")
        else:
            if expected[side] is not None:
                engine.say("stop")
                engine.hear("bestmove")
                start = time.perf_counter()
            engine.say(f"{position}\ngo {times(clocks, increment)}")
        end, answer = engine.hear("bestmove")
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
        decided = decided + 1 if abs(engine.score) >= CENTIPAWNS else 0
        expected[side] = None
        if ponders and len(answer) == 4:
            expected[side] = answer[3]
            engine.say(f"{position} {answer[1]} {answer[3]}\ngo ponder {times(clocks, increment)}")
    for engine, move in zip(engines, expected):
        if move is not None:
            engine.say("stop")
            engine.hear("bestmove")
    return len(moves), late


def times(clocks, increment):
    """What `go` says of the clocks."""
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
        engine.say("quit")
        assert engine.process.wait(timeout=SILENCE) == 0
    print(f"{sum(counts.values())} games, {plies} plies, by (threads, pondering) {dict(counts)}, memory {memory} MB, lost on time {lost}")
    sys.exit(bool(lost))


main(*sys.argv[1:])
