"""`rafs explain`: what the grammar reads in a trace, and where every number comes from. No model is asked."""

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rafs.derivation import AnswerLink, link_answer
from rafs.errors import InputError
from rafs.grammar.expressions import show
from rafs.interventions import NO_INTERVENTIONS
from rafs.roles import Role, step_roles
from rafs.types import Claim, Operand, Reading, SourceKind, Step, Truth
from service.exits import explained
from service.graph_picture import picture_of, to_dot, to_svg, told_calculation, used_in_words
from service.input_files import ScoreOptions, read_request
from service.report import plain
from service.visible import show_text
from service.wiring import read_alone

MAX_SHOWN_CHARS = 200
MARKS = {Truth.TRUE: ("true", "green"), Truth.FALSE: ("FALSE", "bold red"), Truth.UNKNOWN: ("open", "dim")}
FROM = {
    SourceKind.PROBLEM: "the problem",
    SourceKind.UNIT_CONSTANT: "a unit",
    SourceKind.NUMBER_WORD: "a number word",
    SourceKind.COUNT: "a count",
    SourceKind.BYPRODUCT: "what a known number brings along",
    SourceKind.ASSIGNED: "assumed in the trace",
    SourceKind.UNGROUNDED: "NOWHERE",
}
ROLES = {
    Role.LOAD_BEARING: "\n    the answer is computed from this step",
    Role.DECORATIVE: "\n    nothing in this step leads to the answer",
    Role.UNKNOWN: "",
}
MATCHES = {True: "the stated answer is the derived one", False: "the stated answer is NOT the derived one", None: ""}


class Drawing(StrEnum):
    """How the graph is drawn."""

    DOT = "dot"
    SVG = "svg"


def explain(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A JSON request, or a trace with --problem.")],
    problem: Annotated[
        str | None, typer.Option(help="The file is a plain trace of this problem: TEXT or @FILE.")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="The stated answer, where the trace does not hold it.")] = None,
    dot: Annotated[bool, typer.Option("--dot", help="Print the graph for Graphviz.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Print the graph as an SVG picture.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the picture to a file.")] = None,
) -> None:
    """Show the claims of a trace, whether they hold, and where every number comes from. No model is asked.

    Example: rafs explain trace.txt --problem "What is 12 * 5 - 3?"

    Example: rafs explain request.json --svg -o graph.svg
    """
    with explained():
        drawing = _drawing(dot=dot, svg=svg, output=output)
        request = read_request(file, ScoreOptions(problem=problem, answer=answer))
        reading = asyncio.run(read_alone(request))
        link = link_answer(reading.trace, reading.graph)
        if drawing is None:
            Console(markup=False, emoji=False, highlight=False).print(render_explanation(file, reading, link))
            return
        picture = picture_of(reading, link)
        _write(to_dot(picture) if drawing is Drawing.DOT else to_svg(picture), output)
        if picture.n_left_out:
            print(f"rafs: {picture.n_left_out} later claims are not in the picture", file=sys.stderr)


def _drawing(*, dot: bool, svg: bool, output: Path | None) -> Drawing | None:
    """Return how the graph is to be drawn; None where no picture is wanted."""
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    wanted = {kind.value for kind, asked in ((Drawing.DOT, dot), (Drawing.SVG, svg)) if asked} | {suffix} - {""}
    if len(wanted) > 1:
        got = " and ".join(sorted(wanted))
        raise InputError(f"a picture has one form, got {got}", field="--output", got=got, allowed="--dot or --svg")
    if wanted - set(Drawing):
        raise InputError(
            f"a picture is written as .svg or .dot, got .{show_text(suffix)}",
            field="--output",
            got=show_text(suffix),
            allowed="a name that ends in .svg or .dot",
        )
    return Drawing(wanted.pop()) if wanted else None if output is None else Drawing.SVG


def _write(drawing: str, output: Path | None) -> None:
    """Write a picture; where it goes to a file, say so beside the standard output, which stays empty."""
    if output is None:
        sys.stdout.write(drawing)
        return
    try:
        output.write_text(drawing, encoding="utf-8")
    except OSError as error:
        message = f"the picture cannot be written to {output}: {error.strerror}"
        raise InputError(message, field="--output", got=str(output), allowed="a file that can be written") from error
    print(f"wrote {show_text(str(output), None)}", file=sys.stderr)


def render_explanation(name: str, reading: Reading, link: AnswerLink) -> RenderableType:
    """Return every step with its claims, each operand with its source, and what the derivation ends in."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", width=3, no_wrap=True)
    table.add_column(width=9, no_wrap=True)
    table.add_column(overflow="fold")
    roles = step_roles(reading, link, NO_INTERVENTIONS)
    for step in reading.trace.steps:
        found = roles.get(step.index)
        said = _step(step, reading) if found is None else _step(step, reading).append(ROLES[found.role], "dim")
        table.add_row(str(step.index), Text(step.kind.value, "dim"), said)
    return Group(Text(show_text(name), "dim"), Text(), table, Text(), _end(reading, link), Text())


def _step(step: Step, reading: Reading) -> Text:
    text = Text(plain(step.text, MAX_SHOWN_CHARS))
    for index, claim in enumerate(reading.graph.claims):
        if claim.step == step.index:
            text.append_text(_claim(index, claim, reading))
    for index in used_in_words(reading.graph):
        implied = reading.graph.implied[index]
        if implied.step == step.index:
            text.append(f"\n({index}) ", "dim").append(f"in words: {told_calculation(implied)}", "cyan")
    return text


def _claim(index: int, claim: Claim, reading: Reading) -> Text:
    mark, style = MARKS[claim.truth]
    text = Text(f"\n[{index}] ", "dim").append(f"{mark} {plain(claim.text, MAX_SHOWN_CHARS)}", style)
    if claim.truth is not Truth.TRUE and claim.reason:
        text.append(f": {plain(claim.reason, MAX_SHOWN_CHARS)}", style)
    if claim.operands:
        text.append("\n    " + ", ".join(_operand(operand) for operand in claim.operands), "cyan")
    if claim.conflict:
        text.append(f"\n    {plain(claim.conflict, MAX_SHOWN_CHARS)}", "yellow")
    if index in reading.graph.unused:
        text.append("\n    nothing later uses its result", "dim")
    return text


def _operand(operand: Operand) -> str:
    source = f"[{operand.claim}]" if operand.claim is not None else FROM.get(operand.source, operand.source.value)
    source = source if operand.implied is None else f"({operand.implied})"
    label = " ".join(plain(part, 20) for part in (operand.unit, operand.entity) if part)
    return f"{plain(operand.text, 30)}{f' ({label})' if label else ''} from {source}"


def _end(reading: Reading, link: AnswerLink) -> Text:
    graph, answer = reading.graph, reading.trace.answer
    where = "" if graph.derived_claim is None else f" [{graph.derived_claim}]"
    where = where if graph.derived_implied is None else f" ({graph.derived_implied})"
    value = link.derived(graph)
    derived = "not to be told" if value is None else f"{show(value)}{where if value == graph.derived else ''}"
    stated = "none" if answer is None else plain(answer.text, MAX_SHOWN_CHARS)
    text = Text.assemble(("derived answer ", "bold"), derived, "\n", ("stated answer  ", "bold"), stated)
    if MATCHES[link.matches]:
        text.append(f"\n{MATCHES[link.matches]}", "green" if link.matches else "bold red")
    if not graph.complete:
        text.append("\nnot every number and relation of the text was read", "dim")
    return text
