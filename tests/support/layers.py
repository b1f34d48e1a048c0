"""Tables of the architecture test: layers, late imports, libraries, state of the process."""

from __future__ import annotations

# What most calls do not need is imported once it is:
# `--version` answers without the compiler, and a translation does without steps and scripts.
LATE: dict[str, set[str]] = {
    "pipeline/metadata_facts.py": {"psyclone_storage.targets.apis.api_parts"},
    "scripting/calls.py": {"linecache", "sysconfig", "traceback"},
    "scripting/drawing.py": {"shutil", "subprocess"},
    "scripting/recipe.py": {"traceback"},
    "base/compilers.py": {"shutil", "subprocess"},
    "base/digest.py": {"hashlib.sha256"},
    "base/temporaries.py": {"shutil.rmtree"},
    "base/records.py": {"dataclasses"},
    "base/package_files.py": {"runpy"},
    "base/uncaught.py": {"traceback"},
    "storage/memory/queues.py": {"traceback"},
    "cli/examples.py": {"shutil"},
    "cli/kernel_users.py": {"json"},
    "cli/main_guard.py": {"psyclone_storage.base.render_tools", "traceback"},
    "cli/options.py": {"ast"},
    "cli/write.py": {"shutil.copy2"},
    "cli/main.py": {
        "psyclone_storage.cli.main_guard.run_guarded",
        "psyclone_storage.cli.options.read_options",
        "psyclone_storage.cli.style.read_style",
        "psyclone_storage.cli.batch.run_batch",
        "psyclone_storage.cli.contracts.run_link_check",
        "psyclone_storage.cli.plain_files.run_files",
    },
    "cli/kern.py": {
        "psyclone_storage.cli.kern_options.read_kernel_options",
        "psyclone_storage.cli.kernel_tools.run_tool",
        "psyclone_storage.cli.main_guard.run_guarded",
        "psyclone_storage.cli.style.read_style",
    },
    "cli/trial_compile.py": {"psyclone_storage.runtime.compiling"},
    "cli/plain_files.py": {
        "psyclone_storage.cli.contracts.contract_outputs",
        "psyclone_storage.cli.page.check_template_engine",
        "psyclone_storage.cli.page.loops_page_text",
        "psyclone_storage.cli.workers.Workers",
        "psyclone_storage.pipeline.contract_folder.read_contracts",
        "psyclone_storage.pipeline.device_reports.plan_json",
        "psyclone_storage.pipeline.device_reports.plan_text",
        "psyclone_storage.pipeline.files.FileRequest",
        "psyclone_storage.pipeline.files.FileTransformer",
        "psyclone_storage.pipeline.files.loop_object",
        "psyclone_storage.pipeline.files.loops_text",
        "psyclone_storage.tools.second_opinion.check_second_reading",
    },
    "cli/page.py": {"importlib.util.find_spec"},
    "cli/batch.py": {
        "psyclone_storage.cli.page.check_template_engine",
        "psyclone_storage.cli.trial_compile.try_to_compile",
        "psyclone_storage.cli.ordered_workers.Turns",
        "psyclone_storage.cli.verbose",
        "psyclone_storage.cli.workers.Workers",
        "psyclone_storage.pipeline.compile.make_compiler",
        "psyclone_storage.tools.factories.make_scripted_compiler",
    },
    "cli/report.py": {
        "json",
        "psyclone_storage.cli.page.page_text",
        "psyclone_storage.cli.verbose.kernel_lines",
        "psyclone_storage.tools.page.page_object",
        "psyclone_storage.pipeline.explanation.explanation",
        "psyclone_storage.tools.reports",
    },
    "cli/results.py": {"json"},
    "embedded/invoke.py": {
        "psyclone_storage.base.diagnostic.CompileError",
        "psyclone_storage.jit.session.JitSession",
        "psyclone_storage.jit.invokes.recover",
        "psyclone_storage.jit.call_cache.make_call_finder",
        "psyclone_storage.jit.deferred.DeferredInvokes",
        "psyclone_storage.jit.invokes.run_invoke",
    },
    "jit/invokes.py": {
        "psyclone_storage.jit.compile.compile_invoke",
        "psyclone_storage.pipeline.explanation.explanation",
    },
    "targets/apis.py": {
        "psyclone_storage.targets.gocean.GOCEAN",
        "psyclone_storage.targets.gocean.TARGETS",
        "psyclone_storage.targets.lfric.LFRIC",
        "psyclone_storage.targets.lfric.TARGETS",
    },
    "pipeline/files.py": {
        "psyclone_storage.analysis.bodies.authored.promises_of_directives",
        "psyclone_storage.pipeline.deterministic_scripts.script_record",
        "psyclone_storage.pipeline.program_uses.OutsideProcedures",
        "psyclone_storage.pipeline.storage_plans.plan_device_data",
        "psyclone_storage.pipeline.separate_plans.SeparatePlanner",
    },
    "pipeline/compile.py": {
        "psyclone_storage.pipeline.coherence.check_coherence",
        "psyclone_storage.pipeline.coherence.check_storage_plans",
        "psyclone_storage.pipeline.coherence.with_storage_access",
        "psyclone_storage.pipeline.user_transforms.read_user_transforms",
        "psyclone_storage.transform.kernel.layers.with_faster_layers",
    },
    "pipeline/explanation.py": {"psyclone_storage.transform.kernel.layers.explain_layers"},
    "targets/fortran.py": {
        "psyclone_storage.languages.fortran.parse.body.read_code",
        "psyclone_storage.languages.fortran.parse.resolve.resolve_code",
    },
    "pipeline/kernels.py": {
        "psyclone_storage.pipeline.effects.SharedEffects",
    },
    "pipeline/module_context.py": {
        "psyclone_storage.pipeline.callers.ThreadedCalls",
        "psyclone_storage.pipeline.copied_procedures.copied_procedure",
        "psyclone_storage.pipeline.procedure_effects.ProcedureEffects",
        "psyclone_storage.targets.c_printer.CPrinter",
    },
    "targets/python.py": {"psyclone_storage.targets.transpile.transpile"},
    "targets/gocean.py": {
        f"psyclone_storage.targets.gocean_{name}.TARGET" for name in ("c", "numpy", "cuda")
    },
    "targets/lfric.py": {
        f"psyclone_storage.targets.lfric_{name}.TARGET" for name in ("c", "numpy", "cuda")
    },
    "passes/inline/kernels.py": {"psyclone_storage.passes.inline.inliner.inline_calls"},
    "pipeline/thread_safety.py": {"psyclone_storage.transform.kernel.state.check_shared_state"},
}

