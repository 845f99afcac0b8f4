#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given (default 30s each).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do
	dir=$(dirname "$file")
	grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/func //' | while read -r target; do
		echo "== $dir $target"
		go test "$dir" -run xxx -fuzz "^$target\$" -fuzztime "$time" -parallel 2
	done
done
