"""`rafs explain` on real traces, through the command line; nothing but the language and the algebra worker runs."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from service.cli import app

PROBLEM = "Tom has 5 boxes of 12 pens and gives away a quarter. How many are left?"
TRACE = """Each box holds 12 pens, so 5 boxes hold 5 * 12 = 60 pens.
Tom gives away 1/4 of them: 60 / 4 = 15 pens.
He keeps 60 - 15 = 40 pens.
With the fee of 7, that is 40 + 7 = 47.
The answer is 47.
"""
SVG = "{http://www.w3.org/2000/svg}"


def explain(folder: Path, *arguments: str, trace: str = TRACE, problem: str = PROBLEM) -> Result:
    path = folder / "trace.txt"
    path.write_text(trace, encoding="utf-8")
    return CliRunner().invoke(app, ["explain", str(path), "--problem", problem, *arguments])


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_claim_is_shown_with_its_verdict_and_the_source_of_its_numbers(tmp_path: Path) -> None:
    shown = explain(tmp_path).stdout
    assert "[2] FALSE 60 - 15 = 40" in shown
    assert "60 from [0], 15 from [1]" in shown
    assert "40 from [2], 7 from NOWHERE" in shown


def test_the_derived_answer_is_named_with_its_claim(tmp_path: Path) -> None:
    assert "derived answer 47 [3]" in explain(tmp_path).stdout


def test_a_request_file_is_explained_too(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"problem": PROBLEM, "trace": ["5 * 12 = 60"], "answer": "60"}))
    done = CliRunner().invoke(app, ["explain", str(path)])
    assert "the stated answer is the derived one" in done.stdout


def test_the_picture_has_a_box_for_every_claim_and_source(tmp_path: Path) -> None:
    lines = texts(explain(tmp_path, "--svg").stdout)
    assert {"5 * 12 = 60", "60 / 4 = 15", "60 - 15 = 40", "40 + 7 = 47"} <= set(lines)
    assert "ungrounded" in lines
    assert lines.count("problem") == 3


def test_boxes_of_a_picture_do_not_cover_each_other(tmp_path: Path) -> None:
    root = ElementTree.fromstring(explain(tmp_path, "--svg").stdout)
    boxes = [
        tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height")) for box in root.iter(f"{SVG}rect")
    ]
    for index, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:index]:
            apart_x = x >= other_x + other_width or other_x >= x + width
            assert apart_x or y >= other_y + other_height or other_y >= y + height


def test_untrusted_text_is_escaped_in_the_picture(tmp_path: Path) -> None:
    svg = explain(tmp_path, "--svg", trace='So 2 <b>"x</b> + 2 = 5 & "y"', problem="<script>alert(1)</script>").stdout
    assert "<script" not in svg and "<b>" not in svg
    ElementTree.fromstring(svg)


def test_quotes_and_backslashes_stay_inside_their_label_in_dot(tmp_path: Path) -> None:
    dot = explain(tmp_path, "--dot", trace='\\frac{1}{2} + \\frac{1}{2} = 1 "];evil').stdout
    labels = [line for line in dot.splitlines() if "label=" in line]
    assert labels and all(line.count('"') - line.count('\\"') == 8 for line in labels)
    assert "\\\\frac" in dot


def test_a_picture_is_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "graph.svg"
    done = explain(tmp_path, "-o", str(target))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"wrote {target}\n")
    assert ElementTree.fromstring(target.read_text()).tag == f"{SVG}svg"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--dot", "--svg"], "one form", id="two formats"),
        pytest.param(["--svg", "-o", "graph.DOT"], "one form", id="another format than the file's"),
        pytest.param(["-o", "graph.png"], ".svg or .dot", id="unknown format"),
        pytest.param(["-o", "/nowhere/graph.svg"], "cannot be written", id="no such folder"),
    ],
)
def test_what_cannot_be_drawn_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = explain(tmp_path, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_trace_without_claims_has_an_empty_picture(tmp_path: Path) -> None:
    assert texts(explain(tmp_path, "--svg", trace="Nothing is said.").stdout) == []


def test_a_number_worked_out_in_words_is_shown_with_its_calculation(tmp_path: Path) -> None:
    trace = "She sells 4 lamps at $30 each, which makes $120.\nAfter the $20 fee she has $100 left.\nThe answer is 100."
    problem = "Ina sells 4 lamps at $30 each and pays a fee of $20. How much does she have?"
    shown = explain(tmp_path, trace=trace, problem=problem).stdout
    assert "in words: 4 * 30 = 120" in shown or "in words: 30 * 4 = 120" in shown
    assert "in words: 120 - 20 = 100" in shown
    assert "step 1, in words, the derived answer" in texts(
        explain(tmp_path, "--svg", trace=trace, problem=problem).stdout
    )


def test_steps_that_carry_the_answer_are_told_from_decoration(tmp_path: Path) -> None:
    lines = explain(tmp_path, trace="5 * 12 = 60 pens.\nBy the way, 5 + 12 = 17.\nThe answer is 60.\n").stdout
    assert lines.index("the answer is computed from this step") < lines.index("[1] true 5 + 12 = 17")
    assert lines.count("nothing in this step leads to the answer") == 1


@pytest.mark.parametrize("arguments", [[], ["--svg"], ["--dot"]], ids=["text", "svg", "dot"])
def test_numbers_of_more_digits_than_python_prints_are_drawn(tmp_path: Path, arguments: list[str]) -> None:
    done = explain(tmp_path, *arguments, trace="Let x = 10^5300.\nSo x + 4 = 9.")
    assert done.exit_code == 0, done.exception
    assert "x + 4 = 9" in done.stdout
