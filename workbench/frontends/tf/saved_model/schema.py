"""Tables of the messages of a SavedModel and of a checkpoint's index.

Source of the field numbers: tensorflow/core/protobuf/{saved_model,meta_graph,saver,saved_object_graph,
trackable_object_graph,tensor_bundle}.proto and core/framework/tensor_slice.proto of TensorFlow 2.x.
"""

from __future__ import annotations

from workbench.frontends.protobuf.wire import Field, Schema
from workbench.frontends.tf.schema import GRAPHDEF

SAVED: Schema = {
    **GRAPHDEF,
    "SavedModel": {1: Field("saved_model_schema_version", "int"), 2: Field("meta_graphs", "MetaGraphDef", True)},
    "MetaGraphDef": {
        1: Field("meta_info_def", "MetaInfoDef"),
        2: Field("graph_def", "GraphDef"),
        3: Field("saver_def", "SaverDef"),
        4: Field("collection_def", "CollectionEntry", True),
        5: Field("signature_def", "SignatureEntry", True),
        6: Field("asset_file_def", "AssetFileDef", True),
    },
    "CollectionEntry": {1: Field("key", "string"), 2: Field("value", "CollectionDef")},
    "CollectionDef": {1: Field("node_list", "NodeList"), 5: Field("any_list", "AnyList")},
    "NodeList": {1: Field("value", "string", True)},
    "AnyList": {1: Field("value", "Any", True)},
    "Any": {1: Field("type_url", "string"), 2: Field("value", "bytes")},
    "AssetFileDef": {1: Field("tensor_info", "TensorInfo"), 2: Field("filename", "string")},
    "MetaInfoDef": {4: Field("tags", "string", True), 5: Field("tensorflow_version", "string")},
    "SaverDef": {
        1: Field("filename_tensor_name", "string"),
        3: Field("restore_op_name", "string"),
        7: Field("version", "int"),
    },
    "SignatureEntry": {1: Field("key", "string"), 2: Field("value", "SignatureDef")},
    "SignatureDef": {
        1: Field("inputs", "TensorInfoEntry", True),
        2: Field("outputs", "TensorInfoEntry", True),
        3: Field("method_name", "string"),
    },
    "TensorInfoEntry": {1: Field("key", "string"), 2: Field("value", "TensorInfo")},
    "TensorInfo": {
        1: Field("name", "string"),
        2: Field("dtype", "int"),
        3: Field("tensor_shape", "TensorShapeProto"),
        4: Field("coo_sparse", "CooSparse"),
        5: Field("composite_tensor", "CompositeTensor"),
    },
    "CooSparse": {1: Field("values_tensor_name", "string")},
    "CompositeTensor": {2: Field("components", "TensorInfo", True)},
    "TrackableObjectGraph": {1: Field("nodes", "TrackableObject", True)},
    "TrackableObject": {2: Field("attributes", "SerializedTensor", True)},
    "SerializedTensor": {
        1: Field("name", "string"),
        2: Field("full_name", "string"),
        3: Field("checkpoint_key", "string"),
    },
    "BundleHeaderProto": {1: Field("num_shards", "int"), 2: Field("endianness", "int")},
    "BundleEntryProto": {
        1: Field("dtype", "int"),
        2: Field("shape", "TensorShapeProto"),
        3: Field("shard_id", "int"),
        4: Field("offset", "int"),
        5: Field("size", "int"),
        6: Field("crc32c", "fixed32"),
        7: Field("slices", "TensorSliceProto", True),
    },
    "TensorSliceProto": {1: Field("extent", "Extent", True)},
    "Extent": {1: Field("start", "int"), 2: Field("length", "int")},
}
