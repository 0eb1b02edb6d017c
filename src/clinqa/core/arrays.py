"""What the arrays of this package hold, by the names that annotations use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AnyArray",
    "ArrayLike",
    "Bools",
    "Bytes",
    "Float32s",
    "Floats",
    "Int8s",
    "Int16s",
    "Int32s",
    "Integers",
    "Ints",
    "Places",
    "Records",
    "Strings",
    "UInt16s",
    "UInt32s",
    "UInt64s",
]

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Int16s = NDArray[np.int16]
Int8s = NDArray[np.int8]
UInt64s = NDArray[np.uint64]
UInt32s = NDArray[np.uint32]
UInt16s = NDArray[np.uint16]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Integers = NDArray[np.integer]
Places = NDArray[np.intp]
Records = NDArray[np.void]
Strings = NDArray[np.str_]
AnyArray = NDArray[Any]
