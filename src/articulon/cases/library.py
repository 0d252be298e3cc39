"""The built-in cases: the TOML files beside this one."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def built_in_cases() -> dict[str, Path]:
    """Return the file of each built-in case by name, in alphabetical order."""
    return {path.stem: path for path in sorted(HERE.glob("*.toml"), key=lambda path: path.stem)}


def titles() -> dict[str, str]:
    """Return the title of each built-in case by name."""
    tables = {name: tomllib.loads(path.read_text(encoding="utf-8")) for name, path in built_in_cases().items()}
    return {name: table["case"]["title"] for name, table in tables.items()}
