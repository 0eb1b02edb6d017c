from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.dataset.reader import Dataset
from scoring.made_runs import build


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder: Path = tmp_path_factory.mktemp("scored")
    return build(folder)
