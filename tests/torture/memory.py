"""Memory that is taken away (RLIMIT_AS): a result that is right, or one line, never a traceback or half a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from tests.torture import commands
from tests.torture.counts import Counts

# Once everything is loaded and compiled, so much more memory than there is in use.
_LIMITED = """
import resource, sys
import cotherm as ct
from cotherm.cli import main
from cotherm.methods.coupling import file as coupling_file
views = ct.datasets.shortcuts(400)
result = ct.couple(views.graphs, views.functions, options={"max_iterations": 2})
coupling_file.render(result)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), resource.RLIM_INFINITY))
main(sys.argv[2:])
"""


def part(counts: Counts, short: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    if not Path("/proc/self/statm").exists():
        counts.notes.append("not run: needs /proc")
        return
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        command = [*commands.write_problem(folder, 500), "--force", "--out"]
        ended = commands.finish(commands.begin_program(folder, _LIMITED, str(1 << 34), *command, "expected.npz"))
        if ended is None or ended[0]:
            counts.lose(f"a command with memory: {ended}")
            return
        expected, refused = commands.weights(folder / "expected.npz"), 0
        for number in range(2 if short else 16):
            counts.cases += 1
            counts.faults += 1
            out, extra = f"result-{number}.npz", int(10 ** random.uniform(5.5, 8.6))
            # Every other one is told that there is more memory than there is.
            said = ["--memory", "64GiB"] if number % 2 else []
            ended = commands.finish(commands.begin_program(folder, _LIMITED, str(extra), *command, out, *said))
            if ended is None:
                counts.hang(f"{extra} bytes of memory")
                continue
            code, _, err = ended
            refused += code == 2
            counts.judge_words(err, f"{extra} bytes of memory")
            if code == 0 and commands.weights(folder / out) != expected:
                counts.lose(f"{extra} bytes of memory: another result")
            elif code == 2 and (folder / out).exists():
                counts.lose(f"{extra} bytes of memory: a file in spite of an error")
            elif code not in (0, 2):
                counts.lose(f"{extra} bytes of memory: exit code {code}: {err.strip()[-300:]}")
    counts.notes.append(f"{refused} of {counts.cases} had too little memory, and said so")
