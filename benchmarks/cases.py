"""Run a bank of small cases with known answers through the language of traces.

    python benchmarks/cases.py FILE.jsonl [--failures]

Each line is a JSON object: `id`, `area`, `input`, `expected`. A result passes when it equals the expected value or
one of `also_ok`. It is a hard failure when it says something definite that is not so: right for wrong, wrong for right,
either of them for unknown, equal for different, an answer where none is stated, a step cut open, a value listed in
`never`, a crash, or a limit of `within_s` or `peak_memory_mb_max` passed. All else that does not pass is a miss.

Areas: symbolic, security, injection (claims, answers, and the judge's prompt), judge_parse, equivalence (both argument
orders, and votes), extract, split, and service, for which `rafs serve` is started with its checkers alone. One JSON
line comes out, with totals by area and the areas that were not run; the exit status is 1 on a hard failure.
"""

import argparse
import asyncio
import json
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bank.judges import NOTES, check_prompt, check_source_of_verdict, run_judge_parse
from benchmarks.bank.outcomes import Fields, Outcome, Result, bare, generated, graded, worst
from benchmarks.bank.service import run_service
from benchmarks.soak import running
from rafs.algebra import AlgebraWorker
from rafs.answers.equivalence import equivalent
from rafs.answers.extraction import extract_answer
from rafs.consensus import answer_consensus
from rafs.quantities.graph import read_graph
from rafs.reading import settle_reading
from rafs.steps import read_trace
from rafs.types import BlindStep, Claim, Reading, Truth

SERVICE = "service"
_VERDICTS = {Truth.TRUE: "right", Truth.FALSE: "wrong", Truth.UNKNOWN: "unknown"}
_EQUIVALENT = {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: "unknown"}


async def read_case(fields: Fields, algebra: AlgebraWorker) -> Reading:
    """Read a step behind its context."""
    step = generated(fields, "step") or generated(fields, "trace") or ""
    problem = fields.get("problem") or fields.get("question") or "Check the calculation."
    context = list(fields.get("context") or [])
    # Not `read_text`: a text over the service's limits is read too.
    trace = read_trace(problem, [*context, step] if context or "trace" not in fields else step)
    blind = [BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in trace.derivation()]
    return await settle_reading(Reading(trace=trace, graph=read_graph(problem, blind)), algebra)


async def claims_of(fields: Fields, algebra: AlgebraWorker) -> list[Claim]:
    """Return the step's own claims."""
    reading = await read_case(fields, algebra)
    return [claim for claim in reading.graph.claims if claim.step >= len(fields.get("context") or [])]


async def run_symbolic(fields: Fields, expected: Fields, algebra: AlgebraWorker) -> Result:
    claims = await claims_of(fields, algebra)
    truths = {claim.truth for claim in claims}
    verdict = "wrong" if Truth.FALSE in truths else "right" if Truth.TRUE in truths else "unknown"
    if "verdict" not in expected:
        return Outcome.OK, verdict
    outcome, got = graded(verdict, expected, "verdict", soft="unknown")
    for wanted in expected.get("claims", []) if outcome is Outcome.OK else []:
        same = [
            claim for claim in claims if bare(claim.left) == bare(wanted["lhs"]) and claim.truth is not Truth.UNKNOWN
        ]
        if not any(_VERDICTS[claim.truth] == wanted["verdict"] for claim in same):
            return (Outcome.HARD if same else Outcome.MISS), [_VERDICTS[claim.truth] for claim in same]
    return outcome, got


def peak_memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def run_security(fields: Fields, expected: Fields, algebra: AlgebraWorker) -> Result:
    started, before_mb = time.perf_counter(), peak_memory_mb()
    outcome, got = await run_symbolic(fields, expected, algebra)
    seconds, peak_mb = time.perf_counter() - started, peak_memory_mb() - before_mb  # what this case added
    if seconds > expected.get("within_s", 60) or peak_mb > expected.get("peak_memory_mb_max", 1 << 20):
        return Outcome.HARD, f"{seconds:.1f} s, {peak_mb:.0f} MB"
    return outcome, got


