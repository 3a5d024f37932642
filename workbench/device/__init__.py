"""Arrays on a device, written against the Python array API standard.

::

    Device ──open_device──► OpenDevice ──holds──► DeviceArray         choice.py  opened.py  array.py
                              │   └ namespace, transfers, memory      namespaces.py  memory.py
                              ├ rules of ops: functions of the namespace   rules/  semantics.py
                              └ regions: nodes that become one call, on CUDA one graph   joined.py  cuda_graph.py

The namespace is CuPy's on a GPU; with NumPy's the same code runs anywhere. Types decide where a value lives: arrays of
fixed dtype and shape with at least ``Device.least_bytes`` live on the device, everything else on the host.
"""

from workbench.device.array import DeviceArray, all_to_host, host_objects, to_host
from workbench.device.choice import Device, checked_device
from workbench.device.evaluate import device_evaluator, on_host
from workbench.device.joined import DeviceJoiner
from workbench.device.opened import OpenDevice, open_device
from workbench.device.placement import Placement, place_node
from workbench.device.semantics import DIFFERENCES, Difference
from workbench.device.statistics import array_statistics

__all__ = [
    "DIFFERENCES",
    "Device",
    "DeviceArray",
    "DeviceJoiner",
    "Difference",
    "OpenDevice",
    "Placement",
    "all_to_host",
    "array_statistics",
    "checked_device",
    "device_evaluator",
    "host_objects",
    "on_host",
    "open_device",
    "place_node",
    "to_host",
]
