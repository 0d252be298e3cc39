"""The command that opens the studio."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from articulon.cli.commands import AllowCode, app
from articulon.cli.output import echo


@app.command()
def studio(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[CASE|DIR|URDF|MJCF]",
            help="A built-in case, a case or robot file, the folder of a run, or a folder of cases; by default "
            "the current folder.",
        ),
    ] = ".",
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=1, max=65535, help="Port; by default 8080, or the next free one."),
    ] = None,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Whether to open the page in a browser.")] = True,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Address of this machine at which other machines may connect."),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TEXT",
            help="Token that each page must present; with --host one is generated if none is given.",
        ),
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Show a case in three dimensions and run it, in a browser on this machine. Stop with Ctrl-C."""
    from articulon.studio.page_server import OURS, address, check_port, check_token, server_at

    check_token(token)
    check_port(port, host)
    if token is None and host not in OURS:
        import secrets

        token = secrets.token_urlsafe(16)

    from articulon.studio.opening import opened

    with opened(what, allow_code) as place:
        server = server_at(port, host, token)
        workspace = place.workspace(server)
        page = address(server) + ("" if token is None else f"/?token={token}")
        echo(f"{what} is shown at {page} until Ctrl-C")
        if opens:
            import webbrowser

            webbrowser.open(page)
        # A termination request also stops the run cleanly.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            workspace.run()
        except KeyboardInterrupt:
            echo()
        finally:
            how = workspace.close()
        if how is not None:
            echo(f"the run was stopped, and its state is saved; continue with\n  {how}")
