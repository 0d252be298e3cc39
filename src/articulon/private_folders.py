"""Folders with trusted content, such as compiled kernels, which only the user may have written.

A folder is trusted if it belongs to the user, nobody else may write to it, and other users cannot replace it because of
a parent folder's permissions. Access control lists are not checked.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from articulon.errors import ArticulonError


def private_folder(path: Path, advice: str) -> Path:
    """Create a folder for this user alone, with missing parents, or check that it is private.

    Parameters
    ----------
    path
        The folder.
    advice
        Advice for the error message, as a sentence.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ArticulonError
        If the folder belongs to another user, or if other users may write to it or could replace it; the message names
        the folder.
    OSError
        If it cannot be created, or this user may not write to it.
    """
    path = path.absolute()
    if hasattr(os, "geteuid"):
        for place in dict.fromkeys((*reversed(path.parents), *reversed(path.resolve().parents))):
            if place.exists():
                _check_above(place, path, advice)
    for place in (*reversed(path.parents), path):
        if not place.exists():
            with suppress(FileExistsError):  # another process has created it
                os.mkdir(place, 0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if hasattr(os, "geteuid"):
        found = path.stat()
        if found.st_uid == 0 != os.geteuid() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        if found.st_uid != os.geteuid():
            raise ArticulonError(f"{path} is not used: it belongs to another user ({_name(found.st_uid)}). {advice}")
        if _writable_by_others(found):
            raise ArticulonError(f"{path} is not used: other users can write to it. {advice}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return path


def _check_above(place: Path, path: Path, advice: str) -> None:
    """Raises ArticulonError if other users could replace a folder inside this one."""
    found = place.stat()
    if found.st_uid not in (0, os.geteuid()) and not _unmapped(found.st_uid):
        whose = f"it belongs to another user ({_name(found.st_uid)}), who could"
    elif _writable_by_others(found) and not found.st_mode & stat.S_ISVTX:
        whose = "other users can write to it, and could"
    else:
        return
    raise ArticulonError(f"{path} is not used because of {place}: {whose} put another folder in its place. {advice}")


def _writable_by_others(found: os.stat_result) -> bool:
    """Whether other users may write to a folder. Write permission of a group whose only member is this user does not
    count: on systems where every user has a private group, folders are group-writable by default."""
    by_group = found.st_mode & stat.S_IWGRP and not _group_of_one(found.st_gid)
    return bool(found.st_mode & stat.S_IWOTH or by_group)


def _group_of_one(gid: int) -> bool:
    import grp
    import pwd

    try:
        name, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == name and set(group.gr_mem) <= {name}


def _unmapped(uid: int) -> bool:
    """Whether a user id is not mapped in this container, so that its user is unknown."""
    try:
        overflow = int(Path("/proc/sys/fs/overflowuid").read_text(encoding="ascii"))
        mapped = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return False
    return uid == overflow and mapped != ["0", "0", "4294967295"]


def _name(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
