"""Actions of users on controls. They are passed to the editor in the order in which the users made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from articulon.studio.editing.case_document import CaseDocument

if TYPE_CHECKING:
    import viser


class Editor(Protocol):
    """Interface of the panel that its parts use."""

    document: CaseDocument

    def act(self, action: Callable[[], Any], control: Any = None) -> None:
        """Carry out an action on the document after all earlier actions, then show the result. If the action is
        rejected, this is reported.

        Until then, the control that caused the action keeps the user's input.
        """

    def waits(self, control: Any) -> bool:
        """Whether an action of this control on the document is still pending."""


def on_input(
    control: Any, editor: Editor, action: Callable[[Any], Any], value_of: Callable[[Any], Any] | None = None
) -> None:
    """Run an action after each input to a control, or press of a button. The action receives the control's value, or
    the result of ``value_of``. For a button, this may be the contents of related fields.

    The value is read on the thread that receives the input, because it may change later.
    """

    async def received(event: viser.GuiEvent) -> None:
        if event.client_id is not None:
            value = getattr(event.target, "value", None) if value_of is None else value_of(event.target)
            editor.act(lambda: action(value), control)

    # Buttons are clicked; all other controls are updated.
    (control.on_click if hasattr(control, "on_click") else control.on_update)(received)
