"""What the steps of the search are worth, and better numbers for it, by games at fixed nodes of an engine built with `--features tune` against itself.

`steps` takes a file with a line `name|option=value,option=value` for each step, whose options leave it out. In each match half of the steps, drawn by lot, are left out on one side and
the other half on the other; least squares on the scores give what each is worth. So all games tell of all steps.

`spsa` moves all numbers that the engine's command `spsa` prints, but those of the clock, by simultaneous perturbation stochastic approximation (Spall 1998; the gains are those of
Fishtest and OpenBench, https://github.com/AndyGrant/OpenBench/wiki/SPSA-Tuning-Workloads): each match is one between all numbers a step up or down, by lot, and the opposite.

Needs fastchess on the PATH, the package numpy, and a book in EPD (a small one, for it is read anew for each match).
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

# Elo for each unit of score, near a level one: the slope of the logistic curve there.
ELO = 695
GAMES = 12  # of a match


def side(arguments, name, options):
    """An engine with options, as fastchess wants to be told of it."""
    return ["-engine", f"cmd={arguments.engine.resolve()}", f"name={name}"] + [f"option.{k}={v}" for k, v in options.items()]


def match(arguments, seed, first, second):
    """Plays one, each side with options of its own: the points of the first less those of the second."""
    # Fastchess writes its settings into the folder where it runs.
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            ["fastchess", *side(arguments, "first", first), *side(arguments, "second", second), "-each", "tc=inf", f"nodes={arguments.nodes}", "option.Hash=8",
             "-openings", f"file={arguments.book.resolve()}", "format=epd", "order=random", "-srand", str(seed), "-games", "2", "-repeat",
             "-rounds", str(GAMES // 2), "-concurrency", "1", "-draw", "movenumber=40", "movecount=8", "score=8",
             "-resign", "movecount=4", "score=600", "-ratinginterval", "0"],
            capture_output=True, text=True, cwd=folder)
    points = re.findall(rf"Games: {GAMES}, .*Points: ([\d.]+)", ended.stdout)
    # An option that the engine says it does not allow is left out with no more than a warning.
    if not points or "Invalid value" in ended.stdout + ended.stderr:
        raise SystemExit(f"a match was not played to its end, or not with these options:\n{ended.stdout}{ended.stderr}")
    return 2 * float(points[-1]) - GAMES


def matches(arguments, draw):
    """Plays matches whose sides `draw` gives when one can start, and yields what it gave and the result as they end."""
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


def steps(arguments):
    lines = [line.split("|") for line in arguments.list.read_text().splitlines() if "|" in line]
    if arguments.games // GAMES <= len(lines):
        raise SystemExit(f"{arguments.games} games tell nothing of {len(lines)} steps: there must be more than {GAMES * len(lines)}")
    without = [dict(option.split("=") for option in options.split(",")) for _, options in lines]

    def draw():
        signs = [random.choice((-1, 1)) for _ in lines]
        first, second = ({k: v for sign, some in zip(signs, without) if sign == out for k, v in some.items()} for out in (-1, 1))
        return signs, first, second

    plans, scores = [], []
    for plan, result in matches(arguments, draw):
        plans.append(plan)
        scores.append(ELO * result / GAMES / 2)
        if len(plans) > len(lines) and (len(plans) % 50 == 0 or GAMES * len(plans) == arguments.games):
            x, y = numpy.array(plans, float), numpy.array(scores)
            worth, *_ = numpy.linalg.lstsq(x, y, rcond=None)
            variance = numpy.sum((y - x @ worth) ** 2) / (len(y) - len(worth))
            error = 1.96 * numpy.sqrt(numpy.diag(numpy.linalg.pinv(x.T @ x)) * variance)
            print(f"\n{GAMES * len(plans)} games")
            for i in numpy.argsort(-worth):
                print(f"{worth[i]:+6.1f} ± {error[i]:4.1f} Elo  {lines[i][0]}", flush=True)


def spsa(arguments):
    printed = subprocess.run([arguments.engine], input="spsa\nquit\n", capture_output=True, text=True, check=True).stdout
    rows = [row.split(", ") for row in printed.splitlines() if ", int, " in row and not row.startswith("time_")]
    if not rows:
        raise SystemExit(f"{arguments.engine} has no numbers to tune: build it with --features tune")
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
            print(f"\n{2 * played} games: each number, before, and by how many of its last steps it moved")
            for name, now, before, step in zip(names, values, start, last_step):
                print(f"{name} = {round(now)}  {before:.0f}  {(now - before) / step:+.2f}", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
for name, run in (("steps", steps), ("spsa", spsa)):
    command = commands.add_parser(name)
    command.set_defaults(run=run)
    command.add_argument("engine", type=pathlib.Path, help="its binary")
    command.add_argument("book", type=pathlib.Path)
    command.add_argument("--games", type=int, default=3000)
    command.add_argument("--nodes", type=int, default=10000, help="of each move")
    command.add_argument("--jobs", type=int, default=2, help="matches at once")
commands.choices["steps"].add_argument("list", type=pathlib.Path)
commands.choices["spsa"].add_argument("--rate", type=float, default=0.002, help="of learning, at the end: fewer games want a higher one")
arguments = parser.parse_args()
if not shutil.which("fastchess"):
    parser.error("fastchess is not on the PATH")
if arguments.games < GAMES:
    parser.error(f"--games {arguments.games}: a match has {GAMES}")
arguments.games -= arguments.games % GAMES
arguments.run(arguments)