# "__init__" is the package itself: the version. Imports inside a layer are always allowed.
COMPILER = set("analysis coherence domains infrastructures ir languages lowering passes "
               "transform".split())  # fmt: skip
LAYERS: dict[str, set[str]] = {
    "__init__": set(),
    "__main__": {"cli"},
    "base": set(),
    "ir": {"base"},
    "infrastructures": {"ir", "base"},
    "embedded": {"jit", "base"},
    "gocean": {"embedded", "infrastructures", "base"},
    "lfric": {"embedded", "infrastructures", "base"},
    "config": {"infrastructures", "ir", "base"},
    "analysis": {"ir", "base"},
    "passes": {"analysis", "ir", "base"},
    "languages": {"passes", "analysis", "infrastructures", "ir", "base"},
    "domains": {"infrastructures", "ir", "base"},
    "coherence": {"analysis", "ir", "base"},
    "transform": {"coherence", "passes", "analysis", "infrastructures", "ir", "base"},
    "lowering": {"passes", "analysis", "infrastructures", "ir", "base"},
    "scripting": {
        "transform",
        "coherence",
        "languages",
        "passes",
        "analysis",
        "config",
        "infrastructures",
        "ir",
        "base",
    },
    "storage": {"base"},
    "runtime": {"storage", "base"},
    "targets": COMPILER | {"config", "base", "__init__"},
    "pipeline": COMPILER | {"targets", "scripting", "config", "base", "__init__"},
    "jit": COMPILER | {"pipeline", "targets", "config", "base", "__init__"},
    "tools": COMPILER | {"pipeline", "targets", "scripting", "config", "base"},
    "driver": {"tools"},
    # The compiler wrapper asks the reader of fixed form which flags of a compiler it can honour.
    # `--compile` puts libraries into the cache of Python programs.
    "cli": {
        "tools",
        "pipeline",
        "targets",
        "languages",
        "runtime",
        "config",
        "base",
        "__init__",
    },
}

