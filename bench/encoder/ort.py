"""Runs the same encoder in ONNX Runtime, for comparison. Started by the Go program beside it.

Usage: ort.py CHECKPOINT_FOLDER WORK_FOLDER

Builds an ONNX graph from the folder's safetensors (no exporter needed), quantises it with ONNX Runtime's own dynamic
int8 tool, opens both with one thread, prints one line of JSON about itself and then answers requests, one JSON object
a line: {"model": "fp32" | "int8", "ids": [...], "repeat": n} -> {"seconds": [...], "vector": [...]}.
Exits with status 3 and one line of text when numpy, onnx or onnxruntime is absent.
"""

import json
import os
import struct
import sys
import time

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic
except ImportError as e:
    print(f"skipped: {e}; pip install numpy onnx onnxruntime")
    sys.exit(3)


def tensors(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        head = json.loads(f.read(n))
        data = f.read()
    out = {}
    for name, e in head.items():
        if name != "__metadata__" and e["dtype"] == "F32":
            a, b = e["data_offsets"]
            out[name] = np.frombuffer(data[a:b], np.float32).reshape(e["shape"]).copy()
    return out


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def const(self, value):
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"v{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, weight, bias):
        return self.op("Add", self.op("MatMul", x, self.const(weight.T)), self.const(bias))

    def norm(self, x, t, name, eps):
        return self.op("LayerNormalization", x, self.const(t[name + ".weight"]), self.const(t[name + ".bias"]), axis=-1, epsilon=eps)


def build(folder, path):
    c = json.load(open(os.path.join(folder, "config.json")))
    t = tensors(os.path.join(folder, "model.safetensors"))
    h, heads, eps = c["hidden_size"], c["num_attention_heads"], c["layer_norm_eps"]
    g = Graph()
    ids = "ids"  # [tokens]
    n = g.op("Shape", ids)
    pos = t["embeddings.position_embeddings.weight"] + t["embeddings.token_type_embeddings.weight"][0]
    zero, axis = g.const(np.array([0], np.int64)), g.const(np.array([0], np.int64))
    x = g.op("Gather", g.const(t["embeddings.word_embeddings.weight"]), ids)
    x = g.op("Add", x, g.op("Slice", g.const(pos), zero, n, axis))
    x = g.norm(x, t, "embeddings.LayerNorm", eps)
    split_shape = g.const(np.array([-1, heads, h // heads], np.int64))
    flat = g.const(np.array([-1, h], np.int64))
    for i in range(c["num_hidden_layers"]):
        p = f"encoder.layer.{i}."
        names = [p + "attention.self." + k for k in ("query", "key", "value")]
        w = np.concatenate([t[k + ".weight"] for k in names])
        b = np.concatenate([t[k + ".bias"] for k in names])
        scale = np.float32(1 / np.sqrt(h // heads))
        w[:h] *= scale
        b[:h] *= scale
        q, k, v = g.op("Split", g.linear(x, w, b), outputs=3, axis=1, num_outputs=3)
        q = g.op("Transpose", g.op("Reshape", q, split_shape), perm=[1, 0, 2])
        k = g.op("Transpose", g.op("Reshape", k, split_shape), perm=[1, 2, 0])
        v = g.op("Transpose", g.op("Reshape", v, split_shape), perm=[1, 0, 2])
        a = g.op("MatMul", g.op("Softmax", g.op("MatMul", q, k), axis=-1), v)
        a = g.op("Reshape", g.op("Transpose", a, perm=[1, 0, 2]), flat)
        a = g.linear(a, t[p + "attention.output.dense.weight"], t[p + "attention.output.dense.bias"])
        x = g.norm(g.op("Add", a, x), t, p + "attention.output.LayerNorm", eps)
        f = g.op("Gelu", g.linear(x, t[p + "intermediate.dense.weight"], t[p + "intermediate.dense.bias"]))
        f = g.linear(f, t[p + "output.dense.weight"], t[p + "output.dense.bias"])
        x = g.norm(g.op("Add", f, x), t, p + "output.LayerNorm", eps)
    x = g.op("ReduceMean", x, axis, keepdims=0)
    g.nodes.append(helper.make_node("LpNormalization", [x], ["vector"], axis=0, p=2))
    graph = helper.make_graph(
        g.nodes, "encoder",
        [helper.make_tensor_value_info(ids, TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [h])], g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def session(path):
    o = ort.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    return ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])


def main():
    folder, work = sys.argv[1], sys.argv[2]
    fp32, int8 = os.path.join(work, "fp32.onnx"), os.path.join(work, "int8.onnx")
    build(folder, fp32)
    quantize_dynamic(fp32, int8, weight_type=QuantType.QInt8, per_channel=True)
    models = {"fp32": session(fp32), "int8": session(int8)}
    print(json.dumps({"onnxruntime": ort.__version__, "onnx": onnx.__version__}), flush=True)
    for line in sys.stdin:
        r = json.loads(line)
        ids, seconds = np.array(r["ids"], np.int64), []
        for _ in range(r["repeat"]):
            start = time.perf_counter()
            vector = models[r["model"]].run(None, {"ids": ids})[0]
            seconds.append(time.perf_counter() - start)
        print(json.dumps({"seconds": seconds, "vector": vector.tolist()}), flush=True)


main()
