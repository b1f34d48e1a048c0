"""Imports that wait until they are needed: which file may do that, and with what."""

from __future__ import annotations

# What most calls do not need is imported once it is (docs/adr/0010-commands-import-late.md):
# `--version` answers without the compiler, and a translation does without steps and scripts.
LATE: dict[str, set[str]] = {
    "base/digest.py": {"hashlib.sha256"},
    "base/records.py": {"dataclasses"},
    "cli/examples.py": {"shutil"},
    "cli/kernel_users.py": {"json"},
    "cli/guard.py": {"psyclone_storage.base.render_tools", "traceback"},
    "cli/options.py": {"ast"},
    "cli/write.py": {"shutil.copy2"},
    "cli/main.py": {"psyclone_storage.cli.batch.run_batch"},
    "cli/kern.py": {"psyclone_storage.cli.kernel_tools.run_tool"},
    "cli/page.py": {"importlib.util.find_spec"},
    "cli/batch.py": {
        "psyclone_storage.cli.page.check_template_engine",
        "psyclone_storage.cli.trial.try_to_compile",
        "psyclone_storage.cli.turns.Turns",
        "psyclone_storage.cli.verbose",
        "psyclone_storage.cli.workers.Workers",
        "psyclone_storage.driver.compile.make_compiler",
        "psyclone_storage.driver.factories.make_scripted_compiler",
    },
    "cli/report.py": {
        "json",
        "psyclone_storage.cli.page.page_text",
        "psyclone_storage.cli.verbose.kernel_lines",
        "psyclone_storage.driver.page.page_object",
        "psyclone_storage.driver.reports",
    },
    "cli/results.py": {"json"},
    "embedded/invoke.py": {
        "psyclone_storage.base.diagnostic.CompileError",
        "psyclone_storage.driver.tracing.asked_for",
        "psyclone_storage.driver.invokes.recover",
        "psyclone_storage.driver.last_calls.finder",
        "psyclone_storage.driver.invokes.run_invoke",
    },
    "driver/invokes.py": {"psyclone_storage.driver.traced.compile_invoke"},
    "driver/apis.py": {
        "psyclone_storage.driver.gocean.GOCEAN",
        "psyclone_storage.driver.gocean.TARGETS",
        "psyclone_storage.driver.lfric.LFRIC",
        "psyclone_storage.driver.lfric.TARGETS",
    },
    "driver/compile.py": {
        "psyclone_storage.driver.placing.place_kernels",
        "psyclone_storage.driver.coherence.check_coherence",
        "psyclone_storage.driver.holding.check_plans",
        "psyclone_storage.driver.holding.with_holding",
        "psyclone_storage.driver.requested.read_requested",
    },
    "driver/fortran.py": {
        "psyclone_storage.frontend.fortran.body.read_code",
        "psyclone_storage.frontend.fortran.resolve.resolve_code",
    },
    "driver/kernels.py": {
        "psyclone_storage.driver.effects.SharedEffects",
        "psyclone_storage.driver.merged.CalledProcedures",
    },
    "driver/lfric_python.py": {
        "psyclone_storage.backend.meshes.on_device.on_device",
        "psyclone_storage.backend.meshes.table.meshes_in_c",
        "psyclone_storage.driver.on_columns.not_for_threads",
    },
    "driver/python.py": {
        "psyclone_storage.backend.native.columns",
        "psyclone_storage.backend.numpy.columns",
        "psyclone_storage.driver.in_python.in_python",
        "psyclone_storage.driver.python_parts",
    },
    "driver/thread_notes.py": {"psyclone_storage.transform.kernel.state.changed_state"},
}
