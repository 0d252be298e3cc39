"""A browser for one page: waits until something is drawn, runs a script, and says what it found.

Run by a Python that has PyQt6-WebEngine: ``browser.py ADDRESS PICTURE SCRIPT``. It draws by software where there is no
graphics card.
"""

from __future__ import annotations

import json
import os
import sys

FLAGS = "--no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
PATIENCE, EVERY = 90_000, 1_000
"""Until it gives up, and between two looks [ms]."""


def main(address: str, picture: str, script: str) -> None:
    """Look again and again, until the script gives something, and take a picture then."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", FLAGS)
    from PyQt6.QtCore import QTimer, QUrl
    from PyQt6.QtWebEngineWidgets import QWebEngineView
    from PyQt6.QtWidgets import QApplication

    app = QApplication(["browser"])
    view = QWebEngineView()
    view.resize(1100, 700)

    def look() -> None:
        view.page().runJavaScript(script, found)

    def found(result: object) -> None:
        if not result:
            QTimer.singleShot(EVERY, look)
            return
        # What fades in is there a little later.
        QTimer.singleShot(3 * EVERY, lambda: (view.grab().save(picture), print(json.dumps(result)), app.quit()))

    view.loadFinished.connect(lambda _: look())
    view.load(QUrl(address))
    view.show()
    QTimer.singleShot(PATIENCE, app.quit)
    app.exec()


if __name__ == "__main__":
    main(*sys.argv[1:])
