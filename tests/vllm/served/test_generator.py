"""The generator on a real vLLM server keeps the contract."""

from collections.abc import AsyncIterator

import pytest

from rafs.contracts import Generator
from rafs.engines.server_generator import ServerGenerator
from tests.contracts import test_generator as contract
from tests.rafs.engines.tiny_models import TINY
from tests.vllm.served.conftest import Servers

globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})


@pytest.fixture
async def generator(servers: Servers) -> AsyncIterator[Generator]:
    connection = servers.writer.connection()
    yield ServerGenerator(connection, TINY, temperature=1.0, max_new_tokens=16)
    await connection.close()
