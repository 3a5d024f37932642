"""TensorFlow's GraphDef and SavedModel -> :class:`workbench.Graph`, without TensorFlow."""

from workbench.frontends.tf.convert import convert, from_graphdef
from workbench.frontends.tf.saved_model.convert_saved_model import from_saved_model

__all__ = ["convert", "from_graphdef", "from_saved_model"]
