"""Models by name, for files that name them: how one is built from the data's shape and classes."""

from collections.abc import Callable
from math import prod

from fairfl._support.checks import whole
from fairfl._support.registry import Registry
from fairfl.sims.engine import MLP, LeastSquares, LinearSVM, Logistic, Model, Module, Softmax
from fairfl.sims.models.networks import CharLSTM, LeNet, ResNet18GN

Shape = tuple[int, ...]
Builder = Callable[..., Model]
"""``build(shape, classes, **parameters)``: one input's shape, the classes, what a file gives."""
MODELS: Registry[Builder] = Registry("models", __name__)
"""Builders by the names that files give them."""
ONE_OUTPUT = ("logistic", "svm", "least_squares")
"""Models of one output, for any number of classes."""


def register_model(name: str) -> Callable[[Builder], Builder]:
    """Add a builder by name; ValueError if the name is taken."""
    return MODELS.register(name)


@register_model("softmax")
def _softmax(shape: Shape, classes: int, bias: bool = True) -> Model:
    return Softmax(prod(shape), classes, bias)


@register_model("logistic")
def _logistic(shape: Shape, classes: int, bias: bool = True) -> Model:
    return Logistic(prod(shape), bias=bias)


@register_model("svm")
def _svm(shape: Shape, classes: int, bias: bool = True) -> Model:
    return LinearSVM(prod(shape), bias=bias)


@register_model("least_squares")
def _least_squares(shape: Shape, classes: int, bias: bool = True) -> Model:
    return LeastSquares(prod(shape), bias=bias)


@register_model("mlp")
def _mlp(shape: Shape, classes: int, hidden: tuple[int, ...] = (64,)) -> Model:
    if not hidden or min(hidden) < 1:
        raise ValueError(f"hidden must be one or more whole numbers >= 1, got {list(hidden)}")
    return MLP((prod(shape), *hidden, classes))


@register_model("lenet")
def _lenet(shape: Shape, classes: int) -> Model:
    channels, size = _image("lenet", shape)
    return Module(lambda: LeNet(channels, size, classes), name="lenet")


@register_model("resnet18gn")
def _resnet18gn(shape: Shape, classes: int) -> Model:
    channels, _ = _image("resnet18gn", shape)
    return Module(lambda: ResNet18GN(channels=channels, classes=classes), name="resnet18gn")


@register_model("char_lstm")
def _char_lstm(
    shape: Shape, classes: int, embedding: int = 8, width: int = 256, layers: int = 2
) -> Model:
    for name, value in (("embedding", embedding), ("width", width), ("layers", layers)):
        whole(name, value, 1)
    sizes = embedding, width, layers
    return Module(lambda: CharLSTM(classes, *sizes), name=f"char_lstm{sizes}")


def _image(kind: str, shape: Shape) -> tuple[int, int]:
    """Channels and size of an image; ValueError for another shape."""
    if len(shape) != 3:
        raise ValueError(f"kind {kind} must have images (channels, height, width), got {shape}")
    return shape[0], shape[1]
