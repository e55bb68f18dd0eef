#!/usr/bin/env python3
"""Plays Kiln against other engines and prints one table of the results.

    gauntlet.py ENGINE NAME=OPPONENT... --book BOOK... [--tc 2+0.02 8+0.08] [--games 40] [--jobs 2] [--pgn FOLDER]

Each opponent is played at each time control with each book (EPD, or PGN by its name), in pairs with colours swapped.
All engines have 16 MB of hash, one thread and the move overhead that is their own default. Games are adjudicated: a
draw from move 40 when both find it within 8 centipawns for 8 moves, a loss when the loser finds it beyond 600 for 4
moves. The table has a row for each opponent, time control and book, with errors of 95 %, and says how many games each
engine lost on time, by an illegal move or because it ended.

Requires fastchess on the PATH. Nothing else should run meanwhile.
"""

import argparse
import math
import pathlib
import re
import shutil
import subprocess
import tempfile


def elo(points, games):
    """Returns the Elo difference of a score."""
    share = min(max(points / games, 0.5 / games), 1 - 0.5 / games)
    return -400 * math.log10(1 / share - 1)


def play(arguments, opponent, control, book, pgn):
    """Plays a match and returns the result of each pair of games, as points of Kiln, and what the table shows."""
    command = ["fastchess"]
    for name, path in (("kiln", arguments.engine), ("opponent", opponent)):
        command += ["-engine", f"cmd={path.resolve()}", f"name={name}"]
    command += ["-each", f"tc={control}", "option.Hash=16"]
    command += ["-openings", f"file={book.resolve()}", f"format={'pgn' if book.suffix == '.pgn' else 'epd'}", "order=random"]
    command += ["-srand", str(arguments.seed), "-games", "2", "-repeat", "-rounds", str(arguments.games // 2)]
    command += ["-concurrency", str(arguments.jobs), "-recover", "-ratinginterval", "0", "-pgnout", f"file={pgn}"]
    command += ["-draw", "movenumber=40", "movecount=8", "score=8", "-resign", "movecount=4", "score=600"]
    # Fastchess writes its configuration to the current folder.
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    pairs, counts, forfeits = {}, [0, 0, 0], [0, 0]
    games = re.split(r"(?=\[Event )", pgn.read_text(encoding="utf-8"))[1:] if pgn.exists() else []
    if ended.returncode != 0 or len(games) != arguments.games:
        raise SystemExit(f"{len(games)} of {arguments.games} games were played:\n{ended.stdout}{ended.stderr}")
    for game in games:
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', game, re.MULTILINE))
        if tags["Result"] not in ("1-0", "0-1", "1/2-1/2"):
            raise SystemExit(f"a game has no result:\n{game}")
        white = {"1-0": 1, "0-1": 0}.get(tags["Result"], 0.5)
        points = white if tags["White"] == "kiln" else 1 - white
        counts[int(2 - 2 * points)] += 1
        if tags.get("Termination") in ("time forfeit", "illegal move", "abandoned", "stalled connection"):
            forfeits[points > 0] += 1
        pairs.setdefault(tags["Round"].split(".")[0], []).append(points)
    return list(pairs.values()), counts, forfeits


def row(pairs, counts, forfeits):
    """Returns score, Elo and forfeits of both as cells. The error is that of pairs, whose games share an opening."""
    games = sum(counts)
    points = counts[0] + counts[1] / 2
    mean = points / games
    # The variance of the mean of all games, from sums of the pairs' deviations.
    squares = sum(sum(p - mean for p in pair) ** 2 for pair in pairs)
    score, lost = (", ".join(map(str, numbers)) for numbers in (counts, forfeits))
    # Pairs with equal scores do not tell how far they spread.
    error = "?"
    if squares > 0:
        deviation = math.sqrt(squares * len(pairs) / (len(pairs) - 1)) / games
        low, high = (elo(games * min(max(mean + 1.96 * way * deviation, 0), 1), games) for way in (-1, 1))
        error = f"{(high - low) / 2:.0f}"
    return f"{score} | {elo(points, games):+.0f} ± {error} | {lost}"


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("engine", type=pathlib.Path, help="Kiln")
parser.add_argument("opponents", nargs="+", metavar="NAME=OPPONENT", help="a name for the table, and a binary")
parser.add_argument("--book", nargs="+", type=pathlib.Path, required=True, help="opening books")
parser.add_argument("--tc", nargs="+", default=["2+0.02", "8+0.08"], help="time controls (default: %(default)s)")
parser.add_argument("--games", type=int, default=40, help="games of each match (default: 40)")
parser.add_argument("--jobs", type=int, default=2, help="games at once (default: 2)")
parser.add_argument("--seed", type=int, default=1, help="of the order of openings (default: 1)")
parser.add_argument("--pgn", type=pathlib.Path, help="a folder in which to keep the games")
arguments = parser.parse_args()
if not shutil.which("fastchess"):
    parser.error("fastchess is not on the PATH")
if arguments.games < 2 or arguments.games % 2:
    parser.error(f"--games is {arguments.games}; allowed are even numbers from 2")
opponents = [opponent.partition("=") for opponent in arguments.opponents]
for path in [arguments.engine, *arguments.book, *(pathlib.Path(path) for _, _, path in opponents)]:
    if not path.is_file():
        parser.error(f"{path} is no file; an opponent is written NAME=OPPONENT")
version = subprocess.run([arguments.engine.resolve(), "--version"], capture_output=True, text=True).stdout.splitlines()
print(f"{' '.join(version[:1])}\n")
print("| opponent | time control | book | won, drawn, lost | Elo | forfeits, theirs |\n|---|---|---|---|---|---|", flush=True)
with tempfile.TemporaryDirectory() as folder:
    kept = arguments.pgn or pathlib.Path(folder)
    kept.mkdir(parents=True, exist_ok=True)
    for name, _, path in opponents:
        for control in arguments.tc:
            for book in arguments.book:
                pgn = kept.resolve() / f"{name}-{control}-{book.stem}.pgn".replace("/", "_")
                # Fastchess appends.
                pgn.unlink(missing_ok=True)
                result = play(arguments, pathlib.Path(path), control, book, pgn)
                print(f"| {name} | {control} | {book.stem} | {row(*result)} |", flush=True)
