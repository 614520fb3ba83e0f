"""Calls railyard from Python: runs, studies, and queries as data frames of pandas."""
import io
import os
import subprocess

import pandas

PROGRAM = os.environ.get("RAILYARD", "railyard")


def railyard(*args):
    """Runs the program and returns what it prints."""
    done = subprocess.run([PROGRAM, *map(str, args)], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):  # 3: a job lost a rank, which is a result
        raise SystemExit(done.returncode)  # the program has printed why
    return done.stdout


def query(directory, sql):
    """Returns the result of a query over the tables of a run or a study."""
    return pandas.read_csv(io.StringIO(railyard("query", directory, sql, "--csv")))
