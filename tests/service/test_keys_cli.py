import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from service.cli import app
from service.faces import SHIPPED
from service.keys.secret import id_of
from tests.service.keyed import bearer, keyed_client
from tests.service.stand_in import StandIn, body


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["keys", *arguments])


def test_a_key_made_on_the_command_line_opens_the_service(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_DATABASE", database_url)
    key = run("create", "app").stdout.strip()
    with keyed_client(database_url) as client:
        assert client.post("/v1/score", content=body(), headers=bearer(key)).status_code == 200
    assert run("revoke", id_of(key) or "").exit_code == 0
    with keyed_client(database_url) as client:
        assert client.post("/v1/score", content=body(), headers=bearer(key)).status_code == 401


def test_the_key_alone_is_on_standard_output() -> None:
    made = run("create", "app", "--days", "30")
    assert id_of(made.stdout.removesuffix("\n")) is not None
    assert "It is shown only now" in made.stderr
    assert made.stdout.strip()[18:] not in made.stderr


def test_a_list_tells_everything_but_secrets() -> None:
    key = run(
        "create", "app", "--tenant", "acme", "--scope", "score", "--scope", "batch", "--traces-per-day", "5"
    ).stdout.strip()
    listed = run("list")
    row, more_scopes = [line.split() for line in listed.stdout.splitlines() if line.strip()][2:]
    assert row == [id_of(key), "active", "app", "acme", "batch", "default", "5", "never"]
    assert more_scopes == ["score"]
    assert key[18:] not in listed.output


def test_a_list_of_long_names_and_many_scopes_fits_a_hundred_columns() -> None:
    scopes = [word for scope in ("score", "batch", "admin") for word in ("--scope", scope)]
    run("create", "n" * 60, "--tenant", "t" * 60, "--days", "30", "--traces-per-day", "1000000000", *scopes)
    listed = run("list").stdout
    assert max(map(len, listed.splitlines())) <= 100
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed)
    assert "…" not in listed


def test_a_list_as_json_is_of_one_tenant_where_asked() -> None:
    for tenant in ("a", "b"):
        run("create", "app", "--tenant", tenant)
    keys = json.loads(run("list", "--tenant", "b", "--json").stdout)["keys"]
    assert [(key["tenant"], key["scopes"], key["state"]) for key in keys] == [("b", ["score"], "active")]


def test_an_empty_list_says_what_to_do() -> None:
    listed = run("list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "rafs keys create NAME" in listed.stderr


def test_what_is_made_can_be_had_as_json() -> None:
    made = json.loads(run("create", "app", "--scope", "admin", "--json").stdout)
    assert made["key"].startswith(f"rafs_{made['details']['id']}_")
    assert made["details"]["scopes"] == ["admin"]


WRONG = {
    "unknown key": (["revoke", "0123456789ab"], 2, "there is no key '0123456789ab'"),
    "no id": (["revoke", "x\x1b"], 2, "there is no key 'x\\x1b'"),
    "control character": (["create", "a\x1bb"], 2, "field `name`"),
    "blank": (["create", " "], 2, "field `name`"),
    "no database": (
        ["list", "--database", "mysql://u:hush@h/d"],
        3,
        "RAFS_DATABASE: got a database of the kind 'mysql'",
    ),
    "no folder": (["list", "--database", "sqlite:////proc/none/x.db"], 3, "cannot be written"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_one_line(arguments: list[str], code: int, message: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hush" not in done.stderr


@pytest.mark.parametrize("command", ["score", "explain"])
def test_scoring_on_the_command_line_opens_no_database(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAFS_DATABASE", f"sqlite:///{tmp_path / 'none' / 'rafs.db'}")
    (tmp_path / "request.json").write_bytes(body())
    faces = replace(SHIPPED, build_scorer=lambda settings: StandIn())
    done = CliRunner().invoke(app, [command, str(tmp_path / "request.json")], obj=faces)
    assert done.exit_code == 0
    assert not (tmp_path / "none").exists()
