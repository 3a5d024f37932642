"""TensorFlow's checkpoints (tensor bundles), read without TensorFlow.

::

    prefix.index ── sstable (blocks, crc32c, snappy) ──► key -> BundleEntryProto ──┐
    prefix.data-00000-of-00002 ... ── by range, checked ───────────────────────────┴─► Bundle: name -> array
"""

from workbench.frontends.tf.checkpoint.bundle import Bundle

__all__ = ["Bundle"]
