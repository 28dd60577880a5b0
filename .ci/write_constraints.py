"""Turn pip's installation report into a constraints file."""

import json
import sys
from pathlib import Path

HEADER = "# Written by `make lock`; every installation of this repository uses exactly these versions.\n"


def render_constraints(report: dict[str, list[dict[str, dict[str, str]]]]) -> str:
    """Return one `name==version` a line, sorted, without this project itself.

    A local version (`2.13.0+cpu`) names one builder's file; without it the pin holds for every build.
    """
    pins = {
        item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"].partition("+")[0]
        for item in report["install"]
    }
    del pins["rafs"]
    return HEADER + "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(render_constraints(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")
