import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("rafs", "verifiers", "counterfactuals", "service", "tests", "benchmarks")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
"""Docstrings, which hold formulas and sources, are not counted."""


def function_lines(source: str) -> dict[str, int]:
    """Return the length of every function in a file, its docstring left out."""
    lengths = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            docstring = node.body[0] if ast.get_docstring(node) else None
            documented = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
            lengths[f"{node.name}:{node.lineno}"] = last - node.lineno + 1 - documented
    return lengths


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {path: n for path, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_no_function_is_too_long_to_be_read_at_once() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}:{name}": n
        for path in FILES
        for name, n in function_lines(path.read_text("utf-8")).items()
    }
    assert {place: n for place, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


def test_a_docstring_does_not_count_and_every_other_line_does() -> None:
    source = 'def f() -> None:\n    """One.\n\n    Two.\n    """\n    a = 1\n    b = 2\n'
    assert function_lines(source) == {"f:1": 3}
