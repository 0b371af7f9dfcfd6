"""The model that recalld embeds with, from the same files and in the same way."""

from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


class Model:
    """Texts to normalised means of their tokens' states: one text a run, on one thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._tokenizer = Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        path = str(Path(folder, "onnx", "model_quantized.onnx"))
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._wanted = {one.name for one in self._session.get_inputs()}

    def embed(self, text: str) -> np.ndarray:
        """One float32 vector of length 1."""
        encoding = self._tokenizer.encode(text)
        inputs = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feeds = {name: np.array([ids], dtype=np.int64) for name, ids in inputs.items() if name in self._wanted}
        mean = self._session.run(None, feeds)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)
