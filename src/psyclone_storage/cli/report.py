"""Reports on a compilation: schedules, dependences, explanations."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.cli.options import CommandOptions
from psyclone_storage.cli.style import in_colour

if TYPE_CHECKING:
    from psyclone_storage.pipeline.compile import Build


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports on one algorithm file; reports that were not requested are empty.

    - `found`: lines on its kernels, for `--verbose`.

    - `page`: the contents for `--report`.
    """

    text: str = ""
    schedules: tuple[dict[str, Any], ...] = ()
    dag: str = ""
    found: tuple[str, ...] = ()
    page: tuple[dict[str, Any], ...] = ()


def reports_of(file: Path, build: Build, options: CommandOptions) -> Reports:
    """Return the reports on `file` requested by `options`."""
    asked = (options.schedule, options.explain, options.schedule_json, options.dag)
    if not any((*asked, options.verbose, options.page)):
        return Reports()
    from psyclone_storage.pipeline.explanation import explanation  # noqa: PLC0415
    from psyclone_storage.tools import reports  # noqa: PLC0415

    texts = []
    if options.schedule:
        texts.append(reports.schedules_text(build, colour=in_colour(options.colour, sys.stdout)))
    if options.explain:
        texts.append(explanation(build))
    heading = f"{file}:\n" if texts and len(options.files) > 1 else ""
    return Reports(
        heading + "\n".join(texts),
        reports.schedule_objects(build) if options.schedule_json else (),
        reports.dag_text(build) if options.dag else "",
        _found(file, build) if options.verbose else (),
        _page(file, build) if options.page else (),
    )


def _page(file: Path, build: Build) -> tuple[dict[str, Any], ...]:
    from psyclone_storage.tools.page import page_object  # noqa: PLC0415

    return (page_object(file, build),)


def _found(file: Path, build: Build) -> tuple[str, ...]:
    from psyclone_storage.cli.verbose import kernel_lines  # noqa: PLC0415
    from psyclone_storage.tools import reports  # noqa: PLC0415

    return kernel_lines(file, reports.kernel_files(build))


def gathered_reports(
    reports: Sequence[Reports], options: CommandOptions
) -> Iterator[tuple[Path | None, str]]:
    """Yield each report with its output file, or None for standard output."""
    text = "\n".join(report.text for report in reports if report.text)
    if text:
        yield None, text
    if options.schedule_json is not None:
        import json  # noqa: PLC0415

        objects = [item for report in reports for item in report.schedules]
        yield _destination(options.schedule_json), json.dumps(objects, indent=2) + "\n"
    if options.dag is not None:
        yield _destination(options.dag), "".join(report.dag for report in reports)
    if options.page is not None:
        from psyclone_storage.cli.page import page_text  # noqa: PLC0415

        yield options.page, page_text([item for report in reports for item in report.page])


def _destination(name: str) -> Path | None:
    return None if name == "-" else Path(name)
