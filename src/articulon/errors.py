"""Errors, classified by the object that the user must check: the case, the model, the transition, the motion or the
checkpoint.

Every message names the object (the file and key, the body, the joint, the step) and tells the user what to do.
"""

from __future__ import annotations

import os


class ArticulonError(Exception):
    """Base of every error that articulon raises on purpose."""


class CaseError(ArticulonError):
    """A case, or one of its values, is invalid: an unknown key, a wrong dimension, an impossible value."""


class ModelError(ArticulonError):
    """A model cannot be built: a missing parent, a negative mass, a physically impossible inertia."""


class TransitionError(ArticulonError):
    """A joint cannot be locked or released as requested: a loop needs it, it is not locked, or the momentum does not
    allow the energy."""


class CheckpointError(ArticulonError):
    """A checkpoint cannot be read or written, or belongs to another run."""


class DivergenceError(ArticulonError):
    """The values of a run have become meaningless.

    Parameters
    ----------
    reason
        Observation, as a phrase: ``"the acceleration is not finite"``.
    time, step
        Simulated time [time unit of the case] and step number of the observation.
    body, joint
        Body of the observation, and the kind of joint that carries it.
    channel
        Channel with the largest force on that body at that time.
    checkpoint
        Path of the last good checkpoint, or None if none has been written; ``""`` if checkpoints are never written.
    time_unit
        Unit symbol that follows the time in the message, such as ``"us"``.
    advice
        Advice specific to the reason; by default the usual advice.
    """

    def __init__(
        self,
        reason: str,
        *,
        time: float,
        step: int,
        body: str,
        joint: str,
        channel: str,
        checkpoint: str | os.PathLike[str] | None = None,
        time_unit: str = "",
        advice: str | None = None,
    ) -> None:
        self.reason = reason
        self.time = time
        self.step = step
        self.body = body
        self.joint = joint
        self.channel = channel
        self.checkpoint = checkpoint
        self.time_unit = time_unit
        self.advice = advice
        super().__init__(self._message())

    def _message(self) -> str:
        moment = f"t = {self.time:.9g} {self.time_unit}".rstrip()
        if self.checkpoint is None:
            rescue = "No checkpoint was written. "
        else:
            rescue = f"The last good checkpoint is {os.fspath(self.checkpoint)}. " if self.checkpoint else ""
        if self.advice is not None:
            return f"the run ended at {moment}, step {self.step}: {self.reason}. {rescue}{self.advice}"
        return (
            f"the run diverged at {moment}, step {self.step}: {self.reason} at body '{self.body}' "
            f"({self.joint} joint), where the largest force is in the channel '{self.channel}'. {rescue}"
            "Usual causes: a step too long for the stiffest force or the lightest body (lower the step or the "
            "tolerances), sites that overlap at the start, or a force law with the wrong sign or unit."
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes pickle errors, and Exception's own pickling loses keyword-only arguments.
        return _divergence_error, (self.reason, {k: v for k, v in self.__dict__.items() if k != "reason"})


def _divergence_error(reason: str, details: dict) -> DivergenceError:
    return DivergenceError(reason, **details)
