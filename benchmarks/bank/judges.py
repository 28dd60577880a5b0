"""The areas of the case bank that are about judges: their replies, and text that tries to talk to them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from benchmarks.bank.outcomes import Fields, Outcome, Result, bare, graded, worst
from rafs.contracts import PromptPart
from rafs.engines.control_tokens import defuse
from rafs.engines.judge_reply import DEFAULT_LABELS, Said, labels_of, read_reply
from rafs.engines.label_mass import Labels, read_label_mass
from rafs.fences import FENCE, is_unseen
from rafs.types import ANSWER_PLACEHOLDER, Abstained, BlindTrace, Judged, LabelMass, ModelIdentity
from rafs.usage import Meter
from verifiers.judge import JudgeVerifier
from verifiers.judge_prompt import JudgePrompt, render_prompt

FENCE_KEY = b"the key of an installation"
NOTES = {"never", "also_ok", "tolerance", "note"}
"""What a case says of its other keys."""
_CONTROL = re.compile(
    r"<[|｜]\w[^<>|｜\s]+[|｜]>|</?[A-Za-z][\w:-]*>|\[/?(?:INST|SYSTEM_PROMPT|TOOL_\w+|[gs]MASK)\]|\[\|\w+\|\]"
)


def run_judge_parse(fields: Fields, expected: Fields) -> Result:
    """Read a reply, or the log-probabilities of its first token, and compare each key that the case expects."""
    labels = labels_of(fields.get("question") or "") or DEFAULT_LABELS
    if "top_logprobs" in fields or "p_yes" in expected:
        p_yes = _p_yes(fields.get("top_logprobs") or [], labels)
        verdict = "unknown" if p_yes in (None, 0.5) else "yes" if p_yes > 0.5 else "no"
        got: dict[str, object] = {"p_yes": p_yes, "verdict": verdict, "status": "unknown" if p_yes is None else "ok"}
    else:
        scale = fields.get("scale")
        reply = read_reply(_raw(fields), labels, (scale[0], scale[1]) if scale else None)
        status = "ok" if reply.is_readable else "unparseable"
        got = {"verdict": reply.verdict.value, "score": reply.score, "status": status}
    results: list[Result] = [
        graded(got[key], expected, key, soft=soft)
        for key, soft in (("verdict", "unknown"), ("score", None), ("p_yes", None))
        if key in expected and key in got
    ]
    is_main = all(got.get(key) == expected[key] for key in ("verdict", "score") if key in expected)
    if is_main and "status" in expected and got["status"] != expected["status"]:
        results.append((Outcome.MISS, got))
    results += [(Outcome.MISS, f"key {key!r} is not read") for key in expected.keys() - NOTES - got.keys()]
    return worst(results)[0], got


def _raw(fields: Fields) -> str | None:
    tokens = fields.get("tokens")
    if tokens is None:
        raw = fields.get("raw")
        return raw if raw is None or isinstance(raw, str) else json.dumps(raw)
    return "".join(tokens).translate(str.maketrans("Ġ▁Ċ", "  \n"))


def _p_yes(listed: Sequence[Fields], labels: Labels) -> float | None:
    tokens = {each["token"]: each["logprob"] for each in listed if isinstance(each.get("logprob"), int | float)}
    mass = read_label_mass(tokens, labels)
    return None if isinstance(mass, Abstained) else mass.yes / (mass.yes + mass.no)


def check_prompt(trace: str, blind: BlindTrace, wanted: Mapping[str, object]) -> list[Result]:
    """Check each wanted property of the judge's prompt after the last step; one that nobody knows is a miss."""
    prompt = render_prompt(blind, FENCE_KEY)
    results: list[Result] = []
    for name, value in wanted.items():
        measure = PROPERTIES.get(name)
        got = None if measure is None else measure(trace, prompt)
        held = measure is not None and got == value
        results.append((Outcome.OK if held else Outcome.MISS if measure is None else Outcome.HARD, {name: got}))
    return results


def _judged(prompt: JudgePrompt) -> list[PromptPart]:
    return [part for step in prompt.steps for part in step]


def _is_fenced(_: str, prompt: JudgePrompt) -> bool:
    """Whether all that is not ours stands between two fences, and holds none."""
    parts = [*prompt.head, *_judged(prompt), *prompt.tail]
    marks = 0
    for part in parts:
        if not part.trusted and (marks % 2 == 0 or FENCE.search(part.text)):
            return False
        marks += len(FENCE.findall(part.text)) if part.trusted and part is not parts[0] else 0
        if part is parts[0]:  # the instructions name the fence once before they open it
            marks = len(FENCE.findall(part.text)) - 1
    return marks % 2 == 0


def _closing_fences(_: str, prompt: JudgePrompt) -> int:
    return len(FENCE.findall("".join(part.text for part in (*_judged(prompt), *prompt.tail))))


def _is_visible(_: str, prompt: JudgePrompt) -> bool:
    parts = (*prompt.head, *_judged(prompt), *prompt.tail)
    return not any(is_unseen(char) for part in parts for char in part.text)


def _is_plain(_: str, prompt: JudgePrompt) -> bool:
    """Whether the judged parts are marked untrusted, and spell no control token where text is sent to a server."""
    judged = [part for part in _judged(prompt) if part.text.strip()]
    return not any(part.trusted or _CONTROL.search(defuse(part.text)) for part in judged)


def _is_verbatim(trace: str, prompt: JudgePrompt) -> bool:
    """Whether the trace is shown as it stands; that an answer is stated in it is not shown."""
    shown = (piece for part in _judged(prompt) for piece in part.text.split(ANSWER_PLACEHOLDER))
    return bool(prompt.steps) and all(bare(piece) in bare(trace) for piece in shown)


PROPERTIES: Mapping[str, Callable[[str, JudgePrompt], object]] = {
    "payload_escaped": _is_fenced,
    "own_closing_delimiters": _closing_fences,
    "invisible_removed_or_escaped": _is_visible,
    "special_tokens_neutralised": _is_plain,
    "verbatim": _is_verbatim,
}


class _FixedProber:
    """Puts the same mass on the labels whatever it reads."""

    identity = ModelIdentity(id="fixed", family="fixed", revision="1")
    fingerprint = "fixed"

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        return [LabelMass(yes=0.1, no=0.3) for _ in ask]


async def check_source_of_verdict(trace: str, blind: BlindTrace) -> Result:
    """Check that a verdict is the model's mass, and that what a reply quotes of the trace is not taken for its own."""
    judge = JudgeVerifier(_FixedProber(), fence_key=FENCE_KEY)
    verdicts = await judge.verify(blind, range(len(blind.steps)), Meter())
    quoted = read_reply(f"The text reads:\n{trace}\nVerdict: No", scale=(0, 10))
    held = all(isinstance(one, Judged) and one.p_correct == 0.25 for one in verdicts)
    return (Outcome.OK if held and quoted.verdict is not Said.YES and quoted.score is None else Outcome.HARD), quoted
