"""Sends random lines to the engine: commands, broken commands and garbage.

Arguments: the engine's command, the number of sessions, the lines in each, and a seed. After each line with `go` the
session waits for one `bestmove`, and now and then for `readyok`. Fails if the engine does not answer in time, answers a
search twice, ends by itself, or ends with an error after `quit`.
"""

import queue
import random
import subprocess
import sys
import threading

TIMEOUT = 20.0
FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K3 w KQkq e9 -1 70000",
]
MOVES = ["e2e4", "e7e5", "g1f3", "e1g1", "a7a8q", "0000", "e2e9", "é1é2", "h1h1"]
NUMBERS = ["0", "1", "-1", "2", "3", "50", "4294967296", "99999999999999999999", "x", "", "1.5", "0x10", "NaN"]
OPTIONS = [
    "Hash", "Clear Hash", "Threads", "MultiPV", "Move Overhead", "Ponder", "UCI_Chess960", "UCI_ShowWDL",
    "UCI_LimitStrength", "UCI_Elo", "EvalFile", "SyzygyPath", "SyzygyProbeDepth", "Syzygy50MoveRule", "No such option",
]
VALUES = NUMBERS + ["true", "false", "none", "<empty>", "/no/such/file", "value value", "name Hash value 1"]
LIMITS = [
    "depth", "nodes", "movetime", "mate", "wtime", "btime", "winc", "binc", "movestogo", "searchmoves", "ponder",
    "infinite", "perft", "banana",
]
OTHERS = [
    "uci", "isready", "ucinewgame", "stop", "ponderhit", "d", "eval", "help", "compiler", "license", "perft 2",
    "register later", "debug on", "debug off", "flip", "genfens 1 seed 1 book None",
]
# These bound each search, so that no session takes long.
BOUNDS = ["nodes 500", "movetime 5", "depth 3"]


def garbage(rng):
    kind = rng.randrange(4)
    if kind == 0:
        def char():
            return chr(rng.choice([rng.randrange(32, 127), rng.randrange(160, 0x3000), 0x1F600]))

        return "".join(char() for _ in range(rng.randrange(60)))
    if kind == 1:
        return " ".join(rng.choice(OTHERS + LIMITS + OPTIONS + NUMBERS) for _ in range(rng.randrange(12)))
    if kind == 2:
        return "position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * rng.randrange(600)
    return "x" * rng.randrange(100_000)


def line(rng):
    kind = rng.randrange(10)
    if kind < 3:
        limits = [f"{rng.choice(LIMITS)} {rng.choice(NUMBERS + MOVES)}" for _ in range(rng.randrange(4))]
        limits.insert(rng.randrange(len(limits) + 1), rng.choice(BOUNDS))
        return "go " + " ".join(limits)
    if kind < 5:
        start = rng.choice(["startpos", "fen " + rng.choice(FENS), "fen", "", rng.choice(FENS)])
        moves = " ".join(rng.choice(MOVES) for _ in range(rng.randrange(5)))
        return f"position {start} {rng.choice(['moves', 'move', ''])} {moves}"
    if kind < 7:
        # Large tables and many threads would test the machine.
        name, value = rng.choice(OPTIONS), rng.choice(VALUES)
        return f"setoption name {name} value {value}"
    if kind < 9:
        return rng.choice(OTHERS)
    return garbage(rng)


def session(command, count, seed):
    rng = random.Random(seed)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = queue.Queue()

    def listen():
        for text in process.stdout:
            lines.put(text.decode())
        lines.put(None)

    threading.Thread(target=listen, daemon=True).start()
    sent = []

    def send(text):
        sent.append(text)
        process.stdin.write(text.encode() + b"\n")
        process.stdin.flush()

    def answers(word):
        """Waits for the answer to `isready`; returns how many lines before it begin with the word."""
        send("isready")
        found = 0
        while (text := lines.get(timeout=TIMEOUT)) is not None and text != "readyok\n":
            assert "panicked" not in text, text
            found += text.startswith(word)
        assert text is not None, "the engine has ended"
        return found

    try:
        for _ in range(count):
            text = line(rng)
            if text.split()[:1] == ["quit"]:
                continue
            is_search = text.split()[:1] == ["go"] and "perft" not in text.split()
            send(text)
            if is_search:
                # Only what `stop` ends too, such as `go infinite`, needs it.
                send("stop")
                while (answer := lines.get(timeout=TIMEOUT)) is not None and not answer.startswith("bestmove"):
                    assert "panicked" not in answer, answer
                assert answer is not None, "the engine has ended"
                assert answers("bestmove") == 0, "a search has two answers"
        send("quit")
        assert process.wait(TIMEOUT) == 0, f"exit status {process.returncode}"
    except Exception:
        print(f"seed {seed}, the last lines sent:", *[repr(text[:200]) for text in sent[-8:]], sep="\n", file=sys.stderr)
        process.kill()
        raise


def main():
    *command, sessions, count, seed = sys.argv[1:]
    for number in range(int(sessions)):
        session(command, int(count), int(seed) + number)
    print(f"{sessions} sessions of {count} lines")


main()
