"""Tunes the parameters of the search by SPSA, with self-play matches at fixed nodes of an engine built with `--features
tune`.

It tunes all parameters that the engine's command `spsa` prints, except those of time management, the vote of threads
and tablebases, by simultaneous perturbation stochastic approximation (Spall 1998; the gain sequences are those of
Fishtest and OpenBench, https://github.com/AndyGrant/OpenBench/wiki/SPSA-Tuning-Workloads). Each match perturbs every
parameter up or down at random, and plays these values against the opposite ones.

Requires fastchess on the PATH, the package numpy, and an opening book in EPD. Fastchess reads the book again for each
match, so use a small one.
"""

import argparse
import concurrent.futures
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

import numpy

GAMES = 12  # per match


def side(arguments, name, options):
    """Returns the fastchess arguments for an engine with these options."""
    return ["-engine", f"cmd={arguments.engine.resolve()}", f"name={name}"] + [f"option.{k}={v}" for k, v in options.items()]


def match(arguments, seed, first, second):
    """Plays a match between two sets of options. Returns the points of the first side minus those of the second."""
    # Fastchess writes its configuration to the current folder.
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            ["fastchess", *side(arguments, "first", first), *side(arguments, "second", second), "-each", "tc=inf", f"nodes={arguments.nodes}", "option.Hash=8",
             "-openings", f"file={arguments.book.resolve()}", "format=epd", "order=random", "-srand", str(seed), "-games", "2", "-repeat",
             "-rounds", str(GAMES // 2), "-concurrency", "1", "-draw", "movenumber=40", "movecount=8", "score=8",
             "-resign", "movecount=4", "score=600", "-ratinginterval", "0"],
            capture_output=True, text=True, cwd=folder)
    points = re.findall(rf"Games: {GAMES}, .*Points: ([\d.]+)", ended.stdout)
    # Fastchess only warns about an option value that the engine does not allow, and ignores it.
    if not points or "Invalid value" in ended.stdout + ended.stderr:
        raise SystemExit(f"a match did not finish or an option value was refused:\n{ended.stdout}{ended.stderr}")
    return 2 * float(points[-1]) - GAMES


def matches(arguments, draw):
    """Plays matches in parallel and yields the plan and result of each as it ends.

    `draw` is called when a match can start; it returns a plan and both sides' options.
    """
    left = arguments.games // GAMES
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {}
        while left or running:
            while left and len(running) < arguments.jobs:
                plan, first, second = draw()
                running[pool.submit(match, arguments, random.randrange(1 << 30), first, second)] = plan
                left -= 1
            for ended in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                yield running.pop(ended), ended.result()


def spsa(arguments):
    printed = subprocess.run([arguments.engine], input="spsa\nquit\n", capture_output=True, text=True, check=True).stdout
    # Games at fixed nodes use no clock, one thread takes no vote, and there are no tablebases.
    rows = [row.split(", ") for row in printed.splitlines()
            if ", int, " in row and not row.startswith(("time_", "vote_", "tablebase_"))]
    if not rows:
        raise SystemExit(f"{arguments.engine} has no parameters to tune; build it with --features tune")
    names = [row[0] for row in rows]
    start, least, most, last_step = numpy.array([[float(row[i]) for i in (2, 3, 4, 5)] for row in rows]).T
    pairs = arguments.games // 2
    values, played = start.copy(), 0

    def draw():
        signs = numpy.array([random.choice((-1, 1)) for _ in names])
        move = signs * last_step * (pairs / (played + GAMES / 2)) ** 0.101
        up, down = (numpy.rint(numpy.clip(values + way, least, most)).astype(int) for way in (move, -move))
        return move, dict(zip(names, up)), dict(zip(names, down))

    for move, result in matches(arguments, draw):
        played += GAMES // 2
        gain = arguments.rate * (1.1 * pairs / (0.1 * pairs + played)) ** 0.602 * (last_step / numpy.abs(move)) ** 2
        values = numpy.clip(values + gain * move * result, least, most)
        if played % (50 * GAMES // 2) == 0 or played == pairs:
            print(f"\n{2 * played} games: parameter = value, start value, change in units of its final perturbation")
            for name, now, before, step in zip(names, values, start, last_step):
                print(f"{name} = {round(now)}  {before:.0f}  {(now - before) / step:+.2f}", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("engine", type=pathlib.Path, help="engine binary")
parser.add_argument("book", type=pathlib.Path, help="opening book in EPD")
parser.add_argument("--games", type=int, default=3000, help="total number of games (default: 3000)")
parser.add_argument("--nodes", type=int, default=10000, help="nodes per move (default: 10000)")
parser.add_argument("--jobs", type=int, default=2, help="parallel matches (default: 2)")
parser.add_argument(
    "--rate", type=float, default=0.002, help="final learning rate (default: 0.002); use a higher one for fewer games")
arguments = parser.parse_args()
if not shutil.which("fastchess"):
    parser.error("fastchess is not on the PATH")
if arguments.games < GAMES:
    parser.error(f"--games is {arguments.games}; allowed are {GAMES} and more, one match")
arguments.games -= arguments.games % GAMES
spsa(arguments)
