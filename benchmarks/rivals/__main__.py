"""RAFS beside other packages of its kind, on the same weights and inputs, in one run.

    python -m benchmarks.rivals PART --python PATH [--repeats N]

PART: judges (verdicts a second), nli (pairs a second), entropy (the same number from the same groups).
PATH: python of an environment with requirements.txt.
"""

import argparse

from benchmarks.rivals import entropy, judges, nli

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("part", choices=["judges", "nli", "entropy"])
parser.add_argument("--python", required=True, help="python of the other packages' environment")
parser.add_argument("--repeats", type=int, default=5)
options = parser.parse_args()
match options.part:
    case "judges":
        judges.main(options.python, options.repeats)
    case "nli":
        nli.main(options.python, options.repeats)
    case _:
        entropy.main(options.python)