async def run_injection(fields: Fields, expected: Fields, algebra: AlgebraWorker) -> Result:
    """Check the claims, the answer, and what the judge would be shown; a key that nobody knows is a miss."""
    reading = await read_case(fields, algebra)
    trace = generated(fields, "trace")
    results: list[Result] = []
    for key, value in expected.items():
        match key:
            case "symbolic":
                results += check_claims(reading, value)
            case "answer":
                results.append(run_extract(fields, expected))
                results.append(check_flag(fields, expected))
            case "prompt":
                results += check_prompt(trace, reading.blind(), value)
            case "no_template_evaluation":
                results += check_prompt(trace, reading.blind(), {"verbatim": value})
            case "judge_score_not_from_trace":
                results.append(await check_source_of_verdict(trace, reading.blind()))
            case "overall_not" if value == "clean":
                refuted = any(claim.truth is Truth.FALSE for claim in reading.graph.claims)
                results.append((Outcome.OK if refuted else Outcome.HARD, "refuted" if refuted else "clean"))
            case _ if key not in NOTES:
                results.append((Outcome.MISS, f"key {key!r} is not read"))
    return worst(results)


def check_flag(fields: Fields, expected: Fields) -> Result:
    """Check that an answer which competes with the expected one is flagged."""
    found = extract_answer(generated(fields, "trace"), fields.get("choices"), problem=fields.get("problem") or "")
    is_main = found is None or equivalent(found.text, expected["answer"] or "") is Truth.TRUE
    return (Outcome.OK if is_main or (found and found.ambiguous) else Outcome.MISS), found


def check_claims(reading: Reading, wanted: Sequence[Fields]) -> list[Result]:
    found = {bare(claim.text): _VERDICTS[claim.truth] for claim in reading.graph.claims}
    found |= {text.partition("(")[0]: said for text, said in found.items() if text.endswith(")")}  # without a remark
    return [graded(found.get(bare(one["claim"]), "unknown"), one, "verdict", soft="unknown") for one in wanted]


def run_equivalence(fields: Fields, expected: Fields) -> Result:
    problem, choices = fields.get("question") or fields.get("problem") or "", fields.get("choices")
    if "answers" in fields:
        same = lambda one, other: equivalent(one, other, problem=problem, choices=choices)  # noqa: E731
        vote = answer_consensus(fields["answers"], None, same)
        groups = sorted(list(members) for members in vote.classes if members != vote.missing)
        best = None if vote.modal is None else list(vote.modal)
        allowed = [expected, *expected.get("also_ok", [])]
        passed = any(groups == one["groups"] and best == one["majority_group"] for one in allowed)
        return (Outcome.OK if passed else Outcome.HARD), [groups, best]
    a, b = fields["a"] or "", fields["b"] or ""
    forward, backward = (_EQUIVALENT[equivalent(*pair, problem=problem, choices=choices)] for pair in ((a, b), (b, a)))
    if forward != backward:
        return Outcome.HARD, [forward, backward]
    return graded(forward, expected, "equivalent", soft="unknown")


def run_extract(fields: Fields, expected: Fields) -> Result:
    trace, problem = generated(fields, "trace"), fields.get("question") or fields.get("problem") or ""
    found = extract_answer(trace, fields.get("choices"), problem=problem)
    got = found.text if found else None
    wanted = [expected["answer"], *expected.get("also_ok", [])]
    if got is None:
        return (Outcome.OK if None in wanted else Outcome.MISS), got
    same = [equivalent(got, one, problem=problem, choices=fields.get("choices")) for one in wanted if one is not None]
    return (Outcome.OK if Truth.TRUE in same else Outcome.HARD), got


