"""Settings of a compilation for scripts: `Config.get()`.

All settings are read-only. The schedules passed to a script are already planned, so a change would
have no effect. The error message names the command-line option to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.config.settings import (
    API_NAMES,
    Api,
    GoceanSettings,
    LfricSettings,
    Settings,
)

_OPTIONS: Mapping[str, str] = {
    "api": "-api",
    "distributed_memory": "-dm or -nodm",
    "include_paths": "-I",
    "kernel_output_dir": "-okern",
}
"""The options of the command that decide on what is no setting alone."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """Settings of this compilation, from the command line and the settings file."""

    settings: Settings
    api: Api
    distributed: bool
    kernel_output: Path | None = None
    includes: tuple[Path, ...] = ()


class ApiConfig:
    """Settings of one API, by the lower-case names in its section."""

    __slots__ = ("_name", "_section")

    def __init__(self, name: str, section: LfricSettings | GoceanSettings) -> None:
        self._name = name
        self._section = section

    def __getattr__(self, name: str) -> object:
        if name in type(self._section).__slots__:
            return getattr(self._section, name)
        raise AttributeError(
            f"The settings of '{self._name}' have no '{name}'."
            f" {did_you_mean(name, type(self._section).__slots__)}".strip()
        )


class ConfigView:
    """Settings of this compilation: the result of `Config.get()`."""

    __slots__ = ("_compilation",)

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation

    @property
    def api(self) -> str:
        """API of the compilation: `lfric` or `gocean`."""
        return self._compilation.api.value

    @property
    def default_api(self) -> str:
        """API selected by the settings file."""
        return self._compilation.settings.api.value

    @property
    def supported_apis(self) -> list[str]:
        """All names of APIs, including those of 2019."""
        return list(API_NAMES)

    @property
    def distributed_memory(self) -> bool:
        """True if code for distributed memory is generated."""
        return self._compilation.distributed

    @property
    def reproducible_reductions(self) -> bool:
        """True if the settings request reproducible reductions."""
        return self._compilation.settings.reproducible_reductions

    @property
    def reprod_pad_size(self) -> int:
        """Distance between the partial sums of threads, in elements."""
        return self._compilation.settings.reprod_pad_size

    @property
    def kernel_output_dir(self) -> str:
        """Output folder for transformed kernels."""
        return str(self._compilation.kernel_output or Path.cwd())

    @property
    def include_paths(self) -> list[str]:
        """Folders of include and module files."""
        return list(map(str, self._compilation.includes))

    def api_conf(self, api: str = "") -> ApiConfig:
        """Return the settings of an API by name, or of the current API without a name.

        Raises:
            CompileError: `T015`, there is no such API.
        """
        name = api or self.api
        if name not in API_NAMES:
            message = f"There is no API '{name}'."
            hint = did_you_mean(name, API_NAMES) or f"There are {listed(API_NAMES, 'and')}."
            raise CompileError(Diagnostic("T015", message, hint=hint))
        settings = self._compilation.settings
        section = settings.lfric if API_NAMES[name] is Api.LFRIC else settings.gocean
        return ApiConfig(name, section)

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__slots__:
            super().__setattr__(name, value)
            return
        option = _OPTIONS.get(name)
        where = f"the option {option} of the command" if option else "the settings file"
        message = f"A script cannot set '{name}': the schedules are planned with it already."
        raise CompileError(Diagnostic("T015", message, hint=f"Use {where}."))


def config_class(compilation: Compilation) -> type:
    """Return a class `Config` for scripts, whose `get` returns the settings of `compilation`."""
    view = ConfigView(compilation)
    return type("Config", (), {"get": staticmethod(lambda: view), "__doc__": ConfigView.__doc__})
