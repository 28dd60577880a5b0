"""Running the HTTP face with uvicorn."""

import asyncio
import os
import socket
from contextlib import suppress
from types import FrameType

import uvicorn

from rafs.errors import BackendError, ConfigError
from service.app import create_app
from service.auth import is_loopback, needs_key
from service.database.engine import VARIABLE, open_database
from service.intake import Intake
from service.keys.store import KeyStore
from service.observability import configure_logging, logger
from service.routes import ScoringService
from service.settings import Settings
from service.tracing import missing_exporter

CLOSING_S = 2
"""After the drain: what is still in flight then is cancelled, and told so."""


class DrainingServer(uvicorn.Server):
    """Refuses new work at the first signal, but answers until the work that it has is done or its time is over."""

    def __init__(self, config: uvicorn.Config, intake: Intake, drain_s: float) -> None:
        super().__init__(config)
        self._intake = intake
        self._drain_s = drain_s
        self._ends_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; a second signal stops at once."""
        super().handle_exit(sig, frame)
        if not self._intake.is_stopping:
            self._intake.is_stopping = True
            self.should_exit = False  # not before `on_tick` says so

    async def on_tick(self, counter: int) -> bool:
        """Look whether it has drained; uvicorn calls this ten times a second."""
        if self._intake.is_stopping and not self.should_exit:
            now = asyncio.get_running_loop().time()
            if self._ends_at is None:
                self._ends_at = now + self._drain_s
                logger.info("draining", in_flight=self._intake.admission.in_flight)
            if self._intake.admission.in_flight == 0 or now >= self._ends_at:
                self.should_exit = True  # never set back: a second signal may have come just now
        return await super().on_tick(counter)


def check_address(settings: Settings) -> None:
    """Open the database, and refuse an address that other machines reach while no key would let any of them in.

    Raises:
        ConfigError: There is no key, and the operator did not say that a proxy asks for one; or the database cannot be
            used.
    """
    if asyncio.run(_has_key(settings)) or not needs_key(settings):
        return
    if not is_loopback(settings.host):
        raise ConfigError(
            f"{settings.host} can be reached by other machines, and there is no key that would let one of them in; "
            "make one with `rafs keys create NAME`, or use 127.0.0.1, or put the service behind a proxy that "
            "authenticates and add --allow-remote (RAFS_ALLOW_REMOTE=1)"
        )
    logger.warning("RAFS_AUTH is `required` and there is no key yet: rafs keys create NAME")


def check_port(settings: Settings) -> None:
    """Try the port, before anything is loaded.

    Raises:
        ConfigError: It is in use or not allowed, or the host is none of this machine.
    """
    try:
        addresses = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in addresses:
            with socket.socket(family, kind, protocol) as probe:  # with the options that the server's own will have
                if os.name == "posix":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ConfigError(
            f"cannot serve on {settings.host}:{settings.port}: {why}; choose another with --port or --host"
        ) from error


def serve(scorer: ScoringService, settings: Settings) -> None:
    """Serve until a signal; requests in flight are ended first, and new ones refused.

    Raises:
        ConfigError: The address may not be used, or is in use.
    """
    check_address(settings)
    configure_logging(settings.log_level)
    if not (needs_key(settings) or is_loopback(settings.host)):
        logger.warning("no authentication: whoever reaches this address may use it", host=settings.host)
    if not settings.edit_secret.get_secret_value():
        logger.warning("RAFS_EDIT_SECRET is not set: whoever reads the source can foresee the counterfactual edits")
    logger.info("serving", host=settings.host, port=settings.port)
    if install := missing_exporter():
        logger.warning("OpenTelemetry is configured, but what sends its traces is not installed", install=install)
    app = create_app(scorer, settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=CLOSING_S,
    )
    try:
        with suppress(KeyboardInterrupt):  # what an interrupt ends with, when all is closed
            DrainingServer(config, app.state.intake, settings.drain_s).run()
    except SystemExit as error:  # how uvicorn ends when it could not start; it has logged the reason
        raise ConfigError(f"cannot serve on {settings.host}:{settings.port}; the line above says why") from error


async def _has_key(settings: Settings) -> bool:
    database = open_database(settings.database.get_secret_value())
    try:
        return await KeyStore(database).has_usable()
    except BackendError as error:
        raise ConfigError(f"{VARIABLE}: {error}") from error
    finally:
        await database.close()
