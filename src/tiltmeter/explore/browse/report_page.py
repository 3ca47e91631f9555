"""The report of a run as the explorer serves it, with links from its numbers to their outputs."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import HTMLResponse

from ..selection.index import Index, Source

KEPT = 4  # pages, each as long as its run is as it was


class ReportPages:
    """A cache of report pages, each made at its first request on the thread that reads runs."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], str] = {}

    def page(self, index: Index, run: int, study: int) -> str:
        """Returns the report of a run. study: the index of its protocol in the explorer."""
        source = index.sources[run]
        key = run, source.store.data_version()
        if key not in self._made:
            self._made[key] = _page(source, study, index.names)
            for old in list(self._made)[:-KEPT]:
                del self._made[old]
        return self._made[key]

    def forget(self) -> None:
        """Empties the cache; called after this process has changed labels."""
        self._made.clear()


def _page(source: Source, study: int, names: Mapping[str, str]) -> str:
    from ...analyse.estimates import estimates  # numpy, scipy and polars
    from ...report.render import html
    from ...report.several_runs import multi_run

    rows = estimates(source.store, source.protocol)
    analysed = multi_run.Analysed(source.store, source.protocol, rows)
    report = multi_run.report([analysed], names)
    return html.page(report, explorer=f"/?study={study}&query=")


def response(page: str) -> HTMLResponse:
    """Returns a report with a content policy that allows its style and script by their hashes."""
    from ...report.render import html

    policy = f"{html.policy()}; frame-ancestors 'none'"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})
