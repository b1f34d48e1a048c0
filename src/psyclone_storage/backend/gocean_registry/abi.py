"""The names that generated code spells for dl_esm_inf's fields and the registry of storages."""

from __future__ import annotations

from psyclone_storage.backend.abi_registry import RESERVED as OF_THE_REGISTRY
from psyclone_storage.backend.abi_storage import RESERVED as OF_STORAGES
from psyclone_storage.backend.gocean.abi import RESERVED as OF_FIELDS

RESERVED = OF_FIELDS | OF_STORAGES | OF_THE_REGISTRY