# Where a package from outside the standard library may be imported: one file, or one layer.
OUTSIDERS: dict[str, set[str]] = {
    "numpy": {"storage", "runtime"},
    "cupy": {"storage"},
    "mpi4py": {"runtime"},
    "xarray": {"storage"},
    "zarr": {"runtime/gocean/output.py"},
    "jinja2": {"cli"},
    "fparser": {"tools"},
}
OPTIONAL = {"cupy", "fparser", "jinja2", "mpi4py", "xarray", "zarr"}

# The folders of the storage runtime: no face knows another, and the core knows no face.
STORAGE: dict[str, set[str]] = {
    "core": {"memory"},
    "memory": {"core"},
    "interop": {"core", "memory"},
    "gdp": {"core", "memory", "interop"},
    "hmemo": {"core", "memory", "interop"},
    "kokkos": {"core", "memory", "interop"},
    "accessors": {"core", "memory", "interop"},
}

# What there is once in a process: its memories, what executes on it, its devices and their queues,
# and what a user makes known to all: presets, names of types. Each is changed under a lock, or by
# the user's word alone. The compiler has nothing of this kind.
PROCESS_WIDE: dict[str, set[str]] = {
    # Signals are sent to the process.
    "base/stopping.py": {"_STATE"},
    # A cache of call sites that were checked: each gets one warning, as in Python itself.
    "embedded/kernel.py": {"_CHECKED"},
    "storage/core/context.py": {"_CONTEXTS", "_FACTORIES"},
    "storage/core/device.py": {"_SELECTION"},
    "storage/core/spaces.py": {"_SPACES"},
    "storage/gdp/defaults.py": {"_PRESETS", "_LISTENERS"},
    "storage/kokkos/data_type.py": {"_registered"},
    "storage/kokkos/view_handle.py": {"_RECORDS"},
    "storage/memory/device_driver.py": {"DEVICES"},
    "storage/memory/queues.py": {"_CHANCE", "_QUEUES"},
    "storage/memory/races.py": {"_LISTENERS"},
    "storage/memory/registry.py": {"_MEMORIES"},
    "storage/accessors/tasks.py": {"_SUBMITTED"},
    "storage/memory/stream.py": {"_STREAMS"},
}

# Case is folded by what reads text: the front end, the settings, the command line, the tables of
# taken names. The compiler has keys (`ir/keys.py`); what else it folds are no names of programs.
READERS = {"base", "languages", "config", "cli", "storage", "runtime"}
FOLDS = {
    "ir/keys.py": "names, once",
    "ir/expr.py": "the exponent of a number",
    "ir/rewrite.py": "the name of a class in a message",
    "analysis/bodies/places.py": "characters of a text that is searched",
    "transform/catalogue.py": "a truth value in a recipe",
    "transform/kernel/intrinsics.py": "an option of a step",
    "domains/data.py": "an expression that becomes a name",
    "domains/lfric/arguments.py": "a member of an enumeration",
    "pipeline/inputs.py": "texts that are searched for names",
    "tools/compile_order.py": "names of files",
    "scripting/transformations/kernel_modules.py": "options of a script",
    "scripting/f2pygen.py": "a word of a script",
}

# The classes of the tree of a file have the names that scripts import from PSyclone.
PSYCLONE_NAMES = "scripting/psyir/"

# What scripts see bears the name of what it shows, or that of PSyclone's class for the same thing.
SHOWN = (
    {"ir/schedule.py", "scripting/views.py"},
    {"runtime/lfric/space.py", "scripting/psyclone_names.py"},
)
