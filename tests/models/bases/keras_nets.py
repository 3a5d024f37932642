"""Models of Keras with seeded random weights, and inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

Net = tuple[Any, np.ndarray]
_rng = np.random.default_rng(13)


def _floats(*shape: int) -> np.ndarray:
    return _rng.standard_normal(shape).astype(np.float32)


def _words(*shape: int) -> np.ndarray:
    return _rng.integers(1, 40, shape).astype(np.int32)


def mlp() -> Net:
    stack = [layers.Input((12,)), layers.Dense(16, "relu"), layers.BatchNormalization(), layers.Dense(16, "elu")]
    return keras.Sequential([*stack, layers.Dropout(0.5), layers.Dense(4, "softmax")]), _floats(3, 12)


def cnn() -> Net:
    return keras.Sequential(
        [
            layers.Input((20, 20, 3)),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(4, 3, strides=2),
            layers.UpSampling2D(),
            layers.AveragePooling2D(3),
            layers.ZeroPadding2D(1),
            layers.Flatten(),
            layers.Dense(5),
        ]
    ), _floats(2, 20, 20, 3)


def lstm() -> Net:
    return keras.Sequential(
        [
            layers.Input((9,), dtype="int32"),
            layers.Embedding(40, 8),
            layers.Bidirectional(layers.LSTM(6)),
            layers.Dense(3),
        ]
    ), _words(2, 9)


def gru() -> Net:
    return keras.Sequential(
        [layers.Input((7, 5)), layers.GRU(6, return_sequences=True), layers.SimpleRNN(4), layers.Dense(2, "tanh")]
    ), _floats(2, 7, 5)


def attention() -> Net:
    words = keras.Input((8,), dtype="int32")
    x = layers.Embedding(40, 16)(words)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True))
    x = layers.GlobalAveragePooling1D()(layers.Dense(16, "swish")(x))
    return keras.Model(words, layers.Dense(3)(x)), _words(2, 8)


def unrolled() -> Net:
    x = keras.Input((16, 4))
    y = layers.Conv1D(6, 3, dilation_rate=2, padding="causal")(x)
    y = layers.TimeDistributed(layers.Dense(5, "gelu"))(layers.GroupNormalization(2)(y))
    joined = layers.Concatenate()([layers.GlobalMaxPooling1D()(y), layers.Flatten()(x)])
    return keras.Model(x, joined), _floats(2, 16, 4)


def text() -> Net:
    vectors = layers.TextVectorization(output_sequence_length=6)
    vectors.adapt(["the cat sat on the mat", "a dog ate the cat's food", "good dog"])
    words = keras.Input((), dtype="string")
    x = layers.GlobalAveragePooling1D()(layers.Embedding(20, 4)(vectors(words)))
    model = keras.Model(words, layers.Dense(2)(x))
    return model, np.array([b"The DOG sat!", b"unknown words, and cats", b""], object)


def categories() -> Net:
    words = keras.Input((2,), dtype="string")
    found = layers.StringLookup(vocabulary=["red", "green", "blue"])(words)
    many = layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")(found)
    return keras.Model(words, layers.Dense(3)(many)), np.array([[b"red", b"blue"], [b"pink", b"green"]], object)


def mobilenet() -> Net:
    model = keras.applications.MobileNetV2(input_shape=(64, 64, 3), alpha=0.35, weights=None, classes=7)
    return model, _floats(1, 64, 64, 3)


def efficientnet() -> Net:
    model = keras.applications.EfficientNetB0(input_shape=(64, 64, 3), weights=None, classes=7)
    return model, _floats(1, 64, 64, 3) * 50 + 127


NETS: dict[str, Callable[[], Net]] = {
    f.__name__: f for f in (mlp, cnn, lstm, gru, attention, unrolled, text, categories, mobilenet, efficientnet)
}


def keras_net(name: str) -> Net:
    """A model by name and its input, the same each time."""
    global _rng
    _rng = np.random.default_rng(13)
    keras.utils.set_random_seed(13)
    tf.keras.backend.clear_session()
    return NETS[name]()
