"""Names of dl_esm_inf fields and of the storage registry in generated code."""

from __future__ import annotations

from psyclone_storage.lowering.runtime_names_registry import RESERVED as OF_THE_REGISTRY
from psyclone_storage.lowering.runtime_names_storage import RESERVED as OF_STORAGES
from psyclone_storage.targets.dl_esm_inf.abi import RESERVED as OF_FIELDS

RESERVED = OF_FIELDS | OF_STORAGES | OF_THE_REGISTRY
