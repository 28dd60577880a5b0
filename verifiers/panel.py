"""Who of the models is asked, and who takes the place of one that fails."""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from rafs.contracts import Verifier
from rafs.errors import OverloadedError
from rafs.independence import fill_seats
from rafs.types import Abstained, BlindTrace, MemberVerdicts, Why, judged_only
from rafs.usage import Meter
from verifiers.member import ask_member, silent

SHARE_BEFORE_ANOTHER = 0.5
"""Of the time left, for a model that another one could replace: the other has as much."""
SHARE_OF_LAST = 0.9
"""Of the time left, where nobody could: the stages behind, and the response, need some."""


async def ask_panel(
    models: Sequence[Verifier],
    seats: Mapping[str, int],
    trace: BlindTrace,
    ask: Sequence[int],
    refused: Collection[str],
    deadline: float,
    meter: Meter,
) -> dict[str, MemberVerdicts]:
    """Ask as many models of each kind as there are seats, and for each one that judged nothing the next in order.

    It goes in rounds, so that who is asked follows from who failed, not from who failed first: a replay asks the same.

    Args:
        models: In the operator's order.
        seats: Number of models asked at once, by kind; 1 for a kind not named.
        trace: The blind trace.
        ask: Positions of the steps to judge.
        refused: Names of the models that may not judge.
        deadline: Time of the event loop at which the request ends.
        meter: Where cost is counted.

    Returns:
        The rows of those that were asked, by name.

    Raises:
        OverloadedError: The queue of a model is full, and no other one judged: a later request may be served. Where
            another one judged, the full queue is that model's reason in the ledger.
    """
    by_name = {model.name: model for model in models if model.identity is not None}
    identities = [(name, model.identity) for name, model in by_name.items() if model.identity is not None]
    rows: dict[str, MemberVerdicts] = {}
    full: list[OverloadedError] = []

    async def hear(model: Verifier, budget_s: float) -> MemberVerdicts:
        if meter.is_spent:
            return silent(model, len(trace.steps), Abstained(why=Why.TIMEOUT, detail="the token budget was spent"))
        try:
            return await ask_member(model, trace, ask, budget_s, meter)
        except OverloadedError as error:
            full.append(error)
            return silent(model, len(trace.steps), Abstained(why=Why.OVERLOADED))

    def call(*, also_out: Collection[str] = ()) -> list[str]:
        sitting = [name for name, row in rows.items() if not ask or judged_only(row.verdicts)]
        return fill_seats(identities, sitting, {*refused, *also_out, *rows.keys() - sitting}, seats)

    while called := call():
        share = SHARE_BEFORE_ANOTHER if call(also_out=called) else SHARE_OF_LAST
        budget_s = share * max(0.0, deadline - asyncio.get_running_loop().time())
        heard = await asyncio.gather(*(hear(by_name[name], budget_s) for name in called))
        rows |= {row.member: row for row in heard}
    if full and not any(judged_only(row.verdicts) for row in rows.values()):
        raise full[0]
    return rows
