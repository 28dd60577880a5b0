"""The area of the case bank that is about the service: bodies sent to a real one, and what comes back."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.bank.outcomes import Fields, Outcome, Result, generated, same, worst
from rafs.engines.judge_reply import DEFAULT_LABELS, read_reply

PATH = "/v1/score"
PATHS = {"/health": "/healthz", "/ready": "/readyz"}
"""Names in a bank, and ours."""
PATIENCE_S = 120.0
PROBLEM = "Check the calculation."
NOTES = {"never", "also_ok", "tolerance", "note"}
CHANGING = ("id", "usage", "provenance", "ledger", "record")
"""Fields of a response that differ from one scoring to the next."""


async def run_service(fields: Fields, expected: Fields, address: str) -> Result | None:
    """Send what a case says; None where it asks for something that is read nowhere here."""
    if "judge_replies" in fields:
        return _mean_of_judges(fields["judge_replies"], expected)
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as client:
        if "parallel" in fields:
            got = await _side_by_side(client, fields["parallel"])
        elif "sequence" in fields:
            got = await _one_after_the_other(client, fields["sequence"])
        elif "concurrency" in fields:
            got = await _at_once(client, fields["body"], fields["concurrency"])
        elif "disconnect_mid_body" in fields:
            got = await _half_a_body(address, fields["content_length"], fields["sent"])
        else:
            got = await _post(client, fields)
        got["alive_after"] = (await client.get("/healthz")).status_code == 200
    return worst(_checked(got, expected))


async def _post(client: httpx.AsyncClient, fields: Fields) -> dict[str, Any]:
    """Return what is known of one reply, by the names of `expected`."""
    started = time.perf_counter()
    reply = await client.post(PATH, content=_content(fields), headers={"content-type": "application/json"})
    got: dict[str, Any] = {"status": reply.status_code, "seconds": time.perf_counter() - started}
    try:
        got["body"] = json.loads(reply.content, parse_constant=_refuse)
        got["response_is_strict_json"] = True
    except ValueError:
        got["response_is_strict_json"] = False
    return got


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _content(fields: Fields) -> bytes:
    if "raw_body_hex" in fields:
        return bytes.fromhex(fields["raw_body_hex"])
    if (raw := generated(fields, "raw_body")) is not None:
        return str(raw).encode("utf-8", "surrogatepass")
    body = dict(fields.get("body") or {})
    if "body_gen" in fields:
        body[fields["body_gen"]["field"]] = generated(fields, "body")
    if "traces" in body:
        body["trace"], *body["samples"] = body.pop("traces")
    return json.dumps({"problem": PROBLEM, **body}).encode()


async def _side_by_side(client: httpx.AsyncClient, parts: Sequence[Fields]) -> dict[str, Any]:
    async def one(part: Fields) -> tuple[str, float]:
        started = time.perf_counter()
        if "get" in part:
            path: str = part["get"]
            (await client.get(PATHS.get(path, path))).raise_for_status()
            return "health", time.perf_counter() - started
        return "slow", (await _post(client, {"body": part}))["seconds"]

    return {f"{name}_seconds": seconds for name, seconds in await asyncio.gather(*map(one, parts))}


async def _one_after_the_other(client: httpx.AsyncClient, parts: Sequence[Fields]) -> dict[str, Any]:
    last: dict[str, Any] = {}
    for part in parts:
        body = {name: value for name, value in part.items() if name != "repeat"}
        for _ in range(part.get("repeat", 1)):
            last = await _post(client, {"body": body})
    return {"last": last, "last_seconds": last["seconds"]}


async def _at_once(client: httpx.AsyncClient, body: Fields, n: int) -> dict[str, Any]:
    found = await asyncio.gather(*(_post(client, {"body": body}) for _ in range(n)))
    kept = [{name: value for name, value in one["body"].items() if name not in CHANGING} for one in found]
    return {**found[0], "all_equal": all(one == kept[0] for one in kept)}


async def _half_a_body(address: str, length: int, n_sent: int) -> dict[str, Any]:
    place = urlsplit(address)
    _, writer = await asyncio.open_connection(place.hostname, place.port)
    head = f"POST {PATH} HTTP/1.1\r\nhost: rafs\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    writer.write(head.encode() + b"{" + b" " * (n_sent - 1))
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    return {"status": None}


def _mean_of_judges(replies: Sequence[str | None], expected: Fields) -> Result:
    scores = [read_reply(reply, DEFAULT_LABELS, (0.0, 1.0)).score for reply in replies]
    heard = [score for score in scores if score is not None]
    got = {
        "judge_score": sum(heard) / len(heard) if heard else None,
        "failed_judges": len(scores) - len(heard),
    }
    return worst((_equal(got[key], value, expected), got) for key, value in expected.items() if key in got)


def _checked(got: Mapping[str, Any], expected: Fields) -> Iterator[Result]:
    """Compare each key that a case expects; one that nobody knows is a miss."""
    read = got.get("body")
    body: dict[str, Any] = read if isinstance(read, dict) else {}
    for key, value in expected.items():
        match key:
            case "status_in":
                yield _hard_unless(got["status"] in value, got.get("status"))
            case "status_not":
                yield _hard_unless(got.get("status") not in value, got.get("status"))
            case "if_200":
                if got["status"] == 200:
                    seen = {"n_steps": len(body["steps"]), **body}
                    yield _hard_unless(all(seen.get(name) == one for name, one in value.items()), seen.get("score"))
            case "steps":
                yield _steps(body, value)
            case "last":
                yield from _checked(got["last"], value)
            case "groups":
                yield _hard_unless(_groups(body) == sorted(value), _groups(body))
            case "answer_matches_reference":
                yield _hard_unless(body.get(key) is value, body.get(key))
            case _ if key == "within_s" or key.endswith("_within_s"):
                seconds = got["seconds" if key == "within_s" else key.replace("within_s", "seconds")]
                yield _hard_unless(seconds <= value, f"{seconds:.1f} s")
            case _ if key in got:
                yield _hard_unless(got[key] == value, {key: got[key]})
            case _ if key not in NOTES:
                yield Outcome.MISS, f"key {key!r} is not read"


def _hard_unless(holds: bool, got: object) -> Result:
    return (Outcome.OK if holds else Outcome.HARD), got


def _equal(got: object, value: object, expected: Fields) -> Outcome:
    return Outcome.OK if same(got, value, expected.get("tolerance", 1e-9)) else Outcome.HARD


def _steps(body: Mapping[str, Any], wanted: Sequence[Fields]) -> Result:
    """Compare the verdicts on steps; not judged is a miss, the contrary is a hard failure."""
    steps, results = body["steps"], []
    for one in wanted:
        truths = {claim["truth"] for claim in steps[one["i"]]["claims"]}
        said = "wrong" if "false" in truths else "right" if "true" in truths else "unknown"
        is_open = said == "unknown"
        results.append((Outcome.OK if said == one["verdict"] else Outcome.MISS if is_open else Outcome.HARD, said))
    return worst(results)


def _groups(body: Mapping[str, Any]) -> list[list[int]]:
    """Return which of the trace, 0, and its samples, from 1, end in the same answer."""
    consensus = body["consensus"]
    own = {0, *(place + 1 for place in consensus["copies"])}
    others = []
    for each in consensus["classes"]:
        places = {place + 1 for place in each["samples"]}
        if each["holds_stated"]:
            own |= places
        else:
            others.append(sorted(places))
    return sorted([sorted(own), *others])
