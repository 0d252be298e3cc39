"""Finds the mesh files that a robot description names: next to the description, or in packages in the folders above
it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from articulon.inputs import is_file

SCHEMES = ("package://", "model://")
"""Prefixes of names that consist of a package and a path in this package."""


def mesh_path(name: str, description: str, packages: Mapping[str, str]) -> Path | None:
    """The file to which ``name`` refers in a description; None if there is no such file.

    Parameters
    ----------
    name
        A path, relative to the folder of the description unless it is absolute; ``file://`` with such a path; or
        ``package://`` with the name of a package and a path in it.
    description
        The description file.
    packages
        Folders of packages by name. Packages that are not listed are searched for in the folders above the description,
        as folders with the package's name.
    """
    folder = Path(description).resolve().parent
    for scheme in SCHEMES:
        if name.startswith(scheme):
            package, _, inside = unquote(name.removeprefix(scheme)).lstrip("/").partition("/")
            return _in_package(package, inside, folder, packages)
    if name.startswith("file://"):
        name = unquote(name.removeprefix("file://"))
    elif "://" in name:
        return None  # files are not downloaded
    found = folder / name
    return found if is_file(found) else None


def _in_package(package: str, inside: str, folder: Path, packages: Mapping[str, str]) -> Path | None:
    if package in packages:
        places = [Path(packages[package])]
    elif package in ("", ".", ".."):
        return None
    else:
        places = [above / package for above in folder.parents] + [folder / package]
        places += [above for above in (folder, *folder.parents) if above.name == package]
    for place in places:
        found = place / inside
        # A path in a package must not lead to a file outside the package.
        if is_file(found) and found.resolve().is_relative_to(place.resolve()):
            return found
    return None
