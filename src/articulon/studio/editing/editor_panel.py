"""The editor panel: bodies, forces and settings of a case on the page, and beside them its text; both always agree."""

from __future__ import annotations

import html
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from articulon.adaptive.conditions import CONDITIONS
from articulon.adaptive.settings import Group
from articulon.cases.builders.explicit_joints import GROUND
from articulon.cases.builders.explicit_loops import ExplicitDrive, ExplicitLoop
from articulon.cases.builders.written_model import ExplicitSite
from articulon.cases.case import Case
from articulon.cases.schema import CaseFile
from articulon.cases.study_sections import Sought, Target
from articulon.declaration import Declaration
from articulon.errors import ArticulonError
from articulon.families import Family
from articulon.forces import FORCES
from articulon.model import Model
from articulon.simulation.checks import CHECKS
from articulon.studio.editing.body_view import BodyView
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.editor_actions import on_input
from articulon.studio.editing.file_view import FileView
from articulon.studio.editing.form_view import ONE_LINE, RED, one_line
from articulon.studio.editing.forms import section_choice
from articulon.studio.editing.handle_drags import HandleDrags
from articulon.studio.editing.joint_dragging import Handle, dragged, joint_handle, joint_slice, placed_joint
from articulon.studio.editing.joint_handles import Drag, EditedScene
from articulon.studio.editing.table_views import ListView, SectionView
from articulon.studio.editing.text_view import TextView

if TYPE_CHECKING:
    import viser

QUIET = 0.15
"""Pause in typing after which the other parts of the page show the typed text [s]."""
WRITTEN_OUT = ("bodies", "sites", "loops", "drives", "atoms")
"""Keys of the model that have no field in the model's form: they have their own part of the panel, or are not shown."""
CONDITIONED = {"lock": CONDITIONS, "release": CONDITIONS}
LISTED: dict[tuple[str, str], tuple[str, type[Declaration], dict[str, Family]]] = {
    ("adaptive", "groups"): ("group", Group, CONDITIONED),
    ("fit", "parameters"): ("parameter", Sought, {}),
    ("optimise", "parameters"): ("parameter", Sought, {}),
    ("optimise", "targets"): ("target", Target, {}),
}
"""Lists of tables in sections: name of an element, its declaration, and its tables that have their own forms."""
ELSEWHERE = {
    "model": WRITTEN_OUT,
    **{key: tuple(name for other, name in LISTED if other == key) for key, _ in LISTED},
}
"""Keys of sections that have their own controls."""
OPEN = ("run", "integrator")
"""Sections whose folders are open initially."""
SHOWN = ("model", "run", "integrator", "dynamics", "scaling", "thermostat", "barostat", "box", "fidelity", "case")
"""Sections with a form among the settings, in this order."""
STUDIES = ("adaptive", "compare", "sensitivities", "fit", "optimise")
"""Sections with a form among the studies."""
DIGITS = 5
"""Number of digits after the leading digit of the largest value, to which dragged values are rounded."""


