"""The flags in <option> of an MJCF file, which disable or enable parts of MuJoCo's computation."""

from __future__ import annotations

from typing import Any

PARTS = {
    "gravity": ("gravity",),
    "spring": ("springs",),
    "damper": ("dampers",),
    "passive": ("springs", "dampers"),
    "limit": ("limits",),
    "frictionloss": ("dry friction",),
    "equality": ("equalities",),
    "constraint": ("limits", "dry friction", "equalities"),
}
"""The parts of a model that each flag disables, by the name of the flag in the file; ``passive`` is from older versions
of MuJoCo."""


class Flags:
    """The parts of a model that an MJCF file disables.

    Parameters
    ----------
    model
        MuJoCo's model.
    """

    def __init__(self, model: Any) -> None:
        import mujoco

        disabled = _names(mujoco.mjtDisableBit, "mjDSBL_", int(model.opt.disableflags))
        enabled = _names(mujoco.mjtEnableBit, "mjENBL_", int(model.opt.enableflags))
        self.switches = [name for name in disabled if name in PARTS]
        """Names of disabling flags that affect the parts of a model that are read here."""
        self.off = {part for name in self.switches for part in PARTS[name]}
        self.others = [f'{name}="disable"' for name in disabled if name not in PARTS]
        self.others += [f'{name}="enable"' for name in enabled]
        """Flags that do not affect these parts."""

    def has(self, part: str) -> bool:
        """Whether a part of ``PARTS`` is not disabled."""
        return part not in self.off


def _names(bits: Any, prefix: str, value: int) -> list[str]:
    """The names of the bits of ``value`` that are set."""
    named = {name: int(bit) for name, bit in bits.__members__.items() if name.startswith(prefix)}
    found = [name.removeprefix(prefix).lower() for name, bit in named.items() if value & bit]
    unknown = value & ~sum(named.values())
    return found + ([f"bits {unknown:#x}"] if unknown else [])
