"""The quantity graph as a picture: nodes in layers, drawn as Graphviz DOT or as a self-contained SVG.

Everything that comes from the text is one line, cut to a length, without invisible characters, and escaped by the
format's own rules.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

from rafs.derivation import AnswerLink
from rafs.grammar.expressions import show
from rafs.quantity_graph import Implied
from rafs.types import Claim, Operand, QuantityGraph, Reading, SourceKind, Truth
from service.visible import show_text

MAX_LABEL_CHARS = 44
MAX_CLAIMS = 200
"""A picture of more claims is no longer one; the first ones are drawn, and a note says so."""
CHAR_WIDTH, LINE_HEIGHT, NODE_GAP, LAYER_GAP, MARGIN = 7.2, 17, 14, 60, 16
"""Pixels of the SVG: a monospaced 12 px font is 7.2 px wide."""


class NodeKind(StrEnum):
    """What a node stands for."""

    GIVEN = "given"
    """A number of the problem."""
    KNOWN = "known"
    """A unit constant, a number word, or a value that the trace assumes openly."""
    NOWHERE = "nowhere"
    TRUE = "true"
    FALSE = "false"
    OPEN = "open"
    TOLD = "told"
    """Worked out in words: `that leaves her with 6`."""
    ANSWER = "answer"


COLOURS = {
    NodeKind.GIVEN: ("#dbeafe", "#1d4ed8"),
    NodeKind.KNOWN: ("#f3f4f6", "#6b7280"),
    NodeKind.NOWHERE: ("#fef3c7", "#b45309"),
    NodeKind.TRUE: ("#dcfce7", "#15803d"),
    NodeKind.FALSE: ("#fee2e2", "#b91c1c"),
    NodeKind.OPEN: ("#ffffff", "#6b7280"),
    NodeKind.TOLD: ("#ecfeff", "#0e7490"),
    NodeKind.ANSWER: ("#ede9fe", "#6d28d9"),
}
"""Fill and border by kind; every label says the kind in words too, so that no colour is needed to read it."""
_CLAIM_KINDS = {Truth.TRUE: NodeKind.TRUE, Truth.FALSE: NodeKind.FALSE, Truth.UNKNOWN: NodeKind.OPEN}
_SOURCE_KINDS = {SourceKind.PROBLEM: NodeKind.GIVEN, SourceKind.UNGROUNDED: NodeKind.NOWHERE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A box: its name in the picture, what it says, and its layer, counted from the left."""

    id: str
    lines: tuple[str, ...]
    kind: NodeKind
    layer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Boxes, and arrows between them by their ids, from what is used to what it makes."""

    nodes: tuple[Node, ...]
    arrows: tuple[tuple[str, str], ...]
    n_left_out: int
    """Claims beyond `MAX_CLAIMS`."""


def picture_of(reading: Reading, link: AnswerLink) -> Picture:
    """Lay the graph of a reading out: a claim stands one layer behind the latest thing that it uses."""
    graph = reading.graph
    nodes: dict[str, Node] = {}
    arrows: dict[tuple[str, str], None] = {}
    for name, entry in _in_order(graph):
        uses = {_name_of(operand) for operand in entry.operands} & nodes.keys()
        layer = 1 + max((nodes[one].layer for one in uses), default=0)
        for operand in entry.operands:
            source = _name_of(operand)
            if source not in nodes:
                source = _add_source(nodes, operand, name, layer - 1)
            arrows[source, name] = None
        nodes[name] = (
            _claim_node(name, entry, layer, graph)
            if isinstance(entry, Claim)
            else _told_node(name, entry, layer, graph)
        )
    _add_answer(nodes, arrows, reading, link)
    n_left_out = max(0, len(graph.claims) + len(used_in_words(graph)) - MAX_CLAIMS)
    return Picture(nodes=tuple(nodes.values()), arrows=tuple(arrows), n_left_out=n_left_out)


def _in_order(graph: QuantityGraph) -> list[tuple[str, Claim | Implied]]:
    """Return claims and numbers worked out in words by position, each with its name."""
    claims: list[tuple[str, Claim | Implied]] = [(f"claim{i}", claim) for i, claim in enumerate(graph.claims)]
    told: list[tuple[str, Claim | Implied]] = [(f"told{i}", graph.implied[i]) for i in used_in_words(graph)]
    return sorted(claims + told, key=lambda one: (one[1].step, one[1].span.end))[:MAX_CLAIMS]


def used_in_words(graph: QuantityGraph) -> list[int]:
    """Return the indices of the numbers worked out in words on which a claim, or the derived answer, hangs."""
    waiting = [operand.implied for claim in graph.claims for operand in claim.operands]
    waiting.append(graph.derived_implied)
    used: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index is not None and index not in used:
            used.add(index)
            waiting += [operand.implied for operand in graph.implied[index].operands]
    return sorted(used)


def _name_of(operand: Operand) -> str:
    """Return the node that an operand repeats, if it repeats one."""
    if operand.claim is not None:
        return f"claim{operand.claim}"
    return "" if operand.implied is None else f"told{operand.implied}"


def _add_answer(
    nodes: dict[str, Node], arrows: dict[tuple[str, str], None], reading: Reading, link: AnswerLink
) -> None:
    answer, graph = reading.trace.answer, reading.graph
    if answer is None:
        return
    verdict = {True: "the derived one", False: "not the derived one", None: "not clearly the end"}[link.matches]
    layer = 1 + max((node.layer for node in nodes.values()), default=0)
    lines = (f"stated answer ({verdict})", _line(answer.text))
    nodes["answer"] = Node(id="answer", lines=lines, kind=NodeKind.ANSWER, layer=layer)
    end = f"told{graph.derived_implied}" if graph.derived_implied is not None else f"claim{link.target}"
    if end in nodes and link.matches is not False:
        arrows[end, "answer"] = None


def _add_source(nodes: dict[str, Node], operand: Operand, user: str, layer: int) -> str:
    """Add what an operand comes from, where it is no claim: a number of the problem once, others once a use."""
    kind = _SOURCE_KINDS.get(operand.source, NodeKind.KNOWN)
    place = "" if kind is NodeKind.GIVEN else f"_{user}"
    top, bottom = operand.value.as_integer_ratio()
    name = f"{operand.source.value}_{top:x}_{bottom:x}{place}"  # in base 16 a number of any length is written
    words = operand.source.value.replace("_", " ")
    nodes.setdefault(name, Node(id=name, lines=(_line(operand.text), words), kind=kind, layer=layer))
    return name


def _claim_node(name: str, claim: Claim, layer: int, graph: QuantityGraph) -> Node:
    index = int(name.removeprefix("claim"))
    role = ", the derived answer" if index == graph.derived_claim else ", unused" if index in graph.unused else ""
    head = f"step {claim.step}, {'open' if claim.truth is Truth.UNKNOWN else claim.truth.value}{role}"
    lines = [head, _line(claim.text)] + ([_line(claim.reason)] if claim.truth is Truth.FALSE else [])
    return Node(id=name, lines=tuple(lines), kind=_CLAIM_KINDS[claim.truth], layer=layer)


def _told_node(name: str, implied: Implied, layer: int, graph: QuantityGraph) -> Node:
    role = ", the derived answer" if name == f"told{graph.derived_implied}" else ""
    lines = (f"step {implied.step}, in words{role}", _line(told_calculation(implied)))
    return Node(id=name, lines=lines, kind=NodeKind.TOLD, layer=layer)


def told_calculation(implied: Implied) -> str:
    """Return the calculation behind a number that was worked out in words: `9 - 3 = 6`."""
    values = [show(operand.value) for operand in implied.operands]
    left = f"|{' - '.join(values)}|" if implied.op == "abs" else f" {implied.op} ".join(values)
    return f"{left} = {show(implied.value)}"


def _line(text: str) -> str:
    return show_text(" ".join(text.split()), MAX_LABEL_CHARS)


def to_dot(picture: Picture) -> str:
    """Return the picture in the language of Graphviz: `rafs explain FILE --dot | dot -Tpng`."""
    head = ["digraph trace {", "  rankdir=LR;", '  node [shape=box, style="rounded,filled", fontname="monospace"];']
    boxes = [
        f'  {_quoted(node.id)} [label={_quoted(chr(10).join(node.lines))}, fillcolor="{COLOURS[node.kind][0]}", '
        f'color="{COLOURS[node.kind][1]}"];'
        for node in picture.nodes
    ]
    arrows = [f"  {_quoted(source)} -> {_quoted(target)};" for source, target in picture.arrows]
    return "\n".join([*head, *boxes, *arrows, "}"]) + "\n"


def _quoted(text: str) -> str:
    """Quote for DOT, where a backslash starts an escape of its own."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def to_svg(picture: Picture) -> str:
    """Return the picture as an SVG document without scripts, fonts or links of its own."""
    places = _places(picture.nodes)
    width = max((x + w for x, _, w, _ in places.values()), default=0) + MARGIN
    height = max((y + h for _, y, _, h in places.values()), default=0) + MARGIN
    root = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:.0f} {height:.0f}", width=f"{width:.0f}",
        height=f"{height:.0f}", style="background:#ffffff", attrib={"font-family": "monospace", "font-size": "12"},
    )  # fmt: skip
    ElementTree.SubElement(root, "title").text = "Quantity graph: where every number of the trace comes from"
    marker = ElementTree.SubElement(
        ElementTree.SubElement(root, "defs"), "marker", id="head", viewBox="0 0 8 8", refX="8", refY="4",
        markerWidth="7", markerHeight="7", orient="auto",
    )  # fmt: skip
    ElementTree.SubElement(marker, "path", d="M0,0 L8,4 L0,8 z", fill="#6b7280")
    for source, target in picture.arrows:
        _draw_arrow(root, places[source], places[target])
    for node in picture.nodes:
        _draw_box(root, node, places[node.id])
    return ElementTree.tostring(root, encoding="unicode") + "\n"


