"""The texts that a case under edit has had, each a step that can be undone and done again."""

from __future__ import annotations

from dataclasses import dataclass

MOST_STEPS = 500
"""Steps that can be undone."""


@dataclass(frozen=True)
class Step:
    """A state of the text, and the change that led to it."""

    text: str
    """The case file."""
    words: str
    """The change, such as ``"add body 'arm'"``."""
    whole: bool = True
    """Whether all comments of the text before are in this one."""
    merges: str | None = None
    """Further changes with the same word are one step with this one."""


class TextHistory:
    """Steps from the text that was opened to the present one, and those that were taken back.

    Parameters
    ----------
    text
        The text that was opened.

    Attributes
    ----------
    saved
        What the file says; a step that it holds is not merged with a later one.
    """

    def __init__(self, text: str) -> None:
        self._steps, self._at = [Step(text, "open")], 0
        self.saved = text

    @property
    def text(self) -> str:
        """The present text."""
        return self._steps[self._at].text

    @property
    def undoes(self) -> str | None:
        """What :meth:`undo` takes back, in words; None where there is nothing."""
        return self._steps[self._at].words if self._at else None

    @property
    def redoes(self) -> str | None:
        """What :meth:`redo` does again, in words; None where there is nothing."""
        return self._steps[self._at + 1].words if self._at + 1 < len(self._steps) else None

    @property
    def whole(self) -> bool:
        """Whether the present text has all comments of the one that was opened."""
        return all(step.whole for step in self._steps[: self._at + 1])

    def go(self, step: Step) -> None:
        """Go on to a step; what had been taken back is gone."""
        before = self._steps[self._at]
        del self._steps[self._at + 1 :]
        if step.merges is not None and step.merges == before.merges and before.text != self.saved:
            self._steps.pop()
            step = Step(step.text, step.words, step.whole and before.whole, step.merges)
        self._steps.append(step)
        del self._steps[: max(0, len(self._steps) - MOST_STEPS - 1)]
        self._at = len(self._steps) - 1

    def undo(self) -> None:
        """Take the last step back."""
        self._at = max(0, self._at - 1)

    def redo(self) -> None:
        """Do the step again that was taken back last."""
        self._at = min(len(self._steps) - 1, self._at + 1)