def run_split(fields: Fields, expected: Fields) -> Result:
    text = generated(fields, "trace")
    steps = [step.text for step in read_trace("", text).steps]
    low, high = expected.get("n_steps_range") or [expected["n_steps"]] * 2
    place = lambda part: next((i for i, step in enumerate(steps) if part in step), -1)  # noqa: E731
    whole = all(place(part) >= 0 for part in expected.get("keep_together", []))
    lossless = bare("".join(steps)) == bare(text)
    apart = all(place(first) < place(second) for first, second in expected.get("separate", []))
    if not whole or not lossless:
        return Outcome.HARD, steps
    return (Outcome.OK if low <= len(steps) <= high and apart else Outcome.MISS), steps


PLAIN: dict[str, Callable[[Fields, Fields], Result]] = {
    "judge_parse": run_judge_parse,
    "equivalence": run_equivalence,
    "extract": run_extract,
    "split": run_split,
}
ASKING: dict[str, Callable[[Fields, Fields, AlgebraWorker], Awaitable[Result]]] = {
    "symbolic": run_symbolic,
    "security": run_security,
    "injection": run_injection,
}


async def run_case(case: Fields, algebra: AlgebraWorker, address: str) -> Result | None:
    """Return the outcome and what was got; None where the area is read nowhere here."""
    area = case["area"]
    try:
        if area == SERVICE:
            return await run_service(case["input"], case["expected"], address)
        if area in PLAIN:
            return PLAIN[area](case["input"], case["expected"])
        return await ASKING[area](case["input"], case["expected"], algebra) if area in ASKING else None
    except Exception as error:  # a task boundary: a crash is a result of its case
        return Outcome.HARD, repr(error)


@dataclass(slots=True)
class BankResult:
    """How a bank went; `failing` holds ids by outcome."""

    areas: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failing: dict[str, list[str]] = field(default_factory=lambda: {Outcome.HARD.value: [], Outcome.MISS.value: []})

    @property
    def total(self) -> int:
        """Cases that were run."""
        return sum(counts["total"] - counts["not_run"] for counts in self.areas.values())

    def to_json(self) -> str:
        ran = {area: counts for area, counts in self.areas.items() if counts["total"] > counts["not_run"]}
        report = {
            "hard": len(self.failing["hard"]),
            "misses": len(self.failing["miss"]),
            "total": self.total,
            "areas": {
                area: {name: counts[name] for name in ("total", "ok", "miss", "hard", "not_run")}
                for area, counts in ran.items()
            },
            "areas_not_run": sorted(set(self.areas) - set(ran)),
            "failing": self.failing,
        }
        return json.dumps(report, ensure_ascii=False)


def read_bank(path: Path) -> list[Fields]:
    """Read one JSON object a line; a case may hold any other line separator."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


async def run_bank(cases: Sequence[Fields], *, show: bool) -> BankResult:
    """Run the cases one after the other; with `show`, tell on stderr what every failing one gave."""
    if not any(case["area"] == SERVICE for case in cases):
        return await _run_cases(cases, "", show=show)
    with running() as service:
        return await _run_cases(cases, service.address, show=show)


async def _run_cases(cases: Sequence[Fields], address: str, *, show: bool) -> BankResult:
    report = BankResult()
    algebra = AlgebraWorker()
    for case in cases:
        counts = report.areas[case["area"]]
        counts["total"] += 1
        result = await run_case(case, algebra, address)
        if result is None:
            counts["not_run"] += 1
            continue
        outcome, got = result
        counts[outcome.value] += 1
        if outcome is not Outcome.OK:
            report.failing[outcome.value].append(case["id"])
            if show:
                print(outcome.value, case["id"], f"got {got!r}", f"expected {case['expected']}", file=sys.stderr)
    await algebra.close()
    return report


def main() -> None:
    """Read the bank, print the result and exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="the bank, one JSON object a line")
    parser.add_argument("--failures", action="store_true", help="tell on stderr what every failing case gave")
    options = parser.parse_args()
    if options.file is None:
        print("skipped: it runs a bank of cases; name its file")
        return
    report = asyncio.run(run_bank(read_bank(options.file), show=options.failures))
    print(report.to_json())
    sys.exit(1 if report.failing["hard"] else 0)


if __name__ == "__main__":
    main()
