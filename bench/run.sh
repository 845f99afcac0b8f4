#!/usr/bin/env bash
# Runs every benchmark of the project. Nothing here is a test: compare ratios, on a quiet machine.
#   QUARRY_CHECKPOINT  folder of the fp32 checkpoint: adds cosines to float32 and the comparison with ONNX Runtime
#   BENCH_PYTHON       a Python with onnxruntime and onnx, for that comparison
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== machine"
lscpu | grep -E 'Model name|^CPU\(s\)|Flags' | cut -c1-160
go version
go build -o quarry ./cmd/quarry
echo "== the first hour: clone, build with empty caches, first answer"
go run ./bench/first
echo "== encoder"
go run ./bench/encoder ${BENCH_PYTHON:+-python "$BENCH_PYTHON"}
echo "== index, store"
go test -run xxx -bench . ./internal/index ./internal/store/documents ./internal/text/analysis
echo "== glossaries: terms found in 10 kB, 1,000 entries written beside 99,000"
go test -run xxx -bench . ./internal/text/glossary ./internal/store/glossaries
echo "== replacing documents"
go test -run xxx -bench Replace -benchtime 20x ./internal/corpus/ingest
echo "== ranking"
go run ./bench/ranking
echo "== answers of the embedded generator"
go run ./bench/answer
echo "== summaries of the embedded generator"
go run ./bench/summary -binary ./quarry
echo "== consistency"
go run ./bench/consistency -fit
echo "== search over HTTP"
go run ./bench/search -binary ./quarry
echo "== many small corpora"
go run ./bench/corpora -binary ./quarry
echo "== queries over metadata"
go test -run xxx -bench . ./internal/corpus/metaquery
echo "== what the history costs a query"
go run ./bench/history -binary ./quarry
echo "== turns of chats"
go run ./bench/chat -binary ./quarry
echo "== traces of agents: every filter, pages of a large trace"
go run ./bench/trace -binary ./quarry
echo "== turns of agents"
go run ./bench/agent -binary ./quarry
echo "== queries during a bulk update"
go run ./bench/update -binary ./quarry
echo "== a folder in step: ten thousand files again"
go run ./bench/folder -binary ./quarry
echo "== files of every kind, beside another parser"
go run ./bench/files -binary ./quarry
echo "== who calls: authentication, lists of keys and users, small reads on one core"
go run ./bench/identity -binary ./quarry
echo "== streamed answers: first token, leaving, a thousand at once"
go run ./bench/stream -binary ./quarry
echo "== the console: what it weighs, and what people see of it in a browser"
go run ./bench/console

go run ./bench/source
