"""The modules that Vertex AI's prebuilt training images are known to have, and the packages that bring modules."""

from __future__ import annotations

import re
from collections.abc import Iterable

_COMMON = frozenset(
    {"certifi", "charset_normalizer", "google", "idna", "joblib", "numpy", "pip", "pkg_resources", "requests"}
    | {"setuptools", "sklearn", "threadpoolctl", "urllib3"}
)
_BY_FRAMEWORK = {
    "scikit-learn": frozenset({"scipy"}),
    "tensorflow": frozenset({"absl", "h5py", "keras", "tensorboard", "tensorflow"}),
    "torch": frozenset(
        {"filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "scipy", "sympy", "tensorboard", "torch"}
        | {"typing_extensions"}
    ),
    "xgboost": frozenset({"scipy", "xgboost"}),
}
_PACKAGES = {
    "Crypto": "pycryptodome",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "hydra": "hydra-core",
    "jwt": "pyjwt",
    "lightning_fabric": "lightning",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "ogb": "ogb",
    "open_clip": "open-clip-torch",
    "psycopg2": "psycopg2-binary",
    "pytorch_lightning": "pytorch-lightning",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "snappy": "python-snappy",
    "tensorboardX": "tensorboardX",
    "torch_geometric": "torch-geometric",
    "umap": "umap-learn",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
_BROUGHT_BY = {
    "jax": ("brax", "chex", "flax", "numpyro", "optax"),
    "tensorflow": ("keras", "tensorflow", "tf-", "tflite"),
    "torch": (
        *("accelerate", "allennlp", "autogluon", "axolotl", "deepspeed", "diffusers", "easyocr", "fairseq", "fastai"),
        *("flair", "kornia", "lightning", "llamafactory", "mosaicml", "openai-whisper", "open-clip-torch", "peft"),
        *("pytorch", "sentence-transformers", "simpletransformers", "skorch", "stable-baselines3", "timm", "torch"),
        *("trl", "tyxe", "ultralytics", "unsloth", "vllm", "xformers"),
    ),
    "transformers": ("axolotl", "llamafactory", "optimum", "peft", "sentence-transformers", "setfit", "trl", "unsloth"),
}
"""Frameworks, and the beginnings of the names of packages that require them."""


def modules_of(framework: str) -> frozenset[str]:
    """Return the top modules that an image of a framework is known to have."""
    return _COMMON | _BY_FRAMEWORK.get(framework, frozenset())


def package_of(module: str) -> str:
    """Return the package on PyPI that brings a top module, as far as is known by its name."""
    return _PACKAGES.get(module, module.replace("_", "-"))


def may_be_brought(module: str, listed: Iterable[str], *, is_whole: bool) -> bool:
    """Return whether listed packages, by their normal names, may bring a top module. `is_whole`: every package is
    listed, also those that others require."""
    names = tuple(listed)
    wanted, plain = _normal(package_of(module)), _normal(module)
    if any(wanted in name or plain in name or name in plain for name in names):
        return True
    if is_whole or not names:
        return False
    bringing = _BROUGHT_BY.get(module)
    return bringing is None or any(name.startswith(bringing) for name in names)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
