"""Searches vectors with hnswlib and faiss, for comparison. Started by the Go program beside it.

Usage: vectors.py FOLDER

Answers requests, one JSON object a line. {"do": "open", "engine": E, "set": S, "dim": D} builds the index of the vectors
in FOLDER/S.f32 with the library's usual settings, or reads the one kept by an earlier run, and answers {"wall": seconds,
"cpu": seconds, "bytes": of the file, "about": text, "most": lists that there are, 0 or absent without lists}; times are
those of the building, also of an earlier run.
{"do": "search", "engine": E, "queries": FILE, "k": K, "effort": P} searches with the vectors in FOLDER/FILE one after
another on one thread, where P is ef or nprobe, and answers {"seconds": [...], "found": [[row, ...], ...]}.
Exits with status 3 and one line of text when numpy, hnswlib or faiss is absent.
"""

import json
import math
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
try:
    import faiss
    import hnswlib
    import numpy as np
except ImportError as e:
    print(f"{e}; pip install numpy hnswlib faiss-cpu")
    sys.exit(3)

folder = sys.argv[1]
opened = {}


def rows(name, dim):
    return np.fromfile(os.path.join(folder, name), dtype=np.float32).reshape(-1, dim)


def lists(n):
    return 1 << round(math.log2(4 * math.sqrt(n)))


def factory(engine, n):
    return {
        "faiss-hnsw": "HNSW16",
        "faiss-fastscan": f"IVF{lists(n)},PQ96x4fs,RFlat",
        "faiss-rabitq": f"IVF{lists(n)},RaBitQfs,RFlat",
    }[engine]


def build(engine, base):
    if engine == "hnswlib":
        index = hnswlib.Index(space="ip", dim=base.shape[1])
        index.init_index(max_elements=len(base), M=16, ef_construction=100)
        index.add_items(base, num_threads=os.cpu_count())
        return index
    index = faiss.index_factory(base.shape[1], factory(engine, len(base)), faiss.METRIC_INNER_PRODUCT)
    index.train(base)
    index.add(base)
    return index


def open_index(engine, name, dim):
    path = os.path.join(folder, f"{name}.{engine}")
    try:
        with open(path + ".json") as f:
            about = json.load(f)
    except FileNotFoundError:
        base = rows(name + ".f32", dim)
        wall, cpu = time.perf_counter(), time.process_time()
        index = build(engine, base)
        about = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        if engine == "hnswlib":
            index.save_index(path)
            about["about"] = "M 16, efConstruction 100"
        else:
            faiss.write_index(index, path)
            about["about"] = factory(engine, len(base))
            about["most"] = 0 if engine == "faiss-hnsw" else lists(len(base))
        about["bytes"] = os.path.getsize(path)
        with open(path + ".json", "w") as f:
            json.dump(about, f)
        del index
    opened.clear()  # one at a time is in memory
    if engine == "hnswlib":
        index = hnswlib.Index(space="ip", dim=dim)
        index.load_index(path)
        index.set_num_threads(1)
    else:
        index = faiss.read_index(path)
        faiss.omp_set_num_threads(1)
    opened[engine] = (index, dim)
    return about


def searcher(engine, effort, k):
    index, _ = opened[engine]
    if engine == "hnswlib":
        index.set_ef(effort)
        return lambda q: index.knn_query(q, k=k)[0][0]
    if engine == "faiss-hnsw":
        params = faiss.SearchParametersHNSW(efSearch=effort)
    else:
        params = faiss.IndexRefineSearchParameters(k_factor=10, base_index_params=faiss.SearchParametersIVF(nprobe=effort))
    return lambda q: index.search(q, k, params=params)[1][0]


def search(request):
    find = searcher(request["engine"], request["effort"], request["k"])
    queries = rows(request["queries"], opened[request["engine"]][1])
    for q in queries[:20]:
        find(q[None])
    seconds, found = [], []
    for i in range(len(queries)):
        q = queries[i : i + 1]
        began = time.perf_counter()
        ids = find(q)
        seconds.append(time.perf_counter() - began)
        found.append([int(x) for x in ids])
    return {"seconds": seconds, "found": found}


print(json.dumps({"about": f"hnswlib 0.8.0, faiss-cpu {faiss.__version__} ({faiss.get_compile_options().strip()})"}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "open":
        answer = open_index(request["engine"], request["set"], request["dim"])
    else:
        answer = search(request)
    print(json.dumps(answer), flush=True)
