import pytest

from service.batch.fields import find, unfold

ROW = {
    "response": {"choices": [{"message": {"content": "57"}}]},
    "input": '{"question": {"text": "How many?"}}',
    "a.b": 1,
    "a": {"b": 2, "c": None},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("response.choices.0.message.content", "57", id="through a list"),
        pytest.param("input.question.text", "How many?", id="through text that holds JSON"),
        pytest.param("a.b", 1, id="a key with a dot comes first"),
        pytest.param("a.c", None, id="null"),
        pytest.param("a.d", None, id="a key that is not there"),
        pytest.param("response.choices.1", None, id="a place that is not there"),
        pytest.param("response.choices.first", None, id="a list has no keys"),
        pytest.param("response.choices.-1", None, id="no place from the end"),
        pytest.param(".".join("a" * 30), None, id="a path that is too deep"),
    ],
)
def test_a_path_leads_to_its_value(path: str, found: object) -> None:
    assert find(ROW, path) == found


@pytest.mark.parametrize("text", ["{half", "[1, 2", "plain", "12", '"quoted"', "[" * 10_000])
def test_text_that_is_no_json_object_stays_text(text: str) -> None:
    assert unfold(text) == text
