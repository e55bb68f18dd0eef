#!/usr/bin/env python3
"""Measures the time that a UCI engine takes to a depth, by the number of threads.

    time_to_depth.py ENGINE POSITIONS [--depth 23] [--threads 1,2,4] [--positions 20] [--hash 1024]

Searches the first positions (FEN or EPD) of a file with each number of threads, with a new hash table for each
position. Prints the time of all, how many times as fast that is as with the first number of threads (for all positions
together, and the geometric mean of theirs), and the nodes per second.
"""

import argparse
import math
import subprocess
import sys
import time


class Engine:
    """A running engine."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, command, answer):
        """Sends commands, a line each, and returns the lines up to the one that begins with `answer`."""
        self.process.stdin.write(command + "\n")
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith(answer):
                return lines
        sys.exit(f"the engine ended without {answer!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("positions")
    parser.add_argument("--depth", type=int, default=23)
    parser.add_argument("--threads", default="1,2,4", type=lambda text: [int(count) for count in text.split(",")])
    parser.add_argument("--positions", dest="count", type=int, default=20)
    parser.add_argument("--hash", type=int, default=1024)
    options = parser.parse_args()
    with open(options.positions, encoding="utf-8") as lines:
        fens = [" ".join(line.split()[:4]) + " 0 1" for line in lines if line.strip()][: options.count]
    if not fens:
        parser.error(f"{options.positions} has no positions")

    first = None
    print("threads  seconds  as fast  geometric mean  million nodes/s")
    for threads in options.threads:
        engine = Engine(options.engine)
        engine.ask("uci", "uciok")
        settings = f"setoption name Threads value {threads}\nsetoption name Hash value {options.hash}"
        times, nodes = [], 0
        for fen in fens:
            engine.ask(f"{settings}\nucinewgame\nposition fen {fen}\nisready", "readyok")
            start = time.perf_counter()
            lines = engine.ask(f"go depth {options.depth}", "bestmove")
            times.append(time.perf_counter() - start)
            last = [line.split() for line in lines if " nodes " in line][-1]
            nodes += int(last[last.index("nodes") + 1])
        engine.process.communicate("quit\n")
        first = first or times
        mean = math.exp(sum(math.log(a / b) for a, b in zip(first, times)) / len(times))
        total = sum(times)
        print(f"{threads:7} {total:8.2f} {sum(first) / total:8.2f} {mean:15.2f} {nodes / total / 1e6:16.2f}", flush=True)


if __name__ == "__main__":
    main()
