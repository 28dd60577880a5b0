"""All that batches are, put together."""

from fastapi import APIRouter

from service.intake import Intake
from service.jobs.batch_routes import build_batch_router
from service.jobs.jobs import Jobs
from service.jobs.making import Maker
from service.jobs.reading import ResultReader
from service.routes import ScoringService
from service.settings import Settings
from service.stores import Stores


def build_jobs(scorer: ScoringService, settings: Settings, intake: Intake, stores: Stores) -> tuple[Jobs, APIRouter]:
    """Return what works on batches, and the paths of batches.

    Args:
        scorer: Scores.
        settings: The operator's.
        intake: The way in.
        stores: Database, keys and remembered answers.
    """
    jobs = Jobs(scorer, settings, stores.database, intake.admission)
    maker = Maker(jobs, scorer, settings, intake, doorkeeper=stores.doorkeeper, idempotency=stores.idempotency)
    return jobs, build_batch_router(maker, jobs.store, ResultReader(stores.database), intake)
