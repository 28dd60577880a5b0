"""Fuzz the language of traces, guided by coverage: any exception, slow text or broken promise ends the run.

    python -m tests.fuzz.language [--seconds 600] [--corpus build/fuzz] [libFuzzer options, or a file to repeat]

An input is UTF-8 text of up to four fields, parted by U+001F: the text, the problem, and two answers. The corpus grows
in its folder and is used again; what broke a promise is written there as `crash-...`, and repeated by naming the file.
"""

import argparse
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rafs"]):
    from tests.rafs.any_text import PIECES, SENTENCES, check_answers, check_text

FIELD = "\x1f"
MAX_BYTES = 4096
MAX_MEMORY_MB = 300
"""Resident memory; the language itself takes 60 MB with coverage."""
HANG_S = 20
"""Wall time after which libFuzzer itself stops; `check_text` and `check_answers` measure CPU time, and are stricter."""


def check(data: bytes) -> None:
    """Check one input."""
    fields = data.decode("utf-8", errors="replace").split(FIELD, 3)
    text, problem, a, b = (*fields, "", "", "", "")[:4]
    check_text(problem, text)
    check_answers(a or text, b or problem, problem)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change bytes as libFuzzer does, or add, repeat, nest or remove pieces of the grammar."""
    draw = random.Random(seed)
    if draw.random() < 0.3:
        return bytes(atheris.Mutate(data, max_size))
    text = data.decode("utf-8", errors="replace")
    start = draw.randint(0, len(text))
    end = min(len(text), start + draw.randint(0, 12))
    piece = draw.choice((*PIECES, *SENTENCES, FIELD))
    before, cut, after = text[:start], text[start:end], text[end:]
    changed = draw.choice(
        (
            before + piece + cut + after,
            before + piece + after,
            before + after,
            before + cut * draw.randint(2, 40) + after,
            before + piece * draw.randint(2, 40) + cut + after,
            before + piece + cut + draw.choice(PIECES) + after,
            before + after + cut,
        )
    )
    return changed.encode("utf-8", errors="replace")[:max_size]


def sow(folder: Path) -> None:
    """Write the first inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, sentence in enumerate(SENTENCES):
        neighbour = SENTENCES[(number + 1) % len(SENTENCES)]
        seed = FIELD.join((sentence + neighbour, neighbour, sentence.split()[-1], neighbour.split()[-1]))
        (folder / f"seed-{number}").write_text(seed, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz"))
    args, rest = parser.parse_known_args()
    options = [
        f"-max_total_time={args.seconds}",
        f"-max_len={MAX_BYTES}",
        f"-rss_limit_mb={MAX_MEMORY_MB}",
        f"-timeout={HANG_S}",
        f"-artifact_prefix={args.corpus}/",
        "-print_final_stats=1",
        *rest,
    ]
    if not any(Path(option).is_file() for option in rest):
        sow(args.corpus / "corpus")
        options.append(str(args.corpus / "corpus"))
    atheris.Setup([sys.argv[0], *options], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
