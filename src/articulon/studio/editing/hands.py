"""What users do to controls, told to who edits in the order in which they did it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from articulon.studio.editing.case_document import CaseDocument

if TYPE_CHECKING:
    import viser


class Editor(Protocol):
    """What the parts of the panel need of it."""

    document: CaseDocument

    def act(self, action: Callable[[], Any], control: Any = None) -> None:
        """Do something to the document when what was asked for before is done, then show it; what is refused is said.

        Until then a control that it comes from keeps what a user has put into it.
        """

    def waits(self, control: Any) -> bool:
        """Whether something that has been done to a control is still to be done to the document."""


def follow(
    control: Any, editor: Editor, action: Callable[[Any], Any], value_of: Callable[[Any], Any] | None = None
) -> None:
    """Have an action follow whatever a user puts into a control, or presses, with the value that it then has, or with
    what a function makes of the control: of a button, what stands in the fields that it is about.

    The value is taken on the thread that has received it: later it may be another.
    """

    async def told(event: viser.GuiEvent) -> None:
        if event.client_id is not None:
            value = getattr(event.target, "value", None) if value_of is None else value_of(event.target)
            editor.act(lambda: action(value), control)

    # Buttons are clicked; what else there is, is updated.
    (control.on_click if hasattr(control, "on_click") else control.on_update)(told)