Place = tuple[float, float, float, float]
"""x, y, width and height of a box in pixels."""


def _places(nodes: Sequence[Node]) -> dict[str, Place]:
    """Put every layer in a column as wide as its widest box, the boxes of a column under each other."""
    layers: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        layers[node.layer].append(node)
    places: dict[str, Place] = {}
    x = float(MARGIN)
    for layer in sorted(layers):
        width = max(CHAR_WIDTH * max(map(len, node.lines)) for node in layers[layer]) + 2 * MARGIN
        y = float(MARGIN)
        for node in layers[layer]:
            height = LINE_HEIGHT * len(node.lines) + NODE_GAP
            places[node.id] = (x, y, width, height)
            y += height + NODE_GAP
        x += width + LAYER_GAP
    return places


def _draw_arrow(root: ElementTree.Element, source: Place, target: Place) -> None:
    x1, y1 = source[0] + source[2], source[1] + source[3] / 2
    x2, y2 = target[0], target[1] + target[3] / 2
    middle = (x1 + x2) / 2
    path = f"M{x1:.0f},{y1:.0f} C{middle:.0f},{y1:.0f} {middle:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
    ElementTree.SubElement(root, "path", d=path, fill="none", stroke="#6b7280", attrib={"marker-end": "url(#head)"})


def _draw_box(root: ElementTree.Element, node: Node, place: Place) -> None:
    x, y, width, height = place
    fill, border = COLOURS[node.kind]
    ElementTree.SubElement(
        root, "rect", x=f"{x:.0f}", y=f"{y:.0f}", width=f"{width:.0f}", height=f"{height:.0f}", rx="6", fill=fill,
        stroke=border,
    )  # fmt: skip
    for row, line in enumerate(node.lines):
        text = ElementTree.SubElement(
            root, "text", x=f"{x + MARGIN:.0f}", y=f"{y + LINE_HEIGHT * (row + 1):.0f}", fill="#111827"
        )
        text.text = line
