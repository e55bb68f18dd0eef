#!/usr/bin/env python3
"""Measures what many changes of search parameters are worth at once, in games of an engine built with the feature tune.

    factors.py play ENGINE BOOK.epd FACTORS OUT [--nodes 6000] [--games 6000] [--jobs 2]
    factors.py report FACTORS OUT

FACTORS has a factor in each line, a name and the values of one or more parameters without and with it:

    lmr_base 1000 1230
    rfp rfp_square 0 1140 rfp_factor 55 22

The line of a single parameter needs no other name. In each pair of games one side gets a random half of the factors,
and the other side gets the others. So every game tells of all factors, and each is measured as exactly as if all games
had been played for it alone (a randomised factorial design; interactions are not seen, and the other factors' values
alternate). `play` appends a line for each pair to OUT: the signs of the factors for the first side, and its points less
those of the second. `report` prints Elo and errors of 95 % by least squares, from the best factor to the worst.

`play` needs only the engine, `report` the package numpy.
"""

import argparse
import pathlib
import random
import subprocess
import threading


def read_factors(path):
    """Returns the factors of a file: by name, the two values of each of its parameters."""
    factors = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if len(words) % 3 == 0:
            words.insert(0, words[0])
        triples = [words[i : i + 3] for i in range(1, len(words), 3)]
        try:
            values = {parameter: (int(low), int(high)) for parameter, low, high in triples}
        except ValueError:
            values = {}
        if not values or words[0] in factors:
            raise SystemExit(f"bad line {line!r}: expected a new name, and a parameter with two values, or several")
        factors[words[0]] = values
    return factors


def play(arguments):
    factors = read_factors(arguments.factors)
    parameters = sorted({parameter for factor in factors.values() for parameter in factor})
    if sum(map(len, factors.values())) != len(parameters):
        raise SystemExit("a parameter stands in two factors")
    # The first four fields of an EPD are those of a FEN.
    openings = [" ".join(line.split()[:4]) + " 0 1" for line in arguments.book.read_text().splitlines() if line.strip()]
    remaining, done, lock = arguments.games // 2, 0, threading.Lock()

    def values(signs):
        chosen = {p: pair[sign == "+"] for sign, factor in zip(signs, factors.values()) for p, pair in factor.items()}
        return ",".join(str(chosen[parameter]) for parameter in parameters)

    def work(out):
        nonlocal remaining, done
        command = [arguments.engine.resolve(), "tune-games", *parameters]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
            while True:
                with lock:
                    if remaining == 0:
                        return engine.stdin.close()
                    remaining -= 1
                signs = "".join(random.choice("+-") for _ in factors)
                others = signs.translate(str.maketrans("+-", "-+"))
                line = f"{arguments.nodes} {values(signs)} {values(others)} {random.choice(openings)}\n"
                try:
                    engine.stdin.write(line)
                    engine.stdin.flush()
                    result = int(engine.stdout.readline())
                except (OSError, ValueError):
                    # The engine has ended, and has said why.
                    return
                with lock:
                    out.write(f"{signs} {result}\n")
                    out.flush()
                    done += 1

    with arguments.out.open("a") as out:
        threads = [threading.Thread(target=work, args=(out,)) for _ in range(arguments.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if done < arguments.games // 2:
        raise SystemExit(f"an engine ended: {2 * done} of {arguments.games} games were played")


def report(arguments):
    import numpy

    names = list(read_factors(arguments.factors))
    rows = [line.split() for line in arguments.out.read_text().splitlines()]
    if len(rows) <= len(names) or any(len(signs) != len(names) for signs, _ in rows):
        raise SystemExit(f"{arguments.out} has too few games, or those of other factors")
    signs = numpy.array([[1.0 if sign == "+" else -1.0 for sign in signs] for signs, _ in rows])
    # A pair has two games, so its result is four times the difference of the score from one half. Near one half, Elo
    # are proportional to that.
    results = numpy.array([float(result) for _, result in rows]) / 4 * 1600 / numpy.log(10)
    inverse = numpy.linalg.inv(signs.T @ signs)
    worth = inverse @ signs.T @ results
    rest = results - signs @ worth
    errors = 1.96 * numpy.sqrt(numpy.diag(inverse) * (rest @ rest) / (len(rows) - len(names)))
    print(f"{2 * len(rows)} games")
    for index in numpy.argsort(-worth):
        print(f"{names[index]:32} {worth[index]:+6.1f} ± {errors[index]:.1f}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
command = commands.add_parser("play")
command.set_defaults(run=play)
for argument in ("engine", "book", "factors", "out"):
    command.add_argument(argument, type=pathlib.Path)
command.add_argument("--nodes", type=str, default="6000", help="of each search (default: 6000)")
command.add_argument("--games", type=int, default=6000, help="to play (default: 6000)")
command.add_argument("--jobs", type=int, default=2, help="games at once (default: 2)")
command = commands.add_parser("report")
command.set_defaults(run=report)
for argument in ("factors", "out"):
    command.add_argument(argument, type=pathlib.Path)
arguments = parser.parse_args()
arguments.run(arguments)
