"""Folders that several tests forge."""

from __future__ import annotations

import pytest

from tests.api.forgeries import Bases


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Bases:
    """Folders that are right."""
    return Bases(tmp_path_factory.mktemp("bases"))