class EditorPanel:
    """Controls in the current container of the page that edit a case; the edited case is shown in the scene of the
    page.

    Parameters
    ----------
    server
        Server of the page.
    document
        The case.
    folder
        The only folder that cases are read from and written to; by default the current folder.
    """

    def __init__(self, server: viser.ViserServer, document: CaseDocument, folder: Path | None = None) -> None:
        self.server, self.document = server, document
        self.folder = Path.cwd() if folder is None else folder
        document.confine(self.folder)
        self.selected: str | None = None
        self.drag: Drag = "motion"
        self._notice = ""
        self._callbacks: list[Callable[[], Any]] = []
        self._lock, self._wake, self._closing = threading.RLock(), threading.Event(), threading.Event()
        self._actions: deque[tuple[Callable[[], Any], Any]] = deque()
        self._drags = HandleDrags()
        self._q: np.ndarray | None = None
        self._showing = True
        self._model: Model | None = None
        self._add_controls()
        self._scene = EditedScene(server, self._picked, self._dragged)
        document.on_change(self._changed)

        @server.on_client_disconnect
        async def _(client: viser.ClientHandle) -> None:
            self._let_go(client.client_id)

        # If a case cannot be shown, the page still opens and reports the error.
        self._guarded(self.refresh)
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    # Controls on the page.

    def _add_controls(self) -> None:
        gui = self.server.gui
        self._status = gui.add_html("")
        self._steps = gui.add_button_group("step", ("undo", "redo"))
        tabs = gui.add_tab_group()
        with tabs.add_tab("Bodies"):
            self._bodies = BodyView(gui, self)
            self._lists = []
            for key, noun, choice in (
                ("model.loops", "loop", ExplicitLoop),
                ("model.sites", "site", ExplicitSite),
                ("model.drives", "drive", ExplicitDrive),
            ):
                with gui.add_folder(f"{noun}s", expand_by_default=False):
                    self._lists.append(ListView(gui, self, key, noun, choice, self._begun(key)))
        with tabs.add_tab("Forces"):
            self._lists.append(ListView(gui, self, "forces", "force", FORCES, self._begun("forces")))
        with tabs.add_tab("Settings"):
            self._sections = [
                SectionView(
                    gui,
                    self,
                    (key,),
                    choice,
                    optional=optional,
                    opens=key in OPEN,
                    elsewhere=ELSEWHERE.get(key, ()),
                )
                for key, choice, optional in _sections(SHOWN)
            ]
        with tabs.add_tab("Studies"):
            self._add_studies(gui)
        with tabs.add_tab("File"):
            self._files = FileView(gui, self)
        with gui.add_folder("case file"):
            self._text = TextView(gui, self)
        on_input(self._steps, self, lambda word: self.document.undo() if word == "undo" else self.document.redo())

    def _add_studies(self, gui: viser.GuiApi) -> None:
        """Add the sections for locks, checks, comparisons, and studies of the parameters."""
        with gui.add_folder("checks"):
            self._lists.append(ListView(gui, self, "checks", "check", CHECKS))
        for key, choice, optional in _sections(STUDIES):
            elsewhere = ELSEWHERE.get(key, ())
            section = SectionView(gui, self, (key,), choice, optional=optional, opens=False, elsewhere=elsewhere)
            self._sections.append(section)
            with section.folder:
                for name in elsewhere:
                    noun, declaration, inner = LISTED[key, name]
                    with gui.add_folder(name):
                        self._lists.append(ListView(gui, self, f"{key}.{name}", noun, declaration, inner=inner))

    def _begun(self, key: str) -> Callable[[CaseDocument], dict[str, Any]]:
        """Return the function that gives the initial values of a new element of a list."""

        def begun(document: CaseDocument) -> dict[str, Any]:
            body = None if self.selected == GROUND else self.selected
            if key == "model.loops":
                number = len(document.value(key) or ()) + 1
                return {"name": f"loop {number}", "joint": "spherical", **({} if body is None else {"child": body})}
            return {"body": body} if key != "forces" and body is not None else {}

        return begun

    # Services for the parts of the panel.

    def act(self, action: Callable[[], Any], control: Any = None) -> None:
        """Carry out an action on the document, on the panel's thread and in the order of the calls, then show the
        result. If the document rejects the action, the top of the panel says so."""
        self._actions.append((action, control))
        self._wake.set()

    def waits(self, control: Any) -> bool:
        """Whether an action of this control on the document is still pending."""
        return any(one is control for _, one in tuple(self._actions))

    def _act(self) -> None:
        """Carry out the pending actions one after the other."""
        while self._actions:
            action, _ = self._actions[0]
            self._notice = ""
            try:
                self._guarded(action)
            finally:
                self._actions.popleft()

    def _guarded(self, action: Callable[[], Any]) -> None:
        """Carry out an action; errors are reported on the page, which stays usable."""
        try:
            action()
        except ArticulonError as error:
            self._notice = str(error)
        except Exception as error:  # a bug in articulon
            self._notice = f"articulon itself failed, please report it: {type(error).__name__}: {error}"
            self._status.content = one_line(self._notice, RED)

    def ask(self, question: str, lines: list[str], yes: str, action: Callable[[], Any]) -> None:
        """Ask for confirmation before an action, in a window over the page."""
        gui = self.server.gui

        def answered(go_on: Callable[[], Any]) -> None:
            # A second click may arrive before the window is closed.
            if not modal.closed:
                modal.close()
                go_on()

        # Pages see the buttons only after the callbacks are registered.
        with self.server.atomic():
            modal = gui.add_modal(question)
            with modal:
                gui.add_html("".join(f'<div style="padding:0.2em 0.8em">{html.escape(line)}</div>' for line in lines))
                sure, no = gui.add_button(yes, color="red"), gui.add_button("leave it")
            on_input(sure, self, lambda _: answered(action))
            on_input(no, self, lambda _: answered(lambda: None))

    def take(self, document: CaseDocument) -> None:
        """Edit another case."""
        self.document, self.selected, self._q = document, None, None
        document.on_change(self._changed)
        self._changed()

    # Source of the case, for a page that runs it.

    def case(self) -> Case:
        """Return the current case; raises CaseError as :meth:`CaseDocument.case` does."""
        with self._lock:
            return self.document.case()

    def on_change(self, callback: Callable[[], Any]) -> None:
        """Register a function that is called after each change of the case."""
        self._callbacks.append(callback)

    def _changed(self) -> None:
        for callback in self._callbacks:
            callback()

    def show(self, shown: bool = True) -> None:
        """Show the case in the scene, or release the scene for other contents."""
        with self._lock:
            self._showing = shown
            if not shown:
                self._scene.hide()
        self._wake.set()

    def close(self) -> None:
        """End the panel's thread."""
        self._closing.set()
        self._wake.set()
        self._worker.join()

    # The panel's thread, which updates the page after changes of the document.

    def _work(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            with self._lock:
                self._act()
                self._guarded(self._follow_drags)
            # Wait until typing or dragging pauses.
            if not self._wake.wait(QUIET) and not self._closing.is_set():
                self._guarded(self.refresh)

    def refresh(self) -> None:
        """Update the page to the current document."""
        with self._lock:
            document = self.document
            table, errors = document.table, document.errors
            self._bodies.show(table, errors)
            parts: list[ListView | SectionView] = [*self._lists, *self._sections]
            for part in parts:
                part.show(table, errors)
            self._files.show()
            self._status.content = self._status_html(errors)
            self._text.show(errors)
            self._show_scene()

    def _status_html(self, errors: dict[str, str]) -> str:
        """Return the status in exactly three lines, also for long texts: the controls below must not move under the
        pointer."""
        document = self.document
        name = document.name if document.path is None else document.path.name
        saved = "not saved" if document.path is None else "changes not saved" if document.changed else "saved"
        saved += "" if self._text.draft is None else " · the text is not applied"
        done = [f"{word}: {what}" for word, what in (("undo", document.undoes), ("redo", document.redoes)) if what]
        state = "ready to run" if not errors else f"{len(errors)} {'error' if len(errors) == 1 else 'errors'}"
        said = [self._notice] if self._notice else [f"{key}: {what}" for key, what in errors.items()]
        if document.lost_comments and not said:
            said = ["comments of the file could not be kept"]
        return (
            f'<div style="padding:0.4em 0.8em"><div style="{ONE_LINE}"><b>{html.escape(name)}</b> · '
            f'<span style="color:{RED if errors else "#2b8a3e"}">{state}</span></div>'
            f"{one_line(said[0] if said else '', RED)}{one_line(' · '.join([saved, *done]), '#868e96')}</div>"
        )

    def _show_scene(self) -> None:
        model = self.document.model()
        # A handle that a user is dragging must stay.
        if not self._showing or self._drags.held:
            return
        if model is None:
            # The last valid scene stays visible while a user types a number.
            if self.document.value("model") is None:
                self._scene.hide()
                self._model = None
            return
        if model is not self._model or self._q is None:
            self._model, self._q = model, np.array(model.q0)
        self._scene.show(model, self._q)
        self._scene.choose(model, self._q, self._chosen(model), self.drag)

    def _chosen(self, model: Model) -> int | None:
        return model.names.index(self.selected) if self.selected in model.names else None

    def _picked(self, body: int) -> None:
        model = self._model
        if model is not None and body >= 0:
            self.act(lambda: setattr(self, "selected", model.names[body]))

    # Dragging.

    def _dragged(self, phase: str, handle: Handle, held: tuple[str, Drag], page: int | None) -> None:
        self._drags.tell(phase, handle, held, page)
        self._wake.set()

    def _let_go(self, page: int) -> None:
        self._drags.forget(page)
        self._wake.set()

    def _follow_drags(self) -> None:
        """Move joints to the current places of their handles. Each handle moves the joint of the body for which it was
        made."""
        for (name, what), (handle, ended) in self._drags.latest().items():
            model = self._model
            if model is not None and name in model.names:
                self._drag_to(model, model.names.index(name), what, handle, ended)

    def _drag_to(self, model: Model, body: int, what: Drag, handle: Handle, ended: bool) -> None:
        if self._q is None:
            return
        if what == "motion":
            self._q = dragged(model, body, self._q, joint_handle(model, body, self._q), handle)
            self._scene.show(model, self._q)
            if ended:
                self._scene.forget_handle()
                self.act(partial(self._keep_coordinates, model, body))
        elif what == "joint" and ended:
            self.act(partial(self._keep_joint, model, body, handle))

    def _keep_coordinates(self, model: Model, body: int) -> None:
        """Store the dragged coordinates as initial coordinates."""
        assert self._q is not None
        loops = bool(model.loops.kind.size)
        found = {}
        for k in np.flatnonzero([joint.nq > 0 for joint in model.joints]).tolist():
            if model.head[int(model.link[k])] != k:
                continue
            at = joint_slice(model, k)[0]
            if not np.allclose(self._q[at], model.q0[at], rtol=0.0, atol=1e-12):
                # Closed loops and Euler parameters need all digits.
                exact = loops or model.joints[k].quaternion is not None
                found[model.names[k]] = self._q[at] if exact else rounded(self._q[at])
        if found:
            self.document.set_coordinates({name: q.tolist() for name, q in found.items()})
        self._q = None

    def _keep_joint(self, model: Model, body: int, handle: Handle) -> None:
        assert self._q is not None
        changed = placed_joint(model, body, self._q, handle)
        plain = {key: (np.array(value) if key == "rotation" else rounded(value)) for key, value in changed.items()}
        self.document.join(model.names[body], **{key: value.tolist() for key, value in plain.items()})


def rounded(values: Any) -> np.ndarray:
    """Round numbers to the precision of a drag, relative to the largest magnitude of the numbers."""
    numbers = np.asarray(values, dtype=float)
    size = float(np.abs(numbers).max(initial=0.0))
    places = DIGITS - (int(np.floor(np.log10(size))) if size > 0.0 else 0)
    return np.asarray(np.round(numbers, places) + 0.0)


def _sections(keys: Sequence[str]) -> list[tuple[str, Any, bool]]:
    """Return sections: key, declaration or family, and whether the section is optional."""
    found = []
    for key in keys:
        field = CaseFile.model_fields[key]
        annotation = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        found.append((key, section_choice(annotation), not field.is_required() and field.get_default() is None))
    return found
