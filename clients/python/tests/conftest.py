"""What tests are run with. test/clients/python.test.ts starts the servers, and names them in the environment."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
