"""The report of one trace for people: fits 80 columns, reads without colour, shows no untrusted character raw."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rafs.types import Why
from rafs.wire import ClaimOut, ComponentOut, MemberOut, ProbeOut, ScoreResponse, StepOut
from service.visible import show_text
from service.votes import describe_votes, describe_ways

MAX_STEP_CHARS = 240
MAX_CLAIM_CHARS = 120
MAX_STEPS = 60
"""A longer trace shows these first ones, and of the rest those with something to look at."""
MAX_NOTE_CHARS = 30
BAR_CELLS = 10
STATUS_STYLES = {"Accept": "bold green", "Review": "bold yellow", "Abstain": "bold magenta"}
VERDICT_STYLES = {
    "REFUTED": "bold red",
    "SUSPECT": "bold yellow",
    "ok": "green",
    "unsure": "yellow",
    "no verdict": "dim",
    "answer": "dim",
}
UNHEARD = "no verifier that counts judged it"
ROLE_SIGNS = {"load_bearing": Text("+", "cyan"), "decorative": Text("-", "dim")}
PROBE_VALUES = {
    "early_answering": "area over the curve",
    "deletion": "share of changed answers",
    "paraphrase": "share of unchanged answers",
    "added_mistake": "area over the curve",
    "unedited": "share of unchanged answers",
}
PROBE_BASELINES = {"paraphrase": "in the writer's own words", "unedited": "after the edits"}
CLAIM_MARKS = {"true": ("true", "green"), "false": ("FALSE", "red"), "unknown": ("open", "dim")}


def render_report(name: str, response: ScoreResponse, console: Console) -> None:
    """Print the report of one trace.

    Args:
        name: What was scored, such as a file's name.
        response: Of the scorer.
        console: With markup, emoji and highlighting switched off.
    """
    unmeasured = [part for part in response.components if part.value is None]
    blocks: list[RenderableType] = [_headline(name, response), Text()]
    if response.steps:
        blocks += [Text("Steps", style="bold"), _steps(response), Text()]
    blocks += [Text("Components", style="bold"), _components(response, ascii_only=console.options.ascii_only)]
    if unmeasured:
        blocks += [Text(), Text("Not measured", style="bold"), _unmeasured(unmeasured)]
    blocks += [Text(), _facts(response)]
    console.print(Group(*blocks, Text()))


def plain(text: str, limit: int | None = None) -> str:
    """Return text on one line: runs of white space are one space, and what would not be seen is escaped."""
    return show_text(" ".join(text.split()), limit)


def _headline(name: str, response: ScoreResponse) -> Text:
    score = "no score" if response.score is None else f"{response.score:.1f} of 100"
    line = Text.assemble((plain(name, 76), "dim"), "\n", "RAFS ", (score, "bold"))
    if response.interval is not None:
        line.append(" ({:.1f} to {:.1f})".format(*response.interval), "dim")
    outcome = response.outcome
    line.append("   ").append(response.status.upper(), STATUS_STYLES[response.status])
    line.append(f"   {_words(outcome.label)}: reasoning {outcome.reasoning}, answer {outcome.answer}")
    if response.reasons:
        line.append("\nbecause: " + ", ".join(_reason(code, response) for code in response.reasons))
    return line


def _reason(code: str, response: ScoreResponse) -> str:
    """Return a reason in words; the letter of the component it speaks of becomes its title."""
    words, _, letter = code.partition(":")
    title = next((part.title for part in response.components if part.name == letter), letter)
    return _words(words) + (f": {plain(title)}" if title else "")


def _steps(response: ScoreResponse) -> Table:
    suspect = None if response.suspect_step is None else response.suspect_step.index
    table = Table.grid(padding=(0, 1))
    for justify, width in (("right", 3), ("left", 10), ("right", 4), ("left", 1)):
        table.add_column(justify=justify, width=width, no_wrap=True)  # type: ignore[arg-type]
    table.add_column(overflow="fold")
    table.add_row("#", "verdict", "q", "", "step", style="dim")
    hidden = 0
    for step in response.steps:
        mark = _mark(step, suspect)
        if step.index >= MAX_STEPS and mark not in ("REFUTED", "SUSPECT"):
            hidden += 1
            continue
        style = VERDICT_STYLES[mark]
        q = "" if step.p_correct is None else f"{step.p_correct:.2f}"
        sign = ROLE_SIGNS.get(step.role or "", Text())
        table.add_row(str(step.index), Text(mark, style), Text(q, style), sign, _step(step, mark))
    if hidden:
        table.add_row("", "", "", "", Text(f"and {hidden} more steps (--json shows all)", "dim"))
    return table


def _mark(step: StepOut, suspect: int | None) -> str:
    """Return the word for a step; the first suspect is the suspect step, later ones may only build on it."""
    if step.kind == "answer":
        return "answer"
    if step.refuted:
        return "REFUTED"
    if step.index == suspect:
        return "SUSPECT"
    if step.p_correct is None:
        return "no verdict"
    return "unsure" if step.suspect else "ok"


def _step(step: StepOut, mark: str) -> Text:
    text = Text(plain(step.text, MAX_STEP_CHARS))
    reason = _why_unjudged(step) if mark == "no verdict" else step.reason
    said_below = any(claim.reason and claim.reason in reason for claim in step.claims)
    if reason and not said_below and mark not in ("ok", "answer"):
        text.append(f"\n-> {plain(reason, MAX_STEP_CHARS)}", VERDICT_STYLES[mark])
    for claim in step.claims:
        text.append_text(_claim(claim))
    return text


def _why_unjudged(step: StepOut) -> str:
    """Say why an inference has no verdict; what only sets the scene needs none."""
    if step.kind == "setup":
        return ""
    code, _, detail = step.reason.partition(": ")
    if code == Why.AT_CHANCE:
        return UNHEARD if step.claims else f"in words only; {UNHEARD}"
    return f"{_words(code)}: {detail}" if detail else _words(code)


def _claim(claim: ClaimOut) -> Text:
    sign, style = CLAIM_MARKS[claim.truth]
    text = Text(f"\n{sign} {plain(claim.text, MAX_CLAIM_CHARS)}", style)
    if claim.truth != "true" and claim.reason:
        text.append(f": {plain(claim.reason, MAX_CLAIM_CHARS)}", style)
    if claim.ungrounded:
        numbers = ", ".join(plain(number, 20) for number in claim.ungrounded[:5])
        text.append(f" (comes from nowhere: {numbers})", "yellow")
    return text


def _components(response: ScoreResponse, *, ascii_only: bool) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=29, max_width=36, overflow="fold")
    for _ in range(5):
        table.add_column(justify="right")
    table.add_row("", "value", "", "coverage", "weight", "log part", style="dim")
    for part in response.components:
        label = f"{part.name} {part.title}"
        if part.value is None or part.log_contribution is None:
            table.add_row(label, Text("-", "dim"), Text("not measured", "dim"), "-", "-", "-")
            continue
        bar = Text(_bar(part.value, ascii_only=ascii_only), "cyan")
        contribution = f"{part.log_contribution:.3f}"
        table.add_row(label, f"{part.value:.3f}", bar, f"{part.coverage:.0%}", f"{part.weight:.2f}", contribution)
        if part.name == "C" and response.answer.is_modal is False:
            stated, modal = (
                plain(text or "", MAX_NOTE_CHARS) for text in (response.answer.stated, response.answer.modal)
            )
            table.add_row(Text(f"  on {modal}, not on the stated {stated}", "yellow"))
    measured = [part.log_contribution for part in response.components if part.log_contribution is not None]
    if response.score is not None:
        table.add_row("  100 * exp(sum)", f"{response.score:.1f}", "", "", "", f"{sum(measured):.3f}", style="dim")
    return table


def _bar(value: float, *, ascii_only: bool) -> str:
    full = round(value * BAR_CELLS)
    return ("#" if ascii_only else "█") * full + ("." if ascii_only else "░") * (BAR_CELLS - full)


def _unmeasured(parts: list[ComponentOut]) -> RenderableType:
    lines = [
        f"{part.name} {part.title}: {_words(part.unmeasured or 'unknown')}"
        + (f" ({plain(part.detail, MAX_STEP_CHARS)})" if part.detail else "")
        for part in parts
    ]
    return Padding(Text("\n".join(lines)), (0, 0, 0, 1))


def _facts(response: ScoreResponse) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in _lines(response):
        table.add_row(name, Text(fact))
    return table


def _lines(response: ScoreResponse) -> Iterator[tuple[str, str]]:
    yield "Answer", _answer(response)
    if any(step.role in ROLE_SIGNS for step in response.steps):
        yield "Steps", "+ carries the answer, - is decoration, without a sign: not known"
    if response.support.e is not None:
        effect = response.support.mean_delta
        moved = "" if effect is None else f"; edits move the answer by {effect:.2f} of 1"
        yield "Support", f"the answer follows with e = {response.support.e:.2f} by {response.support.e_source}{moved}"
    yield "Edits", _interventions(response)
    yield from (("Probe", _probe(probe)) for probe in response.interventions.probes)
    yield from (("Samples", line) for line in describe_votes(response))
    yield from (("Ways", line) for line in describe_ways(response))
    for pair in response.contradictions[:3]:
        first, second = (plain(claim, MAX_CLAIM_CHARS) for claim in pair.claims)
        one, other = ("this trace" if number < 0 else f"sample {number}" for number in pair.traces)
        yield "Conflict", f"{first} in {one}, {second} in {other}"
    yield from _notes(response)
    stages = (
        f"{use.stage} {use.milliseconds:.0f} ms"
        + (f" for {use.tokens} tokens" if use.tokens else "")
        + (f", {use.reused} reused" if use.reused else "")
        for use in response.usage
    )
    yield "Cost", ", ".join(stages) or "nothing"
    yield from (("Verifier", plain(_member(row))) for row in response.members)
    source = response.provenance
    models = (f"{model.id} ({model.role}, {model.family}, {model.revision[:24]})" for model in source.models)
    yield "Models", plain(", ".join(models) or "none: checkers alone")
    yield (
        "Judges",
        {
            "independent": "independent of the generator",
            "unknown": "independence unknown: say who wrote the trace with --generator or --family",
            "overridden": "not independent of the generator (overridden by the operator)",
            "none_left": "none left that is independent of the generator",
        }[response.independence],
    )
    ids = f"rafs {source.rafs_version}, config {source.config_hash}, calibration {source.calibration}"
    yield "From", plain(f"{ids}, preset {source.preset}, seed {source.seed}")


def _notes(response: ScoreResponse) -> Iterator[tuple[str, str]]:
    if response.instructions is not None:
        yield "Rules", plain(response.instructions.reason, MAX_STEP_CHARS)
    for model, found in response.provenance.audits.items():
        yield "Audit", plain(f"{model}: {found}", MAX_STEP_CHARS)
    for note in response.truncated:
        yield "Cut", plain(note, MAX_STEP_CHARS)


def _member(row: MemberOut) -> str:
    silent = ", ".join(f"{why.replace('_', ' ')} {n}" for why, n in row.silent.items())
    return f"{row.member} judged {row.judged} of {row.asked} steps asked" + (f"; silent: {silent}" if silent else "")


def _answer(response: ScoreResponse) -> str:
    answer = response.answer
    if answer.stated is None:
        parts = ["none stated"]
    else:
        unsure = ", ambiguous" if answer.ambiguous else ""
        parts = [f"stated {plain(answer.stated, 60)} ({_words(answer.source or 'unknown')}{unsure})"]
    match answer.derived, answer.derived_matches:
        case None, _:
            parts.append("derivation ends in nothing that could be read")
        case derived, None:
            parts.append(f"derived {plain(derived, 60)}" + ("" if answer.stated is None else " (not clearly its end)"))
        case derived, matches:
            parts.append(f"derived {plain(derived, 60)} ({'the same' if matches else 'NOT the same'})")
    if answer.modal is not None:
        share = "" if answer.share is None else f", {answer.share:.0%} agree with the stated one"
        parts.append(f"most frequent {plain(answer.modal, 60)}{share}")
    return "; ".join(parts)


def _interventions(response: ScoreResponse) -> str:
    edits = response.interventions
    if edits.method == "none":
        return "none possible"
    discarded = ", ".join(f"{_words(code)} {count}" for code, count in edits.discarded.items())
    parts = [f"{edits.valid} valid by {edits.method}"]
    parts += [f"{edits.not_needed} continuations not needed"] if edits.not_needed else []
    parts += [f"{edits.not_run} continuations not run"] if edits.not_run else []
    parts += ["time ran out"] if edits.late else []
    return "; ".join([*parts, f"discarded: {discarded}"] if discarded else parts)


def _probe(probe: ProbeOut) -> str:
    if probe.value is None:
        why = f" ({plain(probe.detail, MAX_STEP_CHARS)})" if probe.detail else ""
        return f"{_words(probe.kind)}: not measured, {_words(probe.unmeasured or 'unknown')}{why}"
    beside = "" if probe.baseline is None else f", {probe.baseline:.2f} {PROBE_BASELINES[probe.kind]}"
    value = f"{PROBE_VALUES[probe.kind]} {probe.value:.2f}{beside}"
    return f"{_words(probe.kind)}: {value} ({probe.coverage:.0%} of the answers read)"


def _words(code: str) -> str:
    return plain(code.replace("_", " "))
