"""All paths of the gate, put together."""

from fastapi import APIRouter

from service.database.engine import Database
from service.gate.deciding import Gate
from service.gate.gate_routes import build_gate_router
from service.gate.guardrail import Guardrail
from service.gate.guardrail_routes import build_guardrail_router
from service.gate.held import HeldStore
from service.gate.held_routes import build_held_router
from service.gate.proxy import Proxy
from service.gate.proxy_routes import build_proxy_router
from service.gate.upstreams import open_upstreams
from service.intake import Intake
from service.routes import ScoringService
from service.settings import Settings


def build_gate_routers(
    scorer: ScoringService, settings: Settings, intake: Intake, database: Database
) -> list[APIRouter]:
    """Return the routers of gate, proxy, guardrail and held answers.

    Args:
        scorer: Scores.
        settings: The operator's.
        intake: The way in.
        database: Where answers are held.

    Raises:
        ConfigError: A model of the proxy is not in models.yaml, has no server, or lacks its key.
    """
    gate, store = Gate(scorer), HeldStore(database)
    upstreams = open_upstreams(settings)
    return [
        build_gate_router(gate, settings, intake),
        build_proxy_router(Proxy(gate, settings, store), upstreams, settings, intake),
        build_guardrail_router(Guardrail(gate, settings), intake),
        build_held_router(store, intake),
    ]
