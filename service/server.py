"""Running the HTTP face with uvicorn."""

import ipaddress
import os
import socket

import uvicorn

from rafs.errors import ConfigError
from service.app import create_app
from service.observability import configure_logging, logger
from service.routes import ScoringService
from service.settings import Settings

SHUTDOWN_S = 30
"""Requests in flight get this long to end."""


def check_address(settings: Settings) -> None:
    """Refuse an address that other machines reach, unless the operator allows it.

    Raises:
        ConfigError: It is not allowed.
    """
    if not settings.allow_remote and not _is_loopback(settings.host):
        raise ConfigError(
            f"{settings.host} can be reached by other machines, and this service asks nobody who they are; "
            "use 127.0.0.1, or put it behind a proxy that authenticates and add --allow-remote (RAFS_ALLOW_REMOTE=1)"
        )


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
    """Serve until a signal; requests in flight are ended first.

    Raises:
        ConfigError: The address may not be used, or is in use.
    """
    check_address(settings)
    configure_logging(settings.log_level)
    if not _is_loopback(settings.host):
        logger.warning("no authentication: whoever reaches this address may use it", host=settings.host)
    if not settings.edit_secret.get_secret_value():
        logger.warning("RAFS_EDIT_SECRET is not set: whoever reads the source can foresee the counterfactual edits")
    logger.info("serving", host=settings.host, port=settings.port)
    try:
        uvicorn.run(
            create_app(scorer, settings),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
    except SystemExit as error:  # how uvicorn ends when it could not start; it has logged the reason
        raise ConfigError(f"cannot serve on {settings.host}:{settings.port}; the line above says why") from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
