#!/usr/bin/env python3
"""Measures the time that a UCI engine takes to a depth, by the number of threads.

    time_to_depth.py ENGINE POSITIONS [--depth 23] [--threads 1,2,4] [--positions 20] [--hash 1024]

Searches the first positions (FEN or EPD) of a file with each number of threads, with an empty hash table for each
position. Prints the time of all by the engine's clock, how many times as fast that is as with the first number of
threads (for all positions together, and the geometric mean of theirs), and the nodes per second.

Needs the Python package chess.
"""

import argparse
import math

import chess
import chess.engine


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
        epds = [" ".join(line.split()[:4]) for line in lines if line.strip()][: options.count]
    if not epds:
        parser.error(f"{options.positions} has no positions")
    try:
        boards = [chess.Board(epd + " 0 1") for epd in epds]
    except ValueError as error:
        parser.error(f"{options.positions}: {error}")

    first = None
    print("threads  seconds  as fast  geometric mean  million nodes/s")
    for threads in options.threads:
        times, nodes = [], 0
        with chess.engine.SimpleEngine.popen_uci(options.engine) as engine:
            engine.configure({"Threads": threads, "Hash": options.hash})
            for board in boards:
                info = engine.analyse(board, chess.engine.Limit(depth=options.depth), game=object())
                times.append(max(info["time"], 0.001))
                nodes += info["nodes"]
        first = first or times
        mean = math.exp(sum(math.log(a / b) for a, b in zip(first, times)) / len(times))
        total = sum(times)
        print(f"{threads:7} {total:8.2f} {sum(first) / total:8.2f} {mean:15.2f} {nodes / total / 1e6:16.2f}", flush=True)


if __name__ == "__main__":
    main()
