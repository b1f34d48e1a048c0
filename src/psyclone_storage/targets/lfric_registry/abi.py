"""Names of LFRic's fields and of the storage registry in generated code."""

from __future__ import annotations

from psyclone_storage.lowering.runtime_names_registry import RESERVED as OF_THE_REGISTRY
from psyclone_storage.targets.lfric_storage.abi import RESERVED as OF_STORAGES

STRIPS_MODULE = "lfric_strips_mod"
"""The module in `external/storage/lfric`, which is compiled with LFRic."""

BEGIN_EXCHANGE_OF_STRIPS = "begin_exchange_of_strips"
"""What begins an exchange of a storage on a function space to a depth."""

RESERVED = OF_STORAGES | OF_THE_REGISTRY | {STRIPS_MODULE, BEGIN_EXCHANGE_OF_STRIPS}
