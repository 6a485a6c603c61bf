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
    "Bio": "biopython",
    "IPython": "ipython",
    "Levenshtein": "levenshtein",
    "PIL": "pillow",
    "attr": "attrs",
    "absl": "absl-py",
    "bs4": "beautifulsoup4",
    "composer": "mosaicml",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "hydra": "hydra-core",
    "imblearn": "imbalanced-learn",
    "jwt": "pyjwt",
    "lightning_fabric": "lightning",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "ogb": "ogb",
    "open_clip": "open-clip-torch",
    "psycopg2": "psycopg2-binary",
    "pynvml": "nvidia-ml-py",
    "pytorch_lightning": "pytorch-lightning",
    "pywt": "pywavelets",
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
_ALSO_BY = {
    "Crypto": ("pycrypto",),
    "Levenshtein": ("python-levenshtein",),
    "jwt": ("jwt",),
    "lightning_fabric": ("lightning-fabric", "pytorch-lightning"),
    "magic": ("file-magic",),
    "pynvml": ("pynvml",),
    "snappy": ("snappy",),
}
"""Other packages that bring a module."""
_OF_THEIR_NAME = frozenset(
    {"accelerate", "bitsandbytes", "catboost", "datasets", "deepspeed", "diffusers", "einops", "flax", "gymnasium"}
    | {"jax", "lightgbm", "lightning", "matplotlib", "mlflow", "optax", "optuna", "pandas", "peft", "polars", "pyarrow"}
    | {"ray", "safetensors", "seaborn", "sentencepiece", "shap", "statsmodels", "timm", "tokenizers", "torchaudio"}
    | {"torchmetrics", "torchvision", "tqdm", "transformers", "trl", "vllm", "wandb", "xformers"}
)
"""Modules that only the package of their name brings."""
_VARIANT = re.compile(r"-(?:headless|contrib|binary|bin|nightly|cpu|gpu|cuda|cu\d+)(?=-|$)")
"""A part of a package's name that says how it was built: `opencv-contrib-python-headless` brings `cv2` as well."""
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
_KNOWN = _OF_THEIR_NAME | _PACKAGES.keys() | _BROUGHT_BY.keys() | {"keras", "tensorboard", "xgboost"}
"""Modules whose packages are known."""


def modules_of(framework: str) -> frozenset[str]:
    """Return the top modules that an image of a framework is known to have."""
    return _COMMON | _BY_FRAMEWORK.get(framework, frozenset())


def package_of(module: str) -> str:
    """Return the package on PyPI that brings a top module, as far as is known by its name."""
    return _PACKAGES.get(module, module.replace("_", "-"))


def is_known_missing(module: str, locked: Iterable[str]) -> bool:
    """Return whether none of all packages of a job brings a top module. Only modules whose packages are known count."""
    if module not in _KNOWN:
        return False
    bringing = {_family(package_of(module)), *map(_family, _ALSO_BY.get(module, ()))}
    return not any(_family(name) in bringing or _has_word(name, module) for name in locked)


def may_be_brought(module: str, listed: Iterable[str]) -> bool:
    """Return whether listed packages, by their normal names, or the packages that they require, may bring a top
    module."""
    names = tuple(listed)
    if not names:
        return False
    wanted, plain = _family(package_of(module)), _normal(module)
    if any(wanted in _family(name) or plain in name for name in names):
        return True
    bringing = _BROUGHT_BY.get(module)
    return bringing is None or any(name.startswith(bringing) for name in names)


def _has_word(name: str, module: str) -> bool:
    """Return whether a package's name has a module's name between its hyphens, as `tensorflow-macos` has."""
    return f"-{_normal(module)}-" in f"-{_normal(name)}-"


def _family(package: str) -> str:
    """Return the normal name of a package without the parts that say how it was built."""
    return _VARIANT.sub("", _normal(package))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
