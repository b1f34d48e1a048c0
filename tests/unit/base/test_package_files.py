"""Files that the package contains, in a checkout and in a wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from libraries import EXTERNAL
from psyclone_storage.base import package_files
from psyclone_storage.base.diagnostic import InternalError

VARIANT = "external/scalar_real32_mod.f90"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout of the package with one template, which nobody has expanded."""
    (tmp_path / "external").mkdir()
    template = EXTERNAL / "lfric_infrastructure" / "scalar" / "scalar_KIND_mod.t90"
    for path in (EXTERNAL / "variants.py", template):
        shutil.copy(path, tmp_path / "external")
    monkeypatch.setattr(package_files, "_PACKAGE", tmp_path / "src" / "psyclone_storage")
    return tmp_path


def test_variants_are_written_before_they_are_found(checkout: Path) -> None:
    assert package_files.shared_file(VARIANT) == checkout / VARIANT
    assert "module scalar_real32_mod" in (checkout / VARIANT).read_text(encoding="utf-8")


def test_settings_do_not_expand_templates(checkout: Path) -> None:
    (checkout / "config").mkdir()
    assert package_files.shared_file("config") == checkout / "config"
    assert not (checkout / VARIANT).exists()


def test_a_checkout_without_permission_to_write_has_what_it_has(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert package_files.shared_file("external") == checkout / "external"
    with pytest.raises(InternalError, match=r"lacks 'external/scalar_real32_mod\.f90'"):
        package_files.shared_file(VARIANT)


def test_a_wheel_has_no_templates(checkout: Path) -> None:
    share = checkout / "src" / "psyclone_storage" / "share"
    (share / "external").mkdir(parents=True)
    (share / VARIANT).write_text("", encoding="utf-8")
    assert package_files.shared_file(VARIANT) == share / VARIANT
    assert [path.name for path in (share / "external").iterdir()] == ["scalar_real32_mod.f90"]
