"""Where the meshes are that a description names: beside it, or in packages on the way up from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from articulon.inputs import is_file

SCHEMES = ("package://", "model://")
"""Before the name of a package and a path in it."""


def mesh_path(name: str, description: str, packages: Mapping[str, str]) -> Path | None:
    """The file that a description means by ``name``; None where there is none.

    Parameters
    ----------
    name
        A path, from the folder of the description if it is not a whole one; ``file://`` and such a path; or
        ``package://`` with the name of a package and a path in it.
    description
        The file that names it.
    packages
        Folders of packages by their names. Others are sought in the folders above the description, as folders of
        their name.
    """
    folder = Path(description).resolve().parent
    for scheme in SCHEMES:
        if name.startswith(scheme):
            package, _, inside = unquote(name.removeprefix(scheme)).lstrip("/").partition("/")
            return _in_package(package, inside, folder, packages)
    if name.startswith("file://"):
        name = unquote(name.removeprefix("file://"))
    elif "://" in name:
        return None  # nothing is fetched
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
        # A path in a package does not lead out of it.
        if is_file(found) and found.resolve().is_relative_to(place.resolve()):
            return found
    return None
