"""The names that generated code spells for LFRic's own fields and the registry of storages."""

from __future__ import annotations

from psyclone_storage.backend.abi_registry import RESERVED as OF_THE_REGISTRY
from psyclone_storage.backend.lfric_storage.abi import RESERVED as OF_STORAGES

RESERVED = OF_STORAGES | OF_THE_REGISTRY
