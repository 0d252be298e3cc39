"""The history of the text of an edited case, in steps that can be undone and redone."""

from __future__ import annotations

from dataclasses import dataclass, replace

MOST_STEPS = 500
"""Largest number of steps that can be undone."""


@dataclass(frozen=True)
class Step:
    """A state of the text, and the change that led to it."""

    text: str
    """Text of the case file."""
    words: str
    """Description of the change, such as ``"add body 'arm'"``."""
    whole: bool = True
    """Whether all comments of the previous text are kept."""
    merges: str | None = None
    """Word of the step; further changes with the same word are merged with this step. None if nothing is merged."""


class TextHistory:
    """Steps from the text that was opened to the present text, and the steps that were taken back.

    Parameters
    ----------
    text
        The text that was opened.

    Attributes
    ----------
    saved
        Text in the file; a step with this text is not merged with a later step.
    """

    def __init__(self, text: str) -> None:
        self._steps, self._at = [Step(text, "open")], 0
        self.saved = text

    @property
    def text(self) -> str:
        """Present text."""
        return self._steps[self._at].text

    @property
    def undoes(self) -> str | None:
        """Description of the step that :meth:`undo` takes back; None if there is no such step."""
        return self._steps[self._at].words if self._at else None

    @property
    def redoes(self) -> str | None:
        """Description of the step that :meth:`redo` repeats; None if there is no such step."""
        return self._steps[self._at + 1].words if self._at + 1 < len(self._steps) else None

    @property
    def whole(self) -> bool:
        """Whether the present text has all comments of the text that was opened."""
        return all(step.whole for step in self._steps[: self._at + 1])

    def go(self, step: Step) -> None:
        """Add a step; steps that were taken back are deleted."""
        before = self._steps[self._at]
        del self._steps[self._at + 1 :]
        if step.merges is not None and step.merges == before.merges and before.text != self.saved:
            self._steps.pop()
            step = Step(step.text, step.words, step.whole and before.whole, step.merges)
        self._steps.append(step)
        dropped = max(0, len(self._steps) - MOST_STEPS - 1)
        if not all(one.whole for one in self._steps[: dropped + 1]):
            self._steps[dropped] = replace(self._steps[dropped], whole=False)
        del self._steps[:dropped]
        self._at = len(self._steps) - 1

    def undo(self) -> None:
        """Take the last step back."""
        self._at = max(0, self._at - 1)

    def redo(self) -> None:
        """Repeat the step that :meth:`undo` took back last."""
        self._at = min(len(self._steps) - 1, self._at + 1)
