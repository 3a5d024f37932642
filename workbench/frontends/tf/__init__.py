"""TensorFlow's GraphDef -> :class:`workbench.Graph`, without TensorFlow."""

from workbench.frontends.tf.convert import convert, from_graphdef

__all__ = ["convert", "from_graphdef"]
